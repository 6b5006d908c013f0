//! The design track: everything the owner can tap and say on the way.

use std::sync::Arc;

use greenlight::playground::{Draft, GROUP, MEMBER, OWNER, Post, USERNAME};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::support::rig::{
    PLAN, Rig, STEPS, bash, check, designer, is_flow, plan, seed, tasks, write, write_md,
};
use crate::support::script::{Step, call, look, say};
use crate::support::tree::GOOD_CALC;

pub(super) const SECOND: &str = "2. Document the function — add a sentence to README.md.";

pub(super) fn second_plan() -> String {
    PLAN.replace("2. Note the change — add one line to CHANGES.md.", SECOND)
}

pub(super) fn approved(side: &Value) {
    assert_eq!(side["status"], json!("Active"));
    assert!(side["approved_at"].is_string(), "{side}");
    assert_eq!(
        side["approved_by"].to_string().trim_matches('"'),
        OWNER.0.to_string()
    );
}

pub(super) fn titles(side: &Value) -> Vec<String> {
    let tasks = side["tasks"].as_array().unwrap().iter();
    tasks
        .map(|task| task["title"].as_str().unwrap().to_owned())
        .collect()
}

pub(super) fn label(post: &Post, data: &str) -> String {
    let mut buttons = post.keyboard.iter().flatten();
    let found = buttons.find(|button| button.data.as_deref() == Some(data));
    found.map(|button| button.text.clone()).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plan_mode_and_a_waiting_plan_outlive_restarts() {
    let mut rig = Rig::new().await;
    rig.plan_mode().await;
    let side = rig.sidecar();
    rig.restart().await;
    assert_eq!(rig.sidecar(), side);
    rig.command("/execute", "no plan to approve yet").await;
    let card = rig.design().await;
    rig.restart().await;
    let mark = rig.mark();
    rig.script.then(seed());
    rig.script.brain(|_| say("Paused here."));
    assert!(!rig.tap(card.id, "plan:ok").await.alert);
    rig.reply(mark, "Paused here.").await;
    rig.settled(mark).await;
    let side = rig.sidecar().unwrap();
    approved(&side);
    assert_eq!(titles(&side), STEPS);
    rig.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn approving_is_refused_while_a_turn_runs_and_never_queued() {
    let rig = Rig::new().await;
    rig.design().await;
    let gate = Arc::new(Semaphore::new(0));
    let mark = rig.mark();
    rig.script.then([
        call("read_file", json!({"path": "calc.py"})),
        Step::Held(Arc::clone(&gate), Box::new(say("Nothing else to say."))),
    ]);
    rig.say("One more question");
    let live = rig
        .wait("the waiting keyboard", |rig| {
            rig.flow()
                .filter(|flow| flow.id.0 > mark && flow.data().contains(&"plan:ok".to_owned()))
        })
        .await;
    assert!(label(&live, "plan:ok").starts_with('⏳'));
    assert!(rig.tap(live.id, "plan:ok").await.alert);
    rig.command("/execute", "nothing can be approved now").await;
    gate.add_permits(1);
    rig.reply(mark, "Nothing else to say.").await;
    rig.card("plan:ok").await;
    rig.command("/status", "Idle").await;
    assert_eq!(rig.status(), "Editing");
    assert!(rig.sidecar().unwrap()["approved_at"].is_null());
    rig.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_taps_at_once_approve_once() {
    let rig = Rig::new().await;
    let card = rig.design().await;
    let mark = rig.mark();
    let asked = rig.script.asked().len();
    rig.script.then(seed());
    rig.script.brain(|_| say("Paused here."));
    tokio::join!(
        rig.tap(card.id, "plan:ok"),
        rig.tap(card.id, "plan:ok"),
        rig.tap(card.id, "plan:ok")
    );
    rig.reply(mark, "Paused here.").await;
    rig.settled(mark).await;
    let side = rig.sidecar().unwrap();
    rig.tap(card.id, "plan:ok").await;
    rig.command("/status", "Idle").await;
    assert_eq!(rig.sidecar().unwrap()["approved_at"], side["approved_at"]);
    assert_eq!(titles(&rig.sidecar().unwrap()), STEPS);
    let last = rig.script.last();
    let seeds = last.plain().matches("Do not announce the approval").count();
    assert_eq!(seeds, 1, "seed turns");
    assert!(rig.script.asked().len() > asked);
    rig.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tap_on_an_older_card_changes_nothing_and_the_newest_works() {
    let rig = Rig::new().await;
    let old = rig.design().await;
    rig.turn(
        "Document it instead",
        vec![write_md(&second_plan()), say("Revised.")],
    )
    .await;
    let new = rig.card("plan:ok").await;
    assert!(new.id != old.id && new.text.contains("Document the function"));
    let past = rig.post(old.id);
    assert!(
        past.data().is_empty() && !past.text.contains(STEPS[0]),
        "{}",
        past.text
    );
    let answer = rig.tap(old.id, "plan:ok").await;
    assert!(answer.alert && answer.text.contains("older"), "{answer:?}");
    assert_eq!(rig.status(), "Editing");
    rig.command("/plan diff", "Document the function").await;
    let mut list = tasks();
    list[1]["title"] = json!("Document the function");
    rig.approve(
        &new,
        vec![
            plan("add_tasks", json!({"tasks": list})),
            plan("start", json!({"task_id": "t1"})),
            say("Paused here."),
        ],
    )
    .await;
    approved(&rig.sidecar().unwrap());
    rig.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_a_group_nobody_but_the_owner_approves_or_discards() {
    let rig = Rig::new().await;
    let mark = rig.last_id(GROUP);
    rig.say_in(MEMBER, GROUP, None, &format!("/plan@{USERNAME} Take over"));
    rig.reply_in(GROUP, mark, "Only the owner").await;
    assert!(rig.no_plan());
    let mark = rig.last_id(GROUP);
    rig.script.then(designer(PLAN));
    rig.say_in(
        OWNER,
        GROUP,
        None,
        &format!("/plan@{USERNAME} Fix the adder"),
    );
    rig.reply_in(GROUP, mark, "ready for your review").await;
    let card = rig.card_in(GROUP, "plan:ok").await;
    for data in ["plan:ok", "plan:no"] {
        for person in [MEMBER, greenlight::playground::STRANGER] {
            let answer = rig.tap_as(person, GROUP, card.id, data).await;
            assert!(answer.alert && !answer.text.is_empty(), "{answer:?}");
        }
    }
    for word in ["/execute", "/discard"] {
        let mark = rig.last_id(GROUP);
        rig.say_in(MEMBER, GROUP, None, &format!("{word}@{USERNAME}"));
        rig.reply_in(GROUP, mark, "Only the owner").await;
    }
    assert_eq!(rig.status(), "Editing");
    let mark = rig.last_id(GROUP);
    rig.say_in(MEMBER, GROUP, None, &format!("/plan_status@{USERNAME}"));
    rig.reply_in(GROUP, mark, "📋").await;
    let mark = rig.last_id(GROUP);
    rig.script.then(seed());
    rig.script.brain(|_| say("Paused here."));
    assert!(!rig.tap_as(OWNER, GROUP, card.id, "plan:ok").await.alert);
    rig.reply_in(GROUP, mark, "Paused here.").await;
    rig.settled_in(GROUP, mark).await;
    approved(&rig.sidecar().unwrap());
    rig.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_incomplete_plan_gets_one_correction_and_no_approve_button() {
    let rig = Rig::new().await;
    let bad = PLAN.replace("- **Intent:** The owner asked for it today.\n", "");
    let bad = bad.split("## Implementation steps").next().unwrap();
    let mark = rig.mark();
    rig.script.then([
        plan("init", json!({"mode": "design", "title": "Fix the adder"})),
        write_md(bad),
        say("Ready, I think."),
        check(
            |asked| assert!(asked.plain().contains("Intent")),
            say("I have nothing to add."),
        ),
    ]);
    rig.say("/plan Fix the adder");
    rig.reply(mark, "I have nothing to add.").await;
    let card = rig.card("plan:no").await;
    assert_eq!(card.data(), ["plan:no"]);
    assert!(
        card.text.contains("Intent") && card.text.contains("Implementation steps"),
        "{}",
        card.text
    );
    assert_eq!(rig.script.asked().len(), 4);
    let said = rig.command("/execute", "lacks").await.text;
    assert!(
        said.contains("Intent") && said.contains("Implementation steps"),
        "{said}"
    );
    assert!(rig.tap(card.id, "plan:ok").await.alert);
    assert_eq!(rig.status(), "Editing");
    rig.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_seed_turn_without_tasks_can_be_retried() {
    let rig = Rig::new().await;
    let card = rig.design().await;
    rig.approve(&card, vec![say("I did not do it.")]).await;
    let side = rig.sidecar().unwrap();
    approved(&side);
    assert_eq!(side["tasks"], json!([]));
    let retry = rig.card("plan:ok").await;
    assert!(label(&retry, "plan:ok").starts_with('🔁'));
    let mut steps = seed();
    steps.push(say("Paused here."));
    rig.approve(&retry, steps).await;
    let again = rig.sidecar().unwrap();
    assert_eq!(again["approved_at"], side["approved_at"]);
    assert_eq!(titles(&again), STEPS);
    rig.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tasks_that_were_never_started_can_only_be_discarded() {
    let rig = Rig::new().await;
    let card = rig.design().await;
    let before = rig.picture();
    rig.approve(
        &card,
        vec![
            plan("add_tasks", json!({"tasks": tasks()})),
            write("calc.py", GOOD_CALC),
            say("I stop here."),
        ],
    )
    .await;
    assert_eq!(rig.picture(), before);
    let card = rig.card("plan:no").await;
    assert_eq!(card.data(), ["plan:no"]);
    let asked = rig.script.asked().len();
    rig.command("/execute", "never started").await;
    assert_eq!(rig.script.asked().len(), asked);
    rig.tap(card.id, "plan:no").await;
    rig.wait("the card without buttons", |rig| {
        rig.post(card.id).data().is_empty().then_some(())
    })
    .await;
    rig.command("/show_plan", "There is no plan").await;
    assert!(rig.no_plan());
    rig.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_checklist_maps_every_step_of_the_approved_plan() {
    let rig = Rig::new().await;
    let card = rig.design().await;
    let mut other = tasks();
    other[1]["title"] = json!("Delete everything");
    let one = json!([tasks()[0]]);
    let home = rig.home();
    let empty = move || {
        let side = crate::support::rig::below(&home)
            .into_iter()
            .find(|path| {
                path.display().to_string().ends_with(".json")
                    && path.display().to_string().contains(".greenlight_plan_")
            })
            .unwrap();
        let side: Value = serde_json::from_slice(&std::fs::read(side).unwrap()).unwrap();
        assert_eq!(
            side["tasks"],
            json!([]),
            "a wrong add_tasks left tasks behind"
        );
    };
    let again = empty.clone();
    rig.approve(
        &card,
        vec![
            plan("add_tasks", json!({"tasks": one})),
            check(move |_| empty(), plan("add_tasks", json!({"tasks": other}))),
            check(
                move |_| again(),
                plan("add_tasks", json!({"tasks": tasks()})),
            ),
            plan("start", json!({"task_id": "t1"})),
            say("Paused here."),
        ],
    )
    .await;
    assert_eq!(titles(&rig.sidecar().unwrap()), STEPS);
    rig.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn discard_frees_every_state_and_leaves_no_keyboard() {
    let rig = Rig::new().await;
    rig.command("/discard", "no active plan").await;
    rig.plan_mode().await;
    rig.discard().await;
    let card = rig.design().await;
    rig.tap(card.id, "plan:no").await;
    rig.wait("no buttons", |rig| {
        rig.post(card.id).data().is_empty().then_some(())
    })
    .await;
    rig.command("/show_plan", "There is no plan").await;
    assert!(rig.no_plan());
    assert!(!rig.tap(card.id, "plan:ok").await.text.is_empty());
    assert!(rig.no_plan());
    // Active with work done asks once more.
    let card = rig.design().await;
    let mut steps = seed();
    steps.extend([
        write("calc.py", GOOD_CALC),
        plan("complete", json!({"task_id": "t1", "outcome": "success"})),
        say("Paused here."),
    ]);
    rig.approve(&card, steps).await;
    let card = rig.card("plan:no").await;
    rig.tap(card.id, "plan:no").await;
    let asked = rig
        .wait("the question", |rig| {
            let post = rig.post(card.id);
            label(&post, "plan:no").contains("1/2").then_some(post)
        })
        .await;
    assert!(!rig.no_plan());
    rig.tap(asked.id, "plan:keep").await;
    rig.wait("the usual button", |rig| {
        (!label(&rig.post(card.id), "plan:no").contains("1/2")).then_some(())
    })
    .await;
    rig.tap(card.id, "plan:no").await;
    rig.wait("the question", |rig| {
        label(&rig.post(card.id), "plan:no")
            .contains("1/2")
            .then_some(())
    })
    .await;
    rig.tap(card.id, "plan:no").await;
    rig.wait("no buttons", |rig| {
        rig.post(card.id).data().is_empty().then_some(())
    })
    .await;
    rig.command("/show_plan", "There is no plan").await;
    assert!(rig.no_plan());
    rig.turn(
        "Write freely",
        vec![write("free.txt", "x"), say("Written freely.")],
    )
    .await;
    assert!(rig.ws().join("free.txt").exists());
    assert_eq!(rig.plan_keyboards(rig.bot.chat()), []);
    rig.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_late_save_of_a_discarded_turn_brings_nothing_back() {
    let rig = Rig::new().await;
    rig.design().await;
    for round in 0..6 {
        if round > 0 {
            rig.design().await;
        }
        let asked = rig.script.asked().len();
        let gate = Arc::new(Semaphore::new(0));
        let (first, second) = (format!("{PLAN}\n<!-- {round} -->\n"), second_plan());
        rig.script.then([
            write_md(&first),
            Step::Held(Arc::clone(&gate), Box::new(write_md(&second))),
            plan("init", json!({"mode": "design", "title": "Late"})),
        ]);
        rig.say("Revise it");
        let behind = asked + 1 + round % 2;
        rig.wait("the turn to run", |rig| {
            (rig.script.asked().len() >= behind).then_some(())
        })
        .await;
        gate.add_permits(round % 3);
        let mark = rig.mark();
        rig.say("/discard");
        rig.reply(mark, "Discarded").await;
        rig.script.clear();
        gate.add_permits(1);
        assert!(rig.no_plan(), "{round}");
        rig.command("/status", "Idle").await;
        assert!(rig.no_plan(), "{round}: {:?}", rig.live("json"));
    }
    rig.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reply_to_the_card_is_a_comment_and_rides_along_with_the_approval() {
    let rig = Rig::new().await;
    let card = rig.design().await;
    let comment = "Use addition only, keep README.md untouched & mention <sum>";
    let mut draft = Draft::text(comment);
    draft.reply_to = Some(card.id);
    rig.turn_with(draft, vec![say("Understood, the plan stays.")])
        .await;
    assert!(rig.script.last().last_user().contains(comment));
    assert_eq!(rig.status(), "Editing");
    let card = rig.card("plan:ok").await;
    let asked = rig.script.asked().len();
    let mut steps = seed();
    steps.push(say("Paused here."));
    rig.approve(&card, steps).await;
    let prompt = rig.script.asked()[asked].last_user();
    assert!(prompt.contains(comment), "{prompt}");
    let side = rig.sidecar().unwrap().to_string();
    assert!(side.contains("Use addition only"), "{side}");
    rig.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_comment_that_changed_the_plan_does_not_ride_along() {
    let rig = Rig::new().await;
    let card = rig.design().await;
    let mut draft = Draft::text("Document it instead of noting it, please");
    draft.reply_to = Some(card.id);
    rig.turn_with(draft, vec![write_md(&second_plan()), say("Revised.")])
        .await;
    let card = rig.card("plan:ok").await;
    let asked = rig.script.asked().len();
    let mut list = tasks();
    list[1]["title"] = json!("Document the function");
    rig.approve(
        &card,
        vec![
            plan("add_tasks", json!({"tasks": list})),
            plan("start", json!({"task_id": "t1"})),
            say("Paused here."),
        ],
    )
    .await;
    assert!(
        !rig.script.asked()[asked]
            .last_user()
            .contains("wrote with the approval")
    );
    rig.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_too_long_for_a_message_comes_as_a_document_before_it_can_be_approved() {
    let rig = Rig::new().await;
    let steps: Vec<String> = (1..=40)
        .map(|number| {
            format!(
                "{number}. Step number {number} — {}",
                "do the work carefully ".repeat(12)
            )
        })
        .collect();
    let long = format!(
        "{}{}\n",
        PLAN.split("1. Correct").next().unwrap(),
        steps.join("\n")
    );
    let mark = rig.mark();
    rig.script.then(designer(&long));
    rig.say("/plan Do a lot");
    rig.reply(mark, "ready for your review").await;
    let card = rig.card("plan:ok").await;
    let documents: Vec<Post> = rig
        .messages()
        .into_iter()
        .filter(|post| post.from_bot && post.file.is_some())
        .collect();
    assert_eq!(documents.len(), 1, "{documents:?}");
    let file = documents[0].file.as_ref().unwrap();
    assert!(
        file.name.starts_with("plan-") && file.name.ends_with("-r1.md"),
        "{}",
        file.name
    );
    assert_eq!(file.bytes, long.as_bytes());
    let log = rig.bot.log();
    let sent = log
        .iter()
        .find(|call| call.method.eq_ignore_ascii_case("sendDocument"))
        .unwrap()
        .number;
    let live = log
        .iter()
        .find(|call| call.status == 200 && call.params["reply_markup"].to_string().contains("✅"))
        .unwrap()
        .number;
    assert!(sent < live, "Approve was live before the document");
    assert!(is_flow(&card));
    rig.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_approved_text_that_was_changed_behind_the_approval_is_not_run() {
    let rig = Rig::new().await;
    let card = rig.design().await;
    rig.approve(&card, vec![say("I did not do it.")]).await;
    let retry = rig.card("plan:ok").await;
    std::fs::write(rig.md(), second_plan()).unwrap();
    let asked = rig.script.asked().len();
    let mark = rig.mark();
    rig.tap(retry.id, "plan:ok").await;
    rig.reply(mark, "changed after the approval").await;
    rig.wait("the new text to approve", |rig| {
        rig.flow().filter(|flow| {
            flow.text.contains("Document the function")
                && flow.data().contains(&"plan:ok".to_owned())
        })
    })
    .await;
    assert_eq!(
        (rig.status().as_str(), rig.script.asked().len()),
        ("Editing", asked)
    );
    rig.finish().await;
}
