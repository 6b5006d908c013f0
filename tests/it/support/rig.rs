//! The real bot, inside the test, between a strict Bot API and a scripted model.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use greenlight::app::{Bot, Parts};
use greenlight::config::{self, Flags, Settings};
use greenlight::domain::{ChatId, MessageId, ThreadId, UserId};
use greenlight::llm::Model;
use greenlight::playground::{Answer, Draft, GROUP, MEMBER, OWNER, Post, TOKEN, World};
use greenlight::text::redact::Redactor;
use serde_json::{Value, json};

use super::bot::TestBot;
use super::provider;
use super::script::{Asked, Script, Step, call, look, say};
use super::tree::{Watch, picture, workspace};

pub(crate) const KEY: &str = "sk-whole-0123456789abcdef0123456789abcdef";
/// Longest wait for something that must happen; the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) const STEPS: [&str; 2] = ["Correct the adder", "Note the change"];
pub(crate) const PLAN: &str = "# Fix the adder

## Context
- **Problem:** The function add subtracts its second argument.
- **Target state:** The function add returns the sum and the unit test passes.
- **Intent:** The owner asked for it today.
- **Out of scope:** Every other function.

## Implementation steps
1. Correct the adder — change calc.py so that add returns the sum.
   - Done when: the unit test passes
2. Note the change — add one line to CHANGES.md.
";

/// The tasks that fit [`PLAN`].
pub(crate) fn tasks() -> Value {
    json!([
        {"id": "t1", "title": STEPS[0], "description": "Change calc.py so that add returns the sum.",
         "acceptance_criteria": ["the unit test passes"]},
        {"id": "t2", "title": STEPS[1], "description": "Add one line to CHANGES.md."},
    ])
}

pub(crate) fn plan(operation: &str, mut arguments: Value) -> Step {
    arguments["operation"] = json!(operation);
    call("plan", arguments)
}

pub(crate) fn write(path: &str, content: &str) -> Step {
    call("write_file", json!({"path": path, "content": content}))
}

pub(crate) fn write_md(content: &str) -> Step {
    let content = content.to_owned();
    look(move |asked| write(&asked.md_path(), &content))
}

pub(crate) fn bash(command: &str) -> Step {
    call("bash", json!({"command": command}))
}

pub(crate) fn check(with: impl FnOnce(&Asked) + Send + 'static, step: Step) -> Step {
    Step::Checked(Box::new(with), Box::new(step))
}

/// A design turn: init, write the prose, say so.
pub(crate) fn designer(md: &str) -> Vec<Step> {
    vec![
        plan("init", json!({"mode": "design", "title": "Fix the adder"})),
        write_md(md),
        say("The plan is ready for your review."),
    ]
}

/// How a seed turn begins.
pub(crate) fn seed() -> Vec<Step> {
    vec![
        plan("add_tasks", json!({"tasks": tasks()})),
        plan("start", json!({"task_id": "t1"})),
    ]
}

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
            ("GREENLIGHT_HOME".to_owned(), base.join("data").display().to_string()),
            ("GREENLIGHT_WORKSPACE".to_owned(), base.join("ws").display().to_string()),
            ("TELOXIDE_TOKEN".to_owned(), TOKEN.to_owned()),
            ("GREENLIGHT_TELEGRAM_API_URL".to_owned(), self.bot.server.api_url.clone()),
            ("GREENLIGHT_TELEGRAM_OWNER_ID".to_owned(), OWNER.0.to_string()),
            ("GREENLIGHT_TELEGRAM_MEMBERS".to_owned(), MEMBER.0.to_string()),
            ("GREENLIGHT_TELEGRAM_GROUPS".to_owned(), GROUP.0.to_string()),
            ("GREENLIGHT_MODEL".to_owned(), "openai/scripted".to_owned()),
            ("GREENLIGHT_MODEL_BASE_URL".to_owned(), "http://127.0.0.1:9/v1/".to_owned()),
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
                env.push((format!("GREENLIGHT_TELEGRAM_LIMITS_{name}"), value.to_owned()));
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
            settings.telegram.limits.group_per_minute = 60_000;
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
                    match Bot::start_with(settings.clone(), Arc::clone(&redactor), parts.clone()).await {
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
            log.iter().filter(|call| call.method.eq_ignore_ascii_case("getUpdates")).count()
        };
        let before = polls(self);
        let log = std::fs::OpenOptions::new().create(true).append(true).open(self.base.join("log")).unwrap();
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
        self.wait("the first getUpdates", |rig| (polls(rig) > before).then_some(())).await;
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
                let id = child.id().and_then(|id| rustix::process::Pid::from_raw(id.cast_signed()));
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
            for data in post.data().into_iter().filter(|data| data.starts_with("approve:")) {
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
                    post.text.chars().take(700).collect::<String>().replace('\n', "\n    ")
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
        posts.into_iter().find(|post| post.id == id).expect("a message")
    }

    /// Messages that carry a plan button.
    pub(crate) fn plan_keyboards(&self, chat: ChatId) -> Vec<MessageId> {
        let posts = self.world().messages(chat).into_iter();
        posts
            .filter(|post| post.data().iter().any(|data| data.starts_with("plan:")))
            .map(|post| post.id)
            .collect()
    }

    // ---- acting

    pub(crate) fn say(&self, text: &str) -> MessageId {
        self.bot.say(text)
    }

    /// Says a command and waits for the answer that holds `text`.
    pub(crate) async fn command(&self, command: &str, text: &str) -> Post {
        let mark = self.mark();
        self.say(command);
        self.reply(mark, text).await
    }

    /// Says something and waits for the answer.
    pub(crate) async fn turn(&self, text: &str, steps: Vec<Step>) -> Post {
        let draft = Draft::text(text);
        self.turn_with(draft, steps).await
    }

    pub(crate) async fn turn_with(&self, draft: Draft, steps: Vec<Step>) -> Post {
        let words = steps.last().and_then(Step::words);
        let answer = words.expect("the last step is an answer").to_owned();
        let mark = self.mark();
        self.script.then(steps);
        self.bot.send(draft);
        let post = self.reply(mark, &answer).await;
        self.settled(mark).await;
        post
    }

    /// Waits until no flow message after `mark` runs.
    pub(crate) async fn settled(&self, mark: i32) {
        let chat = self.bot.chat();
        self.settled_in(chat, mark).await;
    }

    pub(crate) async fn settled_in(&self, chat: ChatId, mark: i32) {
        self.wait("a settled flow message", |rig| {
            let posts = rig.world().messages_after(chat, MessageId(mark));
            let mut flows = posts.iter().filter(|post| is_flow(post));
            flows.all(is_settled).then_some(())
        })
        .await;
    }

    /// Waits until the newest flow message is settled and carries `data`.
    pub(crate) async fn card(&self, data: &str) -> Post {
        self.card_in(self.bot.chat(), data).await
    }

    pub(crate) async fn card_in(&self, chat: ChatId, data: &str) -> Post {
        self.wait(&format!("a settled card with {data}"), |rig| {
            rig.flow_in(chat)
                .filter(|post| is_settled(post) && post.data().iter().any(|known| known == data))
        })
        .await
    }

    /// Waits for an approval card after `mark`; gives it with the id on its buttons.
    pub(crate) async fn approval(&self, mark: i32) -> (Post, String) {
        self.approval_in(self.bot.chat(), mark).await
    }

    pub(crate) async fn approval_in(&self, chat: ChatId, mark: i32) -> (Post, String) {
        self.wait("an approval card", |rig| {
            let posts = rig.world().messages_after(chat, MessageId(mark));
            posts.into_iter().find_map(|post| {
                let data = post.data();
                let id = data.iter().find_map(|data| data.strip_prefix("approve:"))?;
                Some((post.clone(), id.to_owned()))
            })
        })
        .await
    }

    pub(crate) async fn tap(&self, message: MessageId, data: &str) -> Answer {
        self.within(data, self.bot.tap(message, data)).await
    }

    pub(crate) async fn tap_as(&self, user: UserId, chat: ChatId, message: MessageId, data: &str) -> Answer {
        self.within(data, self.bot.tap_as(user, chat, message, data)).await
    }

    pub(crate) fn say_in(&self, user: UserId, chat: ChatId, thread: Option<ThreadId>, text: &str) -> MessageId {
        self.bot.say_as(user, chat, thread, text)
    }

    /// `/plan` without a text.
    pub(crate) async fn plan_mode(&self) {
        self.command("/plan", "Plan mode is on").await;
        let side = self.sidecar().expect("a sidecar");
        assert_eq!(side["pre_init_editing"], json!(true));
    }

    /// From `/plan` to a plan that waits for approval; gives its card.
    pub(crate) async fn design(&self) -> Post {
        self.turn("/plan Fix the adder", designer(PLAN)).await;
        self.card("plan:ok").await
    }

    /// Taps Approve and works the seed turn to its answer.
    pub(crate) async fn approve(&self, card: &Post, steps: Vec<Step>) -> Post {
        let mark = self.mark();
        let words = steps.last().and_then(Step::words);
        let text = words.expect("the last step is an answer").to_owned();
        self.script.then(steps);
        let last = text.clone();
        self.script.brain(move |_| Step::Say(last.clone()));
        let answer = self.tap(card.id, "plan:ok").await;
        assert!(!answer.alert, "{answer:?}");
        let post = self.reply(mark, &text).await;
        self.settled(mark).await;
        post
    }

    pub(crate) async fn discard(&self) {
        self.command("/discard", "Discarded").await;
        assert!(self.no_plan(), "{:?}", self.live("json"));
    }

    // ---- plan files

    /// Live plan files of the private session and all others.
    pub(crate) fn live(&self, extension: &str) -> Vec<PathBuf> {
        let mut found = below(&self.home());
        found.retain(|path| {
            let name = path.file_name().unwrap().to_string_lossy();
            name.starts_with(".greenlight_plan_") && name.ends_with(&format!(".{extension}"))
        });
        found
    }

    pub(crate) fn sidecar(&self) -> Option<Value> {
        let found = self.live("json");
        assert!(found.len() < 2, "{found:?}");
        let text = std::fs::read_to_string(found.first()?).ok()?;
        Some(serde_json::from_str(&text).expect("a sidecar is JSON"))
    }

    fn foreign(path: &Path) -> bool {
        path.display().to_string().contains("4b8f7d52-0c11-4c5e-9a54-7a1b7d1f5f10")
    }

    /// The sidecar, where another session's prose lies beside it.
    pub(crate) fn sidecar_of_session(&self) -> Value {
        let path = self.live("json").into_iter().find(|path| !Self::foreign(path));
        let text = std::fs::read_to_string(path.expect("a sidecar")).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    /// The prose, where another session's lies beside it.
    pub(crate) fn md_of_session(&self) -> PathBuf {
        let path = self.live("md").into_iter().find(|path| !Self::foreign(path));
        path.expect("a session .md")
    }

    pub(crate) fn status(&self) -> String {
        self.sidecar().map_or_else(String::new, |side| {
            side["status"].as_str().unwrap_or_default().to_owned()
        })
    }

    pub(crate) fn md(&self) -> PathBuf {
        self.live("md").pop().expect("a session .md")
    }

    pub(crate) fn no_plan(&self) -> bool {
        self.live("json").is_empty() && self.live("md").is_empty()
    }

    pub(crate) fn archived(&self, extension: &str) -> Vec<PathBuf> {
        let mut found = below(&self.home());
        found.retain(|path| {
            let name = path.file_name().unwrap().to_string_lossy();
            name.starts_with("greenlight_plan_") && name.ends_with(&format!(".{extension}"))
        });
        found
    }
}

/// Every file below a directory.
pub(crate) fn below(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut todo = vec![root.to_path_buf()];
    while let Some(dir) = todo.pop() {
        for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                todo.push(entry.path());
            } else {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    found
}

/// A flow message is silent and was headed by the running glyph, or it only shows the plan.
pub(crate) fn is_flow(post: &Post) -> bool {
    let texts = post.history.iter().chain([&post.text]);
    post.from_bot
        && post.silent
        && post.file.is_none()
        && texts.into_iter().any(|text| text.starts_with(['⚙', '📋']))
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
            lines.insert(json!({"method": call.method, "text": words, "entities": spans}).to_string());
        }
    }
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sent");
    std::fs::create_dir_all(&dir).unwrap();
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("{}-{number}.jsonl", std::process::id());
    let body: String = lines.into_iter().map(|line| line + "\n").collect();
    std::fs::write(dir.join(name), body).unwrap();
}
