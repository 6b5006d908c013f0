//! `start` and `complete`, and the rules they share with `update`.

use super::{Applied, Context, GoalChange, Refusal, bounds, finish};
use crate::plan::model::{Check, Evidence, Plan, Task, TaskStatus};
use crate::plan::tool::{Class, Outcome};

/// The place of a task.
pub(super) fn place(plan: &Plan, id: &str) -> Result<usize, Refusal> {
    plan.tasks
        .iter()
        .position(|task| task.id == id)
        .ok_or_else(|| {
            let known: Vec<&str> = plan
                .tasks
                .iter()
                .take(12)
                .map(|task| task.id.as_str())
                .collect();
            Refusal::new(
                Class::UnknownTask,
                format!(
                    "unknown task {}; tasks: {}",
                    bounds::cut(id, 48),
                    known.join(", ")
                ),
            )
        })
}

/// Ids of unmet dependencies.
fn unmet<'a>(plan: &'a Plan, task: &'a Task) -> Vec<&'a str> {
    task.dependencies
        .iter()
        .filter(|id| !plan.task(id).is_some_and(Task::satisfies_dependents))
        .map(String::as_str)
        .collect()
}

fn wait_for(plan: &Plan, task: &Task) -> Result<(), Refusal> {
    let unmet = unmet(plan, task);
    if unmet.is_empty() {
        return Ok(());
    }
    Err(Refusal::new(
        Class::State,
        format!("task {} waits for {}", task.id, unmet.join(", ")),
    ))
}

/// Marks a task as begun.
pub(super) fn begin(plan: &mut Plan, id: &str) -> Result<(), Refusal> {
    let at = place(plan, id)?;
    let Some(task) = plan.tasks.get(at) else {
        return Ok(());
    };
    wait_for(plan, task)?;
    if task.status == TaskStatus::Failed && task.retry_count >= bounds::RETRIES {
        return Err(Refusal::new(
            Class::State,
            format!(
                "task {id} failed {} times; revise or skip it",
                task.retry_count
            ),
        ));
    }
    if let Some(task) = plan.tasks.get_mut(at) {
        task.status = TaskStatus::InProgress;
        task.started = true;
    }
    Ok(())
}

/// Marks a task as done if its evidence allows it.
pub(super) fn succeed(plan: &mut Plan, id: &str) -> Result<(), Refusal> {
    let at = place(plan, id)?;
    let Some(task) = plan.tasks.get(at) else {
        return Ok(());
    };
    match task.status {
        TaskStatus::Failed | TaskStatus::Skipped => {
            return Err(Refusal::new(
                Class::State,
                format!("task {id} is failed or skipped; start it again first"),
            ));
        }
        TaskStatus::Pending
        | TaskStatus::InProgress
        | TaskStatus::Completed
        | TaskStatus::Blocked { .. } => {}
    }
    wait_for(plan, task)?;
    evidence(task)?;
    if let Some(task) = plan.tasks.get_mut(at) {
        task.status = TaskStatus::Completed;
        task.started = true;
    }
    Ok(())
}

fn evidence(task: &Task) -> Result<(), Refusal> {
    let open: Vec<&Check> = task
        .checks
        .iter()
        .filter(|check| !check.evidence.holds())
        .collect();
    if open.is_empty() {
        return Ok(());
    }
    let blocked = |check: &&Check| matches!(check.evidence, Evidence::Blocked { .. });
    let calls: Vec<String> = open.iter().map(|check| call_of(check)).collect();
    let advice = if task.checks.iter().all(|check| blocked(&check)) {
        "every check is blocked; replace them with check_replace or skip the task"
    } else if open.iter().all(blocked) {
        "what is left is blocked; replace it with check_replace or skip the task"
    } else {
        "make exactly these calls in a batch of their own, then complete"
    };
    Err(Refusal::new(
        Class::Evidence,
        format!(
            "task {} is not proven: {}; {advice}",
            task.id,
            calls.join("; ")
        ),
    ))
}

fn call_of(check: &Check) -> String {
    let state = match &check.evidence {
        Evidence::Pending => "pending",
        Evidence::Passed { .. } => "passed",
        Evidence::Failed { .. } => "failed",
        Evidence::Stale { .. } => "stale",
        Evidence::Blocked { .. } => "blocked",
        Evidence::Attested { .. } => "attested",
    };
    format!(
        "check {} is {state}, call {} {}",
        check.id, check.tool, check.arguments
    )
}

/// Refuses a success that would leave nothing open while verification is not fresh.
pub(super) fn last_needs_verification(next: &Plan) -> Result<(), Refusal> {
    let nothing_open = next.tasks.iter().all(Task::is_resolved);
    if !nothing_open || next.verification_holds() {
        return Ok(());
    }
    Err(Refusal::new(
        Class::Evidence,
        format!(
            "this is the last open task, and the plan is not verified: {}",
            owed(next)
        ),
    ))
}

fn owed(plan: &Plan) -> String {
    let commands: Vec<String> = plan
        .verification
        .iter()
        .filter(|one| !one.evidence.holds())
        .map(|one| format!("`{}`", one.command))
        .collect();
    format!(
        "run {} with bash, each exactly as written, then complete",
        commands.join(", ")
    )
}

/// The goal that goes with a task in progress.
pub(super) fn goal(plan: &Plan, id: &str) -> GoalChange {
    match plan.task(id).map(|task| &task.acceptance_criteria) {
        Some(criteria) if !criteria.is_empty() => GoalChange::Set {
            task_id: id.to_owned(),
            criteria: criteria.clone(),
        },
        Some(_) | None => GoalChange::Clear,
    }
}

/// `start`.
pub(super) fn start(plan: &Plan, id: Option<&str>, ctx: &Context<'_>) -> Result<Applied, Refusal> {
    let id = match id {
        Some(id) => id.to_owned(),
        None => next_task(plan)?,
    };
    let at = place(plan, &id)?;
    let task = plan.tasks.get(at);
    if let Some(task) = task
        && task.satisfies_dependents()
        && !task.needs_recheck()
    {
        return Ok(Applied::unchanged(format!(
            "Task {id} is done already. {}",
            what_next(plan)
        )));
    }
    let running = task.is_some_and(|task| task.status == TaskStatus::InProgress && task.started);
    if running {
        let mut applied = Applied::unchanged(told(plan, &id));
        applied.goal = goal(plan, &id);
        return Ok(applied);
    }
    let mut next = plan.clone();
    begin(&mut next, &id)?;
    let reply = told(&next, &id);
    let goal = goal(&next, &id);
    finish(plan, next, ctx, None, |applied| {
        applied.reply = reply;
        applied.goal = goal;
    })
}

/// The task in progress, else the first that may begin.
fn next_task(plan: &Plan) -> Result<String, Refusal> {
    if plan.tasks.is_empty() {
        return Err(Refusal::new(
            Class::State,
            "the checklist has no tasks yet; call add_tasks",
        ));
    }
    let running = plan
        .tasks
        .iter()
        .find(|task| task.status == TaskStatus::InProgress);
    let ready = || {
        plan.tasks
            .iter()
            .find(|task| task.status == TaskStatus::Pending && unmet(plan, task).is_empty())
    };
    running
        .or_else(ready)
        .map(|task| task.id.clone())
        .ok_or_else(|| {
            Refusal::new(
                Class::State,
                format!("no task can begin. {}", what_next(plan)),
            )
        })
}

fn told(plan: &Plan, id: &str) -> String {
    let Some(task) = plan.task(id) else {
        return String::new();
    };
    let mut text = format!("Task {id} is in progress: {}", task.title);
    if !task.description.is_empty() {
        text.push_str(&format!("\n{}", task.description));
    }
    for criterion in &task.acceptance_criteria {
        text.push_str(&format!("\nDone when: {criterion}"));
    }
    for check in &task.checks {
        text.push_str(&format!(
            "\nCheck {}: {} {}",
            check.id, check.tool, check.arguments
        ));
    }
    text
}

/// What the model does next, on one line.
fn what_next(plan: &Plan) -> String {
    let ids = |wanted: &dyn Fn(&Task) -> bool| -> Vec<&str> {
        plan.tasks
            .iter()
            .filter(|task| wanted(task))
            .map(|task| task.id.as_str())
            .take(8)
            .collect()
    };
    let ready = ids(&|task| task.status == TaskStatus::Pending && unmet(plan, task).is_empty());
    if let Some(id) = ready.first() {
        return format!("Next: {id}.");
    }
    let recheck = ids(&Task::needs_recheck);
    if !recheck.is_empty() {
        return format!(
            "Evidence went stale: make the checks of {} again.",
            recheck.join(", ")
        );
    }
    let open = ids(&|task| !task.is_resolved());
    if !open.is_empty() {
        return format!("Still open: {}.", open.join(", "));
    }
    if !plan.verification_holds() {
        return format!("Not verified yet: {}.", owed(plan));
    }
    "All tasks are done; the plan is archived.".to_owned()
}

/// `complete`.
pub(super) fn complete(
    plan: &Plan,
    id: &str,
    outcome: Outcome,
    note: Option<&str>,
    ctx: &Context<'_>,
) -> Result<Applied, Refusal> {
    let at = place(plan, id)?;
    let mut next = plan.clone();
    match outcome {
        Outcome::Success => {
            succeed(&mut next, id)?;
            last_needs_verification(&next)?;
        }
        Outcome::Skip => skip(&mut next, at),
        Outcome::Fail => fail(&mut next, at),
    }
    if let (Some(note), Some(task)) = (note, next.tasks.get_mut(at)) {
        task.notes = bounds::note(note).map_err(|text| Refusal::new(Class::Bound, text))?;
    }
    let word = match outcome {
        Outcome::Success => "completed",
        Outcome::Skip => "skipped",
        Outcome::Fail => "failed",
    };
    let reply = format!("Task {id} {word}. {}", what_next(&next));
    let mut applied = finish(plan, next, ctx, None, |applied| {
        applied.goal = if outcome == Outcome::Fail {
            GoalChange::Keep
        } else {
            GoalChange::Clear
        };
    })?;
    applied.reply = reply;
    Ok(applied)
}

/// Leaves a task out on purpose.
pub(super) fn skip(plan: &mut Plan, at: usize) {
    if let Some(task) = plan.tasks.get_mut(at) {
        task.status = TaskStatus::Skipped;
        task.started = true;
    }
}

/// Gives a task up; counted once until it is started again.
pub(super) fn fail(plan: &mut Plan, at: usize) {
    if let Some(task) = plan.tasks.get_mut(at)
        && task.status != TaskStatus::Failed
    {
        task.status = TaskStatus::Failed;
        task.started = true;
        task.retry_count = task.retry_count.saturating_add(1);
    }
}
