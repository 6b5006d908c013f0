//! A live plan through a session: signals, hints, what is left, what survives.

use serde_json::{Value, json};

use crate::support::{Asked, Say, Session};

fn begin(tasks: &Value) -> Say {
    let init = json!({"operation": "init", "title": "Work", "tasks": tasks});
    Say::call("plan", init)
}

fn plan(arguments: Value) -> Say {
    Say::call("plan", arguments)
}

fn two() -> Value {
    json!([{"title": "One"}, {"title": "Two"}])
}

/// A model that says one thing after the other, and then the last one again.
fn in_turn(says: Vec<Say>) -> impl FnMut(&Asked) -> Say + Send + 'static {
    let mut next = 0;
    move |_| {
        let say = says.get(next).or(says.last()).cloned().unwrap();
        next += 1;
        say
    }
}

#[tokio::test]
async fn watchers_get_one_event_for_each_change_and_three_blocks_in_a_row_a_hint() {
    let block = |id: &str| json!({"id": id, "status": "blocked", "note": "secret words"});
    let tasks = json!([{"title": "A"}, {"title": "B"}, {"title": "C"}]);
    let session = Session::start(
        in_turn(vec![
            begin(&tasks),
            plan(json!({"operation": "nonsense"})),
            plan(json!({"operation": "update", "updates": [block("t1")]})),
            plan(json!({"operation": "get"})),
            plan(json!({"operation": "update", "updates": [block("t2"), block("t3")]})),
            Say::text("Blocked: nothing works"),
        ]),
        |_| {},
    )
    .await;
    let mut events = session.bot().events();
    session.world.say("do these");
    session.taps("init checklist", "approve").await;
    session.sees("nothing works").await;
    let mut seen = Vec::new();
    while let Ok(event) = events.try_recv() {
        seen.push(event.signal);
    }
    let names: Vec<&str> = seen.iter().map(|signal| signal.name()).collect();
    assert_eq!(
        names,
        [
            "plan_created",
            "plan_validation_failed",
            "plan_updated",
            "plan_updated",
            "plan_blocked"
        ]
    );
    let told = json!(seen);
    let versions: Vec<u64> = seen
        .iter()
        .filter_map(|signal| json!(signal)["version"].as_u64())
        .collect();
    assert!(versions.is_sorted(), "{versions:?}");
    assert_eq!(told[4]["blocked"], 3);
    assert!(!told.to_string().contains("secret words"));
    let last = session.requests().pop().unwrap();
    assert!(
        last.all()
            .contains("Three tasks in a row were marked blocked")
    );
}

#[tokio::test]
async fn the_same_call_again_and_again_brings_a_hint_with_ids_only() {
    let look = || Say::call("list_dir", json!({"path": "."}));
    let session = Session::start(
        in_turn(vec![
            begin(&two()),
            plan(json!({"operation": "start"})),
            look(),
            look(),
            look(),
            Say::text("Blocked: I go round in circles"),
        ]),
        |_| {},
    )
    .await;
    session.world.say("do these");
    session.taps("init checklist", "approve").await;
    session.sees("round in circles").await;
    let last = session.requests().pop().unwrap().last();
    assert!(
        last.contains("Repeated identical call (3x list_dir)"),
        "{last}"
    );
    assert!(last.contains("t1") && !last.contains("One"), "{last}");
}

#[tokio::test]
async fn a_used_up_budget_names_what_is_left_to_people_and_to_the_next_turn() {
    let session = Session::start(
        in_turn(vec![
            begin(&two()),
            plan(json!({"operation": "start"})),
            Say::text("Blocked: later"),
        ]),
        |settings| settings.budgets.requests = 2,
    )
    .await;
    session.world.say("do these");
    session.taps("init checklist", "approve").await;
    let post = session.sees("Still open:").await;
    assert!(
        post.text.contains("t1 One\n") && post.text.contains("t2 Two"),
        "{}",
        post.text
    );
    session.world.say("go on");
    session.sees("later").await;
    let asked = session.requests().pop().unwrap().all();
    assert!(asked.contains("source=\"plan_remaining\""), "{asked}");
    assert!(asked.contains("t1=in_progress, t2=pending"), "{asked}");
}

#[tokio::test]
async fn planned_targets_that_nothing_touched_are_asked_for() {
    let tasks = json!([
        {"title": "Change a", "action": "change", "targets": ["a.txt"]},
        {"title": "Later"}]);
    let session = Session::start(
        in_turn(vec![
            begin(&tasks),
            plan(json!({"operation": "start", "task_id": "t1"})),
            plan(json!({"operation": "complete", "task_id": "t1", "outcome": "success"})),
            Say::text("All is well."),
            Say::call("read_file", json!({"path": "a.txt"})),
            Say::text("It was right before."),
            Say::text("Blocked: later"),
        ]),
        |_| {},
    )
    .await;
    std::fs::write(session.workspace().join("a.txt"), "a\n").unwrap();
    session.world.say("do these");
    session.taps("init checklist", "approve").await;
    session.sees("later").await;
    let requests = session.requests();
    assert!(
        requests[4]
            .last()
            .contains("neither been changed nor inspected: a.txt")
    );
    let nudge = requests[6].last();
    assert!(
        nudge.contains("These tasks are not done: t2=pending"),
        "{nudge}"
    );
}

#[tokio::test]
async fn a_lost_plan_file_is_restored_from_the_last_message_and_a_discarded_one_is_not() {
    let mut session = Session::start(
        in_turn(vec![
            begin(&two()),
            plan(json!({"operation": "start"})),
            Say::text("Blocked: later"),
        ]),
        |_| {},
    )
    .await;
    session.world.say("do these");
    session.taps("init checklist", "approve").await;
    session.sees("later").await;
    session.down().await;
    for file in session.data_files(".greenlight_plan_") {
        std::fs::remove_file(file).unwrap();
    }
    session.up().await;
    session.world.say("go on");
    session.sees("The plan file was lost").await;
    let asked = session.asks(|asked| asked.last().contains("go on")).await;
    assert!(
        asked.all().contains("t1 [in_progress] One"),
        "{}",
        asked.all()
    );
    assert_eq!(session.data_files(".greenlight_plan_").len(), 1);
    session.world.say("/discard");
    session.sees("Discarded").await;
    session.world.say("/plan_status");
    session.sees("There is no plan").await;
    assert_eq!(session.data_files(".greenlight_plan_").len(), 0);
    let told = session.world.messages();
    let restored = told
        .iter()
        .filter(|post| post.text.contains("The plan file was lost"));
    assert_eq!(restored.count(), 1);
}

fn is_digest(asked: &Asked) -> bool {
    asked.all().contains("You sum up a working session")
}

#[tokio::test]
async fn a_summary_carries_the_state_of_the_plan_and_what_to_do_first() {
    let mut inner = in_turn(vec![
        begin(&two()),
        plan(json!({"operation": "start"})),
        Say::text("Blocked: later"),
    ]);
    let session = Session::start(
        move |asked| {
            if is_digest(asked) {
                return Say::text("We did a little.");
            }
            inner(asked)
        },
        |_| {},
    )
    .await;
    session.world.say("do these");
    session.taps("init checklist", "approve").await;
    session.sees("later").await;
    session.world.say("/compact");
    session.sees("the conversation is summed up").await;
    session.world.say("go on");
    let asked = session
        .asks(|asked| asked.last().contains("go on"))
        .await
        .all();
    for part in [
        "We did a little.",
        "Plan state: Active.",
        "Session plan .md: none.",
        "Next: plan start without task_id",
        "t2 [pending] Two",
        "[Session recovery] A checklist is live",
    ] {
        assert!(asked.contains(part), "{part} in {asked}");
    }
}

#[tokio::test]
async fn a_summary_while_writing_names_the_absolute_path_of_the_plan() {
    let draft = json!({"title": "Parser", "context": {"problem": "None exists", "target_state":
        "One does", "intent": "Reading dates"}, "steps": [{"title": "Look", "detail": "Read it",
        "action": "inspect"}]});
    let mut inner = in_turn(vec![
        plan(json!({"operation": "submit", "draft": draft})),
        Say::text("Please read the plan."),
    ]);
    let session = Session::start(
        move |asked| {
            if is_digest(asked) {
                return Say::text("A plan was written.");
            }
            inner(asked)
        },
        |_| {},
    )
    .await;
    session.world.say("/plan a parser");
    session.sees("Please read the plan.").await;
    session.world.say("/compact");
    session.sees("the conversation is summed up").await;
    session.world.say("go on");
    let asked = session
        .asks(|asked| asked.last().contains("go on"))
        .await
        .all();
    let md = session.data_files(".md").pop().unwrap();
    let path = format!("Plan state: Editing.\nSession plan .md: {}", md.display());
    assert!(asked.contains(&path), "{path} in {asked}");
    assert!(asked.contains("[Session recovery] A session plan is being written"));
}
