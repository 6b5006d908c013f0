//! Every text that the integration tests sent, judged by TDLib's own code. It runs after them by name.
#![allow(missing_docs, reason = "tests are their own documentation")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a helper of a test fails the test, and says loudly what it skips"
)]

use std::path::{Path, PathBuf};
use std::process::Command;

fn skip(why: &str) {
    eprintln!("\n!!! SKIPPED: TDLib did not judge the texts that were sent: {why}\n");
}

/// The library, installed if that is possible.
fn library() -> Result<PathBuf, String> {
    if !cfg!(all(
        target_arch = "x86_64",
        target_os = "linux",
        target_env = "gnu"
    )) {
        return Err("there is no library for this system".to_owned());
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tdlib/install.sh");
    let done = Command::new(script)
        .output()
        .map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&done.stdout).trim().to_owned();
    if done.status.success() {
        Ok(Path::new(env!("CARGO_MANIFEST_DIR")).join(text))
    } else {
        Err(String::from_utf8_lossy(&done.stderr).trim().to_owned())
    }
}

fn judge(library: &Path, sent: &Path) -> (bool, String) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tdlib/reparse.py");
    let done = Command::new("python3")
        .arg(script)
        .arg(library)
        .arg(sent)
        .output()
        .unwrap();
    let text = format!(
        "{}{}",
        String::from_utf8_lossy(&done.stdout),
        String::from_utf8_lossy(&done.stderr)
    );
    (done.status.success(), text)
}

fn ready() -> Option<PathBuf> {
    if Command::new("python3").arg("--version").output().is_err() {
        skip("python3 is not installed");
        return None;
    }
    match library() {
        Ok(library) => Some(library),
        Err(why) => {
            skip(&why);
            None
        }
    }
}

#[test]
fn tdlib_accepts_every_text_that_the_tests_sent_as_it_was_sent() {
    let sent = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sent");
    if !sent.is_dir() {
        return skip("the integration tests left no texts; run `cargo test` as a whole");
    }
    let Some(library) = ready() else {
        return;
    };
    let (clean, report) = judge(&library, &sent);
    assert!(clean, "{report}");
    eprintln!("{report}");
    // The next run judges its own texts.
    std::fs::remove_dir_all(&sent).unwrap();
}

#[test]
fn the_judge_finds_what_is_wrong() {
    let Some(library) = ready() else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    for (text, good) in [
        (
            r#"{"method":"sendMessage","text":"*a* b","entities":[{"type":"bold","offset":0,"length":3}]}"#,
            true,
        ),
        (
            r#"{"method":"sendMessage","text":"a b","entities":[{"type":"bold","offset":0,"length":9}]}"#,
            false,
        ),
        (
            r#"{"method":"sendMessage","text":"a\u0000b","entities":[]}"#,
            false,
        ),
        (
            r#"{"method":"sendMessage","text":"ab","entities":[{"type":"code","offset":0,"length":2},{"type":"bold","offset":0,"length":1}]}"#,
            false,
        ),
        (
            r#"{"method":"sendMessage","text":"  ","entities":[]}"#,
            false,
        ),
    ] {
        std::fs::write(dir.path().join("one.jsonl"), text).unwrap();
        let (clean, report) = judge(&library, dir.path());
        assert_eq!(clean, good, "{text}\n{report}");
    }
}
