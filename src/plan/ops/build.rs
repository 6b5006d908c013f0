//! From what the model wrote to tasks of the checklist: ids, cleaning, canonical arguments.

use std::collections::BTreeSet;

use super::{Refusal, bounds};
use crate::plan::model::{Check, Evidence, Task, TaskStatus};
use crate::plan::tool::{Class, NewCheck, NewTask};

fn bound(task: usize, problem: &str) -> Refusal {
    Refusal::new(Class::Bound, format!("task {}: {problem}", task + 1))
}

/// Builds tasks to stand beside `existing`. Missing ids become `t1`, `t2`, … around every id in use;
/// dependencies are ids, or 1-based numbers within the new list.
///
/// # Errors
/// A bound or rule of one task is broken.
pub fn new_tasks(
    given: Vec<NewTask>,
    existing: &[Task],
    canonical: &dyn Fn(&str) -> Result<String, String>,
) -> Result<Vec<Task>, Refusal> {
    let ids = ids(&given, existing)?;
    let mut tasks = Vec::with_capacity(given.len());
    for (n, one) in given.into_iter().enumerate() {
        let id = ids.get(n).cloned().unwrap_or_default();
        let mut dependencies: Vec<String> = Vec::new();
        for wanted in &one.dependencies {
            let found = dependency(wanted, &ids, existing).ok_or_else(|| {
                bound(
                    n,
                    &format!("depends on unknown task {}", bounds::cut(wanted.trim(), 48)),
                )
            })?;
            if found == id {
                return Err(bound(n, "depends on itself"));
            }
            if !dependencies.contains(&found) {
                dependencies.push(found);
            }
        }
        tasks.push(task(n, id, one, dependencies, canonical)?);
    }
    Ok(tasks)
}

/// Every id, given or assigned. Equal explicit ids are refused.
fn ids(given: &[NewTask], existing: &[Task]) -> Result<Vec<String>, Refusal> {
    let mut taken: BTreeSet<String> = existing.iter().map(|task| task.id.clone()).collect();
    let mut explicit = Vec::with_capacity(given.len());
    for (n, one) in given.iter().enumerate() {
        let id = match &one.id {
            None => None,
            Some(text) => {
                let id = bounds::id(text).map_err(|problem| bound(n, &problem))?;
                if !taken.insert(id.clone()) {
                    return Err(bound(n, &format!("id {id} is used twice")));
                }
                Some(id)
            }
        };
        explicit.push(id);
    }
    let mut next = 1_usize;
    Ok(explicit
        .into_iter()
        .map(|id| {
            id.unwrap_or_else(|| {
                loop {
                    let candidate = format!("t{next}");
                    next += 1;
                    if taken.insert(candidate.clone()) {
                        return candidate;
                    }
                }
            })
        })
        .collect())
}

fn dependency(wanted: &str, ids: &[String], existing: &[Task]) -> Option<String> {
    let wanted = wanted.trim();
    let known = ids
        .iter()
        .chain(existing.iter().map(|task| &task.id))
        .find(|id| *id == wanted);
    known.cloned().or_else(|| {
        let number: usize = wanted.parse().ok()?;
        ids.get(number.checked_sub(1)?).cloned()
    })
}

fn task(
    n: usize,
    id: String,
    one: NewTask,
    dependencies: Vec<String>,
    canonical: &dyn Fn(&str) -> Result<String, String>,
) -> Result<Task, Refusal> {
    let mut checks: Vec<Check> = Vec::new();
    for check in one.checks {
        checks.push(new_check(check, &checks, canonical)?);
    }
    if checks.len() > bounds::CHECKS {
        return Err(bound(n, &format!("at most {} checks", bounds::CHECKS)));
    }
    let clean = |items: Vec<String>, max: usize| -> Vec<String> {
        items
            .iter()
            .map(|item| bounds::cut(&bounds::one_line(item), max))
            .filter(|item| !item.is_empty())
            .collect()
    };
    Ok(Task {
        id,
        title: bounds::title(&one.title).map_err(|problem| bound(n, &problem))?,
        description: bounds::description(&one.description).map_err(|problem| bound(n, &problem))?,
        status: TaskStatus::Pending,
        dependencies,
        acceptance_criteria: clean(one.acceptance_criteria, bounds::CRITERION),
        checks,
        notes: bounds::note(&one.notes).map_err(|problem| bound(n, &problem))?,
        targets: clean(one.targets, bounds::TARGET),
        action: one.action,
        retry_count: 0,
        started: false,
        other: std::collections::BTreeMap::new(),
    })
}

/// Builds a check, pending, to stand beside `siblings`.
///
/// # Errors
/// A bound is broken, the id is used by a sibling, or the arguments are not one JSON object.
pub fn new_check(
    given: NewCheck,
    siblings: &[Check],
    canonical: &dyn Fn(&str) -> Result<String, String>,
) -> Result<Check, Refusal> {
    let used = |id: &str| siblings.iter().any(|check| check.id == id);
    let id = match given.id {
        Some(id) => bounds::id(&id)
            .map_err(|problem| Refusal::new(Class::Bound, format!("check: {problem}")))?,
        None => (1..=siblings.len() + 1)
            .map(|number| format!("c{number}"))
            .find(|id| !used(id))
            .unwrap_or_default(),
    };
    if used(&id) {
        return Err(Refusal::new(
            Class::Bound,
            format!("check id {id} is used twice"),
        ));
    }
    let arguments = canonical(&given.arguments).map_err(|problem| {
        Refusal::new(Class::Shape, format!("check {id}: arguments: {problem}"))
    })?;
    let description = bounds::one_line(&given.description);
    let check = Check {
        description: if description.is_empty() {
            format!("{} call", given.tool)
        } else {
            description
        },
        id,
        tool: given.tool,
        arguments,
        evidence: Evidence::Pending,
    };
    bounds::check(&check).map_err(|problem| Refusal::new(Class::Bound, problem))?;
    Ok(check)
}
