use super::*;
use crate::plan::model::{EditingPlan, TaskStatus};
use crate::plan::view;

const MD: &str = "# New title\n## Context\n- **Problem:** a\n- **Target state:** b\n- **Intent:** c\n## Implementation steps\n1. One — do\n## Verification\n- `sh check.sh`\n";

fn birth() -> Birth {
    Birth {
        id: "p".into(),
        session: "s".into(),
        now: DateTime::UNIX_EPOCH,
        working_directory: None,
    }
}

fn editing(md: &str) -> PlanState {
    PlanState::Editing(EditingPlan {
        plan: Box::new(init_design(&PlanState::NoPlan, "T", md, birth(), true).unwrap()),
        md_path: "/x.md".into(),
        prose: md.to_owned(),
    })
}

fn approval<'a>(plan_id: &'a str, revision: &'a str) -> Approval<'a> {
    Approval {
        plan_id,
        revision,
        by: UserId(7),
        at: DateTime::from_timestamp(5, 0).unwrap(),
        note: None,
        max_tasks: 50,
    }
}

fn active(state: PlanState, md: &str) -> PlanState {
    let revision = template::revision(md);
    PlanState::Active(Box::new(
        approve(&state, md, &approval("p", &revision)).unwrap(),
    ))
}

fn corrupt() -> PlanState {
    PlanState::Corrupt {
        path: "/x".into(),
        reason: "plan-corrupt-json".into(),
    }
}

#[test]
fn a_nudge_never_lowers_a_slash_and_a_slash_raises_a_nudge() {
    let start = |state: &PlanState, origin| {
        pre_init(state, origin, birth(), true)
            .map(|plan| plan.and_then(|plan| plan.pre_init_origin))
    };
    let nudged = PlanState::PreInit {
        origin: PreInitOrigin::Nudge,
    };
    let slashed = PlanState::PreInit {
        origin: PreInitOrigin::Slash,
    };
    assert_eq!(
        start(&PlanState::NoPlan, PreInitOrigin::Nudge),
        Ok(Some(PreInitOrigin::Nudge))
    );
    assert_eq!(
        start(&nudged, PreInitOrigin::Slash),
        Ok(Some(PreInitOrigin::Slash))
    );
    assert_eq!(start(&slashed, PreInitOrigin::Nudge), Ok(None));
    assert_eq!(start(&nudged, PreInitOrigin::Nudge), Ok(None));
    assert_eq!(
        start(&editing(MD), PreInitOrigin::Slash),
        Err(Refusal::LivePlan)
    );
    assert_eq!(
        start(&corrupt(), PreInitOrigin::Slash),
        Err(Refusal::Corrupt)
    );
    assert_eq!(
        pre_init(&PlanState::NoPlan, PreInitOrigin::Slash, birth(), false),
        Err(Refusal::NoDesignHere)
    );
}

#[test]
fn approval_compares_what_was_shown_with_what_is_there() {
    let state = editing(MD);
    let revision = template::revision(MD);
    let plan = approve(&state, MD, &approval("p", &revision)).unwrap();
    assert_eq!(plan.status, PlanStatus::Active);
    assert_eq!(
        (plan.approved_by, plan.approved_revision.as_deref()),
        (Some(UserId(7)), Some(revision.as_str()))
    );
    assert_eq!(
        (plan.title.as_str(), plan.verification.len(), plan.version),
        ("New title", 1, 1)
    );
    assert_eq!(
        approve(&state, MD, &approval("q", &revision)),
        Err(Refusal::Superseded)
    );
    assert_eq!(
        approve(&state, "# changed", &approval("p", &revision)),
        Err(Refusal::Superseded)
    );
    assert_eq!(
        approve(&state, MD, &approval("p", "old")),
        Err(Refusal::Superseded)
    );
    let bad = "# T\n";
    let refused = approve(&editing(bad), bad, &approval("p", &template::revision(bad)));
    assert!(matches!(refused, Err(Refusal::Incomplete(items)) if items.len() == 6));
    // The second of two taps.
    assert_eq!(
        approve(&active(state, MD), MD, &approval("p", &revision)),
        Err(Refusal::Running)
    );
    assert_eq!(
        approve(&PlanState::NoPlan, MD, &approval("p", &revision)),
        Err(Refusal::NoPlan)
    );
    let flag = PlanState::PreInit {
        origin: PreInitOrigin::Slash,
    };
    assert_eq!(
        approve(&flag, MD, &approval("p", &revision)),
        Err(Refusal::PreInit)
    );
    assert_eq!(
        approve(&corrupt(), MD, &approval("p", &revision)),
        Err(Refusal::Corrupt)
    );
}

#[test]
fn crlf_and_lf_are_the_same_revision() {
    let windows = MD.replace('\n', "\r\n");
    assert!(
        approve(
            &editing(MD),
            &windows,
            &approval("p", &template::revision(MD))
        )
        .is_ok()
    );
}

#[test]
fn a_drifted_text_goes_back_to_editing_without_approval() {
    let PlanState::Active(plan) = active(editing(MD), MD) else {
        panic!("active")
    };
    assert!(crate::plan::seed::is_approved_text(&plan, MD));
    assert!(!crate::plan::seed::is_approved_text(&plan, "# other"));
    let back = reopen(&plan, "# other", DateTime::UNIX_EPOCH);
    assert_eq!(
        (back.status, back.approved_at, back.approved_revision),
        (PlanStatus::Editing, None, None)
    );
    assert!(back.verification.is_empty());
}

#[test]
fn faces_phases_and_execute_follow_from_state_and_turn() {
    let list =
        |state: &PlanState, running| (face(state, running, 50), phase(state), execute(state));
    let say = |key: &str, _: &[(&str, &str)]| key.to_owned();
    assert_eq!(
        list(&PlanState::NoPlan, false),
        (None, Phase::NoPlan, Err(Refusal::NoPlan))
    );
    assert!(view::build(&PlanState::NoPlan, false, 50, &say).is_none());
    let good = editing(MD);
    assert_eq!(
        list(&good, true),
        (
            Some(PlanFace::Editing),
            Phase::Editing,
            Ok(Execute::Approve)
        )
    );
    assert_eq!(list(&good, false).0, Some(PlanFace::Ready));
    assert_eq!(list(&editing("# T\n"), false).0, Some(PlanFace::NotReady));
    let mut state = active(good, MD);
    assert_eq!(
        list(&state, true),
        (
            Some(PlanFace::Seeding),
            Phase::Seeding,
            Ok(Execute::RetrySeed)
        )
    );
    assert_eq!(list(&state, false).0, Some(PlanFace::SeedFailed));
    let PlanState::Active(plan) = &mut state else {
        panic!("active")
    };
    plan.tasks = vec![
        serde_json::from_value(
            serde_json::json!({"id": "t1", "title": "One", "acceptance_criteria": ["ok"]}),
        )
        .unwrap(),
    ];
    assert_eq!(
        list(&state, false),
        (
            Some(PlanFace::PartialSeed),
            Phase::Seeding,
            Err(Refusal::PartialSeed)
        )
    );
    let PlanState::Active(plan) = &mut state else {
        panic!("active")
    };
    plan.tasks[0].status = TaskStatus::InProgress;
    plan.tasks[0].started = true;
    assert_eq!(
        list(&state, false),
        (
            Some(PlanFace::Running),
            Phase::Active,
            Err(Refusal::Running)
        )
    );
    let shown = view::build(&state, true, 50, &say).unwrap();
    assert_eq!(
        (shown.goal.as_deref(), shown.total, shown.done),
        (Some("ok"), 1, 0)
    );
    assert_eq!(
        list(&corrupt(), false),
        (
            Some(PlanFace::Corrupt),
            Phase::Corrupt,
            Err(Refusal::Corrupt)
        )
    );
}

#[test]
fn rows_tell_attested_blocked_and_recheck_apart() {
    let mut state = active(editing(MD), MD);
    let PlanState::Active(plan) = &mut state else {
        panic!("active")
    };
    let task = |id: &str, status: &str, evidence: serde_json::Value| {
        serde_json::from_value::<Task>(serde_json::json!({"id": id, "title": id, "status": status, "checks": [
            {"id": "c", "description": "d", "tool": "bash", "arguments": "{}", "evidence": evidence}]}))
        .unwrap()
    };
    plan.tasks = vec![
        task(
            "a",
            "Completed",
            serde_json::json!({"state": "attested", "note": "by eye"}),
        ),
        task(
            "b",
            "Completed",
            serde_json::json!({"state": "stale", "restored": true}),
        ),
        task(
            "c",
            "InProgress",
            serde_json::json!({"state": "blocked", "reason": "refused"}),
        ),
    ];
    let say = |key: &str, arguments: &[(&str, &str)]| {
        format!(
            "{key} {}",
            arguments
                .iter()
                .map(|(_, value)| *value)
                .collect::<String>()
        )
    };
    let shown = view::build(&state, false, 50, &say).unwrap();
    let rows: Vec<_> = shown
        .rows
        .iter()
        .map(|row| (row.mark.sign(), row.remark.trim()))
        .collect();
    assert_eq!(
        rows,
        [
            ("☑", "plan-row-attested by eye"),
            ("⟳", "plan-row-restored"),
            ("▶", "plan-row-check-blocked refused")
        ]
    );
    assert_eq!((shown.done, shown.recheck), (1, 1));
}
