//! The panel, also as headless Chromium shows it where there is one.

use std::path::PathBuf;
use std::process::Command;

use greenlight::http::PANEL_KEYS;

use super::world::{TOKEN, World, json, status};

#[tokio::test]
async fn every_sentence_is_there_in_every_language() {
    let world = World::new().await;
    for (language, right_to_left) in [("en", false), ("ru", false), ("ar", true)] {
        let told = json(world.get(&format!("/panel/words?lang={language}"))).await;
        assert_eq!(told["language"], language);
        assert_eq!(told["right_to_left"], right_to_left);
        for key in PANEL_KEYS {
            let text = told["words"][key.trim_start_matches("panel-")]
                .as_str()
                .unwrap();
            assert!(!text.is_empty() && text != key, "{key} in {language}");
        }
    }
}

#[tokio::test]
async fn files_come_with_their_type_and_nothing_else_is_handed_out() {
    let world = World::new().await;
    for (path, kind) in [
        ("/", "text/html"),
        ("/panel/app.js", "text/javascript"),
        ("/panel/base.css", "text/css"),
        ("/panel/icon.svg", "image/svg+xml"),
    ] {
        let answer = world.get(path).send().await.unwrap();
        assert_eq!(answer.headers()["content-type"], kind, "{path}");
    }
    for path in [
        "/panel/nothing.js",
        "/panel/..%2Fmod.rs",
        "/panel/%2Fetc%2Fpasswd",
    ] {
        assert_eq!(status(world.get(path)).await, 404, "{path}");
    }
}

fn chromium() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .flat_map(|dir| {
            ["chromium", "chromium-browser", "google-chrome"].map(|name| dir.join(name))
        })
        .find(|file| file.exists())
}

/// The page after its scripts ran, at the width of a phone. A screenshot goes to `$PAGE_SHOTS` if set.
async fn look(browser: PathBuf, url: String, name: &'static str) -> String {
    tokio::task::spawn_blocking(move || {
        let profile = tempfile::tempdir().unwrap();
        let run = |extra: String| {
            Command::new(&browser)
                .args([
                    "--headless",
                    "--no-sandbox",
                    "--disable-gpu",
                    "--hide-scrollbars",
                ])
                .args(["--virtual-time-budget=4000", "--window-size=390,844"])
                .arg(format!("--user-data-dir={}", profile.path().display()))
                .args([extra, url.clone()])
                .output()
                .unwrap()
        };
        if let Some(shots) = std::env::var_os("PAGE_SHOTS") {
            let file = PathBuf::from(shots).join(format!("panel-{name}.png"));
            run(format!("--screenshot={}", file.display()));
        }
        String::from_utf8(run("--dump-dom".to_owned()).stdout).unwrap()
    })
    .await
    .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_shows_flow_plan_and_usage_and_runs_no_markup_of_a_model() {
    let Some(browser) = chromium() else {
        eprintln!("SKIPPED: no Chromium on this machine, so nobody looked at the panel");
        return;
    };
    let world = World::new().await;
    let views: [(&str, &str, &[&str]); 5] = [
        ("list", "", &["Chat &lt;b&gt;busy&lt;/b&gt;", "1/2"]),
        (
            "flow",
            "session=busy",
            &[
                "src/parser.rs",
                "&lt;img src=x onerror=alert(1)&gt;",
                "Next comes the lexer",
            ],
        ),
        (
            "plan",
            "session=busy&tab=plan",
            &[
                "Write &lt;script&gt;alert(2)&lt;/script&gt;",
                "unit tests",
                "changed since",
                "01234567",
            ],
        ),
        ("usage", "usage", &["demo/sample", "12,345"]),
        ("gone", "session=nobody", &["does not exist any more"]),
    ];
    for (name, place, parts) in views {
        let url = world.url(&format!("/?still#token={TOKEN}&{place}"));
        let dom = look(browser.clone(), url, name).await;
        for part in parts {
            assert!(dom.contains(part), "{part} is not in {name}: {dom}");
        }
    }
    let closed = look(browser, world.url("/?still#token=wrong"), "door").await;
    assert!(
        closed.contains("not accepted") && !closed.contains("busy"),
        "{closed}"
    );
}
