//! One plan on its whole way, from `/plan` to the archive.

use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use greenlight::playground::Post;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;

use super::design::{approved, label};
use crate::support::rig::{PLAN, Rig, STEPS, bash, check, plan, tasks, write, write_md};
use crate::support::script::{Step, look, say};
use crate::support::tree::{GOOD_CALC, picture};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_goes_from_the_command_to_the_archive() {
    let rig = Rig::new().await;
    let before = rig.picture();
    rig.turn(
        "/plan Fix the adder",
        vec![
            plan("init", json!({"mode": "design", "title": "Fix the adder"})),
            write_md(PLAN),
            write("calc.py", GOOD_CALC),
            bash("echo x > hole.txt"),
            say("The plan is ready for your review."),
        ],
    )
    .await;
    assert_eq!(rig.picture(), before);
    let card = rig.card("plan:ok").await;
    let side = rig.sidecar().unwrap();
    assert_eq!(
        (&side["status"], &side["tasks"]),
        (&json!("Editing"), &json!([]))
    );
    assert_eq!(side["description"].as_str().unwrap(), PLAN);
    assert_eq!(
        std::fs::metadata(rig.md()).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let told = rig.md().display().to_string();
    assert!(
        rig.script
            .last()
            .systems()
            .iter()
            .any(|text| text.contains(&told))
    );
    assert!(label(&card, "plan:ok").starts_with('✅') && label(&card, "plan:no").starts_with('🗑'));
    assert_eq!(rig.plan_keyboards(rig.bot.chat()), [card.id]);
    for part in [
        "📋",
        "Fix the adder",
        "subtracts its second argument",
        STEPS[0],
        STEPS[1],
    ] {
        assert!(
            card.text.contains(part),
            "{part} is not shown: {}",
            card.text
        );
    }
    carried_out(rig, card, before).await;
}

/// The seed turn, which is gated until the first start, and the checklist.
async fn carried_out(rig: Rig, card: Post, before: String) {
    let frozen = std::fs::read(rig.md()).unwrap();
    let md = rig.md().display().to_string();
    let (at_seed, at_start) = (before.clone(), before.clone());
    let (ws, ws_too) = (rig.ws(), rig.ws());
    let gate = Arc::new(Semaphore::new(0));
    let mark = rig.mark();
    rig.script.then([
        check(
            |asked| assert!(asked.plain().contains("Implementation steps")),
            write("calc.py", GOOD_CALC),
        ),
        look(move |_| {
            assert_eq!(picture(&ws), at_seed, "written before the seeding");
            plan("add_tasks", json!({"tasks": tasks()}))
        }),
        look(move |_| {
            assert_eq!(picture(&ws_too), at_start, "written before the start");
            plan("start", json!({"task_id": "t1"}))
        }),
        Step::Held(Arc::clone(&gate), Box::new(write(&md, "# Another plan\n"))),
        write("calc.py", GOOD_CALC),
        plan("complete", json!({"task_id": "t1", "outcome": "success"})),
        Step::Held(
            Arc::clone(&gate),
            Box::new(plan("start", json!({"task_id": "t2"}))),
        ),
        write("CHANGES.md", "- add() adds\n"),
        plan("complete", json!({"task_id": "t2", "outcome": "success"})),
        say("Everything is done."),
    ]);
    assert!(!rig.tap(card.id, "plan:ok").await.alert);
    rig.wait("the running task with its goal", |rig| {
        rig.flow()
            .filter(|flow| flow.text.contains('🎯') && flow.text.contains('▶'))
    })
    .await;
    approved(&rig.sidecar().unwrap());
    gate.add_permits(1);
    rig.wait("half of the checklist", |rig| {
        rig.flow().filter(|flow| flow.text.contains("1/2"))
    })
    .await;
    assert_eq!(
        std::fs::read(&md).unwrap(),
        frozen,
        "the approved prose is frozen"
    );
    gate.add_permits(1);
    rig.reply(mark, "Everything is done.").await;
    rig.settled(mark).await;
    archived(rig, card, frozen).await;
}

/// What is left in the chat and on disk.
async fn archived(rig: Rig, card: Post, frozen: Vec<u8>) {
    let done = rig.flow().unwrap();
    assert!(
        done.id != card.id && done.text.starts_with('✅') && done.data().is_empty(),
        "{done:?}"
    );
    let old = rig.post(card.id);
    assert!(
        old.data().is_empty() && !old.text.contains(STEPS[1]),
        "{}",
        old.text
    );
    assert_eq!(
        std::fs::read_to_string(rig.ws().join("calc.py")).unwrap(),
        GOOD_CALC
    );
    assert!(rig.no_plan());
    let (kept, prose) = (rig.archived("json"), rig.archived("md"));
    assert_eq!((kept.len(), prose.len()), (1, 1));
    assert_eq!(std::fs::read(&prose[0]).unwrap(), frozen);
    let last: Value = serde_json::from_slice(&std::fs::read(&kept[0]).unwrap()).unwrap();
    let hash: String = Sha256::digest(&frozen)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    assert_eq!(last["approved_revision"], json!(hash));
    rig.command("/plans", "Fix the adder").await;
    rig.finish().await;
}
