//! The reference in the README, held against the types it describes.

use std::path::Path;

use greenlight::plan::model::{Plan, Task};
use greenlight::plan::{template, tool};
use serde::Serialize;
use serde_json::{Value, json};

fn readme() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap()
}

fn fields(value: &impl Serialize) -> Vec<String> {
    match serde_json::to_value(value).unwrap() {
        Value::Object(map) => map.keys().cloned().collect(),
        other => panic!("not an object: {other}"),
    }
}

fn section<'a>(text: &'a str, heading: &str) -> &'a str {
    let (_, rest) = text.split_once(heading).unwrap();
    rest.split("\n### ")
        .next()
        .unwrap()
        .split("\n## ")
        .next()
        .unwrap()
}

#[test]
fn the_readme_names_every_field_of_a_plan_and_of_a_task() {
    let plan: Plan = serde_json::from_value(json!({
        "id": "p", "session_id": "s", "title": "t", "status": "Editing",
        "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
    }))
    .unwrap();
    let task: Task = serde_json::from_value(json!({ "id": "t1", "title": "t" })).unwrap();
    let readme = readme();
    let files = section(&readme, "### The files");
    for field in fields(&plan).into_iter().chain(fields(&task)) {
        assert!(files.contains(&format!("`{field}`")), "{field}");
    }
}

#[test]
fn the_readme_has_a_row_for_every_operation_of_the_plan_tool_and_for_no_other() {
    let readme = readme();
    let rows: Vec<&str> = section(&readme, "### The `plan` tool")
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .collect();
    let schema = tool::schema();
    let operations = schema["properties"]["operation"]["enum"]
        .as_array()
        .unwrap();
    let operations: Vec<&str> = operations.iter().filter_map(Value::as_str).collect();
    assert_eq!(rows, operations);
}

#[test]
fn the_plan_in_the_readme_can_be_approved() {
    let readme = readme();
    let (_, rest) = readme
        .split_once("<!-- plan-template -->\n```markdown\n")
        .unwrap();
    let (plan, _) = rest.split_once("```\n<!-- /plan-template -->").unwrap();
    assert_eq!(template::missing(plan, 50), []);
    assert_eq!(
        template::title(plan).as_deref(),
        Some("Apply the discount as a percentage")
    );
}

#[test]
fn the_pictures_of_the_readme_are_there_and_small() {
    for name in ["plan", "approval", "done"] {
        let path = format!("deploy/pictures/{name}.png");
        assert!(readme().contains(&path), "{path}");
        let bytes = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(&path)).unwrap();
        assert!(
            bytes.starts_with(b"\x89PNG") && bytes.len() < 300_000,
            "{path}"
        );
    }
}
