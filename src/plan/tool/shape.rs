//! Tasks, checks and lists in the forms in which models write them.

use serde_json::value::RawValue;

use super::raw::{Fields, array, is_null, object, text};
use super::{NewCheck, NewTask};
use crate::plan::model::TaskAction;

/// Whether the value is a non-empty array whose first item is an object with an id or a title.
pub(super) fn is_task_list(raw: &RawValue) -> bool {
    array(raw.get())
        .and_then(|items| items.into_iter().next())
        .and_then(|first| object(first.get()))
        .is_some_and(|first| first.contains_key("id") || first.contains_key("title"))
}

/// Whether the value is an object that carries a task list under `tasks` or `steps`.
pub(super) fn is_wrapper(raw: &RawValue) -> bool {
    object(raw.get()).is_some_and(|fields| {
        ["tasks", "steps"]
            .iter()
            .any(|key| fields.get(*key).is_some_and(|list| is_task_list(list)))
    })
}

/// The first of the keys that is there and not null.
pub(super) fn first<'a>(fields: &'a Fields, keys: &[&str]) -> Option<&'a RawValue> {
    keys.iter()
        .filter_map(|key| fields.get(*key))
        .map(AsRef::as_ref)
        .find(|raw| !is_null(raw))
}

/// Text under the first of the keys.
pub(super) fn text_of(fields: &Fields, keys: &[&str]) -> Result<Option<String>, String> {
    match first(fields, keys) {
        None => Ok(None),
        Some(raw) => text(raw)
            .map(Some)
            .ok_or_else(|| format!("{} must be text", keys.first().copied().unwrap_or_default())),
    }
}

/// A list of texts under the first of the keys; one text stands for a list of one.
fn texts_of(fields: &Fields, keys: &[&str]) -> Result<Vec<String>, String> {
    let Some(raw) = first(fields, keys) else {
        return Ok(Vec::new());
    };
    if let Some(one) = text(raw) {
        return Ok(if one.trim().is_empty() {
            Vec::new()
        } else {
            vec![one]
        });
    }
    array(raw.get())
        .and_then(|items| {
            items
                .iter()
                .map(|item| text(item))
                .collect::<Option<Vec<_>>>()
        })
        .map(|items| {
            items
                .into_iter()
                .filter(|item| !item.trim().is_empty())
                .collect()
        })
        .ok_or_else(|| {
            format!(
                "{} must be a list of texts",
                keys.first().copied().unwrap_or_default()
            )
        })
}

/// One task; a bare string is its title.
pub(crate) fn task_of(raw: &RawValue) -> Result<NewTask, String> {
    if let Ok(title) = serde_json::from_str::<String>(raw.get()) {
        return Ok(NewTask {
            title,
            ..NewTask::default()
        });
    }
    let fields = object(raw.get()).ok_or("a task is an object with a title, or a title alone")?;
    Ok(NewTask {
        id: text_of(&fields, &["id", "task_id", "step_id"])?,
        title: text_of(&fields, &["title"])?.ok_or("a task needs a title")?,
        description: text_of(&fields, &["description", "detail"])?.unwrap_or_default(),
        dependencies: texts_of(&fields, &["dependencies", "depends_on"])?,
        acceptance_criteria: texts_of(&fields, &["acceptance_criteria", "done_when"])?,
        checks: checks_of(&fields, "checks")?,
        notes: text_of(&fields, &["note", "notes"])?.unwrap_or_default(),
        targets: texts_of(&fields, &["targets"])?,
        action: match text_of(&fields, &["action"])?.map(|word| word.trim().to_lowercase()) {
            None => None,
            Some(word) => Some(match word.as_str() {
                "inspect" => TaskAction::Inspect,
                "change" => TaskAction::Change,
                "verify" => TaskAction::Verify,
                _ => return Err("action is one of inspect, change, verify".to_owned()),
            }),
        },
    })
}

/// All tasks of a list. Errors carry the 1-based number.
pub(super) fn tasks_of(raw: &RawValue) -> Result<Vec<NewTask>, String> {
    if is_null(raw) {
        return Ok(Vec::new());
    }
    array(raw.get())
        .ok_or("tasks must be a list")?
        .iter()
        .enumerate()
        .map(|(n, item)| task_of(item).map_err(|error| format!("task {}: {error}", n + 1)))
        .collect()
}

/// The checks of a task.
pub(super) fn checks_of(fields: &Fields, key: &str) -> Result<Vec<NewCheck>, String> {
    let Some(raw) = first(fields, &[key]) else {
        return Ok(Vec::new());
    };
    array(raw.get())
        .ok_or_else(|| format!("{key} must be a list of checks"))?
        .iter()
        .map(|item| check_of(item))
        .collect()
}

/// One check.
pub(super) fn check_of(raw: &RawValue) -> Result<NewCheck, String> {
    let fields = object(raw.get()).ok_or("a check is an object {description, tool, arguments}")?;
    let tool = text_of(&fields, &["tool"])?.ok_or("a check needs a tool")?;
    let arguments = fields
        .get("arguments")
        .ok_or("a check needs arguments, one JSON object")?;
    // Arguments written as a string of JSON are taken as the JSON they hold.
    let arguments = serde_json::from_str::<String>(arguments.get())
        .unwrap_or_else(|_| arguments.get().to_owned());
    Ok(NewCheck {
        id: text_of(&fields, &["id"])?,
        description: text_of(&fields, &["description"])?.unwrap_or_default(),
        tool: tool.trim().to_owned(),
        arguments,
    })
}
