//! The rules of `revise`.

use super::*;

fn revise(operations: &str) -> String {
    format!(r#"{{"operation":"revise","reason":"because","operations":{operations}}}"#)
}

fn ids(state: &PlanState) -> Vec<&str> {
    plan(state)
        .tasks
        .iter()
        .map(|task| task.id.as_str())
        .collect()
}

#[test]
fn v24_a_bad_operation_undoes_the_good_one_before_it() {
    let (world, state) = checked();
    let before = state.clone();
    let long = "x".repeat(201);
    for bad in [
        r#"{"kind":"edit","task_id":"t1","checks":[{"id":"c","tool":"bash","arguments":{}}]}"#
            .to_owned(),
        r#"{"kind":"add","tasks":[]}"#.into(),
        r#"{"kind":"supersede","task_id":"t2","tasks":[]}"#.into(),
        format!(r#"{{"kind":"edit","task_id":"t2","title":"{long}"}}"#),
        r#"{"kind":"add","tasks":[{"id":"a\nb","title":"x"}]}"#.into(),
        r#"{"kind":"edit","task_id":"t2","title":" "}"#.into(),
        r#"{"kind":"split","task_id":"t2","tasks":["one"]}"#.into(),
        r#"{"kind":"move","task_id":"t2","after_id":"t2"}"#.into(),
        r#"{"kind":"add","after_id":"ghost","tasks":["x"]}"#.into(),
    ] {
        world.refused(
            &state,
            &revise(&format!(r#"[{{"kind":"add","tasks":["good"]}},{bad}]"#)),
        );
        assert_eq!(state, before);
    }
}

#[test]
fn v25_a_revision_without_effect_is_no_version_and_keeps_no_reason() {
    let (world, mut state) = checked();
    let before = state.clone();
    let applied = world.step(
        &mut state,
        &revise(r#"[{"kind":"move","task_id":"t2"},{"kind":"edit","task_id":"t2","title":"Two"}]"#),
    );
    assert_eq!((applied.state, applied.event), (None, None));
    assert_eq!(state, before);
    assert_eq!(plan(&state).last_revision(), None);
}

#[test]
fn v26_later_operations_see_earlier_ones() {
    let (world, mut state) = checked();
    world.step(&mut state, &revise(r#"[{"kind":"move","task_id":"t2","before_id":"t1"},{"kind":"add","before_id":"t2","tasks":[{"id":"prep","title":"Prepare"}]}]"#));
    assert_eq!(ids(&state), ["prep", "t2", "t1"]);
    let kept = plan(&state).last_revision().expect("kept");
    assert_eq!(
        (kept.reason.as_str(), kept.summary),
        (
            "because",
            vec![
                "move t2 before t1".to_owned(),
                "add prep before t2".to_owned()
            ]
        )
    );
}

#[test]
fn v27_a_checked_task_is_only_replaced_with_its_checks_or_fresh_ones() {
    let (world, mut state) = checked();
    change(&mut state, |plan| {
        plan.tasks[0].checks[0].evidence = passed()
    });
    let before = state.clone();
    let error = world.refused(
        &state,
        &revise(r#"[{"kind":"supersede","task_id":"t1","tasks":[{"id":"n","title":"New"}]}]"#),
    );
    assert!(error.contains("carry_checks_to"), "{error}");
    assert_eq!(state, before);
    world.step(&mut state, &revise(r#"[{"kind":"supersede","task_id":"t1","tasks":[{"id":"n","title":"New","checks":[{"tool":"bash","arguments":{"command":"x"}}]}]}]"#));
    assert_eq!(ids(&state), ["n", "t2"]);
    assert_eq!(plan(&state).tasks[0].checks.len(), 1);
    assert!(
        plan(&state).ever_started(),
        "the gate stays open behind a replaced task"
    );
}

#[test]
fn v28_carried_checks_stand_beside_new_ones_and_are_pending() {
    let (world, mut state) = checked();
    change(&mut state, |plan| {
        plan.tasks[0].checks[0].evidence = passed()
    });
    world.step(&mut state, &revise(r#"[{"kind":"split","task_id":"t1","carry_checks_to":"b","tasks":[{"id":"a","title":"A"},{"id":"b","title":"B","checks":[{"id":"d","tool":"bash","arguments":{"command":"x"}}]}]}]"#));
    let target = plan(&state).task("b").expect("b");
    assert_eq!(target.status, TaskStatus::InProgress);
    assert_eq!(
        target
            .checks
            .iter()
            .map(|check| (check.id.as_str(), &check.evidence))
            .collect::<Vec<_>>(),
        [("c", &Evidence::Pending), ("d", &Evidence::Pending)]
    );
    let clash = r#"[{"kind":"supersede","task_id":"b","carry_checks_to":"e","tasks":[{"id":"e","title":"E","checks":[{"id":"c","tool":"bash","arguments":{}}]}]}]"#;
    assert!(world.refused(&state, &revise(clash)).contains("used twice"));
    let unknown = r#"[{"kind":"supersede","task_id":"b","carry_checks_to":"zz","tasks":[{"id":"e","title":"E"}]}]"#;
    assert!(
        world
            .refused(&state, &revise(unknown))
            .contains("not one of the new tasks")
    );
    let many = r#"[{"kind":"supersede","task_id":"b","carry_checks_to":"e","tasks":[{"id":"e","title":"E","checks":[{"id":"1","tool":"bash","arguments":{}},{"id":"2","tool":"bash","arguments":{}},{"id":"3","tool":"bash","arguments":{}}]}]}]"#;
    assert!(world.refused(&state, &revise(many)).contains("more than 4"));
}

#[test]
fn edits_reopen_what_they_change_and_dependents_follow_a_replaced_task() {
    let (world, mut state) = checked();
    change(&mut state, |plan| {
        plan.tasks[0].status = TaskStatus::Completed;
        plan.tasks[0].checks[0].evidence = passed();
        plan.tasks[1].dependencies = vec!["t1".into()];
    });
    let mut same = state.clone();
    world.step(
        &mut same,
        &revise(r#"[{"kind":"edit","task_id":"t1","note":"keeps evidence"}]"#),
    );
    assert_eq!(
        (
            status(&same, "t1"),
            &plan(&same).tasks[0].checks[0].evidence
        ),
        (TaskStatus::Completed, &passed())
    );
    world.step(
        &mut same,
        &revise(r#"[{"kind":"edit","task_id":"t1","note":""}]"#),
    );
    assert_eq!(plan(&same).tasks[0].notes, "");
    world.step(
        &mut same,
        &revise(r#"[{"kind":"edit","task_id":"t1","title":"Other"}]"#),
    );
    assert_eq!(
        (
            status(&same, "t1"),
            &plan(&same).tasks[0].checks[0].evidence
        ),
        (TaskStatus::InProgress, &Evidence::Pending)
    );
    let mut more = state.clone();
    world.step(&mut more, &revise(r#"[{"kind":"edit","task_id":"t1","checks":[{"tool":"bash","arguments":{"command":"x"}}]}]"#));
    assert_eq!(status(&more, "t1"), TaskStatus::InProgress);
    assert_eq!(plan(&more).tasks[0].checks[0].evidence, passed());
    world.step(&mut state, &revise(r#"[{"kind":"split","task_id":"t1","carry_checks_to":"t1","tasks":[{"id":"t1","title":"A"},{"id":"x","title":"B"}]}]"#));
    assert_eq!(
        plan(&state).task("t2").expect("t2").dependencies,
        ["t1", "x"]
    );
    assert_eq!(ids(&state), ["t1", "x", "t2"]);
}
