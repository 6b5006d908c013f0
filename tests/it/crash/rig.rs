//! The program as a process of its own, killed without warning, with a strict Bot API and a scripted
//! model that outlive it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use greenlight::domain::MessageId;
use greenlight::playground::{OWNER, Post};
use serde_json::Value;
use tokio::process::{Child, Command};
use tokio::sync::watch;

use super::script;
use crate::support::TestBot;

/// How long anything that must happen may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// How many messages of one chat may be on their way at a time: a flow message and a card.
const IN_FLIGHT: usize = 2;

/// A world with a program in it that can be killed and started again.
pub(super) struct Rig {
    pub(super) bot: TestBot,
    pub(super) model: Model,
    pub(super) home: PathBuf,
    pub(super) workspace: PathBuf,
    pub(super) name: String,
    /// Messages whose send may have been cut before its reply told the program their ids: the newest
    /// ones at a kill.
    pub(super) cut: HashSet<MessageId>,
    child: Option<Child>,
    dir: tempfile::TempDir,
}

impl Rig {
    /// Everything but the program. `model` is a `GREENLIGHT_MODEL`, such as `demo/demo`.
    pub(super) async fn new(model: &str, limits: bool) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (home, workspace) = (dir.path().join("home"), dir.path().join("work"));
        std::fs::create_dir_all(&workspace).unwrap();
        let builder = TestBot::builder();
        let builder = if limits { builder.limits() } else { builder };
        Self {
            bot: builder.start().await,
            model: Model::start().await,
            home,
            workspace,
            name: model.to_owned(),
            cut: HashSet::new(),
            child: None,
            dir,
        }
    }

    /// The command line of the program.
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_greenlight"));
        let log = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.log_path())
            .unwrap();
        command
            .arg("run")
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.dir.path().join("user"))
            .env("RUST_LOG", "info")
            .env("GREENLIGHT_HOME", &self.home)
            .env("TELOXIDE_TOKEN", &self.bot.server.token)
            .env("GREENLIGHT_TELEGRAM_API_URL", &self.bot.server.api_url)
            .env("GREENLIGHT_TELEGRAM_OWNER_ID", OWNER.0.to_string())
            .env("GREENLIGHT_MODEL", &self.name)
            .env(
                "GREENLIGHT_MODEL_BASE_URL",
                format!("{}/v1", self.model.url),
            )
            .env("GREENLIGHT_MODEL_API_KEY", "sk-crash-0123456789")
            .env("GREENLIGHT_MODEL_CONTEXT", "128000")
            .env("GREENLIGHT_WORKSPACE", &self.workspace)
            .env("GREENLIGHT_APPROVALS", "ask")
            .env("GREENLIGHT_LANGUAGE", "en")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .kill_on_drop(true);
        command
    }

    fn log_path(&self) -> PathBuf {
        self.workspace.with_file_name("log")
    }

    /// What the program has logged.
    pub(super) fn log(&self) -> String {
        std::fs::read_to_string(self.log_path()).unwrap_or_default()
    }

    /// Starts the program; returns at once.
    pub(super) fn start(&mut self) {
        self.child = Some(self.command().spawn().unwrap());
    }

    /// SIGKILL, and the end of the process.
    pub(super) async fn kill(&mut self) {
        let mut child = self.child.take().unwrap();
        child.kill().await.unwrap();
        let own: Vec<Post> = self.bot.messages();
        let own = own.iter().rev().filter(|post| post.from_bot);
        let newest = own.take(IN_FLIGHT).filter(|post| post.history.is_empty());
        self.cut.extend(newest.map(|post| post.id));
    }

    /// Sends a signal to the program.
    pub(super) fn signal(&self, signal: rustix::process::Signal) {
        let id = self.child.as_ref().and_then(Child::id).unwrap();
        let id = rustix::process::Pid::from_raw(i32::try_from(id).unwrap()).unwrap();
        rustix::process::kill_process(id, signal).unwrap();
    }

    /// Waits for the program to end by itself and gives its exit code.
    pub(super) async fn ended(&mut self) -> Option<i32> {
        let mut child = self.child.take().unwrap();
        within(child.wait()).await.unwrap().code()
    }

    /// Waits until the world holds something.
    pub(super) async fn until<T>(
        &self,
        what: &str,
        seen: impl FnMut(&greenlight::playground::World) -> Option<T>,
    ) -> T {
        match tokio::time::timeout(PATIENCE, self.bot.world().wait_for(seen)).await {
            Ok(found) => found,
            Err(_) => panic!("waited in vain for {what}\n{}", tail(&self.log())),
        }
    }

    /// Lines of the file that every command appends to.
    pub(super) fn effects(&self) -> Vec<String> {
        std::fs::read_to_string(self.workspace.join(script::EFFECTS))
            .unwrap_or_default()
            .lines()
            .map(str::to_owned)
            .collect()
    }

    /// Names in the data directory.
    pub(super) fn names(&self) -> Vec<String> {
        list(&self.home)
    }
}

fn list(dir: &Path) -> Vec<String> {
    std::fs::read_dir(dir)
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

/// The last lines of a log.
pub(super) fn tail(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(60)..].join("\n")
}

/// Fails a test that would hang.
pub(super) async fn within<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, work).await.expect("in time")
}

/// The provider: answers by [`script`] and keeps every request.
pub(super) struct Model {
    pub(super) url: String,
    seen: Arc<Mutex<Vec<Value>>>,
    count: watch::Receiver<usize>,
}

impl Model {
    async fn start() -> Self {
        let seen: Arc<Mutex<Vec<Value>>> = Arc::default();
        let (told, count) = watch::channel(0);
        let log = Arc::clone(&seen);
        let app = axum::Router::new().fallback(move |body: axum::body::Bytes| {
            let request: Value = serde_json::from_slice(&body).unwrap_or_default();
            let reply = script::reply(&request);
            let mut log = log.lock().unwrap();
            log.push(request);
            told.send_replace(log.len());
            async move { ([("content-type", "text/event-stream")], reply) }
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { url, seen, count }
    }

    /// Every request so far.
    pub(super) fn requests(&self) -> Vec<Value> {
        self.seen.lock().unwrap().clone()
    }

    /// How many requests there were.
    pub(super) fn count(&self) -> usize {
        *self.count.borrow()
    }

    /// Waits for so many requests.
    pub(super) async fn reached(&self, count: usize) {
        self.count
            .clone()
            .wait_for(|seen| *seen >= count)
            .await
            .unwrap();
    }
}
