//! Order, failure, blocks and the end of a checklist.

use super::*;

#[test]
fn dependencies_hold_back_and_cycles_are_refused() {
    let world = World::new();
    let mut state = PlanState::NoPlan;
    assert!(world.refused(&state, r#"{"operation":"init","title":"T","tasks":[{"id":"a","title":"a","dependencies":["b"]},{"id":"b","title":"b","dependencies":["a"]}]}"#).contains("circle"));
    assert!(world.refused(&state, r#"{"operation":"init","title":"T","tasks":[{"id":"a","title":"a","dependencies":["a"]}]}"#).contains("itself"));
    assert!(world.refused(&state, r#"{"operation":"init","title":"T","tasks":[{"id":"a","title":"a","dependencies":["z"]}]}"#).contains("unknown task z"));
    world.step(&mut state, r#"{"operation":"init","title":"T","tasks":[{"id":"b","title":"b","dependencies":[2]},{"id":"a","title":"a"}]}"#);
    assert!(
        world
            .refused(&state, r#"{"operation":"start","task_id":"b"}"#)
            .contains("task b waits for a")
    );
    assert!(
        world
            .refused(
                &state,
                r#"{"operation":"complete","task_id":"b","outcome":"success"}"#
            )
            .contains("waits for a")
    );
    world.step(&mut state, r#"{"operation":"start"}"#);
    assert_eq!(status(&state, "a"), TaskStatus::InProgress);
    world.step(
        &mut state,
        r#"{"operation":"complete","task_id":"a","outcome":"skip"}"#,
    );
    world.step(&mut state, r#"{"operation":"start"}"#);
    assert_eq!(status(&state, "b"), TaskStatus::InProgress);
    assert!(
        world
            .step(
                &mut state,
                r#"{"operation":"complete","task_id":"b","outcome":"success"}"#
            )
            .archive
    );
}

#[test]
fn a_failed_task_keeps_its_goal_and_can_be_tried_a_bounded_number_of_times() {
    let (world, mut state) = checked();
    for _ in 0..bounds::RETRIES {
        let failed = world.step(
            &mut state,
            r#"{"operation":"complete","task_id":"t1","outcome":"fail","note":"broken"}"#,
        );
        assert_eq!(failed.goal, GoalChange::Keep);
        if plan(&state).tasks[0].retry_count < bounds::RETRIES {
            let started = world.step(&mut state, r#"{"operation":"start","task_id":"t1"}"#);
            assert_eq!(
                started.goal,
                GoalChange::Set {
                    task_id: "t1".into(),
                    criteria: vec!["it works".into()]
                }
            );
        }
    }
    assert!(
        world
            .refused(&state, r#"{"operation":"start","task_id":"t1"}"#)
            .contains("failed 20 times")
    );
    assert!(
        world
            .refused(
                &state,
                r#"{"operation":"complete","task_id":"t1","outcome":"success"}"#
            )
            .contains("start it again")
    );
}

#[test]
fn the_last_success_waits_for_fresh_verification() {
    let world = World::new();
    let mut state = PlanState::NoPlan;
    world.step(
        &mut state,
        r#"{"operation":"init","title":"T","tasks":["a"]}"#,
    );
    change(&mut state, |plan| {
        plan.verification = vec![Verification {
            command: "sh check.sh".into(),
            evidence: Evidence::Stale { restored: false },
        }];
    });
    for call in [
        r#"{"operation":"complete","task_id":"t1","outcome":"success"}"#,
        r#"{"operation":"update","updates":[{"id":"t1","status":"completed"}]}"#,
    ] {
        assert!(world.refused(&state, call).contains("`sh check.sh`"));
    }
    let mut skipped = state.clone();
    let applied = world.step(
        &mut skipped,
        r#"{"operation":"complete","task_id":"t1","outcome":"skip"}"#,
    );
    assert!(
        !applied.archive && applied.reply.contains("Not verified yet"),
        "{}",
        applied.reply
    );
    change(&mut state, |plan| plan.verification[0].evidence = passed());
    assert!(
        world
            .step(
                &mut state,
                r#"{"operation":"complete","task_id":"t1","outcome":"success"}"#
            )
            .archive
    );
}

#[test]
fn a_completed_task_with_stale_evidence_is_not_the_end() {
    let (world, mut state) = checked();
    change(&mut state, |plan| {
        plan.tasks[0].status = TaskStatus::Completed;
        plan.tasks[0].checks[0].evidence = Evidence::Stale { restored: false };
    });
    let applied = world.step(
        &mut state,
        r#"{"operation":"complete","task_id":"t2","outcome":"success"}"#,
    );
    assert!(
        !applied.archive && applied.reply.contains("stale"),
        "{}",
        applied.reply
    );
    assert_eq!(plan(&state).counts().done, 1);
    change(&mut state, |plan| {
        plan.tasks[0].checks[0].evidence = passed()
    });
    assert!(lifecycle::archive_due(plan(&state)));
}

#[test]
fn blocked_tasks_are_counted_once_and_carry_their_reason() {
    let (world, mut state) = checked();
    let call = r#"{"operation":"update","updates":[{"id":"t1","status":"blocked","note":"no network"},{"id":"t2","status":"blocked"}]}"#;
    let applied = world.step(&mut state, call);
    assert!(matches!(
        applied.event,
        Some(Event::Updated {
            became_blocked: 2,
            progressed: false,
            ..
        })
    ));
    assert_eq!(
        status(&state, "t1"),
        TaskStatus::Blocked {
            reason: "no network".into()
        }
    );
    assert_eq!(world.step(&mut state, call).event, None);
}

#[test]
fn states_without_a_checklist_refuse_with_fixed_text_and_get_answers_plainly() {
    let world = World::new();
    let start = r#"{"operation":"start"}"#;
    for state in [
        PlanState::NoPlan,
        PlanState::PreInit {
            origin: PreInitOrigin::Slash,
        },
        PlanState::Corrupt {
            path: "/x".into(),
            reason: "plan-corrupt-json".into(),
        },
    ] {
        assert_eq!(world.refused(&state, start), world.refused(&state, start));
        world.step(&mut state.clone(), r#"{"operation":"get"}"#);
    }
    assert_eq!(
        world
            .step(&mut PlanState::NoPlan.clone(), r#"{"operation":"get"}"#)
            .reply,
        "No active plan."
    );
    let corrupt = PlanState::Corrupt {
        path: "/x".into(),
        reason: String::new(),
    };
    assert!(
        world
            .refused(
                &corrupt,
                r#"{"operation":"init","title":"T","tasks":["a"]}"#
            )
            .contains("/discard")
    );
}
