//! Files, voice notes, the kill switch, the project file, goals.

use greenlight::playground::{Draft, DraftFile};
use serde_json::json;

use crate::support::{Say, Session};

#[tokio::test]
async fn a_voice_note_is_kept_and_its_sender_is_told_so() {
    let session = Session::start(|_| Say::text("Noted."), |_| {}).await;
    session.world.send(Draft {
        file: Some(DraftFile {
            kind: "voice".into(),
            name: "note.ogg".into(),
            mime: Some("audio/ogg".into()),
            bytes: b"OggS".to_vec(),
            size: None,
        }),
        ..Draft::default()
    });
    session.sees("no transcription is configured").await;
    session.sees("Noted.").await;
    let told = session.requests()[0].all();
    assert!(told.contains("[voice note at "), "{told}");
}

#[tokio::test]
async fn a_file_is_sent_only_after_the_owner_allowed_it() {
    let mut step = 0;
    let session = Session::start(
        move |_| {
            step += 1;
            match step {
                1 => Say::call(
                    "send_file",
                    json!({"path": "report.txt", "caption": "The report"}),
                ),
                _ => Say::text("Sent it."),
            }
        },
        |_| {},
    )
    .await;
    std::fs::write(session.workspace().join("report.txt"), "numbers").unwrap();
    session.world.say("send me the report");
    session.taps("report.txt", "approve").await;
    session.sees("The report").await;
    session.sees("Sent it.").await;
    let log = session.world.log();
    assert_eq!(
        log.iter()
            .filter(|call| call.method == "sendDocument")
            .count(),
        1
    );
    let last = session.requests().pop().unwrap().all();
    assert!(last.contains("sent report.txt (7 bytes)"), "{last}");
    session.world.assert_clean();
}

#[tokio::test]
async fn a_project_file_takes_tools_and_planning_away() {
    let session = Session::start(|_| Say::text("Here."), |_| {}).await;
    std::fs::write(
        session.workspace().join(".greenlight.toml"),
        "[plan]\nenabled = false\n[tools]\ndisabled = [\"bash\"]\n",
    )
    .unwrap();
    session.world.say("let's plan this: a parser");
    session.sees("Here.").await;
    let first = session.requests()[0].clone();
    let tools = first.tools();
    assert!(tools.contains(&"read_file".to_owned()), "{tools:?}");
    assert!(!tools.iter().any(|tool| tool == "bash" || tool == "plan"));
    assert!(!first.all().contains("Plan mode"), "{}", first.all());
    session.world.say("/plan a parser");
    session.sees("Planning is switched off").await;
    assert_eq!(session.requests().len(), 1);
    assert_eq!(session.data_files("_plan_").len(), 0);
}

#[tokio::test]
async fn without_planning_a_live_plan_is_left_alone_and_comes_back_with_it() {
    let mut step = 0;
    let mut session = Session::start(
        move |_| {
            step += 1;
            match step {
                1 => Say::call(
                    "plan",
                    json!({"operation": "init", "title": "Work", "tasks": [
                        {"title": "One", "acceptance_criteria": ["it is one"]}, {"title": "Two"}]}),
                ),
                2 => Say::call("plan", json!({"operation": "start"})),
                _ => Say::text("Blocked: later"),
            }
        },
        |_| {},
    )
    .await;
    session.world.say("do these two things");
    session.taps("init checklist", "approve").await;
    session.sees("later").await;
    session.world.say("/goal");
    session.sees("🎯 it is one").await;
    let files = session.data_files("_plan_");
    let before = std::fs::read(&files[0]).unwrap();
    session.down().await;
    let project = session.workspace().join(".greenlight.toml");
    std::fs::write(&project, "[plan]\nenabled = false\n").unwrap();
    session.up().await;
    session.world.say("/plan_status");
    session.sees("Planning is switched off").await;
    session.world.say("and now?");
    let asked = session
        .asks(|asked| asked.last().contains("and now?"))
        .await;
    assert!(!asked.all().contains("[Current plan:"));
    assert_eq!(std::fs::read(&files[0]).unwrap(), before);
    std::fs::remove_file(&project).unwrap();
    session.world.say("/plan_status");
    session.sees("📋 Work").await;
    // Set by the started task, kept over the restart.
    session.world.say("/goal");
    session.sees("🎯 it is one").await;
}
