//! The operations that change a running checklist: `update`, `revise`, `check_replace`.

use serde_json::value::RawValue;

use super::parse::{Call, Outcomes, fault, shape};
use super::raw::{Fields, array, object};
use super::shape::{check_of, checks_of, first, tasks_of, text_of};
use super::teach::Class;
use super::{Anchor, Change, CheckReplace, NewStatus, Operation, Substitute, Update};
use crate::plan::ops::bounds;

impl Call {
    pub(super) fn update(&mut self) -> Outcomes<Operation> {
        let Some(raw) = first(&self.fields, &["updates"]) else {
            let single = self.fields.contains_key("status") || self.fields.contains_key("note");
            if single && let Some(id) = self.task_id()? {
                let update = update_fields(&self.fields, Some(id))?;
                self.note("put the change into a list `updates`");
                return Ok(Operation::Update {
                    updates: vec![update],
                });
            }
            let near = ["changes", "tasks", "steps"]
                .into_iter()
                .find(|key| self.fields.contains_key(*key));
            return match near {
                Some(key) => fault(
                    Class::WrongFieldName,
                    format!("'{key}' is not recognised; did you mean 'updates'?"),
                ),
                None => fault(
                    Class::MissingField,
                    "update needs updates, a list of {id, status, note}",
                ),
            };
        };
        let Some(items) = array(raw.get()) else {
            return fault(Class::Shape, "updates must be a list");
        };
        let mut updates = Vec::new();
        for item in &items {
            let Some(fields) = object(item.get()) else {
                return fault(
                    Class::Shape,
                    "each of updates is an object {id, status, note}",
                );
            };
            updates.push(update_fields(&fields, None)?);
        }
        if let Some(outer) = self.task_id()? {
            match updates.as_slice() {
                [one] if one.id == outer => {}
                [_] => return fault(Class::AliasConflict, "task_id and updates name two tasks"),
                _ => {
                    return fault(
                        Class::AliasConflict,
                        "task_id does not go with a list of updates",
                    );
                }
            }
        }
        if updates.is_empty() {
            return fault(Class::MissingField, "updates is empty");
        }
        if updates.len() > bounds::TASKS {
            return fault(Class::Bound, format!("at most {} updates", bounds::TASKS));
        }
        Ok(Operation::Update { updates })
    }

    pub(super) fn revise(&mut self) -> Outcomes<Operation> {
        let reason = text_of(&self.fields, &["reason"])
            .map_err(shape)?
            .unwrap_or_default();
        let reason = bounds::one_line(&reason);
        if reason.is_empty() {
            return fault(Class::MissingField, "revise needs a reason");
        }
        if bounds::longer(&reason, bounds::REASON) {
            return fault(
                Class::Bound,
                format!("reason is longer than {} characters", bounds::REASON),
            );
        }
        let Some(items) = first(&self.fields, &["operations"]).and_then(|raw| array(raw.get()))
        else {
            return fault(
                Class::MissingField,
                "revise needs operations, a list of {kind, …}",
            );
        };
        if items.is_empty() || items.len() > bounds::REVISE_OPERATIONS {
            return fault(
                Class::Bound,
                format!("operations holds 1 to {} items", bounds::REVISE_OPERATIONS),
            );
        }
        let operations = items
            .iter()
            .enumerate()
            .map(|(n, item)| {
                change_of(item)
                    .map_err(|(class, text)| (class, format!("operation {}: {text}", n + 1)))
            })
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Operation::Revise { reason, operations })
    }

    pub(super) fn check_replace(&mut self) -> Outcomes<Operation> {
        let task_id = self.needed_task_id()?;
        let Some(check_id) = text_of(&self.fields, &["check_id"]).map_err(shape)? else {
            return fault(Class::MissingField, "check_id is missing");
        };
        let justification = text_of(&self.fields, &["justification"])
            .map_err(shape)?
            .unwrap_or_default();
        if bounds::one_line(&justification).is_empty() {
            return fault(Class::MissingField, "justification is missing");
        }
        let word = text_of(&self.fields, &["evidence_note"]).map_err(shape)?;
        let by = match (first(&self.fields, &["replacement"]), word) {
            (Some(_), Some(_)) => {
                return fault(
                    Class::AliasAmbiguous,
                    "give either replacement or evidence_note, not both",
                );
            }
            (Some(raw), None) => Substitute::Check(check_of(raw).map_err(shape)?),
            (None, Some(word)) if !word.trim().is_empty() => Substitute::Word(word),
            (None, _) => {
                return fault(
                    Class::MissingField,
                    "give replacement (another check) or evidence_note",
                );
            }
        };
        Ok(Operation::CheckReplace(CheckReplace {
            task_id,
            check_id: check_id.trim().to_owned(),
            justification,
            by,
        }))
    }
}

fn update_fields(fields: &Fields, id: Option<String>) -> Outcomes<Update> {
    let id = match id {
        Some(id) => id,
        None => text_of(fields, &["id", "task_id", "step_id"])
            .map_err(shape)?
            .unwrap_or_default(),
    };
    if id.trim().is_empty() {
        return fault(Class::MissingField, "id required in each of updates");
    }
    let status = match text_of(fields, &["status"]).map_err(shape)? {
        None => None,
        Some(word) => Some(status_of(&word)?),
    };
    let note = text_of(fields, &["note", "notes"]).map_err(shape)?;
    if status.is_none() && note.is_none() {
        return fault(Class::MissingField, "an update needs a status or a note");
    }
    Ok(Update {
        id: id.trim().to_owned(),
        status,
        note,
    })
}

fn status_of(word: &str) -> Outcomes<NewStatus> {
    match word.trim().to_lowercase().replace(['-', ' '], "_").as_str() {
        "pending" => Ok(NewStatus::Pending),
        "in_progress" | "inprogress" => Ok(NewStatus::InProgress),
        "completed" | "done" => Ok(NewStatus::Completed),
        "skipped" => Ok(NewStatus::Skipped),
        "failed" => Ok(NewStatus::Failed),
        "blocked" => Ok(NewStatus::Blocked),
        other => fault(
            Class::Shape,
            format!(
                "unknown status \"{}\"; it is pending, in_progress, completed, skipped, failed or blocked",
                bounds::cut(other, 48)
            ),
        ),
    }
}

fn change_of(raw: &RawValue) -> Outcomes<Change> {
    let Some(fields) = object(raw.get()) else {
        return fault(Class::Shape, "an operation is an object {kind, …}");
    };
    let kind = text_of(&fields, &["kind"])
        .map_err(shape)?
        .unwrap_or_default();
    let task_id = || match text_of(&fields, &["task_id", "step_id", "id"]).map_err(shape)? {
        Some(id) if !id.trim().is_empty() => Ok(id.trim().to_owned()),
        Some(_) | None => fault(Class::MissingField, "task_id is missing"),
    };
    let tasks = || match first(&fields, &["tasks", "steps"]) {
        _ if fields.contains_key("tasks") && fields.contains_key("steps") => fault(
            Class::AliasAmbiguous,
            "ambiguous: both 'tasks' and 'steps' supply tasks",
        ),
        Some(raw) => tasks_of(raw).map_err(shape),
        None => Ok(Vec::new()),
    };
    match kind.trim().to_lowercase().as_str() {
        "add" => Ok(Change::Add {
            tasks: tasks()?,
            anchor: anchor_of(&fields)?,
        }),
        "move" => Ok(Change::Move {
            task_id: task_id()?,
            anchor: anchor_of(&fields)?,
        }),
        "edit" => Ok(Change::Edit {
            task_id: task_id()?,
            title: text_of(&fields, &["title"]).map_err(shape)?,
            description: text_of(&fields, &["description"]).map_err(shape)?,
            note: text_of(&fields, &["note", "notes"]).map_err(shape)?,
            checks: checks_of(&fields, "checks").map_err(shape)?,
        }),
        word @ ("split" | "supersede") => Ok(Change::Replace {
            task_id: task_id()?,
            tasks: tasks()?,
            carry_checks_to: text_of(&fields, &["carry_checks_to"])
                .map_err(shape)?
                .map(|id| id.trim().to_owned()),
            split: word == "split",
        }),
        other => fault(
            Class::Shape,
            format!(
                "unknown kind \"{}\"; it is add, edit, move, split or supersede",
                bounds::cut(other, 48)
            ),
        ),
    }
}

fn anchor_of(fields: &Fields) -> Outcomes<Anchor> {
    let after = text_of(fields, &["after_id"]).map_err(shape)?;
    let before = text_of(fields, &["before_id"]).map_err(shape)?;
    match (after, before) {
        (Some(_), Some(_)) => fault(Class::AliasConflict, "give after_id or before_id, not both"),
        (Some(id), None) => Ok(Anchor::After(id.trim().to_owned())),
        (None, Some(id)) => Ok(Anchor::Before(id.trim().to_owned())),
        (None, None) => Ok(Anchor::End),
    }
}
