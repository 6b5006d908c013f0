//! Whatever is accepted can be loaded again, and is the same.

use proptest::prelude::*;

use super::*;

fn calls() -> impl Strategy<Value = String> {
    let id = prop_oneof![
        Just("t1".to_owned()),
        Just("t2".to_owned()),
        Just("t3".to_owned()),
        Just("n1".to_owned()),
        "\\PC{0,34}"
    ];
    let text = prop_oneof![
        Just("Task — a\nb".to_owned()),
        "\\PC{0,210}",
        Just(" || checks:[] ".to_owned())
    ];
    let check = (id.clone(), text.clone()).prop_map(|(id, text)| {
        serde_json::json!({"id": id, "tool": "bash", "description": text, "arguments": {"command": text}})
    });
    let task = (proptest::option::of(id.clone()), text.clone(), proptest::collection::vec(check, 0..3), proptest::collection::vec(id.clone(), 0..2))
        .prop_map(|(id, title, checks, dependencies)| {
            serde_json::json!({"id": id, "title": title, "description": title, "checks": checks, "dependencies": dependencies})
        });
    let tasks = proptest::collection::vec(task, 0..4);
    let status = prop_oneof![
        Just("pending"),
        Just("in_progress"),
        Just("completed"),
        Just("skipped"),
        Just("failed"),
        Just("blocked")
    ];
    prop_oneof![
        tasks.clone().prop_map(|tasks| serde_json::json!({"operation": "add_tasks", "tasks": tasks})),
        proptest::option::of(id.clone()).prop_map(|id| serde_json::json!({"operation": "start", "task_id": id})),
        (id.clone(), prop_oneof![Just("success"), Just("skip"), Just("fail")], text.clone())
            .prop_map(|(id, outcome, note)| serde_json::json!({"operation": "complete", "task_id": id, "outcome": outcome, "note": note})),
        (id.clone(), status, text.clone())
            .prop_map(|(id, status, note)| serde_json::json!({"operation": "update", "updates": [{"id": id, "status": status, "note": note}]})),
        (id.clone(), id.clone(), tasks, text.clone(), 0..5_usize).prop_map(|(id, other, tasks, text, kind)| {
            let kind = ["add", "edit", "move", "split", "supersede"][kind];
            serde_json::json!({"operation": "revise", "reason": text, "operations": [
                {"kind": kind, "task_id": id, "after_id": other, "tasks": tasks, "title": text, "note": text, "carry_checks_to": "n1"}]})
        }),
        (id.clone(), id, text.clone()).prop_map(|(task, check, note)| {
            serde_json::json!({"operation": "check_replace", "task_id": task, "check_id": check, "justification": note, "evidence_note": note})
        }),
    ]
    .prop_map(|call| call.to_string())
}

/// Runs one call after the other; whatever is accepted must load as it was.
fn every_state_loads(calls: &[String]) -> Result<(), TestCaseError> {
    let (world, mut state) = checked();
    for call in calls {
        let before = plan(&state).clone();
        match world.run(&state, call) {
            Ok(applied) => {
                prop_assert_eq!(applied.event.is_some(), applied.state.is_some());
                if let Some(next) = applied.state {
                    prop_assert_eq!(plan(&next).version, before.version + 1);
                    state = next;
                }
            }
            Err(error) => prop_assert!(error.contains("Valid example: "), "{}", error),
        }
        let text = serde_json::to_string(plan(&state)).expect("json");
        let loaded = legacy::read(&text, &SESSION.into(), false);
        prop_assert_eq!(loaded, Ok(Loaded::Live(Box::new(plan(&state).clone()))));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]
    #[test]
    fn every_accepted_operation_leaves_a_sidecar_that_loads_as_it_was(calls in proptest::collection::vec(calls(), 1..6)) {
        every_state_loads(&calls)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn so_it_is_at_the_end_of_many_operations(calls in proptest::collection::vec(calls(), 24..48)) {
        every_state_loads(&calls)?;
    }
}

#[test]
fn a_started_task_stays_started_through_a_load() {
    let task: Task =
        serde_json::from_value(serde_json::json!({"id": "a", "title": "a"})).expect("a task");
    assert!(!task.started);
}
