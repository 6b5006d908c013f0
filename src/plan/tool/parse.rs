//! From the raw arguments of a call to an operation.

use super::raw::{Fields, is_null, object, text};
use super::shape::{is_wrapper, text_of};
use super::teach::{Class, Rejection, keys};
use super::{Operation, Outcome, Parsed};
use crate::plan::ops::bounds;

/// Bytes of arguments that are looked at; more is refused unread.
const MAX_BYTES: usize = 1024 * 1024;

const NAMES: &[&str] = &[
    "init",
    "submit",
    "add_tasks",
    "start",
    "complete",
    "update",
    "revise",
    "check_replace",
    "get",
];

pub(super) type Fault = (Class, String);
pub(super) type Outcomes<T> = Result<T, Fault>;

pub(super) fn fault<T>(class: Class, problem: impl Into<String>) -> Outcomes<T> {
    Err((class, problem.into()))
}

pub(super) fn shape(problem: String) -> Fault {
    (Class::Shape, problem)
}

/// Understands one call.
///
/// # Errors
/// A rejection for the model; nothing was changed.
pub fn parse(arguments: &str) -> Result<Parsed, Rejection> {
    if arguments.len() > MAX_BYTES {
        return Err(Rejection::new(
            Class::ParseError,
            None,
            "the arguments exceed 1 MiB",
            "",
        ));
    }
    let Some(fields) = object(arguments) else {
        return Err(Rejection::new(
            Class::ParseError,
            None,
            "the arguments must be one JSON object",
            "",
        ));
    };
    let received = keys(fields.keys());
    let mut call = Call {
        fields,
        notes: Vec::new(),
        alias: "",
    };
    let name = call
        .name()
        .map_err(|(class, problem)| Rejection::new(class, None, &problem, &received))?;
    call.unwrap(name);
    let operation = call
        .operation(name)
        .map_err(|(class, problem)| Rejection::new(class, Some(name), &problem, &received))?;
    Ok(Parsed {
        operation,
        notes: call.notes,
        received,
    })
}

pub(super) struct Call {
    pub(super) fields: Fields,
    notes: Vec<String>,
    /// `create` or `add_task`, if one was used.
    pub(super) alias: &'static str,
}

impl Call {
    pub(super) fn note(&mut self, text: &str) {
        self.notes.push(format!("Note: {text}."));
    }

    fn name(&mut self) -> Outcomes<&'static str> {
        let known = || NAMES.join(", ");
        let verb = text_of(&self.fields, &["verb"]).map_err(shape)?;
        let own = text_of(&self.fields, &["operation"]).map_err(shape)?;
        let word = match (own, verb) {
            (Some(own), Some(verb)) if own.trim() != verb.trim() => {
                return fault(
                    Class::AliasConflict,
                    "operation and verb name two operations, give only operation",
                );
            }
            (Some(own), _) => own,
            (None, Some(verb)) => {
                self.note("use `operation` instead of `verb`");
                verb
            }
            (None, None) => {
                return fault(
                    Class::MissingField,
                    format!("the field operation is missing; it is one of {}", known()),
                );
            }
        };
        let word = word.trim().to_lowercase();
        match word.as_str() {
            "create" => {
                self.alias = "create";
                self.note("`create` is operation `init` with mode `checklist`");
                Ok("init")
            }
            "add_task" => {
                self.alias = "add_task";
                self.note("use `add_tasks` with a list `tasks`");
                Ok("add_tasks")
            }
            _ => match NAMES.iter().find(|name| **name == word) {
                Some(name) => Ok(name),
                None => fault(
                    Class::UnknownOperation,
                    format!(
                        "unknown operation \"{}\"; it is one of {}",
                        bounds::cut(&word, 48),
                        known()
                    ),
                ),
            },
        }
    }

    /// Takes the arguments out of the one object that wraps them.
    fn unwrap(&mut self, name: &str) {
        let mut others = self
            .fields
            .keys()
            .filter(|key| !matches!(key.as_str(), "operation" | "verb" | "title" | "mode"));
        let (Some(key), None) = (others.next().cloned(), others.next()) else {
            return;
        };
        if matches!(
            key.as_str(),
            "draft" | "replacement" | "tasks" | "steps" | "updates" | "operations"
        ) {
            return;
        }
        let Some(raw) = self.fields.get(&key) else {
            return;
        };
        let takes_tasks = matches!(name, "init" | "add_tasks");
        let Some(inner) = object(raw.get()) else {
            return;
        };
        let fits = if takes_tasks {
            is_wrapper(raw)
        } else {
            inner
                .keys()
                .any(|inner| own_keys(name).contains(&inner.as_str()))
        };
        if !fits {
            return;
        }
        self.fields.remove(&key);
        for (name, value) in inner {
            self.fields.entry(name).or_insert(value);
        }
        let shown = bounds::cut(&bounds::one_line(&key), 48);
        self.note(&format!(
            "the arguments were taken out of `{shown}`; put them at the top level"
        ));
    }

    fn operation(&mut self, name: &str) -> Outcomes<Operation> {
        match name {
            "init" => self.init(),
            "submit" => self.submit(),
            "add_tasks" => self.add_tasks(),
            "start" => Ok(Operation::Start {
                task_id: self.task_id()?,
            }),
            "complete" => self.complete(),
            "update" => self.update(),
            "revise" => self.revise(),
            "check_replace" => self.check_replace(),
            _ => Ok(Operation::Get),
        }
    }

    /// `task_id`, or one of its synonyms with a note.
    pub(super) fn task_id(&mut self) -> Outcomes<Option<String>> {
        let mut found: Option<String> = None;
        for key in ["task_id", "step_id", "id"] {
            let Some(raw) = self.fields.get(key).filter(|raw| !is_null(raw)) else {
                continue;
            };
            let Some(id) = text(raw) else {
                return fault(Class::Shape, format!("{key} must be text"));
            };
            let id = id.trim().to_owned();
            if id.is_empty() {
                return fault(Class::MissingField, "id required: the id is blank");
            }
            match &found {
                Some(known) if *known != id => {
                    return fault(
                        Class::AliasConflict,
                        format!("task_id and {key} name two tasks"),
                    );
                }
                Some(_) => {}
                None => found = Some(id),
            }
        }
        if found.is_some() && !self.fields.contains_key("task_id") {
            self.note("use `task_id` for the task");
        }
        Ok(found)
    }

    pub(super) fn needed_task_id(&mut self) -> Outcomes<String> {
        match self.task_id()? {
            Some(id) => Ok(id),
            None => fault(Class::MissingField, "task_id is missing"),
        }
    }

    fn complete(&mut self) -> Outcomes<Operation> {
        let task_id = self.needed_task_id()?;
        let word = text_of(&self.fields, &["outcome", "action"]).map_err(shape)?;
        let outcome = match word
            .as_deref()
            .map(|word| word.trim().to_lowercase())
            .as_deref()
        {
            None => {
                self.note("`outcome` was taken as success");
                Outcome::Success
            }
            Some("success" | "done" | "completed") => Outcome::Success,
            Some("skip" | "skipped") => Outcome::Skip,
            Some("fail" | "failed") => Outcome::Fail,
            Some(other) => {
                return fault(
                    Class::Shape,
                    format!(
                        "unknown outcome \"{}\"; it is success, skip or fail",
                        bounds::cut(other, 48)
                    ),
                );
            }
        };
        let note = text_of(&self.fields, &["note", "notes", "output"]).map_err(shape)?;
        Ok(Operation::Complete {
            task_id,
            outcome,
            note,
        })
    }
}

/// Keys that only a wrapper of this operation would carry.
fn own_keys(name: &str) -> &'static [&'static str] {
    match name {
        "submit" => &["draft", "context"],
        "start" | "complete" => &["task_id", "step_id", "id", "outcome"],
        "update" => &["updates"],
        "revise" => &["operations"],
        "check_replace" => &["check_id"],
        _ => &[],
    }
}
