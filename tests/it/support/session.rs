//! The whole bot in this process, against the strict Bot API and a model that a test writes.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use greenlight::app::Bot;
use greenlight::config::{self, Adapter, Flags, ModelSettings, Settings};
use greenlight::playground::{OWNER, Post};
use greenlight::text::redact::Redactor;
use secrecy::SecretString;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::sync::watch;

use super::TestBot;

/// What the model answers.
#[derive(Debug, Clone)]
pub(crate) enum Say {
    /// Text.
    Text(String),
    /// Calls: tool and arguments.
    Calls(Vec<(&'static str, Value)>),
    /// Nothing, for ever.
    Never,
}

impl Say {
    /// A text.
    pub(crate) fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    /// One call.
    pub(crate) fn call(tool: &'static str, arguments: Value) -> Self {
        Self::Calls(vec![(tool, arguments)])
    }
}

type Script = Box<dyn FnMut(&Asked) -> Say + Send>;

/// One request as the provider got it.
#[derive(Debug, Clone)]
pub(crate) struct Asked(pub(crate) Value);

impl Asked {
    /// Everything that was sent, as text.
    pub(crate) fn all(&self) -> String {
        let texts = self.0["messages"].as_array().into_iter().flatten();
        texts
            .map(|message| match &message["content"] {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            })
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// The newest message's text.
    pub(crate) fn last(&self) -> String {
        let last = self.0["messages"].as_array().and_then(|all| all.last());
        last.map(|message| match &message["content"] {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        })
        .unwrap_or_default()
    }

    /// Names of the tools on offer.
    pub(crate) fn tools(&self) -> Vec<String> {
        let tools = self.0["tools"].as_array().into_iter().flatten();
        tools
            .filter_map(|tool| tool["function"]["name"].as_str().map(str::to_owned))
            .collect()
    }
}

struct Provider {
    script: Mutex<Script>,
    asked: watch::Sender<Vec<Asked>>,
    calls: Mutex<u32>,
}

/// A bot with its world, its workspace and its model.
pub(crate) struct Session {
    /// People and chats.
    pub(crate) world: TestBot,
    /// The bot and its runtime; taken while it is down. With the runtime everything of it ends, as
    /// with a process.
    bot: Option<(Bot, Runtime)>,
    settings: Settings,
    asked: watch::Receiver<Vec<Asked>>,
    home: tempfile::TempDir,
    workspace: tempfile::TempDir,
}

impl Session {
    /// Starts everything with a model that answers by `script`.
    pub(crate) async fn start(
        script: impl FnMut(&Asked) -> Say + Send + 'static,
        change: impl FnOnce(&mut Settings),
    ) -> Self {
        let world = TestBot::new().await;
        let home = tempfile::tempdir().unwrap();
        let workspace = tempfile::tempdir().unwrap();
        let (asking, asked) = watch::channel(Vec::new());
        let url = provider(Box::new(script), asking).await;
        let mut settings = config::load(
            &Flags {
                home: Some(home.path().to_path_buf()),
                ..Flags::default()
            },
            |_| None,
            workspace.path(),
        )
        .unwrap();
        settings.workspace = std::fs::canonicalize(workspace.path()).unwrap();
        let telegram = Arc::make_mut(&mut settings.telegram);
        telegram.token = Some(SecretString::from(world.server.token.clone()));
        telegram.api_url.clone_from(&world.server.api_url);
        telegram.owner = Some(OWNER);
        telegram.limits.private_per_second = 500.0;
        telegram.limits.private_burst = 100;
        settings.model = Some(ModelSettings {
            adapter: Adapter::Openai,
            name: "scripted".into(),
            base_url: Some(format!("{url}/v1")),
            api_key: Some("sk-test-0123456789abcdef".to_owned().into()),
            context_tokens: 100_000,
        });
        change(&mut settings);
        let mut session = Self {
            world,
            bot: None,
            settings,
            asked,
            home,
            workspace,
        };
        session.up().await;
        session
    }

    /// Starts the bot, again with the same data.
    pub(crate) async fn up(&mut self) {
        let redactor = Arc::new(Redactor::new(Vec::new()));
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let settings = self.settings.clone();
        let bot = runtime
            .spawn(async move { Bot::start(settings, redactor).await.unwrap() })
            .await
            .unwrap();
        self.bot = Some((bot, runtime));
    }

    /// Stops the bot.
    pub(crate) async fn down(&mut self) {
        if let Some((bot, runtime)) = self.bot.take() {
            assert_eq!(runtime.spawn(bot.stop()).await.unwrap(), 0);
            let ended = move || runtime.shutdown_timeout(Duration::from_secs(10));
            tokio::task::spawn_blocking(ended).await.unwrap();
        }
    }

    /// The running bot.
    pub(crate) fn bot(&self) -> &Bot {
        &self.bot.as_ref().unwrap().0
    }

    /// The project directory.
    pub(crate) fn workspace(&self) -> &Path {
        self.workspace.path()
    }

    /// Waits for a message that contains `part`.
    pub(crate) async fn sees(&self, part: &str) -> Post {
        let waiting = self.world.wait_message(|post| post.text.contains(part));
        match tokio::time::timeout(Duration::from_secs(30), waiting).await {
            Ok(post) => post,
            Err(_) => panic!(
                "{part:?} was not seen in {:#?}\nlast request: {:#?}",
                self.world
                    .messages()
                    .into_iter()
                    .map(|post| post.text)
                    .collect::<Vec<_>>(),
                self.asked.borrow().last()
            ),
        }
    }

    /// Waits for a card whose text contains `part`, and taps `word` on it.
    pub(crate) async fn taps(&self, part: &str, word: &str) {
        let button = |post: &Post| {
            let mut all = post.keyboard.iter().flatten();
            all.find_map(|button| button.data.clone().filter(|data| data.starts_with(word)))
        };
        let fits = |post: &Post| post.text.contains(part) && button(post).is_some();
        let waiting = self.world.wait_message(fits);
        let post = tokio::time::timeout(Duration::from_secs(30), waiting)
            .await
            .expect("a card");
        let data = button(&post).unwrap();
        self.world.tap(post.id, &data).await;
    }

    /// Files of the data directory whose name contains `part`.
    pub(crate) fn data_files(&self, part: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut open = vec![self.home.path().to_path_buf()];
        while let Some(dir) = open.pop() {
            for entry in std::fs::read_dir(dir).unwrap().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    open.push(path);
                } else if entry.file_name().to_string_lossy().contains(part) {
                    found.push(path);
                }
            }
        }
        found
    }

    /// Every request so far.
    pub(crate) fn requests(&self) -> Vec<Asked> {
        self.asked.borrow().clone()
    }

    /// Waits for a request to the model.
    pub(crate) async fn asks(&self, fits: impl Fn(&Asked) -> bool) -> Asked {
        let mut asked = self.asked.clone();
        let found = asked.wait_for(|all| all.iter().any(&fits));
        let all = tokio::time::timeout(Duration::from_secs(30), found).await;
        let all = all.expect("a request in time").expect("a provider");
        all.iter().find(|asked| fits(asked)).cloned().unwrap()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some((_, runtime)) = self.bot.take() {
            runtime.shutdown_background();
        }
    }
}

async fn provider(script: Script, asked: watch::Sender<Vec<Asked>>) -> String {
    let provider = Arc::new(Provider {
        script: Mutex::new(script),
        asked,
        calls: Mutex::new(0),
    });
    let app = Router::new().fallback(answer).with_state(provider);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    url
}

async fn answer(State(provider): State<Arc<Provider>>, body: String) -> Response {
    let asked = Asked(serde_json::from_str(&body).unwrap_or(Value::Null));
    let say = {
        let mut script = provider.script.lock().unwrap();
        script(&asked)
    };
    provider.asked.send_modify(|all| all.push(asked));
    let (delta, finish) = match say {
        Say::Never => std::future::pending().await,
        Say::Text(text) => (json!({ "content": text }), "stop"),
        Say::Calls(calls) => {
            let mut count = provider.calls.lock().unwrap();
            let calls: Vec<Value> = calls
                .into_iter()
                .enumerate()
                .map(|(index, (name, arguments))| {
                    *count += 1;
                    json!({"index": index, "id": format!("call{count}"), "type": "function",
                        "function": {"name": name, "arguments": arguments.to_string()}})
                })
                .collect();
            (json!({ "tool_calls": calls }), "tool_calls")
        }
    };
    let choice = json!({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
    Response::builder()
        .header("content-type", "text/event-stream")
        .body(Body::from(format!("data: {choice}\n\ndata: [DONE]\n\n")))
        .unwrap()
}
