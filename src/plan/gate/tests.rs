use super::*;
use crate::domain::ApprovalLevel;

const PHASES: [Phase; 7] = [
    Phase::NoPlan,
    Phase::PreInit { slash: true },
    Phase::PreInit { slash: false },
    Phase::Editing,
    Phase::Seeding,
    Phase::Active,
    Phase::Corrupt,
];

/// A cell of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cell {
    Policy,
    Ask,
    Deny,
    Reads,
    Writes,
    Bare,
}
use Cell::{Ask as Asks, Bare, Deny, Policy, Reads, Writes};

fn cell(verdict: &Verdict) -> Cell {
    match verdict {
        Verdict::Policy => Policy,
        Verdict::Ask => Asks,
        Verdict::Deny(text) => {
            assert!(text.starts_with("Refused"), "{text}");
            Deny
        }
        Verdict::Allow(SandboxProfile::ReadOnly) => Reads,
        Verdict::Allow(SandboxProfile::Workspace) => Writes,
        Verdict::Allow(SandboxProfile::Off) => Bare,
    }
}

fn base(call: &CallId, effects: Effects, class: ActionClass) -> Ask<'_> {
    Ask {
        call,
        tool: "x",
        effects,
        class,
        operation: None,
        writes_plan_md: false,
        sandbox: true,
        unsandboxed_preinit: false,
        read_only_role: false,
    }
}

fn row(ask: &Ask<'_>, expected: [Cell; 7]) {
    let found = PHASES.map(|phase| cell(&decide(&phase, ask)));
    assert_eq!(found, expected, "{ask:?}");
}

#[test]
fn every_tool_cell_of_the_table_holds() {
    let id = CallId::from("c");
    row(
        &base(&id, Effects::Read, ActionClass::Read),
        [Policy, Reads, Reads, Reads, Reads, Policy, Policy],
    );
    row(&base(&id, Effects::Ask, ActionClass::Channel), [Reads; 7]);
    row(&base(&id, Effects::Ask, ActionClass::Read), [Reads; 7]);
    row(
        &base(&id, Effects::NetworkRead, ActionClass::Network),
        [Policy; 7],
    );
    let closed = [Policy, Deny, Deny, Deny, Deny, Policy, Deny];
    row(
        &Ask {
            writes_plan_md: true,
            ..base(&id, Effects::Write, ActionClass::WorkspaceWrite)
        },
        [Deny, Deny, Deny, Writes, Deny, Deny, Deny],
    );
    row(
        &base(&id, Effects::Write, ActionClass::WorkspaceWrite),
        closed,
    );
    row(&base(&id, Effects::Channel, ActionClass::Channel), closed);
    row(&base(&id, Effects::Unknown, ActionClass::Network), closed);
    row(&base(&id, Effects::Unknown, ActionClass::Read), closed);
    row(&base(&id, Effects::Spawn, ActionClass::Spawn), closed);
    row(
        &Ask {
            read_only_role: true,
            ..base(&id, Effects::Spawn, ActionClass::Spawn)
        },
        [Policy, Reads, Reads, Deny, Deny, Policy, Deny],
    );
}

#[test]
fn bash_before_init_runs_read_only_or_not_at_all() {
    let id = CallId::from("c");
    for class in [ActionClass::Exec, ActionClass::Destructive] {
        let bash = base(&id, Effects::Exec, class);
        row(&bash, [Policy, Reads, Reads, Deny, Deny, Policy, Deny]);
        let bare = Ask {
            sandbox: false,
            ..bash
        };
        row(&bare, [Policy, Deny, Deny, Deny, Deny, Policy, Deny]);
        let Verdict::Deny(text) = decide(&Phase::PreInit { slash: true }, &bare) else {
            panic!("not denied")
        };
        assert!(text.contains("Landlock"));
    }
    let bare = Ask {
        sandbox: false,
        unsandboxed_preinit: true,
        ..base(&id, Effects::Exec, ActionClass::Exec)
    };
    row(&bare, [Policy, Bare, Bare, Deny, Deny, Policy, Deny]);
    row(
        &Ask {
            class: ActionClass::Destructive,
            ..bare
        },
        [Policy, Deny, Deny, Deny, Deny, Policy, Deny],
    );
}

#[test]
fn every_plan_cell_of_the_table_holds() {
    use PlanOperation::{
        AddTasks, CheckReplace, Complete, Get, InitChecklist, InitDesign, Revise, Start, Submit,
        Update,
    };
    let id = CallId::from("c");
    let op = |operation| Ask {
        operation: Some(operation),
        ..base(&id, Effects::Plan, ActionClass::Plan)
    };
    row(&op(InitDesign), [Asks, Reads, Asks, Deny, Deny, Deny, Deny]);
    row(
        &op(InitChecklist),
        [Asks, Asks, Asks, Deny, Deny, Deny, Deny],
    );
    row(&op(Submit), [Deny, Reads, Reads, Reads, Deny, Deny, Deny]);
    for operation in [AddTasks, Start] {
        row(&op(operation), [Deny, Deny, Deny, Deny, Reads, Reads, Deny]);
    }
    for operation in [Complete, Update, Revise, CheckReplace] {
        row(&op(operation), [Deny, Deny, Deny, Deny, Deny, Reads, Deny]);
    }
    row(&op(Get), [Reads, Reads, Reads, Reads, Reads, Reads, Deny]);
    row(&base(&id, Effects::Plan, ActionClass::Plan), [Deny; 7]);
}

#[test]
fn a_tool_that_claims_to_read_but_acts_is_treated_as_unknown() {
    let id = CallId::from("c");
    for class in [
        ActionClass::WorkspaceWrite,
        ActionClass::Exec,
        ActionClass::Destructive,
    ] {
        for effects in [Effects::Read, Effects::NetworkRead, Effects::Ask] {
            row(
                &base(&id, effects, class),
                [Policy, Deny, Deny, Deny, Deny, Policy, Deny],
            );
        }
    }
}

#[test]
fn refusals_are_deterministic_and_say_what_is_allowed() {
    let id = CallId::from("c");
    let write = base(&id, Effects::Write, ActionClass::WorkspaceWrite);
    for phase in [
        Phase::PreInit { slash: false },
        Phase::Editing,
        Phase::Seeding,
    ] {
        let first = decide(&phase, &write);
        assert_eq!(first, decide(&phase, &write));
        let Verdict::Deny(text) = first else {
            panic!("not denied")
        };
        assert!(text.contains("Allowed now:"), "{text}");
    }
    let Verdict::Deny(text) = decide(&Phase::Corrupt, &write) else {
        panic!("not denied")
    };
    assert!(text.contains("/discard"));
}

#[test]
fn only_allowed_or_granted_calls_get_a_permit() {
    let id = CallId::from("c");
    let ask = base(&id, Effects::Write, ActionClass::WorkspaceWrite);
    let usual = SandboxProfile::Workspace;
    for granted in [false, true] {
        assert_eq!(permit(&ask, &Verdict::Deny("no"), granted, usual), None);
        for verdict in [Verdict::Policy, Verdict::Ask] {
            let permit = permit(&ask, &verdict, granted, usual);
            assert_eq!(
                permit.map(|permit| permit.profile()),
                granted.then_some(usual)
            );
        }
        let verdict = Verdict::Allow(SandboxProfile::ReadOnly);
        let permit = permit(&ask, &verdict, granted, usual).unwrap();
        assert_eq!(
            (permit.profile(), permit.call()),
            (SandboxProfile::ReadOnly, &id)
        );
    }
}

#[test]
fn every_cell_of_the_approval_policy_holds() {
    use ActionClass::{Channel, Destructive, Exec, Network, Plan, Read, Spawn, WorkspaceWrite};
    let classes = [
        Read,
        WorkspaceWrite,
        Exec,
        Destructive,
        Network,
        Spawn,
        Channel,
        Plan,
    ];
    let asked = |level, grants: &Grants, planning| -> Vec<ActionClass> {
        classes
            .into_iter()
            .filter(|class| approval(level, *class, grants, planning) == Decision::AskOwner)
            .collect()
    };
    let none = Grants::default();
    let all = Grants::from(
        classes
            .into_iter()
            .collect::<std::collections::BTreeSet<_>>(),
    );
    let at_ask = [WorkspaceWrite, Exec, Destructive, Network, Channel];
    assert_eq!(asked(ApprovalLevel::Ask, &none, false), at_ask);
    assert_eq!(
        asked(ApprovalLevel::Auto, &none, false),
        [Destructive, Network, Channel]
    );
    assert_eq!(asked(ApprovalLevel::Yolo, &none, false), []);
    assert_eq!(asked(ApprovalLevel::Ask, &all, false), [Destructive]);
    assert_eq!(asked(ApprovalLevel::Auto, &all, false), [Destructive]);
    for level in [ApprovalLevel::Ask, ApprovalLevel::Auto, ApprovalLevel::Yolo] {
        assert_eq!(asked(level, &all, true), at_ask, "{level:?} while planning");
        assert_eq!(
            design_refusal(level).is_some(),
            level == ApprovalLevel::Yolo
        );
    }
}

#[test]
fn a_stored_grant_for_destructive_calls_is_dropped_on_load() {
    let grants: Grants = serde_json::from_str(r#"["destructive","exec","plan"]"#).unwrap();
    assert_eq!(grants.iter().collect::<Vec<_>>(), [ActionClass::Exec]);
    assert_eq!(serde_json::to_string(&grants).unwrap(), r#"["exec"]"#);
}
