//! The chat page, looked at through headless Chromium where there is one.

use std::path::PathBuf;
use std::process::Command;

use greenlight::playground::{GROUP, MEMBER, OWNER, PAGE_KEYS};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::support::{Client, TestBot};

#[tokio::test]
async fn every_sentence_of_the_page_is_there_in_every_language() {
    let bot = TestBot::new().await;
    let http = reqwest::Client::new();
    for language in ["en", "ru", "ar"] {
        let url = format!("{}/page/strings?lang={language}", bot.server.api_url);
        let strings: Value = http.get(url).send().await.unwrap().json().await.unwrap();
        for key in PAGE_KEYS {
            let short = key.trim_start_matches("playground-");
            let text = strings[short].as_str().unwrap();
            assert!(!text.is_empty() && text != key, "{key} in {language}");
        }
    }
}

#[tokio::test]
async fn the_page_answers_only_to_this_machines_names_and_takes_only_json() {
    let bot = TestBot::new().await;
    let http = reqwest::Client::new();
    let say = format!("{}/page/say", bot.server.api_url);
    let body = json!({ "user": OWNER, "chat": OWNER, "text": "hi" });
    let foreign = http
        .post(&say)
        .header("Host", "evil.example")
        .json(&body)
        .send()
        .await
        .unwrap();
    assert_eq!(foreign.status().as_u16(), 403);
    let form = http
        .post(&say)
        .header("Content-Type", "text/plain")
        .body(body.to_string())
        .send()
        .await
        .unwrap();
    assert_eq!(form.status().as_u16(), 415);
    assert_eq!(bot.messages().len(), 0);
    let own = http.post(&say).json(&body).send().await.unwrap();
    assert_eq!(own.status().as_u16(), 200);
    assert_eq!(bot.messages().len(), 1);
    let page = http.get(bot.server.page_url()).send().await.unwrap();
    let csp = page.headers()["content-security-policy"].to_str().unwrap();
    assert!(
        csp.contains("default-src 'none'") && !csp.contains("unsafe"),
        "{csp}"
    );
}

/// A chat as the bot would leave it: a flow message, a card, a question, an answer.
async fn furnish(bot: &TestBot) {
    let client = Client::new(bot);
    bot.say("Fix the failing test, please");
    let log = "price.sh: discount is an amount\n✓ list_dir .\n✓ read_file test.sh\n✗ bash sh test.sh → exit 1\n✓ read_file price.sh\n✓ edit_file price.sh +1 −1\n✓ bash sh test.sh → 3 passed, 0 failed";
    let head = "✅ Finished • 6 tools • 12 s\n";
    let units = |text: &str| text.encode_utf16().count();
    let text = format!("{head}{log}\nctx 3.1k/128k");
    client
        .ok(
            "sendMessage",
            json!({ "chat_id": OWNER, "text": text, "disable_notification": true,
            "entities": [{ "type": "bold", "offset": 0, "length": 10 },
                { "type": "expandable_blockquote", "offset": units(head), "length": units(log) }],
            "reply_markup": { "inline_keyboard": [
                [{ "text": "✅ Approve", "callback_data": "plan:ok", "style": "success" },
                 { "text": "🗑 Discard", "callback_data": "plan:no" }]] } }),
        )
        .await;
    let words = "Fixed. The test passes now.\n\nprice.sh took the discount as an amount:\n\n- echo $((sum - discount))\n+ echo $((sum - sum * discount / 100))\n\nSee https://example.org or <script>alert(1)</script>.";
    let at = |part: &str| units(words.split(part).next().unwrap_or_default());
    let code = "- echo $((sum - discount))\n+ echo $((sum - sum * discount / 100))";
    client
        .ok("sendMessage", json!({ "chat_id": OWNER, "text": words, "reply_parameters": { "message_id": bot.messages()[0].id },
            "entities": [{ "type": "bold", "offset": 0, "length": 6 },
                { "type": "code", "offset": at("price.sh"), "length": 8 },
                { "type": "pre", "offset": at(code), "length": units(code), "language": "diff" }] }))
        .await;
    bot.say_as(
        MEMBER,
        GROUP,
        None,
        "@greenlight_play_bot what is left to do?",
    );
    client
        .ok(
            "sendMessage",
            json!({ "chat_id": GROUP, "text": "Two steps are open. The owner decides." }),
        )
        .await;
}

fn chromium() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .flat_map(|dir| names.map(|name| dir.join(name)))
        .find(|file| file.exists())
}

/// Runs the browser; a screenshot goes to `$PAGE_SHOTS/<name>.png` if that is set.
async fn look(browser: PathBuf, url: String, name: &'static str, size: &'static str) -> String {
    let profile = tempfile::tempdir().unwrap();
    let shots = std::env::var_os("PAGE_SHOTS").map(PathBuf::from);
    tokio::task::spawn_blocking(move || {
        let run = |extra: &[String]| {
            Command::new(&browser)
                .args([
                    "--headless",
                    "--no-sandbox",
                    "--disable-gpu",
                    "--hide-scrollbars",
                    "--virtual-time-budget=4000",
                ])
                .arg(format!("--user-data-dir={}", profile.path().display()))
                .arg(format!("--window-size={size}"))
                .args(extra)
                .arg(&url)
                .output()
                .unwrap()
        };
        if let Some(shots) = shots {
            run(&[format!(
                "--screenshot={}",
                shots.join(format!("{name}.png")).display()
            )]);
        }
        String::from_utf8(run(&["--dump-dom".to_owned()]).stdout).unwrap()
    })
    .await
    .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_shows_messages_quotes_and_buttons_and_runs_no_markup_of_a_message() {
    let Some(browser) = chromium() else {
        eprintln!("SKIPPED: no Chromium on this machine, so nobody looked at the chat page");
        return;
    };
    let bot = TestBot::new().await;
    furnish(&bot).await;
    let url = |query: &str| format!("{}?still&{query}", bot.server.page_url());
    let dom = look(
        browser.clone(),
        url("lang=en&theme=light"),
        "light",
        "390,844",
    )
    .await;
    for part in [
        "data-ready=\"yes\"",
        "Approve",
        "blockquote class=\"long\"",
        "&lt;script&gt;alert(1)&lt;/script&gt;",
        "3 passed, 0 failed",
        "sendMessage",
    ] {
        assert!(dom.contains(part), "{part} is not in the page: {dom}");
    }
    let dom = look(
        browser.clone(),
        url("lang=ar&theme=dark"),
        "arabic",
        "390,844",
    )
    .await;
    assert!(dom.contains("dir=\"rtl\""));
    let dom = look(
        browser,
        url("lang=en&as=member&chat=group&theme=dark"),
        "group",
        "390,844",
    )
    .await;
    assert!(dom.contains("Two steps are open"));
}

/// The playground as a person starts it: the program, its page, its events.
struct Playground {
    url: String,
    http: reqwest::Client,
    events: reqwest::Response,
    tapped: Vec<String>,
    _program: tokio::process::Child,
}

impl Playground {
    async fn start() -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut program = tokio::process::Command::new(env!("CARGO_BIN_EXE_greenlight"))
            .args(["playground", "--no-open"])
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", home.path())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(program.stdout.take().unwrap());
        out.read_line(&mut line).await.unwrap();
        let url = line
            .split_whitespace()
            .find(|word| word.starts_with("http://"))
            .unwrap();
        let url = url.trim_end_matches('/').to_owned();
        let http = reqwest::Client::new();
        let events = http.get(format!("{url}/page/events")).send().await.unwrap();
        Self {
            url,
            http,
            events,
            tapped: Vec::new(),
            _program: program,
        }
    }

    async fn post(&self, path: &str, body: Value) {
        let url = format!("{}{path}", self.url);
        self.http.post(url).json(&body).send().await.unwrap();
    }

    async fn say(&self, chat: i64, text: &str) {
        let body = json!({ "user": OWNER, "chat": chat, "text": text });
        self.post("/page/say", body).await;
    }

    async fn messages(&self, chat: i64) -> Vec<Value> {
        let url = format!("{}/page/snapshot", self.url);
        let snapshot: Value = self
            .http
            .get(url)
            .send()
            .await
            .unwrap()
            .json()
            .await
            .unwrap();
        let all = snapshot["messages"].as_array().unwrap();
        let here = |one: &&Value| one["chat"] == json!(chat) && one["deleted"] != json!(true);
        all.iter().filter(here).cloned().collect()
    }

    /// The first message of a chat that fits; looks again at every event. Cards that come up meanwhile
    /// are allowed by the owner.
    async fn until(&mut self, chat: i64, fits: impl Fn(&Value) -> bool) -> Value {
        let wait = async {
            loop {
                let messages = self.messages(chat).await;
                if let Some(found) = messages.iter().find(|one| fits(one)) {
                    return found.clone();
                }
                for (message, data) in buttons(&messages, "approve:") {
                    if !self.tapped.contains(&data) {
                        self.tap(OWNER.0, chat, &message, &data).await;
                        self.tapped.push(data);
                    }
                }
                self.events.chunk().await.unwrap();
            }
        };
        let limit = std::time::Duration::from_secs(120);
        tokio::time::timeout(limit, wait).await.expect("it came")
    }

    async fn tap(&self, user: i64, chat: i64, message: &Value, data: &str) {
        let id = &message["id"];
        let body = json!({ "user": user, "chat": chat, "message": id, "data": data });
        self.post("/page/tap", body).await;
    }
}

/// Buttons whose data begins with `data`, with their messages.
fn buttons(messages: &[Value], data: &str) -> Vec<(Value, String)> {
    let mut found = Vec::new();
    for message in messages {
        let rows = message["keyboard"].as_array().unwrap();
        for button in rows.iter().flat_map(|row| row.as_array().unwrap()) {
            let held = button["data"].as_str().unwrap_or_default();
            if held.starts_with(data) {
                found.push((message.clone(), held.to_owned()));
            }
        }
    }
    found
}

fn says(message: &Value, words: &str) -> bool {
    message["text"].as_str().unwrap_or_default().contains(words)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_demo_fixes_the_test_and_carries_out_a_plan_and_the_page_shows_both() {
    let mut play = Playground::start().await;
    play.say(OWNER.0, "fix the failing test").await;
    let is_answer = |one: &Value| says(one, "Fixed. The test passes now.");
    play.until(OWNER.0, is_answer).await;
    assert_eq!(
        play.tapped.len(),
        3,
        "two commands and a change were asked for"
    );

    play.say(GROUP.0, "/plan@greenlight_play_bot note the change")
        .await;
    let ready = |one: &Value| {
        says(one, "Ready for review") && !buttons(std::slice::from_ref(one), "plan:ok").is_empty()
    };
    let card = play.until(GROUP.0, ready).await;
    play.tap(MEMBER.0, GROUP.0, &card, "plan:ok").await;
    play.tap(OWNER.0, GROUP.0, &card, "plan:ok").await;
    let done = play.until(GROUP.0, |one| says(one, "🏁 Done")).await;
    assert!(
        says(&done, "2/2") && says(&done, "☑ Correct the discount"),
        "{done}"
    );
    play.until(GROUP.0, |one| says(one, "The plan is carried out."))
        .await;

    let Some(browser) = chromium() else {
        eprintln!("SKIPPED: no Chromium on this machine, so nobody looked at the demo's page");
        return;
    };
    let page = |query: &str| format!("{}/?still&lang=en&theme=light&{query}", play.url);
    let dom = look(browser.clone(), page("as=owner"), "fixed", "390,844").await;
    assert!(
        dom.contains("3 passed, 0 failed") && dom.contains("Allowed."),
        "{dom}"
    );
    let dom = look(
        browser,
        page("as=member&chat=group"),
        "carried-out",
        "390,844",
    )
    .await;
    for part in ["🏁 Done", "☑ Note the change", "The plan is carried out."] {
        assert!(dom.contains(part), "{part} is not in the page: {dom}");
    }
}
