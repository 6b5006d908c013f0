//! `check_replace`: another call in the place of a check, or the model's word, shown as such.

use super::progress::place;
use super::{Applied, Context, Refusal, bounds, finish, new_check};
use crate::plan::model::{Check, Evidence, Plan, Revision, TaskStatus};
use crate::plan::tool::{CheckReplace, Class, Substitute};

/// Replaces one check in its slot.
pub(super) fn replace(
    plan: &Plan,
    given: CheckReplace,
    ctx: &Context<'_>,
) -> Result<Applied, Refusal> {
    let at = place(plan, &given.task_id)?;
    let mut next = plan.clone();
    let Some(task) = next.tasks.get_mut(at) else {
        return Err(Refusal::new(Class::UnknownTask, "unknown task"));
    };
    let Some(slot) = task
        .checks
        .iter()
        .position(|check| check.id == given.check_id)
    else {
        let known: Vec<&str> = task.checks.iter().map(|check| check.id.as_str()).collect();
        return Err(Refusal::new(
            Class::UnknownTask,
            format!(
                "task {} has no check {}; its checks: [{}]",
                task.id,
                bounds::cut(&given.check_id, 48),
                known.join(", ")
            ),
        ));
    };
    let old = task.checks.remove(slot);
    let (check, word) = match given.by {
        Substitute::Check(mut new) => {
            // A replacement without an id takes the id of what it replaces.
            new.id = new.id.or_else(|| Some(old.id.clone()));
            (new_check(new, &task.checks, ctx.canonical)?, "replaced")
        }
        Substitute::Word(note) => {
            let note = bounds::note(&note).map_err(|text| Refusal::new(Class::Bound, text))?;
            (
                Check {
                    evidence: Evidence::Attested { note },
                    ..old
                },
                "attested",
            )
        }
    };
    // A task whose proof is asked anew is not done any more.
    if !check.evidence.holds() && task.status == TaskStatus::Completed {
        task.status = TaskStatus::InProgress;
    }
    let line = format!("{} {}: {word}", task.id, given.check_id);
    task.checks.insert(slot, check);
    let reason = bounds::cut(&bounds::one_line(&given.justification), bounds::REASON);
    let reply = format!("Check {line}. The user sees that.");
    let revision = Revision {
        reason,
        summary: vec![line],
    };
    finish(plan, next, ctx, Some(revision), |applied| {
        applied.reply = reply;
        applied.checks_changed = true;
    })
}
