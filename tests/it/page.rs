//! The chat page, looked at through headless Chromium where there is one.

use std::path::PathBuf;
use std::process::Command;

use greenlight::playground::{GROUP, MEMBER, OWNER, PAGE_KEYS};
use serde_json::{Value, json};

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
