//! What the model is told about the tool.

use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use crate::plan::draft::Draft;
use crate::plan::ops::bounds;

/// The description; its examples are those of [`super::EXAMPLES`].
pub const DESCRIPTION: &str = concat!(
    "Keeps the plan of this session. Two tracks. Design: init with a title (or submit with the whole plan as fields), ",
    "write the prose into the .md that the reply names, then wait: only the user approves. Checklist: init with tasks, ",
    "then start. Use init only once; a live plan is never replaced. ",
    "While a checklist runs: start a task before working on it, complete it only when it is done, revise when the ",
    "approach changes. A task may declare up to 4 checks, each an exact tool call; run that call yourself in a later ",
    "batch, and only its real outcome passes the check. Everything is refused as a whole or applied as a whole. ",
    "Examples: ",
    r#"{"operation":"init","mode":"checklist","title":"Fix login","tasks":[{"title":"Find the fault"},{"title":"Correct it"}]} "#,
    r#"{"operation":"add_tasks","tasks":[{"title":"Run the tests","description":"All of them."}]} "#,
    r#"{"operation":"start","task_id":"t1"} "#,
    r#"{"operation":"complete","task_id":"t1","outcome":"success"} "#,
    r#"{"operation":"update","updates":[{"id":"t1","note":"half done"}]} "#,
    r#"{"operation":"revise","reason":"A test is missing","operations":[{"kind":"add","after_id":"t1","tasks":[{"title":"Write the test"}]}]} "#,
    r#"{"operation":"get"}"#,
);

fn check() -> Value {
    json!({
        "type": "object",
        "properties": {
            "id": {"type": "string", "maxLength": bounds::ID},
            "description": {"type": "string", "maxLength": bounds::CHECK_DESCRIPTION},
            "tool": {"type": "string", "description": "Name of the tool to be called."},
            "arguments": {"type": "object", "description": "Its exact arguments; matched literally."},
        },
        "required": ["tool", "arguments"],
    })
}

fn tasks(description: &str) -> Value {
    json!({
        "type": "array",
        "description": description,
        "items": {
            "type": "object",
            "properties": {
                "id": {"type": "string", "maxLength": bounds::ID, "description": "Short name such as t1; assigned if left out."},
                "title": {"type": "string", "minLength": 1, "maxLength": bounds::TITLE},
                "description": {"type": "string", "maxLength": bounds::DESCRIPTION},
                "dependencies": {"type": "array", "items": {"type": "string"}, "description": "Ids of tasks that come first."},
                "acceptance_criteria": {"type": "array", "items": {"type": "string"}, "maxItems": bounds::CRITERIA},
                "checks": {"type": "array", "items": check(), "maxItems": bounds::CHECKS},
                "note": {"type": "string", "maxLength": bounds::NOTE},
                "targets": {"type": "array", "items": {"type": "string"}},
                "action": {"enum": ["inspect", "change", "verify"]},
            },
            "required": ["title"],
        },
    })
}

fn changes() -> Value {
    json!({
        "type": "array",
        "minItems": 1,
        "maxItems": bounds::REVISE_OPERATIONS,
        "description": "revise: applied in order, all or none. Existing checks are never removed or changed by it.",
        "items": {
            "type": "object",
            "properties": {
                "kind": {"enum": ["add", "edit", "move", "split", "supersede"]},
                "task_id": {"type": "string", "description": "edit, move, split, supersede: which task."},
                "after_id": {"type": "string", "description": "add, move: behind this task; only one anchor, none means last."},
                "before_id": {"type": "string", "description": "add, move: in front of this task."},
                "title": {"type": "string", "description": "edit: another title reopens the task and drops its evidence."},
                "description": {"type": "string", "description": "edit"},
                "note": {"type": "string", "description": "edit: an empty note clears it."},
                "checks": {"type": "array", "items": check(), "description": "edit: appended."},
                "tasks": tasks("add, split (two at least), supersede (one at least)."),
                "carry_checks_to": {"type": "string", "description": "split, supersede of a task with checks: id of the new task that takes them over; without it a new task must declare checks."},
            },
            "required": ["kind"],
        },
    })
}

/// The JSON schema of the arguments object, without references.
#[must_use]
pub fn schema() -> Value {
    let mut draft = SchemaSettings::draft07()
        .with(|settings| {
            settings.inline_subschemas = true;
            settings.meta_schema = None;
        })
        .into_generator()
        .into_root_schema_for::<Draft>()
        .to_value();
    if let Some(map) = draft.as_object_mut() {
        map.remove("title");
    }
    json!({
        "type": "object",
        "properties": {
            "operation": {"enum": ["init", "submit", "add_tasks", "start", "complete", "update", "revise", "check_replace", "get"]},
            "mode": {"enum": ["design", "checklist"], "description": "init: prose for review, or tasks at once. Left out: tasks mean checklist, none design."},
            "title": {"type": "string", "maxLength": bounds::TITLE, "description": "init"},
            "tasks": tasks("init with mode checklist, add_tasks."),
            "file_path": {"type": "string", "description": "init: import a plan from this absolute path."},
            "draft": draft,
            "task_id": {"type": "string", "description": "start (the next task if left out), complete, check_replace."},
            "outcome": {"enum": ["success", "skip", "fail"], "description": "complete"},
            "note": {"type": "string", "maxLength": bounds::NOTE, "description": "complete"},
            "updates": {
                "type": "array",
                "description": "update: applied in order, all or none.",
                "items": {
                    "type": "object",
                    "properties": {
                        "id": {"type": "string"},
                        "status": {"enum": ["pending", "in_progress", "completed", "skipped", "failed", "blocked"]},
                        "note": {"type": "string"},
                    },
                    "required": ["id"],
                },
            },
            "reason": {"type": "string", "maxLength": bounds::REASON, "description": "revise: why, mandatory."},
            "operations": changes(),
            "check_id": {"type": "string", "description": "check_replace"},
            "justification": {"type": "string", "description": "check_replace: why, mandatory."},
            "replacement": check(),
            "evidence_note": {"type": "string", "description": "check_replace: your word instead of a call; the user sees it as attested, not passed."},
        },
        "required": ["operation"],
    })
}
