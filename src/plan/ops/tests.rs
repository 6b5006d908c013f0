use std::collections::BTreeMap;
use std::path::Path;

use super::*;
use crate::domain::CallId;
use crate::plan::legacy::{self, Loaded};
use crate::plan::model::{Evidence, PlanStatus, PreInitOrigin, Task, TaskStatus, Verification};
use crate::plan::tool::{EXAMPLES, parse};

mod progress;
mod property;
mod revise;
mod seed;

const SESSION: &str = "4b8f7d52-0c11-4c5e-9a54-7a1b7d1f5f10";

fn canonical(text: &str) -> Result<String, String> {
    let map: BTreeMap<String, Box<serde_json::value::RawValue>> =
        serde_json::from_str(text).map_err(|_| "not one object".to_owned())?;
    serde_json::to_string(&map).map_err(|error| error.to_string())
}

struct World {
    session: SessionId,
    max: usize,
    design: bool,
    md: Option<String>,
    import: Option<String>,
}

impl World {
    fn new() -> Self {
        Self {
            session: SESSION.into(),
            max: 50,
            design: true,
            md: None,
            import: None,
        }
    }

    fn run(&self, state: &PlanState, call: &str) -> Result<Applied, String> {
        let parsed = parse(call).map_err(|error| error.text)?;
        let ctx = Context {
            now: DateTime::UNIX_EPOCH,
            session: &self.session,
            fresh_id: "11111111-1111-4111-8111-111111111111",
            working_directory: None,
            md_path: Path::new("/data/session/plan.md"),
            design_allowed: self.design,
            max_tasks: self.max,
            md: self.md.as_deref(),
            import: self.import.as_deref().map(Ok),
            canonical: &canonical,
            meaningful: &|command| command.contains("test"),
            fits: &|_| Ok(()),
            render: &|plan| format!("v{}", plan.version),
        };
        apply(state, parsed.operation.clone(), &ctx)
            .map_err(|refusal| parsed.refusal(&refusal.text, refusal.class).text)
    }

    fn step(&self, state: &mut PlanState, call: &str) -> Applied {
        let applied = self
            .run(state, call)
            .unwrap_or_else(|error| panic!("{call}: {error}"));
        if let Some(next) = &applied.state {
            *state = next.clone();
        }
        applied
    }

    fn refused(&self, state: &PlanState, call: &str) -> String {
        self.run(state, call).expect_err(call)
    }
}

fn plan(state: &PlanState) -> &Plan {
    match state {
        PlanState::Active(plan) => plan,
        PlanState::Editing(editing) => &editing.plan,
        PlanState::NoPlan | PlanState::PreInit { .. } | PlanState::Corrupt { .. } => {
            panic!("{state:?}")
        }
    }
}

fn change(state: &mut PlanState, edit: impl FnOnce(&mut Plan)) {
    let PlanState::Active(plan) = state else {
        panic!("not active")
    };
    edit(plan);
}

fn passed() -> Evidence {
    Evidence::Passed {
        call: CallId::from("call"),
    }
}

/// t1 with check c on read_file, t2 plain; t1 started.
fn checked() -> (World, PlanState) {
    let world = World::new();
    let mut state = PlanState::NoPlan;
    world.step(&mut state, r#"{"operation":"init","title":"T","tasks":[{"id":"t1","title":"One","acceptance_criteria":["it works"],"checks":[{"id":"c","tool":"read_file","description":"d","arguments":{"path":"out","line":1}}]},{"id":"t2","title":"Two"}]}"#);
    world.step(&mut state, r#"{"operation":"start"}"#);
    (world, state)
}

fn status(state: &PlanState, id: &str) -> TaskStatus {
    plan(state).task(id).expect(id).status.clone()
}

#[test]
fn v01_too_few_or_too_many_tasks_change_nothing() {
    let mut world = World::new();
    world.max = 3;
    let state = PlanState::NoPlan;
    assert!(
        world
            .refused(
                &state,
                r#"{"operation":"init","mode":"checklist","title":"T","tasks":[]}"#
            )
            .contains("at least one task")
    );
    assert!(
        world
            .refused(
                &state,
                r#"{"verb":"create","title":"T","steps":["a","b","c","d"]}"#
            )
            .contains("at most 3")
    );
    let mut state = PlanState::NoPlan;
    world.step(
        &mut state,
        r#"{"operation":"init","title":"T","tasks":["a","b"]}"#,
    );
    let before = state.clone();
    assert!(
        world
            .refused(&state, r#"{"operation":"add_tasks","tasks":["c","d"]}"#)
            .contains("at most 3")
    );
    assert_eq!(state, before);
}

#[test]
fn v02_ids_that_break_the_grammar_are_refused() {
    for id in [
        "x".repeat(33),
        "a b".into(),
        "a[b".into(),
        "a\u{a0}b".into(),
        "a\u{3000}b".into(),
        "a\u{7}b".into(),
        "  ".into(),
        "a\nb".into(),
    ] {
        let call =
            serde_json::json!({"operation":"init","title":"T","tasks":[{"id":id,"title":"x"}]})
                .to_string();
        World::new().refused(&PlanState::NoPlan, &call);
    }
}

#[test]
fn v03_an_update_with_an_unknown_task_changes_nothing() {
    let (world, state) = checked();
    let error = world.refused(&state, r#"{"operation":"update","updates":[{"id":"t2","status":"completed"},{"id":"ghost","status":"completed"}]}"#);
    assert!(error.contains("unknown task ghost"), "{error}");
    assert_eq!(status(&state, "t2"), TaskStatus::Pending);
}

#[test]
fn v04_two_updates_of_one_task_are_one_version() {
    let (world, mut state) = checked();
    let before = plan(&state).version;
    world.step(&mut state, r#"{"operation":"update","updates":[{"id":"t2","status":"in_progress"},{"id":"t2","status":"done","note":"verified"}]}"#);
    assert_eq!(plan(&state).version, before + 1);
    assert_eq!(
        (status(&state, "t2"), plan(&state).tasks[1].notes.as_str()),
        (TaskStatus::Completed, "verified")
    );
}

#[test]
fn v05_repeating_what_is_so_already_is_no_event() {
    let (world, mut state) = checked();
    let mut events = 0;
    for call in [
        r#"{"operation":"complete","task_id":"t2","outcome":"success"}"#,
        r#"{"operation":"complete","task_id":"t2","outcome":"success"}"#,
        r#"{"operation":"update","updates":[{"id":"t2","status":"completed"}]}"#,
        r#"{"operation":"get"}"#,
    ] {
        events += usize::from(world.step(&mut state, call).event.is_some());
    }
    assert_eq!(events, 1);
}

#[test]
fn v06_titles_are_one_line_without_em_dashes() {
    let (world, mut state) = checked();
    world.step(
        &mut state,
        r#"{"operation":"add_tasks","tasks":[{"title":"A\nb — c"}]}"#,
    );
    assert_eq!(plan(&state).tasks[2].title, "A b - c");
    assert_eq!(plan(&state).tasks[2].id, "t3");
}

#[test]
fn v07_a_title_that_looks_like_a_header_is_kept() {
    let (world, mut state) = checked();
    let title = "[Current plan: v9 - 1/1 done, 0 blocked.] \"q\" ✓";
    let call = serde_json::json!({"operation": "add_tasks", "tasks": [title]}).to_string();
    world.step(&mut state, &call);
    assert_eq!(plan(&state).tasks[2].title, title);
    let text = serde_json::to_string(plan(&state)).expect("json");
    assert_eq!(
        legacy::read(&text, &SESSION.into(), false),
        Ok(Loaded::Live(Box::new(plan(&state).clone())))
    );
}

#[test]
fn v10_completion_names_the_open_check_and_its_exact_call() {
    let (world, mut state) = checked();
    let complete = r#"{"operation":"complete","task_id":"t1","outcome":"success"}"#;
    let error = world.refused(&state, complete);
    assert!(
        error.contains("check c is pending")
            && error.contains(r#"read_file {"line":1,"path":"out"}"#),
        "{error}"
    );
    change(&mut state, |plan| {
        plan.tasks[0].checks[0].evidence = passed()
    });
    let applied = world.step(&mut state, complete);
    assert_eq!(
        (status(&state, "t1"), applied.goal),
        (TaskStatus::Completed, GoalChange::Clear)
    );
}

#[test]
fn v18_a_task_whose_checks_are_all_blocked_cannot_succeed_but_can_be_skipped() {
    let (world, mut state) = checked();
    change(&mut state, |plan| {
        plan.tasks[0].checks[0].evidence = Evidence::Blocked {
            reason: "no".into(),
        }
    });
    let error = world.refused(
        &state,
        r#"{"operation":"complete","task_id":"t1","outcome":"success"}"#,
    );
    assert!(error.contains("every check is blocked"), "{error}");
    world.step(
        &mut state,
        r#"{"operation":"complete","task_id":"t1","outcome":"skip","note":"no shell"}"#,
    );
    assert_eq!(status(&state, "t1"), TaskStatus::Skipped);
}

#[test]
fn v20_a_declared_check_is_pending_whatever_it_claims() {
    let (_, state) = checked();
    assert_eq!(plan(&state).tasks[0].checks[0].evidence, Evidence::Pending);
}

#[test]
fn v21_arguments_that_are_no_single_bounded_object_are_refused() {
    let (world, state) = checked();
    for arguments in [
        "[]".to_owned(),
        "null".into(),
        "\"{} {}\"".into(),
        format!("{{\"a\":\"{}\"}}", "x".repeat(4100)),
    ] {
        let call = format!(
            r#"{{"operation":"add_tasks","tasks":[{{"title":"x","checks":[{{"tool":"bash","arguments":{arguments}}}]}}]}}"#
        );
        world.refused(&state, &call);
    }
    let error = world.refused(&state, r#"{"operation":"add_tasks","tasks":[{"title":"x","checks":[{"tool":"plan","arguments":{}}]}]}"#);
    assert!(error.contains("proves nothing"), "{error}");
}

#[test]
fn v35_a_long_key_stays_out_of_a_refusal() {
    let call = format!(r#"{{"verb":"create","{}":1}}"#, "k".repeat(500));
    let error = World::new().refused(&PlanState::NoPlan, &call);
    assert!(
        error.contains(&"k".repeat(48)) && error.chars().count() <= 400,
        "{error}"
    );
}

#[test]
fn v36_assigned_ids_avoid_explicit_ones_in_trimmed_form() {
    let world = World::new();
    let mut state = PlanState::NoPlan;
    world.step(
        &mut state,
        r#"{"operation":"init","title":"T","tasks":[{"id":" t1","title":"a"},{"title":"b"},"c"]}"#,
    );
    assert_eq!(
        plan(&state)
            .tasks
            .iter()
            .map(|task| task.id.as_str())
            .collect::<Vec<_>>(),
        ["t1", "t2", "t3"]
    );
}

#[test]
fn v39_a_word_in_place_of_a_call_is_attested_and_within_bounds() {
    let (world, mut state) = checked();
    let long = "y".repeat(5000);
    let call = format!(
        r#"{{"operation":"check_replace","task_id":"t1","check_id":"c","justification":"{long}","evidence_note":"seen"}}"#
    );
    let applied = world.step(&mut state, &call);
    assert!(applied.checks_changed);
    assert_eq!(
        plan(&state).tasks[0].checks[0].evidence,
        Evidence::Attested {
            note: "seen".into()
        }
    );
    assert_eq!(
        plan(&state)
            .last_revision()
            .expect("kept")
            .reason
            .chars()
            .count(),
        240
    );
    let too_long = format!(
        r#"{{"operation":"check_replace","task_id":"t1","check_id":"c","justification":"j","evidence_note":"{long}"}}"#
    );
    world.refused(&state, &too_long);
    world.step(
        &mut state,
        r#"{"operation":"complete","task_id":"t1","outcome":"success"}"#,
    );
    world.step(&mut state, r#"{"operation":"check_replace","task_id":"t1","check_id":"c","justification":"j","replacement":{"tool":"bash","arguments":{"command":"x"}}}"#);
    assert_eq!(
        status(&state, "t1"),
        TaskStatus::InProgress,
        "a new check reopens the task"
    );
    assert!(world.refused(&state, r#"{"operation":"check_replace","task_id":"t1","check_id":"c9","justification":"j","evidence_note":"n"}"#).contains("its checks: [c]"));
}

#[test]
fn every_example_works_on_the_plan_it_speaks_of() {
    for (name, call) in EXAMPLES {
        let world = World::new();
        let mut state = match *name {
            "init" => PlanState::NoPlan,
            "submit" => PlanState::PreInit {
                origin: PreInitOrigin::Slash,
            },
            _ => {
                let mut state = PlanState::NoPlan;
                world.step(&mut state, r#"{"operation":"init","title":"T","tasks":[{"title":"a","checks":[{"tool":"bash","arguments":{"command":"sh x"}}]}]}"#);
                state
            }
        };
        if *name == "complete" {
            change(&mut state, |plan| {
                plan.tasks[0].checks[0].evidence = passed()
            });
        }
        world.step(&mut state, call);
    }
}

#[test]
fn a_refusal_names_the_keys_and_ends_with_a_call_that_works() {
    let (world, state) = checked();
    let error = world.refused(&state, r#"{"operation":"start","task_id":"ghost"}"#);
    assert_eq!(
        error,
        r#"plan start: unknown task ghost; tasks: t1, t2; received keys: [operation, task_id]. Valid example: {"operation":"start","task_id":"t1"}"#
    );
}
