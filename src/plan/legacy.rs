//! Sidecars as older and foreign programs wrote them, mapped onto ours. Pure: the caller moves files.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::model::{Plan, PlanStatus};
use super::ops::bounds;
use crate::domain::SessionId;

/// What a sidecar turns out to be.
#[derive(Debug, Clone, PartialEq)]
pub enum Loaded {
    /// A live plan (or the pre-init flag).
    Live(Box<Plan>),
    /// Completed: to be archived without a word.
    Finished(Box<Plan>),
    /// Cancelled: to be removed.
    Gone,
}

/// Reads a sidecar. `has_md` is whether the session `.md` exists beside it.
///
/// # Errors
/// A locale key that says why it cannot be read.
pub fn read(text: &str, session: &SessionId, has_md: bool) -> Result<Loaded, &'static str> {
    let value: Value = serde_json::from_str(text).map_err(|_| "plan-corrupt-json")?;
    let Value::Object(mut root) = value else {
        return Err("plan-corrupt-json");
    };
    let status = status(&root)?;
    tidy_root(&mut root, session);
    let tasks = tidy_tasks(&mut root)?;
    let live = match status {
        Status::Editing => PlanStatus::Editing,
        // A draft with a checklist and without prose was a checklist at work.
        Status::Draft if tasks > 0 && !has_md => PlanStatus::Active,
        Status::Draft => PlanStatus::Editing,
        Status::Active | Status::Completed => PlanStatus::Active,
        Status::Cancelled => return Ok(Loaded::Gone),
    };
    if live == PlanStatus::Editing && tasks > 0 {
        // Prose under review has no checklist; an old one is kept, not shown.
        if let Some(tasks) = root.insert("tasks".to_owned(), Value::Array(Vec::new())) {
            root.insert("legacy_tasks".to_owned(), tasks);
        }
    }
    let word = if live == PlanStatus::Editing {
        "Editing"
    } else {
        "Active"
    };
    root.insert("status".to_owned(), word.into());
    let plan: Plan =
        serde_json::from_value(Value::Object(root)).map_err(|_| "plan-corrupt-json")?;
    if plan.session_id != *session {
        return Err("plan-corrupt-session");
    }
    bounds::plan(&plan).map_err(|_| "plan-corrupt-bound")?;
    let plan = Box::new(plan);
    Ok(if status == Status::Completed {
        Loaded::Finished(plan)
    } else {
        Loaded::Live(plan)
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    Editing,
    Draft,
    Active,
    Completed,
    Cancelled,
}

fn status(root: &Map<String, Value>) -> Result<Status, &'static str> {
    match root.get("status").and_then(Value::as_str) {
        Some("Editing" | "PendingApproval" | "Rejected") => Ok(Status::Editing),
        Some("Draft") => Ok(Status::Draft),
        Some("Active" | "Approved" | "InProgress") => Ok(Status::Active),
        Some("Completed") => Ok(Status::Completed),
        Some("Cancelled") => Ok(Status::Cancelled),
        Some(_) | None => Err("plan-corrupt-status"),
    }
}

/// Fields that older files leave out or set to null.
fn tidy_root(root: &mut Map<String, Value>, session: &SessionId) {
    drop_null(
        root,
        &[
            "id",
            "session_id",
            "title",
            "description",
            "tasks",
            "created_at",
            "updated_at",
            "version",
            "pre_init_editing",
            "verification",
            "revision",
        ],
    );
    let epoch = || Value::from("1970-01-01T00:00:00Z");
    let created = root.get("created_at").cloned().unwrap_or_else(epoch);
    for (key, value) in [
        ("id", Value::from(session.as_str())),
        ("session_id", Value::from(session.as_str())),
        ("title", Value::from("")),
        ("created_at", created.clone()),
        ("updated_at", created),
    ] {
        root.entry(key).or_insert(value);
    }
    if let Some(Value::String(title)) = root.get_mut("title") {
        *title = bounds::one_line(title);
    }
}

/// A null in a field that has a default means the default; other fields are kept as they are.
fn drop_null(fields: &mut Map<String, Value>, names: &[&str]) {
    fields.retain(|name, value| !(value.is_null() && names.contains(&name.as_str())));
}

/// Gives every task an id by our rules and dependencies by id. Returns how many there are.
fn tidy_tasks(root: &mut Map<String, Value>) -> Result<usize, &'static str> {
    let Some(tasks) = root.get_mut("tasks") else {
        return Ok(0);
    };
    let tasks = tasks.as_array_mut().ok_or("plan-corrupt-json")?;
    let names: Vec<Option<String>> = tasks
        .iter()
        .map(|task| task.get("id").and_then(name))
        .collect();
    let fits = |name: &Option<String>| {
        name.as_deref()
            .is_some_and(|id| bounds::id(id).as_deref() == Ok(id))
    };
    let kept: Vec<&String> = names.iter().filter(|name| fits(name)).flatten().collect();
    let mut next = 1_usize;
    let ids: Vec<String> = names
        .iter()
        .map(|name| match name {
            Some(id) if fits(name) => id.clone(),
            Some(_) | None => loop {
                let id = format!("t{next}");
                next += 1;
                if !kept.iter().any(|known| **known == id) {
                    break id;
                }
            },
        })
        .collect();
    let mut new_id: BTreeMap<String, String> = BTreeMap::new();
    for (n, (old, id)) in names.iter().zip(&ids).enumerate() {
        // Numbers mean positions, or the order that the task itself gives.
        let order = tasks
            .get(n)
            .and_then(|task| task.get("order"))
            .and_then(name);
        new_id
            .entry(order.unwrap_or_else(|| (n + 1).to_string()))
            .or_insert_with(|| id.clone());
        if let Some(old) = old {
            new_id.insert(old.clone(), id.clone());
        }
    }
    for (task, id) in tasks.iter_mut().zip(&ids) {
        let task = task.as_object_mut().ok_or("plan-corrupt-json")?;
        tidy_task(task, id, &new_id)?;
    }
    Ok(tasks.len())
}

fn name(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn tidy_task(
    task: &mut Map<String, Value>,
    id: &str,
    new_id: &BTreeMap<String, String>,
) -> Result<(), &'static str> {
    drop_null(
        task,
        &[
            "title",
            "description",
            "status",
            "dependencies",
            "acceptance_criteria",
            "checks",
            "notes",
            "targets",
            "retry_count",
            "started",
        ],
    );
    task.insert("id".to_owned(), id.into());
    for key in ["title", "notes"] {
        if let Some(Value::String(text)) = task.get_mut(key) {
            *text = bounds::one_line(text);
        }
    }
    if let Some(Value::Array(list)) = task.get_mut("dependencies") {
        for wanted in list.iter_mut() {
            let old = name(wanted).ok_or("plan-corrupt-json")?;
            *wanted = new_id
                .get(&old)
                .ok_or("plan-corrupt-bound")?
                .as_str()
                .into();
        }
    }
    // `{"Blocked": "why"}` was the older form.
    let reason = task
        .get("status")
        .and_then(|status| status.get("Blocked"))
        .and_then(Value::as_str);
    if let Some(reason) = reason.map(str::to_owned) {
        task.insert(
            "status".to_owned(),
            serde_json::json!({ "Blocked": { "reason": reason } }),
        );
    }
    let begun = task
        .get("status")
        .is_some_and(|status| status.as_str() != Some("Pending"));
    if begun && !task.contains_key("started") {
        task.insert("started".to_owned(), true.into());
    }
    Ok(())
}
