//! What models do in these tests: the plan they write, the calls they make.

use serde_json::{Value, json};

use super::script::{Asked, Step, call, look, say};

pub(crate) const STEPS: [&str; 2] = ["Correct the adder", "Note the change"];
pub(crate) const PLAN: &str = "# Fix the adder

## Context
- **Problem:** The function add subtracts its second argument.
- **Target state:** The function add returns the sum and the unit test passes.
- **Intent:** The owner asked for it today.
- **Out of scope:** Every other function.

## Implementation steps
1. Correct the adder — change calc.py so that add returns the sum.
   - Done when: the unit test passes
2. Note the change — add one line to CHANGES.md.
";

/// The tasks that fit [`PLAN`].
pub(crate) fn tasks() -> Value {
    json!([
        {"id": "t1", "title": STEPS[0], "description": "Change calc.py so that add returns the sum.",
         "acceptance_criteria": ["the unit test passes"]},
        {"id": "t2", "title": STEPS[1], "description": "Add one line to CHANGES.md."},
    ])
}

pub(crate) fn plan(operation: &str, mut arguments: Value) -> Step {
    arguments["operation"] = json!(operation);
    call("plan", arguments)
}

pub(crate) fn write(path: &str, content: &str) -> Step {
    call("write_file", json!({"path": path, "content": content}))
}

pub(crate) fn write_md(content: &str) -> Step {
    let content = content.to_owned();
    look(move |asked| write(&asked.md_path(), &content))
}

pub(crate) fn bash(command: &str) -> Step {
    call("bash", json!({"command": command}))
}

pub(crate) fn check(with: impl FnOnce(&Asked) + Send + 'static, step: Step) -> Step {
    Step::Checked(Box::new(with), Box::new(step))
}

/// A design turn: init, write the prose, say so.
pub(crate) fn designer(md: &str) -> Vec<Step> {
    vec![
        plan("init", json!({"mode": "design", "title": "Fix the adder"})),
        write_md(md),
        say("The plan is ready for your review."),
    ]
}

/// How a seed turn begins.
pub(crate) fn seed() -> Vec<Step> {
    vec![
        plan("add_tasks", json!({"tasks": tasks()})),
        plan("start", json!({"task_id": "t1"})),
    ]
}
