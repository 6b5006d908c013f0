//! The real bot, inside the test, between a strict Bot API and a scripted model.

use std::collections::BTreeSet;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use greenlight::app::{Bot, Parts};
use greenlight::config::{self, Flags, Settings};
use greenlight::domain::{ChatId, MessageId};
use greenlight::llm::Model;
use greenlight::playground::{GROUP, MEMBER, OWNER, Post, TOKEN, World};
use greenlight::text::redact::Redactor;
use serde_json::{Value, json};

use super::bot::TestBot;
use super::provider;
use super::script::Script;
use super::tree::{Watch, picture, workspace};

pub(crate) use super::files::below;
pub(crate) use super::steps::{
    PLAN, STEPS, bash, check, designer, plan, seed, tasks, write, write_md,
};

pub(crate) const KEY: &str = "sk-whole-0123456789abcdef0123456789abcdef";
/// Longest wait for something that must happen; the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(60);

/// How the bot is configured.
#[derive(Clone)]
pub(crate) struct Setup {
    env: Vec<(String, String)>,
    limits: bool,
    window: u64,
    process: bool,
    approving: bool,
}

/// Where the bot runs.
enum Live {
    Inside(Bot),
    Process(tokio::process::Child),
}

impl Setup {
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A level; only with `auto` are cards answered by themselves.
    pub(crate) fn approvals(mut self, level: &str) -> Self {
        self.approving = level == "auto";
        self.env("GREENLIGHT_APPROVALS", level)
    }

    pub(crate) fn window(mut self, tokens: u64) -> Self {
        self.window = tokens;
        self
    }

    /// The bot in a process of its own, which can be killed; its model is an HTTP server.
    pub(crate) fn process(mut self) -> Self {
        self.process = true;
        self
    }

    /// Telegram's limits on both sides.
    pub(crate) fn limits(mut self) -> Self {
        self.limits = true;
        self
    }

    pub(crate) async fn start(mut self) -> Rig {
        let script = Script::new(self.window);
        if self.process {
            let url = provider::serve(script.clone()).await;
            self = self.env("GREENLIGHT_MODEL_BASE_URL", &url);
        }
        let bot = if self.limits {
            TestBot::builder().limits().start().await
        } else {
            TestBot::new().await
        };
        let root = tempfile::Builder::new()
            .prefix("whole-")
            .tempdir_in(env!("CARGO_TARGET_TMPDIR"))
            .unwrap();
        let base = root.path().canonicalize().unwrap();
        workspace(&base.join("ws"));
        std::fs::create_dir_all(base.join("data")).unwrap();
        for secret in [TOKEN, KEY] {
            bot.world().guard(secret);
        }
        let mut rig = Rig {
            script,
            running: None,
            tapped: Mutex::default(),
            setup: self,
            base,
            bot,
            _root: root,
        };
        rig.launch().await;
        rig
    }
}

/// The bot and everything around it. The owner acts, in private, unless a name says otherwise.
pub(crate) struct Rig {
    pub(crate) bot: TestBot,
    pub(crate) script: Script,
    pub(crate) base: PathBuf,
    running: Option<Live>,
    setup: Setup,
    tapped: Mutex<BTreeSet<String>>,
    _root: tempfile::TempDir,
}

impl Rig {
    pub(crate) fn setup() -> Setup {
        Setup {
            env: vec![("GREENLIGHT_APPROVALS".to_owned(), "auto".to_owned())],
            limits: false,
            window: 200_000,
            process: false,
            approving: true,
        }
    }

    pub(crate) async fn new() -> Self {
        Self::setup().start().await
    }

    /// The environment that the bot is started with.
    fn environment(&self) -> Vec<(String, String)> {
        let base = &self.base;
        let mut env = vec![
            ("HOME".to_owned(), base.join("home").display().to_string()),
            (
                "GREENLIGHT_HOME".to_owned(),
                base.join("data").display().to_string(),
            ),
            (
                "GREENLIGHT_WORKSPACE".to_owned(),
                base.join("ws").display().to_string(),
            ),
            ("TELOXIDE_TOKEN".to_owned(), TOKEN.to_owned()),
            (
                "GREENLIGHT_TELEGRAM_API_URL".to_owned(),
                self.bot.server.api_url.clone(),
            ),
            (
                "GREENLIGHT_TELEGRAM_OWNER_ID".to_owned(),
                OWNER.0.to_string(),
            ),
            (
                "GREENLIGHT_TELEGRAM_MEMBERS".to_owned(),
                MEMBER.0.to_string(),
            ),
            ("GREENLIGHT_TELEGRAM_GROUPS".to_owned(), GROUP.0.to_string()),
            ("GREENLIGHT_MODEL".to_owned(), "openai/scripted".to_owned()),
            (
                "GREENLIGHT_MODEL_BASE_URL".to_owned(),
                "http://127.0.0.1:9/v1/".to_owned(),
            ),
            ("GREENLIGHT_MODEL_API_KEY".to_owned(), KEY.to_owned()),
            ("GREENLIGHT_LANGUAGE".to_owned(), "en".to_owned()),
        ];
        if !self.setup.limits {
            for (name, value) in [
                ("PRIVATE_PER_SECOND", "1000"),
                ("PRIVATE_BURST", "100"),
                ("GROUP_PER_MINUTE", "1000"),
                ("BOT_PER_SECOND", "1000"),
            ] {
                env.push((
                    format!("GREENLIGHT_TELEGRAM_LIMITS_{name}"),
                    value.to_owned(),
                ));
            }
        }
        env.extend(self.setup.env.clone());
        env
    }

    /// The settings, as the environment gives them.
    pub(crate) fn settings(&self) -> Settings {
        let env = self.environment();
        let look = |name: &str| {
            let found = env.iter().rev().find(|(known, _)| known == name);
            found.map(|(_, value)| value.clone())
        };
        let mut settings = config::load(&Flags::default(), look, &self.base).expect("settings");
        if !self.setup.limits {
            let telegram = Arc::make_mut(&mut settings.telegram);
            telegram.limits.group_per_minute = 60_000;
        }
        settings
    }

    /// Starts the bot.
    pub(crate) async fn launch(&mut self) {
        if self.setup.process {
            self.spawn().await;
            return;
        }
        let settings = self.settings();
        let redactor = Arc::new(Redactor::new(config::secrets(&settings)));
        let parts = Parts {
            models: Some(vec![Arc::new(self.script.clone()) as Arc<dyn Model>]),
            helper: Some(env!("CARGO_BIN_EXE_greenlight").into()),
        };
        // What a stopped bot left running lets go of the store a moment later.
        let bot = self
            .within("the store is free", async {
                loop {
                    match Bot::start_with(settings.clone(), Arc::clone(&redactor), parts.clone())
                        .await
                    {
                        Err(fault) if fault.key == "store-locked" => tokio::task::yield_now().await,
                        other => return other,
                    }
                }
            })
            .await;
        self.running = Some(Live::Inside(bot.expect("the bot starts")));
    }

    async fn spawn(&mut self) {
        let polls = |rig: &Self| {
            let log = rig.world().log();
            log.iter()
                .filter(|call| call.method.eq_ignore_ascii_case("getUpdates"))
                .count()
        };
        let before = polls(self);
        let log = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.base.join("log"))
            .unwrap();
        let child = tokio::process::Command::new(env!("CARGO_BIN_EXE_greenlight"))
            .arg("run")
            .current_dir(&self.base)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("RUST_LOG", "info")
            .envs(self.environment())
            .stdin(std::process::Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        self.running = Some(Live::Process(child));
        self.wait("the first getUpdates", |rig| {
            (polls(rig) > before).then_some(())
        })
        .await;
    }

    /// What the process logged.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.base.join("log")).unwrap_or_default()
    }

    /// Kills the process as nothing can be killed more.
    pub(crate) async fn kill(&mut self) {
        if let Some(Live::Process(mut child)) = self.running.take() {
            child.kill().await.unwrap();
        }
    }

    /// Stops the bot as a signal would.
    pub(crate) async fn halt(&mut self) {
        match self.running.take() {
            Some(Live::Inside(bot)) => {
                bot.stop().await;
            }
            Some(Live::Process(mut child)) => {
                let id = child
                    .id()
                    .and_then(|id| rustix::process::Pid::from_raw(id.cast_signed()));
                rustix::process::kill_process(id.unwrap(), rustix::process::Signal::TERM).unwrap();
                let code = self.within("the process ends", child.wait()).await.unwrap();
                assert!(code.success(), "{code}\n{}", self.log());
            }
            None => {}
        }
    }

    /// Stops and starts.
    pub(crate) async fn restart(&mut self) {
        self.halt().await;
        self.launch().await;
    }

    /// Ends the test: stops the bot and judges everything that was recorded.
    pub(crate) async fn finish(mut self) {
        self.halt().await;
        self.judge();
    }

    /// What must hold for every test.
    pub(crate) fn judge(&self) {
        record_sent(self.world());
        self.bot.assert_clean();
        assert_eq!(self.script.failed(), Vec::<String>::new());
        let secrets = [TOKEN.to_owned(), KEY.to_owned()];
        assert_eq!(self.script.faults(&secrets), Vec::<String>::new());
        let log = self.log();
        assert!(!log.contains("panicked at"), "{log}");
        for secret in &secrets {
            assert!(!log.contains(secret.as_str()), "a secret is in the log");
        }
        let left: Vec<String> = self
            .messages()
            .into_iter()
            .filter(|post| post.from_bot && post.text.contains('▋'))
            .map(|post| post.text)
            .collect();
        assert_eq!(left, Vec::<String>::new(), "a placeholder is left");
    }

    pub(crate) fn world(&self) -> &World {
        self.bot.world()
    }

    pub(crate) fn ws(&self) -> PathBuf {
        self.base.join("ws")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.base.join("data")
    }

    pub(crate) fn watch(&self) -> Watch {
        Watch::new(&self.ws())
    }

    pub(crate) fn picture(&self) -> String {
        picture(&self.ws())
    }

    // ---- waiting

    /// Waits until `seen` finds something; asked after every change of the chats or of the model.
    pub(crate) async fn wait<T>(&self, what: &str, mut seen: impl FnMut(&Self) -> Option<T>) -> T {
        let mut asked = self.script.watch();
        let mut seen = |rig: &Self| {
            rig.approve_cards();
            seen(rig)
        };
        let work = async {
            loop {
                asked.borrow_and_update();
                let failed = self.script.failed();
                assert!(failed.is_empty(), "{failed:?}\n{}", self.report());
                tokio::select! {
                    found = self.world().wait_for(|_| seen(self)) => return found,
                    more = asked.changed() => { more.ok(); }
                }
            }
        };
        self.within(what, work).await
    }

    /// Where cards are no part of the test, the owner allows everything.
    fn approve_cards(&self) {
        if !self.setup.approving {
            return;
        }
        let chat = self.bot.chat();
        let recent = MessageId(self.world().last_message(chat).0 - 6);
        for post in self.world().messages_after(chat, recent) {
            for data in post
                .data()
                .into_iter()
                .filter(|data| data.starts_with("approve:"))
            {
                if self.tapped.lock().unwrap().insert(data.clone()) {
                    self.world().tap(OWNER, chat, post.id, &data);
                }
            }
        }
    }

    /// Ends the test with a report if `work` takes too long.
    pub(crate) async fn within<T>(&self, what: &str, work: impl Future<Output = T>) -> T {
        match tokio::time::timeout(PATIENCE, work).await {
            Ok(found) => found,
            Err(_) => panic!("never happened: {what}\n{}", self.report()),
        }
    }

    /// The chats as text.
    pub(crate) fn report(&self) -> String {
        let mut out = String::new();
        for chat in [self.bot.chat(), GROUP, ChatId(MEMBER.0)] {
            out.push_str(&format!("--- chat {}\n", chat.0));
            let posts = self.world().all_messages(chat);
            for post in &posts[posts.len().saturating_sub(60)..] {
                out.push_str(&format!(
                    "[{}] {}{}{} {:?}\n    {}\n",
                    post.id.0,
                    post.author,
                    if post.silent { " silent" } else { "" },
                    if post.deleted { " deleted" } else { "" },
                    post.data(),
                    post.text
                        .chars()
                        .take(700)
                        .collect::<String>()
                        .replace('\n', "\n    ")
                ));
            }
        }
        if let Some(last) = self.script.asked().last() {
            let messages = &last.request.messages;
            for message in &messages[messages.len().saturating_sub(5)..] {
                let text = format!("{message:?}");
                out.push_str(&text.chars().take(900).collect::<String>());
                out.push('\n');
            }
        }
        out
    }

    /// Waits for a message of the bot after `mark` in any chat.
    pub(crate) async fn reply_in(&self, chat: ChatId, mark: i32, text: &str) -> Post {
        self.wait(&format!("a message with “{text}”"), |rig| {
            let posts = rig.world().messages_after(chat, MessageId(mark));
            posts
                .into_iter()
                .find(|post| post.from_bot && !is_flow(post) && post.text.contains(text))
        })
        .await
    }

    pub(crate) async fn reply(&self, mark: i32, text: &str) -> Post {
        self.reply_in(self.bot.chat(), mark, text).await
    }

    // ---- what a person sees

    pub(crate) fn messages(&self) -> Vec<Post> {
        self.bot.messages()
    }

    pub(crate) fn last_id(&self, chat: ChatId) -> i32 {
        self.world().last_message(chat).0
    }

    pub(crate) fn mark(&self) -> i32 {
        self.last_id(self.bot.chat())
    }

    pub(crate) fn flow_in(&self, chat: ChatId) -> Option<Post> {
        self.world().messages(chat).into_iter().rev().find(is_flow)
    }

    pub(crate) fn flow(&self) -> Option<Post> {
        self.flow_in(self.bot.chat())
    }

    pub(crate) fn post(&self, id: MessageId) -> Post {
        let posts = self.world().all_messages(self.bot.chat());
        posts
            .into_iter()
            .find(|post| post.id == id)
            .expect("a message")
    }

    /// Messages that carry a plan button.
    pub(crate) fn plan_keyboards(&self, chat: ChatId) -> Vec<MessageId> {
        let posts = self.world().messages(chat).into_iter();
        posts
            .filter(|post| post.data().iter().any(|data| data.starts_with("plan:")))
            .map(|post| post.id)
            .collect()
    }
}

/// How a flow message begins: it runs, it shows only the plan, or it came after the end of its turn.
const HEADS: [char; 7] = ['⚙', '📋', '✅', '❌', '⏱', '⏹', '⏸'];

/// A flow message is silent and begins with one of its heads.
pub(crate) fn is_flow(post: &Post) -> bool {
    let texts = post.history.iter().chain([&post.text]);
    post.from_bot
        && post.silent
        && post.file.is_none()
        && texts.into_iter().any(|text| text.starts_with(HEADS))
}

pub(crate) fn is_settled(post: &Post) -> bool {
    !post.text.starts_with('⚙')
}

/// Keeps every text that was sent, with its entities, for the reference parser.
fn record_sent(world: &World) {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let mut lines = std::collections::BTreeSet::new();
    for call in world.log().into_iter().filter(|call| call.status == 200) {
        for (text, entities) in [("text", "entities"), ("caption", "caption_entities")] {
            let Some(words) = call.params.get(text).and_then(Value::as_str) else {
                continue;
            };
            if call.method == "answerCallbackQuery" {
                continue;
            }
            let spans = call.params.get(entities).cloned().unwrap_or(json!([]));
            lines.insert(
                json!({"method": call.method, "text": words, "entities": spans}).to_string(),
            );
        }
    }
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sent");
    std::fs::create_dir_all(&dir).unwrap();
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("{}-{number}.jsonl", std::process::id());
    let body: String = lines.into_iter().map(|line| line + "\n").collect();
    std::fs::write(dir.join(name), body).unwrap();
}
