//! The operations that bring tasks or a whole plan: `init`, `submit`, `add_tasks`.

use std::path::PathBuf;

use serde_json::value::RawValue;

use super::parse::{Call, Outcomes, fault, shape};
use super::shape::{first, is_task_list, is_wrapper, task_of, tasks_of, text_of};
use super::teach::Class;
use super::{Init, NewTask, Operation};
use crate::plan::ops::bounds;

impl Call {
    /// The tasks and whether any key supplied them.
    fn tasks(&mut self) -> Outcomes<Option<Vec<NewTask>>> {
        let supplies = |key: &str, raw: &RawValue| {
            !matches!(key, "tasks" | "steps" | "description" | "reason")
                && (is_task_list(raw) || is_wrapper(raw))
        };
        let other = self
            .fields
            .iter()
            .find(|(key, raw)| supplies(key, raw))
            .map(|(key, _)| bounds::cut(key, 48));
        let tasks = self.fields.get("tasks");
        let steps = self.fields.get("steps");
        match (tasks, steps, other) {
            (Some(_), Some(_), _) => fault(
                Class::AliasAmbiguous,
                "ambiguous: both 'tasks' and 'steps' supply tasks",
            ),
            (Some(_), None, Some(other)) => fault(
                Class::AliasAmbiguous,
                format!("ambiguous: both 'tasks' and '{other}' supply tasks"),
            ),
            (None, Some(_), Some(other)) => fault(
                Class::AliasAmbiguous,
                format!("ambiguous: both 'steps' and '{other}' supply tasks"),
            ),
            (None, None, Some(other)) if other != "draft" => fault(
                Class::WrongFieldName,
                format!("'{other}' is not recognised; did you mean 'tasks'?"),
            ),
            (None, None, _) => Ok(None),
            (Some(raw), None, None) => tasks_of(raw).map(Some).map_err(shape),
            (None, Some(raw), None) => {
                let tasks = tasks_of(raw).map_err(shape)?;
                self.note("use `tasks` instead of `steps`");
                Ok(Some(tasks))
            }
        }
    }

    pub(super) fn init(&mut self) -> Outcomes<Operation> {
        if let Some(path) = text_of(&self.fields, &["file_path"]).map_err(shape)?
            && !path.trim().is_empty()
        {
            return Ok(Operation::Init(Init::Import {
                path: PathBuf::from(path.trim()),
            }));
        }
        let tasks = self.tasks()?.unwrap_or_default();
        let draft = match first(&self.fields, &["draft"]) {
            Some(raw) => Some(Box::new(draft_of(raw)?)),
            None => None,
        };
        let mode = text_of(&self.fields, &["mode"])
            .map_err(shape)?
            .map(|mode| mode.trim().to_lowercase());
        let checklist = match mode.as_deref() {
            _ if self.alias == "create" => true,
            Some("checklist") => true,
            Some("design") => false,
            None | Some("") => !tasks.is_empty(),
            Some(other) => {
                return fault(
                    Class::Shape,
                    format!(
                        "unknown mode \"{}\"; it is design or checklist",
                        bounds::cut(other, 48)
                    ),
                );
            }
        };
        let title = text_of(&self.fields, &["title"])
            .map_err(shape)?
            .filter(|title| !title.trim().is_empty());
        if checklist {
            let title = match (title, tasks.first()) {
                (Some(title), _) => title,
                (None, Some(task)) => {
                    let title = bounds::cut(&task.title, bounds::TITLE);
                    self.note("give a `title`; the first task's was taken");
                    title
                }
                (None, None) => String::new(),
            };
            return Ok(Operation::Init(Init::Checklist { title, tasks }));
        }
        let title = title.or_else(|| draft.as_ref().map(|draft| draft.title.clone()));
        match title {
            Some(title) => Ok(Operation::Init(Init::Design {
                title,
                draft,
                with_tasks: !tasks.is_empty(),
            })),
            None => fault(
                Class::MissingField,
                "init needs a title (or file_path for an import)",
            ),
        }
    }

    pub(super) fn submit(&mut self) -> Outcomes<Operation> {
        if let Some(raw) = first(&self.fields, &["draft"]) {
            return Ok(Operation::Submit(Box::new(draft_of(raw)?)));
        }
        if self.fields.contains_key("context") && self.fields.contains_key("steps") {
            let text =
                serde_json::to_string(&self.fields).map_err(|error| shape(error.to_string()))?;
            let draft: crate::plan::draft::Draft = serde_json::from_str(&text)
                .map_err(|error| shape(format!("draft: {}", brief(&error))))?;
            self.note("put the plan's fields into `draft`");
            return Ok(Operation::Submit(Box::new(draft)));
        }
        fault(
            Class::MissingField,
            "submit needs draft {title, context, steps, verification}",
        )
    }

    pub(super) fn add_tasks(&mut self) -> Outcomes<Operation> {
        if self.alias == "add_task" && self.fields.contains_key("title") {
            if self.fields.contains_key("tasks") || self.fields.contains_key("steps") {
                return fault(
                    Class::AliasAmbiguous,
                    "ambiguous: both 'title' and a list supply tasks",
                );
            }
            let text =
                serde_json::to_string(&self.fields).map_err(|error| shape(error.to_string()))?;
            let raw: Box<RawValue> =
                serde_json::from_str(&text).map_err(|error| shape(error.to_string()))?;
            return Ok(Operation::AddTasks {
                tasks: vec![task_of(&raw).map_err(shape)?],
            });
        }
        match self.tasks()? {
            Some(tasks) if !tasks.is_empty() => Ok(Operation::AddTasks { tasks }),
            _ => fault(
                Class::MissingField,
                "add_tasks needs tasks, a list of at least one {title, description}",
            ),
        }
    }
}

fn brief(error: &serde_json::Error) -> String {
    bounds::cut(&bounds::one_line(&error.to_string()), 160)
}

fn draft_of(raw: &RawValue) -> Outcomes<crate::plan::draft::Draft> {
    serde_json::from_str(raw.get()).map_err(|error| shape(format!("draft: {}", brief(&error))))
}
