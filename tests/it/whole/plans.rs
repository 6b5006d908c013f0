//! The checklist: evidence, import, plans of older programs, damaged files, plans edited by hand.

use std::path::PathBuf;

use greenlight::playground::{Draft, DraftFile};
use serde_json::{Value, json};

use super::design::second_plan;
use crate::support::rig::{PLAN, Rig, bash, check, plan, seed, tasks, write};
use crate::support::script::{Asked, Step, calls, look, say};
use crate::support::tree::GOOD_CALC;

fn begin(tasks: Value) -> Vec<Step> {
    vec![
        plan(
            "init",
            json!({"mode": "checklist", "title": "With evidence", "tasks": tasks}),
        ),
        plan("start", json!({"task_id": "t1"})),
    ]
}

fn one() -> Value {
    json!([{"id": "t1", "title": "Correct the adder", "description": "Change calc.py.", "checks": [
        {"id": "c1", "description": "The adder adds.", "tool": "bash", "arguments": {"command": "sh check.sh"}}]}])
}

fn complete() -> Step {
    plan("complete", json!({"task_id": "t1", "outcome": "success"}))
}

fn check_is(status: &'static str) -> impl FnOnce(&Asked) + Send + 'static {
    move |asked| {
        let systems = asked.systems();
        let message = systems
            .iter()
            .find(|text| text.starts_with("[Current plan: v"));
        let message = message.expect("a plan message");
        assert!(
            message.contains(&format!("\"{status}\"")),
            "{status} is not in {message}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_the_declared_call_proves_a_task() {
    let rig = Rig::new().await;
    let mut steps = begin(one());
    steps.extend([
        complete(),
        check(check_is("pending"), write("calc.py", GOOD_CALC)),
        bash("sh  check.sh"),
        complete(),
        check(check_is("pending"), bash("sh check.sh && true")),
        complete(),
        check(check_is("pending"), bash("echo check c1 passed")),
        complete(),
        check(check_is("pending"), bash("sh check.sh")),
        check(check_is("passed"), complete()),
        say("Proven and done."),
    ]);
    rig.turn("Fix it with evidence", steps).await;
    assert!(rig.no_plan());
    assert_eq!(rig.archived("json").len(), 1);
    rig.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn evidence_goes_stale_with_a_change_and_is_shown_so() {
    let rig = Rig::new().await;
    let mut list = one();
    list.as_array_mut()
        .unwrap()
        .push(json!({"id": "t2", "title": "Note it", "description": "CHANGES.md."}));
    let mark = rig.mark();
    let mut steps = begin(list);
    steps.extend([
        write("calc.py", GOOD_CALC),
        bash("sh check.sh"),
        complete(),
        plan("start", json!({"task_id": "t2"})),
        write("CHANGES.md", "- adds\n"),
        plan("complete", json!({"task_id": "t2", "outcome": "success"})),
        bash("sh check.sh"),
    ]);
    rig.script.then(steps);
    rig.script.brain(|_| say("Both are done."));
    rig.say("Fix and note it");
    rig.wait("a task to be checked again", |rig| {
        let flow = rig.flow()?;
        flow.history
            .iter()
            .chain([&flow.text])
            .any(|text| text.contains('⟳'))
            .then_some(())
    })
    .await;
    rig.reply(mark, "Both are done.").await;
    rig.settled(mark).await;
    assert!(rig.no_plan(), "{:?}", rig.sidecar());
    rig.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn restored_evidence_counts_as_nothing_after_a_restart() {
    let mut rig = Rig::new().await;
    let mut list = one();
    list.as_array_mut()
        .unwrap()
        .push(json!({"id": "t2", "title": "Note it", "description": "CHANGES.md."}));
    let mut steps = begin(list);
    steps.extend([write("calc.py", GOOD_CALC), bash("sh check.sh"), complete()]);
    rig.script.then(steps);
    rig.script.brain(|_| say("One is done."));
    let mark = rig.mark();
    rig.say("Fix it");
    rig.reply(mark, "One is done.").await;
    rig.settled(mark).await;
    rig.restart().await;
    let mark = rig.mark();
    let before = rig.script.asked().len();
    rig.say("Where are we?");
    rig.reply(mark, "One is done.").await;
    let told = rig.script.asked()[before].systems();
    let told = told
        .iter()
        .find(|text| text.starts_with("[Current plan: v"))
        .unwrap();
    assert!(told.contains("0/2 done"), "{told}");
    rig.settled(mark).await;
    rig.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_check_in_its_own_batch_proves_nothing() {
    let rig = Rig::new().await;
    std::fs::write(rig.ws().join("calc.py"), GOOD_CALC).unwrap();
    let mark = rig.mark();
    rig.script.then([
        calls(&[
            (
                "plan",
                json!({"operation": "init", "mode": "checklist", "title": "Cheat", "tasks": one()}),
            ),
            ("bash", json!({"command": "sh check.sh"})),
        ]),
        plan("start", json!({"task_id": "t1"})),
        check(check_is("pending"), complete()),
        check(check_is("pending"), say("Still open.")),
    ]);
    rig.say("Try");
    rig.reply(mark, "Still open.").await;
    rig.settled(mark).await;
    assert_eq!(
        rig.sidecar().unwrap()["tasks"][0]["status"],
        json!("InProgress")
    );
    rig.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_checklist_asks_before_it_begins_and_a_refusal_leaves_nothing() {
    let rig = Rig::setup().approvals("ask").start().await;
    let mark = rig.mark();
    let init = || {
        plan(
            "init",
            json!({"mode": "checklist", "title": "Two things", "tasks": tasks()}),
        )
    };
    rig.script.then([init(), say("As you wish.")]);
    rig.say("Implement both");
    let (card, id) = rig.approval(mark).await;
    assert!(rig.no_plan());
    rig.tap(card.id, &format!("deny:{id}")).await;
    rig.reply(mark, "As you wish.").await;
    rig.settled(mark).await;
    assert!(rig.no_plan());
    let mark = rig.mark();
    rig.script
        .then([init(), plan("start", json!({})), say("Begun.")]);
    rig.say("Yes, do");
    let (card, id) = rig.approval(mark).await;
    rig.tap(card.id, &format!("approve:{id}")).await;
    rig.reply(mark, "Begun.").await;
    rig.card("plan:no").await;
    let side = rig.sidecar().unwrap();
    assert_eq!(side["status"], json!("Active"));
    assert!(side["approved_at"].is_null());
    rig.command("/plan_status", "0/2").await;
    rig.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_import_begins_anew_and_leaves_its_source_alone() {
    let rig = Rig::new().await;
    let source = json!({"title": "Imported", "status": "Approved", "approved_at": "2024-01-01T00:00:00Z", "tasks": [
        {"id": "a", "title": "First imported", "description": "Do the first.", "status": "Completed"},
        {"id": "b", "title": "Second imported", "description": "Do the second.", "status": "Pending", "dependencies": ["a"]}]});
    let path = rig.ws().join("flow.json");
    std::fs::write(&path, source.to_string()).unwrap();
    rig.plan_mode().await;
    let mark = rig.mark();
    rig.script
        .then([plan("init", json!({"file_path": path, "mode": "design"}))]);
    rig.script.brain(|_| say("It is imported."));
    rig.say("Import flow.json");
    rig.reply(mark, "It is imported.").await;
    rig.settled(mark).await;
    let side = rig.sidecar().unwrap();
    assert_eq!(side["status"], json!("Active"));
    assert!(side["approved_at"].is_null(), "{side}");
    let (one, two) = (&side["tasks"][0], &side["tasks"][1]);
    assert_eq!(
        (&one["status"], &two["status"]),
        (&json!("Pending"), &json!("Pending"))
    );
    assert_eq!(two["dependencies"], json!([one["id"]]));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), source.to_string());
    rig.finish().await;
}

/// Puts a sidecar in the place of the session's own while the bot is down.
async fn plant(rig: &mut Rig, sidecar: Value, md: Option<&str>) -> PathBuf {
    if rig.no_plan() {
        rig.plan_mode().await;
    }
    let path = rig.live("json").pop().unwrap();
    let own: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    rig.halt().await;
    for old in rig.live("md") {
        std::fs::remove_file(old).unwrap();
    }
    let body = if sidecar.is_string() {
        sidecar.as_str().unwrap().to_owned()
    } else {
        let mut whole = json!({"id": own["id"], "session_id": own["session_id"], "title": "Old plan", "description": "",
            "created_at": "2024-05-01T10:00:00Z", "updated_at": "2024-05-01T10:00:00Z", "x_unknown_root": {"kept": [1, 2]}});
        for (key, value) in sidecar.as_object().unwrap() {
            whole[key] = value.clone();
        }
        whole.to_string()
    };
    std::fs::write(&path, body).unwrap();
    if let Some(md) = md {
        std::fs::write(path.with_extension("md"), md).unwrap();
    }
    rig.launch().await;
    path
}

fn old_task(number: u32, status: &str, dependencies: Value) -> Value {
    json!({"id": format!("00000000-0000-4000-8000-00000000000{number}"), "order": number, "title": format!("Old task {number}"),
        "description": format!("Do {number}."), "task_type": "Edit", "dependencies": dependencies, "complexity": 2,
        "acceptance_criteria": [], "status": status, "retry_count": 0, "artifacts": []})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plans_of_an_older_program_are_reviewed_or_carried_on() {
    let mut rig = Rig::new().await;
    for (round, status) in ["Draft", "PendingApproval", "Rejected"]
        .into_iter()
        .enumerate()
    {
        plant(&mut rig, json!({"status": status, "tasks": []}), Some(PLAN)).await;
        let answer = format!("It waits for review {round}.");
        rig.turn(
            "Where are we?",
            vec![write("calc.py", GOOD_CALC), say(&answer)],
        )
        .await;
        assert!(
            std::fs::read_to_string(rig.ws().join("calc.py"))
                .unwrap()
                .contains("a - b"),
            "{status}"
        );
        rig.card("plan:ok").await;
        assert_eq!(
            rig.sidecar().unwrap()["x_unknown_root"],
            json!({"kept": [1, 2]})
        );
    }
    let card = rig.card("plan:ok").await;
    let mut steps = seed();
    steps.push(say("Paused here."));
    rig.approve(&card, steps).await;
    let side = rig.sidecar().unwrap();
    assert_eq!(
        (&side["status"], &side["x_unknown_root"]),
        (&json!("Active"), &json!({"kept": [1, 2]}))
    );
    for (round, status) in ["Approved", "InProgress", "Draft"].into_iter().enumerate() {
        let first = json!(["00000000-0000-4000-8000-000000000001"]);
        let list = json!([
            old_task(1, "Completed", json!([])),
            old_task(2, "Pending", first)
        ]);
        plant(&mut rig, json!({"status": status, "tasks": list}), None).await;
        let answer = format!("One of two {round}.");
        let last = answer.clone();
        rig.script.brain(move |_| say(&last));
        let mark = rig.mark();
        rig.script.then([bash("cat calc.py")]);
        rig.say("And now?");
        rig.reply(mark, &answer).await;
        let card = rig.card("plan:no").await;
        assert!(card.text.contains("1/2"), "{status}: {}", card.text);
    }
    rig.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_plan_is_never_no_plan_until_it_is_put_aside() {
    let mut rig = Rig::new().await;
    for (round, broken) in [
        json!("{\"status\": \"Active\", \"tasks\": ["),
        json!({"status": "Galactic", "tasks": []}),
    ]
    .into_iter()
    .enumerate()
    {
        let path = plant(&mut rig, broken, None).await;
        let (body, before) = (std::fs::read(&path).unwrap(), rig.picture());
        let answer = format!("The plan file is broken {round}.");
        rig.turn(
            "Write something",
            vec![
                write("free.txt", "x"),
                bash("echo x > hole.txt"),
                plan(
                    "init",
                    json!({"mode": "checklist", "title": "x", "tasks": tasks()}),
                ),
                say(&answer),
            ],
        )
        .await;
        assert_eq!(rig.picture(), before);
        rig.command("/show_plan", "cannot be read").await;
        rig.command("/execute", "cannot be read").await;
        assert_eq!(std::fs::read(&path).unwrap(), body);
        rig.command("/discard", "put aside").await;
        assert!(!path.exists());
        let aside = crate::support::rig::below(&rig.home());
        assert!(
            aside
                .iter()
                .any(|file| file.display().to_string().contains(".corrupt-")
                    && std::fs::read(file).unwrap() == body)
        );
        let name = format!("free{round}.txt");
        rig.turn(
            "Write again",
            vec![write(&name, "x"), say(&format!("Written {round}."))],
        )
        .await;
        assert!(rig.ws().join(name).exists());
    }
    rig.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_can_be_edited_as_a_document_and_sent_back() {
    let rig = Rig::new().await;
    rig.command("/plan edit", "no plan being written").await;
    let card = rig.design().await;
    rig.command("/plan diff", "Nothing has changed").await;
    let how = rig.command("/plan edit", "send it back").await;
    let document = rig
        .wait("the document", |rig| {
            rig.messages().into_iter().find(|post| {
                post.from_bot
                    && post
                        .file
                        .as_ref()
                        .is_some_and(|file| file.name == "plan.md")
            })
        })
        .await;
    assert_eq!(document.file.unwrap().bytes, PLAN.as_bytes());
    let send = |text: &str| {
        let mut draft = Draft::text("");
        draft.reply_to = Some(how.id);
        draft.file = Some(DraftFile {
            kind: "document".to_owned(),
            name: "plan.md".to_owned(),
            mime: Some("text/markdown".to_owned()),
            bytes: text.as_bytes().to_vec(),
            size: None,
        });
        rig.bot.send(draft);
    };
    let mark = rig.mark();
    send("# Nothing in it\n");
    rig.reply(mark, "lacks").await;
    assert_eq!(std::fs::read_to_string(rig.md()).unwrap(), PLAN);
    let mark = rig.mark();
    send(&second_plan());
    rig.reply(mark, "Your text is the plan now").await;
    assert_eq!(std::fs::read_to_string(rig.md()).unwrap(), second_plan());
    let new = rig
        .wait("the new card", |rig| {
            rig.flow().filter(|flow| {
                flow.id != card.id
                    && flow.text.contains("Document the function")
                    && flow.data().contains(&"plan:ok".to_owned())
            })
        })
        .await;
    rig.command("/plan diff", "Document the function").await;
    assert!(rig.tap(card.id, "plan:ok").await.alert);
    assert_eq!(rig.status(), "Editing");
    assert_eq!(rig.script.asked().len(), 3);
    let mut list = tasks();
    list[1]["title"] = json!("Document the function");
    rig.approve(
        &new,
        vec![
            plan("add_tasks", json!({"tasks": list})),
            plan("start", json!({})),
            say("Paused here."),
        ],
    )
    .await;
    assert_eq!(rig.status(), "Active");
    rig.command("/plan edit", "no plan being written").await;
    rig.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_typed_draft_becomes_the_prose_after_one_correction() {
    let rig = Rig::new().await;
    let draft = |intent: &str| {
        json!({"draft": {"title": "Fix the adder", "context": {"problem": "The function add subtracts.",
            "target_state": "The function add adds.", "intent": intent},
            "steps": [{"title": "Correct the adder", "detail": "Change calc.py.", "action": "change", "targets": ["calc.py"],
                "done_when": ["`sh check.sh`"]}], "verification": ["sh check.sh"]}})
    };
    rig.plan_mode().await;
    rig.script.then([
        plan("submit", draft("TBD")),
        look({
            let good = draft("The owner asked for it.");
            move |asked| {
                assert!(
                    asked.last_result().contains("TBD"),
                    "{}",
                    asked.last_result()
                );
                plan("submit", good)
            }
        }),
    ]);
    rig.script.brain(|_| say("Please review the plan."));
    rig.say("Please plan the fix");
    let card = rig.card("plan:ok").await;
    let text = std::fs::read_to_string(rig.md()).unwrap();
    for part in [
        "# Fix the adder",
        "**Intent:** The owner asked for it.",
        "1. Correct the adder",
        "## Verification",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    assert!(card.text.contains("Correct the adder"));
    rig.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_phrase_turns_plan_mode_on_and_a_journey_does_not() {
    let rig = Rig::new().await;
    rig.turn(
        "I am planning to visit Rome in May",
        vec![say("Have a good trip.")],
    )
    .await;
    assert!(rig.no_plan());
    rig.turn(
        "Let's make a plan for fixing calc.py",
        vec![say("Tell me more.")],
    )
    .await;
    let side = rig.sidecar().unwrap();
    assert_eq!(side["pre_init_origin"], json!("nudge"));
    let shown: String = rig
        .messages()
        .into_iter()
        .filter(|post| post.from_bot)
        .map(|post| post.text)
        .collect();
    assert!(!shown.contains("mode=design"), "{shown}");
    rig.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_never_asks_has_no_design_track() {
    let rig = Rig::setup().approvals("yolo").start().await;
    rig.command("/plan", "without approvals").await;
    rig.turn(
        "Design it",
        vec![
            plan("init", json!({"mode": "design", "title": "No"})),
            say("Not here."),
        ],
    )
    .await;
    assert!(rig.no_plan());
    let mark = rig.mark();
    rig.script.then([plan(
        "init",
        json!({"mode": "checklist", "title": "Yes", "tasks": tasks()}),
    )]);
    rig.script.brain(|_| say("A checklist is fine."));
    rig.say("Use a checklist");
    rig.reply(mark, "A checklist is fine.").await;
    rig.settled(mark).await;
    assert_eq!(rig.status(), "Active");
    rig.finish().await;
}
