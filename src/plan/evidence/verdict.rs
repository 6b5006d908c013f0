//! What recorded evidence lets a task and a plan do.

use super::super::model::{Evidence, Plan, Task, TaskStatus};

/// Whether the evidence lets a task complete: seen to pass and nothing changed since, or attested.
#[must_use]
pub fn is_fresh(evidence: &Evidence) -> bool {
    matches!(
        evidence,
        Evidence::Passed { .. } | Evidence::Attested { .. }
    )
}

/// Whether a completed task needs its checks again (`⟳`): it counts as not done.
#[must_use]
pub fn recheck(task: &Task) -> bool {
    task.status == TaskStatus::Completed
        && task.checks.iter().any(|check| !is_fresh(&check.evidence))
}

/// Whether a task counts as done: completed with fresh evidence, or skipped.
#[must_use]
pub fn is_done(task: &Task) -> bool {
    match task.status {
        TaskStatus::Completed => !recheck(task),
        TaskStatus::Skipped => true,
        TaskStatus::Pending
        | TaskStatus::InProgress
        | TaskStatus::Failed
        | TaskStatus::Blocked { .. } => false,
    }
}

/// A task that cannot complete as success, in words for the model: every open check with its exact call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct NotProven {
    /// Ids of the checks that are neither passed nor attested.
    pub open: Vec<String>,
    /// Whether every one of the task's checks is blocked.
    pub all_blocked: bool,
    text: String,
}

/// Whether the task may complete as success.
///
/// # Errors
///
/// [`NotProven`] naming each check that is neither passed nor attested and the call that satisfies it.
pub fn can_complete(task: &Task) -> Result<(), NotProven> {
    let open: Vec<_> = task
        .checks
        .iter()
        .filter(|check| !is_fresh(&check.evidence))
        .collect();
    if open.is_empty() {
        return Ok(());
    }
    let all_blocked = task
        .checks
        .iter()
        .all(|check| matches!(check.evidence, Evidence::Blocked { .. }));
    let calls: Vec<String> = open
        .iter()
        .map(|check| {
            format!(
                "{} ({}): {} {}",
                check.id,
                word(&check.evidence),
                check.tool,
                check.arguments
            )
        })
        .collect();
    let advice = if all_blocked {
        "Every check is blocked: use check_replace, or complete with outcome \"skip\"."
    } else {
        "Make each call in an earlier batch than complete; a blocked one needs check_replace."
    };
    Err(NotProven {
        open: open.iter().map(|check| check.id.clone()).collect(),
        all_blocked,
        text: format!(
            "task \"{}\" has checks that have not passed: {}. {advice}",
            task.id,
            calls.join("; ")
        ),
    })
}

/// What keeps a plan from being archived although its tasks are resolved: checks of completed tasks
/// as `task/check` and verification commands as `verification/<n>`, counted from 1.
#[must_use]
pub fn unproven(plan: &Plan) -> Vec<String> {
    let checks = plan
        .tasks
        .iter()
        .filter(|task| task.status == TaskStatus::Completed)
        .flat_map(|task| {
            task.checks
                .iter()
                .filter(|check| !is_fresh(&check.evidence))
                .map(move |check| format!("{}/{}", task.id, check.id))
        });
    let commands = plan
        .verification
        .iter()
        .enumerate()
        .filter(|(_, item)| !is_fresh(&item.evidence))
        .map(|(index, _)| format!("verification/{}", index + 1));
    checks.chain(commands).collect()
}

/// Whether every check of a completed task is fresh or attested and every verification command has
/// succeeded since the last mutation.
#[must_use]
pub fn all_fresh(plan: &Plan) -> bool {
    unproven(plan).is_empty()
}

/// The word for a state of evidence, as the context message spells it.
#[must_use]
pub fn word(evidence: &Evidence) -> &'static str {
    match evidence {
        Evidence::Pending => "pending",
        Evidence::Passed { .. } => "passed",
        Evidence::Failed { .. } => "failed",
        Evidence::Stale { .. } => "stale",
        Evidence::Blocked { .. } => "blocked",
        Evidence::Attested { .. } => "attested",
    }
}
