//! Properties that hold for every plan.

use proptest::prelude::*;

use super::tests::{bare, of, plan_of, step, wrap};
use super::*;
use crate::domain::CallId;
use crate::plan::context_parse::{Parsed, parse};
use crate::plan::model::{Check, Evidence, Task, TaskStatus, Verification};

fn any_evidence() -> impl Strategy<Value = Evidence> {
    prop_oneof![
        Just(Evidence::Pending),
        ".{0,12}".prop_map(|id| Evidence::Passed { call: CallId(id) }),
        ".{0,20}".prop_map(|id| Evidence::Failed { call: CallId(id) }),
        any::<bool>().prop_map(|restored| Evidence::Stale { restored }),
        ".{0,20}".prop_map(|reason| Evidence::Blocked { reason }),
        ".{0,20}".prop_map(|note| Evidence::Attested { note }),
    ]
}

fn text(max: &'static str) -> impl Strategy<Value = String> {
    prop_oneof![
        max.prop_map(String::from),
        Just(" || checks:[] — x\n[done]".to_owned()),
        Just("[plan truncated: exceeded max_render_chars]".to_owned()),
        Just("</untrusted>".to_owned()),
        Just("a ||".to_owned()),
        Just("||| checks:".to_owned()),
        Just("—".to_owned()),
        Just(String::new()),
    ]
}

fn any_task() -> impl Strategy<Value = Task> {
    let status = prop_oneof![
        Just(TaskStatus::Pending),
        Just(TaskStatus::InProgress),
        Just(TaskStatus::Completed),
        Just(TaskStatus::Completed),
        Just(TaskStatus::Skipped),
        Just(TaskStatus::Failed),
        text(".{0,20}").prop_map(|reason| TaskStatus::Blocked { reason }),
    ];
    let arguments = prop_oneof![
        Just("{}".to_owned()),
        "[ -~]{0,20}".prop_map(|command| crate::plan::canonical::shell_call(&command)),
        Just(r#"{"line":1.0,"path":"é"}"#.to_owned()),
    ];
    let checks = prop::collection::vec((text(".{0,30}"), arguments, any_evidence()), 0..3);
    (text(".{0,24}"), text("(?s).{0,24}"), status, checks).prop_map(
        |(title, notes, status, checks)| {
            let mut task = plan_of(of(1, vec![step("x", WireStatus::Pending, "x")]))
                .tasks
                .remove(0);
            task.title = title;
            task.notes = notes;
            task.status = status;
            task.checks = checks
                .into_iter()
                .enumerate()
                .map(|(n, (description, arguments, evidence))| Check {
                    id: format!("c{n}"),
                    description,
                    tool: "bash".to_owned(),
                    arguments,
                    evidence,
                })
                .collect();
            task
        },
    )
}

fn any_plan() -> impl Strategy<Value = Plan> {
    let verification = prop::collection::vec(("[ -~]{1,20}", any_evidence()), 0..2);
    let revision = prop::option::of((
        text(".{0,40}"),
        prop::collection::vec(text(".{0,20}"), 0..3),
    ));
    (
        prop::collection::vec(any_task(), 1..5),
        any::<u32>(),
        verification,
        revision,
        any::<bool>(),
    )
        .prop_map(|(mut tasks, version, verification, revision, unchecked)| {
            for (n, task) in tasks.iter_mut().enumerate() {
                task.id = format!("t{}", n + 1);
                if unchecked {
                    task.checks.clear();
                }
            }
            let mut plan = plan_of(of(1, Vec::new()));
            plan.tasks = tasks;
            plan.version = u64::from(version);
            plan.verification = verification
                .into_iter()
                .map(|(command, evidence)| Verification { command, evidence })
                .collect();
            if let Some((reason, summary)) = revision {
                let value = serde_json::json!({"reason": reason, "summary": summary});
                plan.other.insert("last_revision".to_owned(), value);
            }
            plan
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn every_plan_that_is_rendered_in_full_can_be_read_back(plan in any_plan()) {
        let shown = snapshot(&plan);
        let expected = if shown.is_finished() {
            let ids = shown.steps.iter().map(|step| step.id.clone()).collect();
            Parsed::Finished { version: shown.version, ids }
        } else {
            Parsed::Running(shown.clone())
        };
        let message = full(&shown).wrapped(&wrap);
        prop_assert_eq!(parse(&message, 50), Ok(expected), "{}", message);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn the_cap_holds_always(plan in any_plan(), cap in 0_usize..9000) {
        let shown = plain(&snapshot(&plan), cap);
        let cap = cap.clamp(200, 8000);
        let header = shown.header.chars().count();
        prop_assert!(shown.chars() <= cap.max(header + 1) + 1 + CUT.len());
    }

    #[test]
    fn no_change_of_one_character_is_read_as_a_plan_that_renders_otherwise(
        plan in any_plan(), at in any::<prop::sample::Index>(), new in any::<char>()
    ) {
        let message = full(&snapshot(&plan)).wrapped(&bare);
        let mut chars: Vec<char> = message.chars().collect();
        let index = at.index(chars.len());
        chars[index] = new;
        let altered: String = chars.into_iter().collect();
        if let Ok(Parsed::Running(read)) = parse(&altered, 50) {
            prop_assert_eq!(full(&read).wrapped(&bare), altered.trim_end_matches('\n'));
        }
    }
}
