//! `update`: several small changes at once, with the same rules as `start` and `complete`.

use super::progress::{begin, fail, goal, last_needs_verification, place, skip, succeed};
use super::{Applied, Context, GoalChange, Refusal, bounds, finish};
use crate::plan::model::{Plan, TaskStatus};
use crate::plan::tool::{Class, NewStatus, Update};

/// Applies all updates in order, or none.
pub(super) fn update(
    plan: &Plan,
    updates: &[Update],
    ctx: &Context<'_>,
) -> Result<Applied, Refusal> {
    let mut next = plan.clone();
    let mut new_goal = GoalChange::Keep;
    let mut completes = false;
    for one in updates {
        let at = place(&next, &one.id)?;
        let note = one
            .note
            .as_deref()
            .map(bounds::note)
            .transpose()
            .map_err(|text| Refusal::new(Class::Bound, format!("task {}: {text}", one.id)))?;
        match one.status {
            Some(NewStatus::InProgress) => {
                begin(&mut next, &one.id)?;
                new_goal = goal(&next, &one.id);
            }
            Some(NewStatus::Completed) => {
                completes = true;
                succeed(&mut next, &one.id)?;
                new_goal = ended(new_goal, &one.id);
            }
            Some(NewStatus::Skipped) => {
                skip(&mut next, at);
                new_goal = ended(new_goal, &one.id);
            }
            Some(NewStatus::Failed) => fail(&mut next, at),
            Some(NewStatus::Pending) => {
                if let Some(task) = next.tasks.get_mut(at) {
                    task.status = TaskStatus::Pending;
                }
            }
            Some(NewStatus::Blocked) => block(&mut next, at, note.as_deref()),
            None => {}
        }
        if let (Some(note), Some(task)) = (note, next.tasks.get_mut(at)) {
            task.notes = note;
        }
    }
    if completes {
        last_needs_verification(&next)?;
    }
    let render = (ctx.render)(&next);
    finish(plan, next, ctx, None, |applied| {
        applied.reply = render;
        applied.goal = new_goal;
    })
}

/// The goal after a task ended: another one's goal that was just set stays.
fn ended(current: GoalChange, id: &str) -> GoalChange {
    match current {
        GoalChange::Set { task_id, criteria } if task_id != id => {
            GoalChange::Set { task_id, criteria }
        }
        GoalChange::Set { .. } | GoalChange::Keep | GoalChange::Clear => GoalChange::Clear,
    }
}

fn block(plan: &mut Plan, at: usize, note: Option<&str>) {
    let Some(task) = plan.tasks.get_mut(at) else {
        return;
    };
    let reason = match (note, &task.status) {
        (Some(note), _) => note.to_owned(),
        (None, TaskStatus::Blocked { reason }) => reason.clone(),
        (None, _) => task.notes.clone(),
    };
    task.status = TaskStatus::Blocked { reason };
    task.started = true;
}
