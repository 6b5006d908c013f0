use super::*;
use crate::domain::{ActionClass, CallStatus};
use crate::plan::context::{Origin, Snapshot, Step, WireCheck, WireStatus, restore};
use crate::plan::context_parse::Parsed;

fn plan(statuses: &[WireStatus]) -> Plan {
    let steps = statuses
        .iter()
        .enumerate()
        .map(|(n, status)| Step {
            id: format!("t{}", n + 1),
            status: *status,
            title: "SECRET".to_owned(),
            note: String::new(),
            checks: Vec::new(),
        })
        .collect();
    let origin = Origin {
        id: "p".to_owned(),
        session: "s".into(),
        title: "Plan".to_owned(),
        now: chrono::DateTime::UNIX_EPOCH,
    };
    let snapshot = Snapshot {
        version: 1,
        revision: None,
        verification: Vec::new(),
        steps,
    };
    restore(&Parsed::Running(snapshot), origin)
}

fn block(plan: &mut Plan, tasks: &[usize]) {
    for task in tasks {
        plan.tasks[*task].status = TaskStatus::Blocked {
            reason: "r".to_owned(),
        };
    }
    plan.version += 1;
}

#[test]
fn v5_one_event_for_each_effective_change_and_none_for_a_repeat() {
    let mut signals = Signals::default();
    let first = plan(&[WireStatus::Pending, WireStatus::Pending]);
    assert_eq!(
        signals.changed(None, &first),
        [Signal::PlanCreated {
            tasks: 2,
            version: 1
        }]
    );
    assert_eq!(signals.changed(None, &first), []);
    let mut second = first.clone();
    second.tasks[0].status = TaskStatus::Completed;
    second.version = 2;
    let updated = Signal::PlanUpdated {
        tasks: 2,
        done: 1,
        in_progress: 0,
        blocked: 0,
        pending: 1,
        version: 2,
    };
    assert_eq!(signals.changed(Some(&first), &second), [updated]);
    assert_eq!(signals.changed(Some(&first), &second), []);
    assert_eq!(signals.changed(Some(&second), &second), []);
}

#[test]
fn an_event_carries_counts_and_no_words_of_the_plan() {
    let mut signals = Signals::default();
    let events = signals.changed(None, &plan(&[WireStatus::Pending]));
    let json = serde_json::to_string(&events).unwrap();
    assert_eq!(json, r#"[{"event":"plan_created","tasks":1,"version":1}]"#);
    assert_eq!(events[0].name(), "plan_created");
}

#[test]
fn v32_three_blocks_fire_once_and_a_new_plan_begins_anew() {
    let mut signals = Signals::default();
    let mut fired = Vec::new();
    for id in ["p1", "p2"] {
        let mut now = plan(&[WireStatus::Pending; 4]);
        now.id = id.to_owned();
        fired.extend(signals.changed(None, &now));
        for task in 0..3 {
            let before = now.clone();
            block(&mut now, &[task]);
            fired.extend(signals.changed(Some(&before), &now));
        }
    }
    let blocked: Vec<&Signal> = fired
        .iter()
        .filter(|signal| signal.name() == "plan_blocked")
        .collect();
    assert_eq!(blocked.len(), 2);
    let value = serde_json::to_value(blocked[0]).unwrap();
    let mut keys: Vec<&str> = value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    keys.sort_unstable();
    assert_eq!(keys, ["blocked", "event", "tasks", "version"]);
}

#[test]
fn three_blocks_in_one_change_fire_and_progress_resets_first() {
    let mut signals = Signals::default();
    let first = plan(&[WireStatus::Pending; 4]);
    signals.changed(None, &first);
    let mut second = first.clone();
    block(&mut second, &[0, 1]);
    assert_eq!(signals.changed(Some(&first), &second).len(), 1);
    let mut third = second.clone();
    third.tasks[3].status = TaskStatus::InProgress;
    block(&mut third, &[2]);
    assert_eq!(signals.changed(Some(&second), &third).len(), 1);
    let mut fresh = Signals::default();
    fresh.changed(None, &first);
    let mut all = first.clone();
    block(&mut all, &[0, 1, 2]);
    assert_eq!(fresh.changed(Some(&first), &all).len(), 2);
}

#[test]
fn a_refused_call_is_an_event_with_a_known_operation_only() {
    let event = Signals::rejected("check_replace", RejectionClass::MissingField);
    assert_eq!(
        serde_json::to_string(&event).unwrap(),
        r#"{"event":"plan_validation_failed","operation":"check_replace","class":"missing_field"}"#
    );
    let Signal::PlanValidationFailed { operation, .. } =
        Signals::rejected("SECRET", RejectionClass::UnknownOperation)
    else {
        panic!("another event")
    };
    assert_eq!(operation, "unknown");
}

fn stall<'a>(tool: &'a str, arguments: &'a str) -> StallCall<'a> {
    StallCall {
        tool,
        arguments,
        class: ActionClass::Read,
        status: CallStatus::Ok,
        poll: None,
    }
}

#[test]
fn v33_alternating_pairs_stall_too() {
    let mut watch = StallWatch::default();
    let mut hints = Vec::new();
    for _ in 0..3 {
        hints.extend(watch.observe(&stall("grep", "A")));
        hints.extend(watch.observe(&stall("grep", "B")));
    }
    assert_eq!(hints.len(), 2);
    assert!(hints.iter().all(|hint| hint.count == 3 && !hint.again));
}

#[test]
fn hints_come_at_3_6_12_and_say_again() {
    let mut watch = StallWatch::default();
    let at: Vec<(u32, bool)> = (0..13)
        .filter_map(|_| watch.observe(&stall("grep", "A")))
        .map(|hint| (hint.count, hint.again))
        .collect();
    assert_eq!(at, [(3, false), (6, true), (12, true)]);
    watch.forget("grep");
    assert_eq!(watch.observe(&stall("grep", "A")), None);
}

#[test]
fn polls_need_nine_identical_answers() {
    fn poll(answer: &str) -> StallCall<'_> {
        StallCall {
            poll: Some(answer),
            ..stall("bg_output", "{}")
        }
    }
    let mut watch = StallWatch::default();
    for n in 0..30 {
        let answer = n.to_string();
        assert_eq!(watch.observe(&poll(&answer)), None);
    }
    let hints: Vec<_> = (0..9)
        .filter_map(|_| watch.observe(&poll("same")))
        .collect();
    assert_eq!(hints.len(), 1);
    assert!(hints[0].text(None).contains("job"));
}

#[test]
fn the_memory_of_calls_is_bounded_and_drops_the_rarest() {
    let mut watch = StallWatch::default();
    watch.observe(&stall("grep", "kept"));
    watch.observe(&stall("grep", "kept"));
    for n in 0..500 {
        watch.observe(&stall("grep", &n.to_string()));
    }
    assert!(watch.observe(&stall("grep", "kept")).is_some());
}

#[test]
fn a_stall_hint_points_into_the_plan_by_id() {
    let plan = plan(&[
        WireStatus::Done,
        WireStatus::InProgress,
        WireStatus::Pending,
    ]);
    let hint = |class, status| {
        let mut watch = StallWatch::default();
        let call = StallCall {
            class,
            status,
            ..stall("bash", "{}")
        };
        (0..3)
            .filter_map(|_| watch.observe(&call))
            .next_back()
            .unwrap()
            .text(Some(&plan))
    };
    let read = hint(ActionClass::Read, CallStatus::Ok);
    assert!(
        read.ends_with("Plan: in_progress=t2, next_pending=t3."),
        "{read}"
    );
    let write = hint(ActionClass::WorkspaceWrite, CallStatus::Ok);
    assert!(write.contains("Stop calls") && write.contains("next_non_mutating=t3"));
    assert!(hint(ActionClass::Read, CallStatus::Refused).contains("Stop calls"));
}

fn checked() -> Plan {
    let mut plan = plan(&[WireStatus::InProgress]);
    let step = Step {
        id: "t1".to_owned(),
        status: WireStatus::InProgress,
        title: "A".to_owned(),
        note: String::new(),
        checks: vec![WireCheck {
            id: "c".to_owned(),
            description: "d".to_owned(),
            tool: "bash".to_owned(),
            arguments: r#"{"command":"npm test"}"#.to_owned(),
            status: "pending".to_owned(),
            call_id: None,
        }],
    };
    let snapshot = Snapshot {
        version: 1,
        revision: None,
        verification: Vec::new(),
        steps: vec![step],
    };
    let origin = Origin {
        id: "p".to_owned(),
        session: "s".into(),
        title: String::new(),
        now: chrono::DateTime::UNIX_EPOCH,
    };
    plan.tasks = restore(&Parsed::Running(snapshot), origin).tasks;
    plan
}

fn outcome<'a>(arguments: &'a str, status: CallStatus) -> BatchOutcome<'a> {
    BatchOutcome {
        tool: "bash",
        arguments,
        status,
        error_class: Some("exit"),
        is_poll: false,
    }
}

const CHECK: &str = r#"{"command": "npm test"}"#;

#[test]
fn v34_a_check_that_fails_nine_times_asks_twice_for_another_approach() {
    let plan = checked();
    let count = |batches: &[Vec<BatchOutcome<'_>>], plan: Option<&Plan>| {
        let mut watch = Reassessments::default();
        batches
            .iter()
            .filter_map(|batch| watch.batch(plan, batch))
            .collect::<Vec<_>>()
    };
    let failed = outcome(CHECK, CallStatus::Failed);
    assert_eq!(
        count(&vec![vec![failed]; 9], Some(&plan)),
        [Reassessment::RepeatedCheckFailure; 2]
    );
    assert_eq!(count(&[vec![failed; 3]], Some(&plan)), []);
    let cancelled = outcome(CHECK, CallStatus::Cancelled);
    assert_eq!(count(&vec![vec![cancelled]; 3], Some(&plan)), []);
    let refused = outcome(CHECK, CallStatus::Refused);
    assert_eq!(count(&vec![vec![refused]; 3], Some(&plan)), []);
    assert_eq!(count(&vec![vec![failed]; 9], None), []);
    let ok = outcome(CHECK, CallStatus::Ok);
    assert_eq!(
        count(
            &[vec![failed], vec![failed], vec![ok], vec![failed]],
            Some(&plan)
        ),
        []
    );
}

#[test]
fn varied_failures_of_one_class_ask_after_three_batches_in_a_row() {
    let plan = checked();
    let run = |batches: &[Vec<BatchOutcome<'_>>]| {
        let mut watch = Reassessments::default();
        batches
            .iter()
            .filter_map(|batch| watch.batch(Some(&plan), batch))
            .next_back()
    };
    let fails = |n| outcome(n, CallStatus::Failed);
    let (a, b) = (r#"{"command":"a"}"#, r#"{"command":"b"}"#);
    let varied = Some(Reassessment::VariedToolFailures);
    assert_eq!(
        run(&[vec![fails(a)], vec![fails(b)], vec![fails(a)]]),
        varied
    );
    assert_eq!(run(&[vec![fails(a)], vec![fails(a)], vec![fails(a)]]), None);
    let ok = outcome("{}", CallStatus::Ok);
    assert_eq!(
        run(&[
            vec![fails(a)],
            vec![fails(b)],
            vec![ok, fails(a)],
            vec![fails(b)]
        ]),
        None
    );
    let plan_call = BatchOutcome { tool: "plan", ..ok };
    assert_eq!(
        run(&[
            vec![fails(a)],
            vec![plan_call],
            vec![],
            vec![fails(b)],
            vec![fails(a)]
        ]),
        varied
    );
    let other = BatchOutcome {
        error_class: Some("timeout"),
        ..fails(b)
    };
    assert_eq!(
        run(&[vec![fails(a)], vec![other], vec![fails(a)], vec![fails(b)]]),
        None
    );
    let poll = BatchOutcome {
        is_poll: true,
        ..fails(b)
    };
    assert_eq!(
        run(&[vec![fails(a)], vec![poll], vec![fails(a)], vec![poll]]),
        None
    );
    // The last result of a fingerprint counts.
    assert_eq!(
        run(&[
            vec![fails(a)],
            vec![fails(b)],
            vec![fails(a), outcome(a, CallStatus::Ok)]
        ]),
        None
    );
}

#[test]
fn unverified_checks_are_counted_and_the_first_named() {
    let mut plan = checked();
    assert_eq!(
        unverified(&plan),
        Some(Unverified {
            count: 1,
            names: vec!["t1/c".to_owned()]
        })
    );
    plan.tasks[0].status = TaskStatus::Skipped;
    assert_eq!(unverified(&plan), None);
}
