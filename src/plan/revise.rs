//! `revise`: add, edit, move, split and supersede on a working copy; later operations see the results
//! of earlier ones; the whole list is validated once at the end.

use super::model::{Check, Evidence, Plan, Revision, Task, TaskStatus};
use super::ops::{Applied, Context, Refusal, bounds, finish, new_check, new_tasks};
use super::tool::{Anchor, Change, Class, NewTask};

/// Tasks that one operation may bring.
const PER_OPERATION: usize = 50;

/// Applies all operations, or none. Without effect the reason is discarded.
pub(super) fn revise(
    plan: &Plan,
    reason: &str,
    operations: Vec<Change>,
    ctx: &Context<'_>,
) -> Result<Applied, Refusal> {
    if plan.is_design() && !plan.ever_started() {
        return Err(Refusal::new(
            Class::State,
            "the approved plan has no started task yet; call add_tasks once, then start",
        ));
    }
    let mut next = plan.clone();
    let mut summary = Vec::new();
    for (n, operation) in operations.into_iter().enumerate() {
        let line = one(&mut next.tasks, operation, ctx).map_err(|refusal| {
            Refusal::new(
                refusal.class,
                format!("operation {}: {}", n + 1, refusal.text),
            )
        })?;
        summary.push(bounds::cut(&line, 200));
    }
    let revision = Revision {
        reason: bounds::cut(&bounds::one_line(reason), bounds::REASON),
        summary,
    };
    let mut applied = finish(plan, next, ctx, Some(revision), |applied| {
        applied.checks_changed = true
    })?;
    if let Some(super::model::PlanState::Active(changed)) = &applied.state {
        applied.reply = (ctx.render)(changed);
    }
    Ok(applied)
}

fn one(tasks: &mut Vec<Task>, operation: Change, ctx: &Context<'_>) -> Result<String, Refusal> {
    match operation {
        Change::Add { tasks: new, anchor } => add(tasks, new, &anchor, ctx),
        Change::Edit {
            task_id,
            title,
            description,
            note,
            checks,
        } => {
            let at = place(tasks, &task_id)?;
            let Some(task) = tasks.get_mut(at) else {
                return Err(unknown(&task_id));
            };
            edit(task, title, description, note)?;
            for check in checks {
                let check = new_check(check, &task.checks, ctx.canonical)?;
                task.checks.push(check);
                reopen(task);
            }
            Ok(format!("edit {task_id}"))
        }
        Change::Move { task_id, anchor } => {
            let at = place(tasks, &task_id)?;
            // Taken out first, so that a task cannot be its own anchor.
            let task = tasks.remove(at);
            let to = anchored(tasks, &anchor)?;
            tasks.insert(to, task);
            Ok(format!("move {task_id}{}", wording(&anchor)))
        }
        Change::Replace {
            task_id,
            tasks: new,
            carry_checks_to,
            split,
        } => replace(tasks, &task_id, new, carry_checks_to.as_deref(), split, ctx),
    }
}

fn bound(text: impl Into<String>) -> Refusal {
    Refusal::new(Class::Bound, text)
}

fn unknown(id: &str) -> Refusal {
    Refusal::new(
        Class::UnknownTask,
        format!("unknown task {}", bounds::cut(id, 48)),
    )
}

fn place(tasks: &[Task], id: &str) -> Result<usize, Refusal> {
    tasks
        .iter()
        .position(|task| task.id == id)
        .ok_or_else(|| unknown(id))
}

fn anchored(tasks: &[Task], anchor: &Anchor) -> Result<usize, Refusal> {
    match anchor {
        Anchor::End => Ok(tasks.len()),
        Anchor::Before(id) => place(tasks, id),
        Anchor::After(id) => place(tasks, id).map(|at| at + 1),
    }
}

fn wording(anchor: &Anchor) -> String {
    match anchor {
        Anchor::End => String::new(),
        Anchor::Before(id) => format!(" before {id}"),
        Anchor::After(id) => format!(" after {id}"),
    }
}

fn add(
    tasks: &mut Vec<Task>,
    new: Vec<NewTask>,
    anchor: &Anchor,
    ctx: &Context<'_>,
) -> Result<String, Refusal> {
    if new.is_empty() || new.len() > PER_OPERATION {
        return Err(bound(format!("add needs 1 to {PER_OPERATION} tasks")));
    }
    let to = anchored(tasks, anchor)?;
    let new = new_tasks(new, tasks, ctx.canonical)?;
    let ids = ids(&new);
    tasks.splice(to..to, new);
    Ok(format!("add {ids}{}", wording(anchor)))
}

fn ids(tasks: &[Task]) -> String {
    tasks
        .iter()
        .map(|task| task.id.as_str())
        .collect::<Vec<_>>()
        .join(", ")
}

fn edit(
    task: &mut Task,
    title: Option<String>,
    description: Option<String>,
    note: Option<String>,
) -> Result<(), Refusal> {
    if let Some(title) = title {
        let title = bounds::title(&title).map_err(bound)?;
        if title != task.title {
            task.title = title;
            for check in &mut task.checks {
                check.evidence = Evidence::Pending;
            }
            reopen(task);
        }
    }
    if let Some(description) = description {
        task.description = bounds::description(&description).map_err(bound)?;
    }
    if let Some(note) = note {
        task.notes = bounds::note(&note).map_err(bound)?;
    }
    Ok(())
}

/// Work that changed, or that must be proven anew, is not done.
fn reopen(task: &mut Task) {
    if matches!(task.status, TaskStatus::Completed | TaskStatus::Skipped) {
        task.status = TaskStatus::InProgress;
    }
}

fn replace(
    tasks: &mut Vec<Task>,
    id: &str,
    new: Vec<NewTask>,
    carry_to: Option<&str>,
    split: bool,
    ctx: &Context<'_>,
) -> Result<String, Refusal> {
    let (word, least) = if split {
        ("split", 2)
    } else {
        ("supersede", 1)
    };
    if new.len() < least || new.len() > PER_OPERATION {
        return Err(bound(format!(
            "{word} needs {least} to {PER_OPERATION} tasks"
        )));
    }
    let at = place(tasks, id)?;
    // Taken out first, so that a replacement may have the same id.
    let old = tasks.remove(at);
    let mut new = new_tasks(new, tasks, ctx.canonical)?;
    if !old.checks.is_empty() {
        match carry_to {
            Some(target) => carry(&old, &mut new, target)?,
            None if new.iter().any(|task| !task.checks.is_empty()) => {}
            None => {
                return Err(Refusal::new(
                    Class::Evidence,
                    format!(
                        "task {id} has checks: set carry_checks_to to one of the new tasks, or declare checks on one"
                    ),
                ));
            }
        }
    }
    inherit(&old, &mut new);
    let summary = format!("{word} {id} into {}", ids(&new));
    rewire(tasks, &old.id, &new);
    tasks.splice(at..at, new);
    Ok(summary)
}

/// Copies the checks, pending, to the target, which counts as in progress.
fn carry(old: &Task, new: &mut [Task], target: &str) -> Result<(), Refusal> {
    let Some(target) = new.iter_mut().find(|task| task.id == target) else {
        return Err(Refusal::new(
            Class::UnknownTask,
            format!(
                "carry_checks_to names {}, which is not one of the new tasks",
                bounds::cut(target, 48)
            ),
        ));
    };
    for check in &old.checks {
        if target.checks.iter().any(|own| own.id == check.id) {
            return Err(bound(format!("check id {} is used twice", check.id)));
        }
    }
    let carried = old.checks.iter().cloned().map(|check| Check {
        evidence: Evidence::Pending,
        ..check
    });
    target.checks.splice(0..0, carried);
    if target.checks.len() > bounds::CHECKS {
        return Err(bound(format!(
            "task {} would have more than {} checks",
            target.id,
            bounds::CHECKS
        )));
    }
    target.status = TaskStatus::InProgress;
    target.started = true;
    Ok(())
}

/// What was started stays started, so that the gate does not close behind a replaced task; what the old
/// task waited for, the new ones wait for.
fn inherit(old: &Task, new: &mut [Task]) {
    let begun = old.started || old.status != TaskStatus::Pending;
    for task in new.iter_mut() {
        for id in &old.dependencies {
            if *id != task.id && !task.dependencies.contains(id) {
                task.dependencies.push(id.clone());
            }
        }
    }
    if let (true, Some(first)) = (begun, new.first_mut()) {
        first.started = true;
    }
}

/// Tasks that waited for the old one wait for all new ones.
fn rewire(tasks: &mut [Task], old: &str, new: &[Task]) {
    for task in tasks.iter_mut() {
        if !task.dependencies.iter().any(|id| id == old) {
            continue;
        }
        task.dependencies.retain(|id| id != old);
        for one in new {
            if one.id != task.id && !task.dependencies.contains(&one.id) {
                task.dependencies.push(one.id.clone());
            }
        }
    }
}
