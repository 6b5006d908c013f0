//! Beginnings: design, submission, import and the seed turn.

use super::*;
use crate::domain::UserId;
use crate::plan::lifecycle::{Approval, approve};
use crate::plan::seed as seeding;

const MD: &str = "# Fix the adder\n\n## Context\n- **Problem:** It subtracts.\n- **Target state:** It adds.\n- **Intent:** Today.\n\n## Implementation steps\n1. Correct the adder — change calc.py.\n   - Done when: `sh check.sh`\n2. Note the change — add one line.\n\n## Verification\n- `sh check.sh`\n";

fn approved() -> (World, PlanState) {
    let mut world = World::new();
    let mut state = PlanState::NoPlan;
    world.step(
        &mut state,
        r#"{"operation":"init","title":"Fix the adder"}"#,
    );
    let revision = template::revision(MD);
    let approval = Approval {
        plan_id: &plan(&state).id.clone(),
        revision: &revision,
        by: UserId(7),
        at: DateTime::UNIX_EPOCH,
        note: Some("be careful"),
        max_tasks: 50,
    };
    let plan = approve(&state, MD, &approval).expect("approved");
    world.md = Some(MD.to_owned());
    (world, PlanState::Active(Box::new(plan)))
}

#[test]
fn design_init_leaves_an_outline_and_names_the_file() {
    let world = World::new();
    let mut state = PlanState::PreInit {
        origin: PreInitOrigin::Nudge,
    };
    let applied = world.step(&mut state, r#"{"operation":"init","title":"T"}"#);
    assert!(
        applied.reply.contains("/data/session/plan.md"),
        "{}",
        applied.reply
    );
    assert_eq!(plan(&state).status, PlanStatus::Editing);
    assert_eq!(Some(plan(&state).description.clone()), applied.md);
    assert!(
        world
            .refused(&state, r#"{"operation":"init","title":"T","tasks":["a"]}"#)
            .contains("discard first")
    );
    assert!(
        world
            .refused(&state, r#"{"operation":"start"}"#)
            .contains("approval")
    );
    let mut yolo = World::new();
    yolo.design = false;
    assert!(
        yolo.refused(&PlanState::NoPlan, r#"{"operation":"init","title":"T"}"#)
            .contains("checklist")
    );
    assert!(
        yolo.run(
            &PlanState::NoPlan,
            r#"{"operation":"init","title":"T","tasks":["a"]}"#
        )
        .is_ok()
    );
    assert!(
        world
            .refused(
                &PlanState::NoPlan,
                r#"{"operation":"init","title":"T","mode":"design","tasks":["a"]}"#
            )
            .contains("takes no tasks")
    );
}

#[test]
fn a_submission_writes_the_prose_once_and_a_repeat_is_told_so() {
    let world = World::new();
    let call = EXAMPLES
        .iter()
        .find(|(name, _)| *name == "submit")
        .expect("submit")
        .1;
    assert!(
        world
            .refused(&PlanState::NoPlan, call)
            .contains("plan mode")
    );
    let mut state = PlanState::PreInit {
        origin: PreInitOrigin::Slash,
    };
    let applied = world.step(&mut state, call);
    assert!(
        applied
            .md
            .is_some_and(|md| template::missing(&md, 50).is_empty())
    );
    assert_eq!(world.step(&mut state, call).state, None);
    let changed = call.replace("Compare hashes.", "Compare salted hashes.");
    let id = plan(&state).id.clone();
    let applied = world.step(&mut state, &changed);
    assert!(applied.md.is_some() && plan(&state).id == id);
}

#[test]
fn the_seed_takes_one_task_for_each_step_and_adds_what_the_step_demands() {
    let (world, mut state) = approved();
    assert!(seeding::prompt(plan(&state), Path::new("/x.md")).contains("be careful"));
    let tasks =
        |titles: &[&str]| serde_json::json!({"operation":"add_tasks","tasks":titles}).to_string();
    let few = world.refused(&state, &tasks(&["Correct the adder"]));
    assert!(
        few.contains("2 numbered steps") && few.contains("2. Note the change"),
        "{few}"
    );
    let other = world.refused(&state, &tasks(&["Correct the adder", "Delete everything"]));
    assert!(other.contains("\"Delete everything\""), "{other}");
    assert!(plan(&state).tasks.is_empty());
    world.step(
        &mut state,
        &tasks(&["correct the adder.", "Note the change"]),
    );
    let first = &plan(&state).tasks[0];
    assert_eq!(first.checks[0].arguments, r#"{"command":"sh check.sh"}"#);
    assert_eq!(first.acceptance_criteria, ["`sh check.sh`"]);
    assert_eq!(first.description, "change calc.py.");
    assert!(
        world
            .refused(&state, &tasks(&["more"]))
            .contains("call start now")
    );
    assert!(
        world
            .refused(
                &state,
                r#"{"operation":"revise","reason":"r","operations":[{"kind":"add","tasks":["x"]}]}"#
            )
            .contains("start")
    );
    world.step(&mut state, r#"{"operation":"start"}"#);
    assert!(plan(&state).approved_at.is_some());
    world.step(&mut state, &tasks(&["more"]));
    assert_eq!(plan(&state).tasks.len(), 3);
}

#[test]
fn an_import_renumbers_and_resets() {
    let mut world = World::new();
    world.import = Some(r#"{"title":"Imported","status":"Approved","tasks":[
        {"id":"00000000-0000-4000-8000-000000000001","title":"First","description":"d","status":"Completed","notes":"n","retry_count":3,"dependencies":[]},
        {"id":"b","title":"Second","description":"d","dependencies":["00000000-0000-4000-8000-000000000001"]},
        {"title":"Third","description":"d","dependencies":[1,"b"]}]}"#.to_owned());
    let mut state = PlanState::PreInit {
        origin: PreInitOrigin::Slash,
    };
    world.step(
        &mut state,
        r#"{"operation":"init","file_path":"/x.json","mode":"design"}"#,
    );
    let tasks = &plan(&state).tasks;
    assert!(tasks.iter().all(|task| task.status == TaskStatus::Pending
        && task.notes.is_empty()
        && task.retry_count == 0));
    assert_eq!(
        tasks
            .iter()
            .map(|task| task.dependencies.join(","))
            .collect::<Vec<_>>(),
        ["", "t1", "t1,t2"]
    );
    assert!(plan(&state).approved_at.is_none());
    for (file, words) in [
        ("[]", "one JSON object"),
        (r#"{"tasks":[]}"#, "at least one"),
        (
            r#"{"tasks":[{"title":"a","description":"d"},{"title":"b","description":" "}]}"#,
            "task 2: the description",
        ),
        (
            r#"{"tasks":[{"title":" ","description":"d"}]}"#,
            "task 1: the title",
        ),
        (
            r#"{"tasks":[{"id":"a","title":"a","description":"d","dependencies":["zz"]}]}"#,
            "unknown task zz",
        ),
        (
            r#"{"tasks":[{"id":"a","title":"a","description":"d","dependencies":["b"]},{"id":"b","title":"b","description":"d","dependencies":["a"]}]}"#,
            "circle",
        ),
        (
            r#"{"tasks":[{"id":"a","title":"a","description":"d"},{"id":"a","title":"b","description":"d"}]}"#,
            "task 2: its id is used twice",
        ),
    ] {
        world.import = Some(file.to_owned());
        let error = world.refused(
            &PlanState::NoPlan,
            r#"{"operation":"init","file_path":"/x.json"}"#,
        );
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn v29_v30_a_second_init_never_replaces_checks_or_evidence() {
    let (world, mut state) = checked();
    change(&mut state, |plan| {
        plan.tasks[0].checks[0].evidence = passed()
    });
    let before = state.clone();
    for call in [
        r#"{"verb":"create","title":"T","steps":["only this"]}"#,
        r#"{"operation":"init","title":"T"}"#,
        r#"{"operation":"init","file_path":"/x.json"}"#,
    ] {
        assert!(world.refused(&state, call).contains("discard first"));
        assert_eq!(state, before);
    }
}
