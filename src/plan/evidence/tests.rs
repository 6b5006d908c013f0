use std::collections::BTreeMap;

use chrono::DateTime;
use proptest::prelude::*;

use super::*;
use crate::domain::SessionId;
use crate::plan::model::{Check, PlanStatus, Task, TaskAction, Verification};

fn check(id: &str, tool: &str, arguments: &str) -> Check {
    Check {
        id: id.to_owned(),
        description: "it holds".to_owned(),
        tool: tool.to_owned(),
        arguments: canonical(arguments).unwrap(),
        evidence: Evidence::Pending,
    }
}

fn task(id: &str, checks: Vec<Check>) -> Task {
    Task {
        id: id.to_owned(),
        title: format!("Task {id}"),
        description: String::new(),
        status: TaskStatus::Pending,
        dependencies: Vec::new(),
        acceptance_criteria: Vec::new(),
        checks,
        notes: String::new(),
        targets: Vec::new(),
        action: Some(TaskAction::Change),
        retry_count: 0,
        started: true,
        other: BTreeMap::new(),
    }
}

fn plan(tasks: Vec<Task>) -> Plan {
    Plan {
        id: "plan-1".to_owned(),
        session_id: SessionId::from("s"),
        title: "A plan".to_owned(),
        description: String::new(),
        tasks,
        status: PlanStatus::Active,
        created_at: DateTime::UNIX_EPOCH,
        updated_at: DateTime::UNIX_EPOCH,
        approved_at: None,
        approved_by: None,
        approved_revision: None,
        version: 1,
        pre_init_editing: false,
        pre_init_origin: None,
        working_directory: None,
        verification: Vec::new(),
        revision: String::new(),
        flow: None,
        other: BTreeMap::new(),
    }
}

/// One task `s1` with the check `c` on `read_file {path: out, line: 1}`.
pub(super) fn c() -> Plan {
    plan(vec![task(
        "s1",
        vec![check("c", "read_file", r#"{"path":"out","line":1}"#)],
    )])
}

pub(super) const READ: &str = r#"{"line":1,"path":"out"}"#;

fn call(
    plan: &mut Plan,
    id: &str,
    tool: &str,
    arguments: &str,
    effects: Effects,
    status: CallStatus,
) -> Changes {
    let id = CallId::from(id);
    let epoch = epoch(plan);
    observe(
        plan,
        &Observation {
            call: &id,
            tool,
            arguments,
            effects,
            status,
            changed: true,
            epoch,
        },
    )
}

fn read(plan: &mut Plan, id: &str, status: CallStatus) -> Changes {
    call(plan, id, "read_file", READ, Effects::Read, status)
}

fn shell(plan: &mut Plan, command: &str, status: CallStatus) -> Changes {
    call(
        plan,
        "sh",
        "bash",
        &shell_call(command),
        Effects::Exec,
        status,
    )
}

fn state(plan: &Plan, task: usize, check: usize) -> &'static str {
    word(&plan.tasks[task].checks[check].evidence)
}

#[test]
fn v10_completing_without_evidence_names_the_check_and_its_exact_call() {
    let plan = c();
    let refusal = can_complete(&plan.tasks[0]).unwrap_err();
    assert_eq!(refusal.open, ["c"]);
    assert!(!refusal.all_blocked);
    assert!(
        refusal
            .to_string()
            .contains(r#"c (pending): read_file {"line":1,"path":"out"}"#)
    );
}

#[test]
fn v11_the_exact_call_passes_whatever_the_key_order() {
    let mut plan = c();
    let changes = read(&mut plan, "k1", CallStatus::Ok);
    assert_eq!(changes.settled, [("s1/c".to_owned(), "passed")]);
    assert_eq!(plan.version, 2);
    assert_eq!(can_complete(&plan.tasks[0]), Ok(()));
}

#[test]
fn v12_another_number_literal_is_not_evidence() {
    let mut plan = c();
    let other = r#"{"line":1.0,"path":"out"}"#;
    let changes = call(
        &mut plan,
        "k",
        "read_file",
        other,
        Effects::Read,
        CallStatus::Ok,
    );
    assert_eq!(changes, Changes::default());
    assert_eq!(state(&plan, 0, 0), "pending");
}

#[test]
fn v13_a_check_counts_only_after_the_write() {
    let write = r#"{"path":"elsewhere","content":"x"}"#;
    let mut early = c();
    read(&mut early, "k1", CallStatus::Ok);
    call(
        &mut early,
        "k2",
        "write_file",
        write,
        Effects::Write,
        CallStatus::Ok,
    );
    assert!(can_complete(&early.tasks[0]).is_err());

    let mut late = c();
    call(
        &mut late,
        "k2",
        "write_file",
        write,
        Effects::Write,
        CallStatus::Ok,
    );
    read(&mut late, "k1", CallStatus::Ok);
    assert!(can_complete(&late.tasks[0]).is_ok());
}

#[test]
fn v14_a_check_declared_in_the_same_batch_gets_no_evidence() {
    // The batch began without a plan (epoch 0), or with the plan before the check was declared.
    let id = CallId::from("k");
    for before in [0, epoch(&plan(vec![task("s1", Vec::new())]))] {
        let mut plan = c();
        let seen = Observation {
            call: &id,
            tool: "read_file",
            arguments: READ,
            effects: Effects::Read,
            status: CallStatus::Ok,
            changed: false,
            epoch: before,
        };
        assert_eq!(observe(&mut plan, &seen), Changes::default());
    }
}

#[test]
fn v15_a_failure_makes_the_other_evidence_stale_before_it_is_recorded() {
    let mut plan = plan(vec![task(
        "s1",
        vec![
            check("a", "grep", r#"{"p":1}"#),
            check("b", "grep", r#"{"p":2}"#),
        ],
    )]);
    call(
        &mut plan,
        "1",
        "grep",
        r#"{"p":1}"#,
        Effects::Read,
        CallStatus::Ok,
    );
    call(
        &mut plan,
        "2",
        "grep",
        r#"{"p":2}"#,
        Effects::Read,
        CallStatus::Failed,
    );
    assert_eq!(
        (state(&plan, 0, 0), state(&plan, 0, 1)),
        ("stale", "failed")
    );
    call(
        &mut plan,
        "3",
        "grep",
        r#"{"p":2}"#,
        Effects::Read,
        CallStatus::Ok,
    );
    assert_eq!(can_complete(&plan.tasks[0]).unwrap_err().open, ["a"]);
}

#[test]
fn v16_an_unrelated_command_reopens_a_done_task_even_when_it_fails() {
    let mut plan = c();
    read(&mut plan, "k", CallStatus::Ok);
    plan.tasks[0].status = TaskStatus::Completed;
    assert!(is_done(&plan.tasks[0]));
    let changes = shell(&mut plan, "make", CallStatus::Failed);
    assert_eq!(changes.reopened, ["s1"]);
    assert!(recheck(&plan.tasks[0]) && !is_done(&plan.tasks[0]));
    // The same call again makes it done again without another complete.
    read(&mut plan, "k", CallStatus::Ok);
    assert!(is_done(&plan.tasks[0]));
}

#[test]
fn v17_reads_questions_and_commands_without_a_change_keep_evidence() {
    let mut plan = c();
    read(&mut plan, "k", CallStatus::Ok);
    let id = CallId::from("x");
    for effects in [
        Effects::Read,
        Effects::Ask,
        Effects::NetworkRead,
        Effects::Plan,
        Effects::Exec,
    ] {
        let epoch = epoch(&plan);
        let seen = Observation {
            call: &id,
            tool: "bg_stop",
            arguments: "{}",
            effects,
            status: CallStatus::Ok,
            changed: effects != Effects::Exec,
            epoch,
        };
        assert_eq!(observe(&mut plan, &seen), Changes::default(), "{effects:?}");
    }
    assert_eq!((state(&plan, 0, 0), plan.version), ("passed", 2));
}

#[test]
fn v18_a_refused_check_is_blocked_and_cannot_complete_as_success() {
    let mut plan = c();
    read(&mut plan, "k", CallStatus::Refused);
    assert_eq!(state(&plan, 0, 0), "blocked");
    let refusal = can_complete(&plan.tasks[0]).unwrap_err();
    assert!(refusal.all_blocked && refusal.to_string().contains("check_replace"));
    plan.tasks[0].checks[0].evidence = Evidence::Attested {
        note: "seen by hand".to_owned(),
    };
    assert_eq!(can_complete(&plan.tasks[0]), Ok(()));
}

#[test]
fn v19_a_failure_is_a_failure_whatever_its_output_says() {
    // There is no output in an observation at all: only the status counts.
    let mut plan = c();
    read(&mut plan, "k", CallStatus::Failed);
    assert_eq!(state(&plan, 0, 0), "failed");
    assert!(!can_complete(&plan.tasks[0]).unwrap_err().all_blocked);
}

#[test]
fn v22_an_outcome_of_a_discarded_plan_is_ignored() {
    let old = epoch(&c());
    let mut fresh = c();
    fresh.id = "plan-2".to_owned();
    let id = CallId::from("k");
    let seen = Observation {
        call: &id,
        tool: "read_file",
        arguments: READ,
        effects: Effects::Read,
        status: CallStatus::Ok,
        changed: false,
        epoch: old,
    };
    assert_eq!(observe(&mut fresh, &seen), Changes::default());
}

#[test]
fn a_late_write_still_spoils_evidence() {
    let mut plan = c();
    read(&mut plan, "k", CallStatus::Ok);
    let id = CallId::from("late");
    let seen = Observation {
        call: &id,
        tool: "write_file",
        arguments: "{}",
        effects: Effects::Write,
        status: CallStatus::Ok,
        changed: true,
        epoch: 0,
    };
    assert_eq!(observe(&mut plan, &seen).staled, 1);
}

#[test]
fn v23_a_foreign_call_id_is_stored_as_a_hash_and_repeating_it_changes_nothing() {
    let mut plan = c();
    let id = "🦀\n".repeat(400);
    assert!(read(&mut plan, &id, CallStatus::Ok).changed);
    let Evidence::Passed { call } = &plan.tasks[0].checks[0].evidence else {
        panic!("not passed")
    };
    assert_eq!(call.as_str().len(), 7 + 64);
    let before = plan.clone();
    assert_eq!(read(&mut plan, &id, CallStatus::Ok), Changes::default());
    assert_eq!(plan, before);
}

#[test]
fn v31_a_failed_check_of_an_altered_plan_still_drops_the_old_pass() {
    let mut plan = c();
    read(&mut plan, "k", CallStatus::Ok);
    let old = epoch(&plan);
    plan.tasks.push(task("s2", Vec::new()));
    let id = CallId::from("k2");
    let seen = Observation {
        call: &id,
        tool: "read_file",
        arguments: READ,
        effects: Effects::Read,
        status: CallStatus::Failed,
        changed: false,
        epoch: old,
    };
    observe(&mut plan, &seen);
    assert_eq!(state(&plan, 0, 0), "stale");
}

#[test]
fn one_call_can_satisfy_several_checks_with_one_version_step() {
    let mut plan = plan(vec![
        task("s1", vec![check("c", "read_file", READ)]),
        task("s2", vec![check("d", "read_file", READ)]),
    ]);
    let changes = read(&mut plan, "k", CallStatus::Ok);
    assert_eq!(changes.settled.len(), 2);
    assert_eq!(plan.version, 2);
}

#[test]
fn verification_commands_follow_the_same_rules() {
    let mut plan = plan(vec![task("s1", Vec::new())]);
    plan.verification = vec![
        Verification {
            command: "npm test".to_owned(),
            evidence: Evidence::Pending,
        },
        Verification {
            command: "npm run lint".to_owned(),
            evidence: Evidence::Pending,
        },
    ];
    assert_eq!(unproven(&plan), ["verification/1", "verification/2"]);
    shell(&mut plan, "npm test", CallStatus::Ok);
    assert_eq!(unproven(&plan), ["verification/2"]);
    // Another command that succeeds clears nothing and spoils what was seen.
    shell(&mut plan, "npm run lint ", CallStatus::Ok);
    assert_eq!(unproven(&plan), ["verification/1", "verification/2"]);
    shell(&mut plan, "npm run lint", CallStatus::Ok);
    shell(&mut plan, "npm test", CallStatus::Ok);
    assert!(all_fresh(&plan));
    shell(&mut plan, "npm test", CallStatus::Failed);
    assert_eq!(unproven(&plan), ["verification/1", "verification/2"]);
}

#[test]
fn interrupted_commands_spoil_evidence_and_refused_ones_do_not() {
    for (status, staled) in [
        (CallStatus::Interrupted, 1),
        (CallStatus::Cancelled, 1),
        (CallStatus::Failed, 1),
        (CallStatus::Ok, 1),
        (CallStatus::Refused, 0),
    ] {
        let mut plan = c();
        read(&mut plan, "k", CallStatus::Ok);
        assert_eq!(
            shell(&mut plan, "rm x", status).staled,
            staled,
            "{status:?}"
        );
    }
}

#[test]
fn malformed_arguments_are_no_evidence_but_still_a_mutation() {
    let mut plan = c();
    read(&mut plan, "k", CallStatus::Ok);
    let changes = call(
        &mut plan,
        "x",
        "mcp_tool",
        "{",
        Effects::Unknown,
        CallStatus::Failed,
    );
    assert_eq!(changes.staled, 1);
}

#[test]
fn the_plan_tool_is_never_evidence() {
    let mut plan = plan(vec![task("s1", vec![check("c", "plan", "{}")])]);
    let changes = call(
        &mut plan,
        "x",
        "plan",
        "{}",
        Effects::Unknown,
        CallStatus::Ok,
    );
    assert_eq!(changes, Changes::default());
}

#[test]
fn a_restart_marks_evidence_restored_once() {
    let mut plan = c();
    read(&mut plan, "k", CallStatus::Ok);
    plan.tasks[0].status = TaskStatus::Completed;
    let changes = restored(&mut plan);
    assert_eq!(
        (changes.changed, changes.reopened),
        (true, vec!["s1".to_owned()])
    );
    assert_eq!(
        plan.tasks[0].checks[0].evidence,
        Evidence::Stale { restored: true }
    );
    let before = plan.clone();
    for _ in 0..5 {
        assert_eq!(restored(&mut plan), Changes::default());
    }
    assert_eq!(plan, before);
    read(&mut plan, "k2", CallStatus::Ok);
    assert!(is_done(&plan.tasks[0]));
}

#[test]
fn attested_evidence_survives_changes_and_yields_to_a_real_outcome() {
    let mut plan = c();
    plan.tasks[0].checks[0].evidence = Evidence::Attested {
        note: "n".to_owned(),
    };
    shell(&mut plan, "touch x", CallStatus::Ok);
    assert_eq!(state(&plan, 0, 0), "attested");
    read(&mut plan, "k", CallStatus::Failed);
    assert_eq!(state(&plan, 0, 0), "failed");
}

proptest! {
    #[test]
    fn no_sequence_leaves_a_pass_older_than_a_mutation(steps in prop::collection::vec(0_u8..6, 0..24)) {
        let mut plan = c();
        let mut fresh = false;
        for step in steps {
            let before = plan.version;
            let changes = match step {
                0 => { fresh = true; read(&mut plan, "k", CallStatus::Ok) }
                1 => { fresh = false; read(&mut plan, "k", CallStatus::Failed) }
                2 => { fresh = false; read(&mut plan, "k", CallStatus::Refused) }
                3 => { fresh = false; shell(&mut plan, "x", CallStatus::Ok) }
                4 => call(&mut plan, "g", "grep", "{}", Effects::Read, CallStatus::Failed),
                _ => { fresh = false; restored(&mut plan) }
            };
            prop_assert_eq!(plan.version - before, u64::from(changes.changed));
            prop_assert_eq!(can_complete(&plan.tasks[0]).is_ok(), fresh);
        }
    }
}
