//! The program as a process of its own, killed where it hurts. The work goes on once.

use std::sync::Arc;

use serde_json::json;
use tokio::sync::Semaphore;

use crate::support::rig::{
    PLAN, Rig, STEPS, is_flow, is_settled, plan, seed, tasks, write, write_md,
};
use crate::support::script::{Step, say};
use crate::support::tree::GOOD_CALC;

async fn gone_mid_turn(rig: &mut Rig) {
    rig.kill().await;
    rig.script.clear();
    rig.launch().await;
}

/// Every flow message but the newest is settled and bare.
fn assert_orphans_are_settled(rig: &Rig) {
    let posts = rig.messages();
    let flows: Vec<_> = posts.iter().filter(|post| is_flow(post)).collect();
    let (newest, older) = flows.split_last().unwrap();
    for flow in older {
        assert!(
            is_settled(flow) && flow.data().is_empty() && !flow.text.contains('📋'),
            "{}",
            flow.text
        );
    }
    assert!(is_settled(newest), "{}", newest.text);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_while_the_plan_is_written_the_turn_goes_on_and_the_card_comes() {
    let mut rig = Rig::setup().process().start().await;
    rig.script.then([
        plan("init", json!({"mode": "design", "title": "Fix the adder"})),
        write_md(PLAN),
        Step::Hang,
    ]);
    let mark = rig.mark();
    rig.say("/plan Fix the adder");
    rig.wait("the third request", |rig| {
        (rig.script.asked().len() >= 3).then_some(())
    })
    .await;
    rig.script.brain(|_| say("Ready after all."));
    gone_mid_turn(&mut rig).await;
    rig.reply(mark, "Ready after all.").await;
    let card = rig.card("plan:ok").await;
    assert!(card.text.contains(STEPS[1]));
    assert_eq!(rig.plan_keyboards(rig.bot.chat()), [card.id]);
    assert_eq!(std::fs::read_to_string(rig.md()).unwrap(), PLAN);
    assert_orphans_are_settled(&rig);
    rig.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_right_after_a_tap_the_plan_is_approved_or_can_still_be() {
    let mut rig = Rig::setup().process().start().await;
    let card = rig.design().await;
    rig.script.brain(|asked| {
        let all = asked.plain();
        if !all.contains("\"add_tasks\"")
            && !all.contains("add_tasks\\\"")
            && !asked.results().iter().any(|text| text.contains("t2"))
        {
            plan("add_tasks", json!({"tasks": tasks()}))
        } else {
            say("Paused here.")
        }
    });
    let tap = rig.world().tap(
        greenlight::playground::OWNER,
        rig.bot.chat(),
        card.id,
        "plan:ok",
    );
    rig.kill().await;
    rig.launch().await;
    rig.wait("an answer to the tap", |rig| rig.world().answer(&tap))
        .await;
    rig.command("/status", "Approvals").await;
    let side = rig.sidecar().unwrap();
    assert!(
        ["Editing", "Active"].contains(&side["status"].as_str().unwrap()),
        "{side}"
    );
    assert_eq!(
        side["status"] == json!("Active"),
        side["approved_at"].is_string(),
        "{side}"
    );
    rig.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_in_the_seed_turn_the_checklist_is_made_once() {
    let mut rig = Rig::setup().process().start().await;
    let card = rig.design().await;
    let asked = rig.script.asked().len();
    rig.script
        .then([plan("add_tasks", json!({"tasks": tasks()})), Step::Hang]);
    let mark = rig.mark();
    rig.tap(card.id, "plan:ok").await;
    rig.wait("the request after the tasks", |rig| {
        (rig.script.asked().len() >= asked + 2).then_some(())
    })
    .await;
    let approved = rig.sidecar().unwrap()["approved_at"].clone();
    rig.script.brain(|_| say("Paused here."));
    rig.kill().await;
    rig.script.clear();
    rig.script.then([
        plan("add_tasks", json!({"tasks": tasks()})),
        plan("start", json!({"task_id": "t1"})),
    ]);
    rig.launch().await;
    rig.reply(mark, "Paused here.").await;
    rig.card("plan:no").await;
    let side = rig.sidecar().unwrap();
    assert_eq!(side["tasks"].as_array().unwrap().len(), 2, "{side}");
    assert_eq!(
        (&side["approved_at"], &side["tasks"][0]["status"]),
        (&approved, &json!("InProgress"))
    );
    assert_orphans_are_settled(&rig);
    rig.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_amid_the_checklist_the_work_goes_on_to_the_archive() {
    let mut rig = Rig::setup().process().start().await;
    let card = rig.design().await;
    let asked = rig.script.asked().len();
    rig.script.then(seed());
    rig.script.then([
        write("calc.py", GOOD_CALC),
        plan("complete", json!({"task_id": "t1", "outcome": "success"})),
        Step::Hang,
    ]);
    let mark = rig.mark();
    rig.tap(card.id, "plan:ok").await;
    rig.wait("the hung request", |rig| {
        (rig.script.asked().len() >= asked + 5).then_some(())
    })
    .await;
    rig.kill().await;
    rig.script.clear();
    rig.script.then([
        plan("start", json!({"task_id": "t2"})),
        write("CHANGES.md", "- adds\n"),
        plan("complete", json!({"task_id": "t2", "outcome": "success"})),
        say("Everything is done."),
    ]);
    rig.launch().await;
    rig.reply(mark, "Everything is done.").await;
    rig.settled(mark).await;
    assert!(rig.no_plan(), "{:?}", rig.sidecar());
    assert_eq!(rig.archived("json").len(), 1);
    assert_orphans_are_settled(&rig);
    assert_eq!(rig.plan_keyboards(rig.bot.chat()), []);
    rig.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_during_a_discard_the_plan_is_there_or_gone() {
    let mut rig = Rig::setup().process().start().await;
    rig.design().await;
    let gate = Arc::new(Semaphore::new(0));
    rig.script
        .then([Step::Held(Arc::clone(&gate), Box::new(write_md(PLAN)))]);
    rig.say("Again");
    rig.wait("a request", |rig| {
        (rig.script.asked().len() >= 4).then_some(())
    })
    .await;
    rig.say("/discard");
    rig.wait("the update to be taken", |rig| {
        (rig.world().pending() == 0).then_some(())
    })
    .await;
    rig.script.brain(|_| say("Nothing more."));
    gone_mid_turn(&mut rig).await;
    gate.add_permits(9);
    rig.command("/status", "Approvals").await;
    let (json, md) = (rig.live("json").len(), rig.live("md").len());
    assert!(json == 1 && md == 1 || json == 0, "{json} {md}");
    rig.command("/stop", "").await;
    rig.finish().await;
}
