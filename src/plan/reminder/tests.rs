use std::path::PathBuf;

use super::*;
use crate::plan::context::{Origin, Snapshot, Step, WireCheck, WireStatus, restore};
use crate::plan::context_parse::Parsed;

fn plan(steps: &[(&str, WireStatus, &str)]) -> Plan {
    let steps = steps
        .iter()
        .map(|(id, status, title)| Step {
            id: (*id).to_owned(),
            status: *status,
            title: (*title).to_owned(),
            note: String::new(),
            checks: Vec::new(),
        })
        .collect();
    of(Snapshot {
        version: 1,
        revision: None,
        verification: Vec::new(),
        steps,
    })
}

fn of(snapshot: Snapshot) -> Plan {
    let origin = Origin {
        id: "p".to_owned(),
        session: "s".into(),
        title: "Plan".to_owned(),
        now: chrono::DateTime::UNIX_EPOCH,
    };
    restore(&Parsed::Running(snapshot), origin)
}

fn editing() -> PlanState {
    PlanState::Editing(EditingPlan {
        plan: Box::new(plan(&[])),
        md_path: PathBuf::from("/data/session/.greenlight_plan_s.md"),
        prose: String::new(),
    })
}

fn active(steps: &[(&str, WireStatus, &str)]) -> PlanState {
    PlanState::Active(Box::new(plan(steps)))
}

const MD: &str = "/data/session/.greenlight_plan_s.md";

fn pre_init(origin: PreInitOrigin) -> PlanState {
    PlanState::PreInit { origin }
}

fn corrupt() -> PlanState {
    PlanState::Corrupt {
        path: PathBuf::from("/x"),
        reason: "r".to_owned(),
    }
}

#[test]
fn only_planning_states_have_a_reminder() {
    let md = Path::new(MD);
    assert_eq!(reminder(&PlanState::NoPlan, md, &[]), None);
    assert_eq!(reminder(&active(&[]), md, &[]), None);
    for state in [
        pre_init(PreInitOrigin::Slash),
        pre_init(PreInitOrigin::Nudge),
        editing(),
    ] {
        let text = reminder(&state, md, &[]).unwrap();
        for needed in [
            MD,
            "Not allowed now:",
            "Approve",
            "start",
            "complete",
            "ask_user",
        ] {
            assert!(text.contains(needed), "{needed} is missing in {text}");
        }
        assert!(text.len() <= MAX_REMINDER_BYTES);
    }
    assert!(reminder(&corrupt(), md, &[]).unwrap().contains("/discard"));
}

#[test]
fn the_editing_reminder_names_headings_and_what_is_missing() {
    let text = reminder(&editing(), Path::new(MD), &["Intent", "a numbered step"]).unwrap();
    for needed in [
        "## Context",
        "**Problem:**",
        "**Target state:**",
        "**Intent:**",
        "## Implementation steps",
        "Done when:",
        "Intent, a numbered step",
        "bash",
    ] {
        assert!(text.contains(needed), "{needed}");
    }
    assert!(
        reminder(&editing(), Path::new(MD), &[])
            .unwrap()
            .contains("everything")
    );
}

#[test]
fn recovery_branches_on_the_state() {
    assert_eq!(recovery(&PlanState::NoPlan), None);
    let text = recovery(&editing()).unwrap();
    assert!(text.contains(MD) && text.contains("Do not call plan start"));
    let running = recovery(&active(&[("t1", WireStatus::Pending, "A")])).unwrap();
    assert!(running.contains("Call plan start without task_id"));
    assert!(recovery(&active(&[])).unwrap().contains("add_tasks once"));
    assert!(
        recovery(&pre_init(PreInitOrigin::Slash))
            .unwrap()
            .contains("plan init")
    );
}

#[test]
fn the_digest_holds_state_path_next_step_and_remaining_titles() {
    assert_eq!(digest(&PlanState::NoPlan, None), None);
    let state = active(&[
        ("t1", WireStatus::Done, "Done one"),
        ("t2", WireStatus::InProgress, "Build; then ship"),
        ("t3", WireStatus::Blocked, "Ask"),
    ]);
    let found = digest(&state, Some(Path::new(MD))).unwrap();
    assert_eq!(
        found.trusted,
        format!(
            "Plan state: Active.\nSession plan .md: {MD}\nChecklist: 1 of 3 tasks done. Next: plan \
             start without task_id, then go on with the checklist."
        )
    );
    assert_eq!(
        found.remaining,
        "t2 [in_progress] Build, then ship\nt3 [blocked] Ask"
    );
    let found = digest(&editing(), None).unwrap();
    assert!(found.trusted.contains("Editing") && found.trusted.contains(MD));
    assert_eq!(found.remaining, "");
    assert!(
        digest(&pre_init(PreInitOrigin::Nudge), None)
            .unwrap()
            .trusted
            .contains("none")
    );
}

#[test]
fn what_remains_at_the_end_has_no_titles() {
    let plan = plan(&[
        ("t1", WireStatus::Skipped, "SECRET"),
        ("t2", WireStatus::InProgress, "SECRET"),
        ("t3", WireStatus::Pending, "SECRET"),
    ]);
    assert_eq!(remaining(&plan).unwrap(), "t2=in_progress, t3=pending");
    let nudge = completion_nudge(&plan).unwrap();
    assert!(nudge.contains("t2=in_progress, t3=pending") && !nudge.contains("SECRET"));
}

#[test]
fn a_restart_alone_is_no_reason_for_a_nudge() {
    let step = Step {
        id: "t1".to_owned(),
        status: WireStatus::Done,
        title: "A".to_owned(),
        note: String::new(),
        checks: vec![WireCheck {
            id: "c".to_owned(),
            description: "d".to_owned(),
            tool: "bash".to_owned(),
            arguments: "{}".to_owned(),
            status: "passed".to_owned(),
            call_id: Some("k".to_owned()),
        }],
    };
    let snapshot = Snapshot {
        version: 1,
        revision: None,
        verification: Vec::new(),
        steps: vec![step],
    };
    let mut plan = of(snapshot);
    assert!(remaining(&plan).is_some());
    assert_eq!(completion_nudge(&plan), None);
    plan.tasks[0].checks[0].evidence = Evidence::Stale { restored: false };
    assert!(completion_nudge(&plan).is_some());
}

#[test]
fn long_lists_are_cut_at_a_character() {
    let title = "漢".repeat(200);
    let steps: Vec<(&str, WireStatus, &str)> = (0..100)
        .map(|_| ("t", WireStatus::Pending, title.as_str()))
        .collect();
    let text = remaining_with_titles(&plan(&steps));
    assert!(text.len() <= MAX_REMAINING_BYTES && text.ends_with('…'));
}
