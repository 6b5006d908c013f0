//! Import of a plan from a file: ids and progress start anew, dependencies are kept.

use super::model::Task;
use super::ops::{Refusal, bounds, new_tasks};
use super::tool::{Class, Fields, NewTask, array, object, task_of, text};

/// What an import brings.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// Title; "Imported plan" if the file has none.
    pub title: String,
    /// Tasks, all pending, with new ids.
    pub tasks: Vec<Task>,
}

/// Reads an exported or foreign plan. Errors carry the 1-based number of the task.
///
/// # Errors
/// Not a plan, no tasks, a task without title or description, a broken bound, an unknown or circular
/// dependency.
pub fn parse(
    file: &str,
    canonical: &dyn Fn(&str) -> Result<String, String>,
) -> Result<Imported, Refusal> {
    let shape = |problem: &str| Refusal::new(Class::Shape, format!("import: {problem}"));
    let root = object(file).ok_or_else(|| shape("the file is not one JSON object"))?;
    let title = field(&root, "title")
        .map(|title| bounds::one_line(&title))
        .filter(|title| !title.is_empty());
    let items = root
        .get("tasks")
        .and_then(|raw| array(raw.get()))
        .filter(|items| !items.is_empty())
        .ok_or_else(|| shape("the file needs tasks, a list of at least one"))?;
    let mut given: Vec<NewTask> = Vec::with_capacity(items.len());
    for (n, item) in items.iter().enumerate() {
        let fail = |problem: String| {
            Refusal::new(Class::Shape, format!("import: task {}: {problem}", n + 1))
        };
        let task = task_of(item).map_err(fail)?;
        if bounds::one_line(&task.title).is_empty() {
            return Err(fail("the title is blank".to_owned()));
        }
        if task.description.trim().is_empty() {
            return Err(fail("the description is blank".to_owned()));
        }
        given.push(task);
    }
    renumber(&mut given)?;
    let tasks = new_tasks(given, &[], canonical)?;
    bounds::tasks(&tasks, bounds::TASKS)
        .map_err(|text| Refusal::new(Class::Bound, format!("import: {text}")))?;
    Ok(Imported {
        title: title.unwrap_or_else(|| "Imported plan".to_owned()),
        tasks,
    })
}

fn field(fields: &Fields, key: &str) -> Option<String> {
    fields.get(key).and_then(|raw| text(raw))
}

/// New ids `t1`…, dependencies by old id or 1-based number rewritten to them.
fn renumber(given: &mut [NewTask]) -> Result<(), Refusal> {
    let old: Vec<Option<String>> = given
        .iter()
        .map(|task| task.id.as_deref().map(|id| id.trim().to_owned()))
        .collect();
    for (n, id) in old.iter().enumerate() {
        if id.is_some() && old.iter().take(n).any(|other| other == id) {
            return Err(Refusal::new(
                Class::Bound,
                format!("import: task {}: its id is used twice", n + 1),
            ));
        }
    }
    for (n, task) in given.iter_mut().enumerate() {
        for wanted in &mut task.dependencies {
            let name = wanted.trim();
            let by_id = old.iter().position(|id| id.as_deref() == Some(name));
            let by_number = || {
                name.parse::<usize>()
                    .ok()
                    .filter(|number| (1..=old.len()).contains(number))
                    .map(|number| number - 1)
            };
            let at = by_id.or_else(by_number).ok_or_else(|| {
                Refusal::new(
                    Class::Bound,
                    format!(
                        "import: task {}: depends on unknown task {}",
                        n + 1,
                        bounds::cut(name, 48)
                    ),
                )
            })?;
            *wanted = format!("t{}", at + 1);
        }
        task.id = Some(format!("t{}", n + 1));
        task.notes = String::new();
    }
    Ok(())
}
