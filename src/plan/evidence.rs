//! Evidence: what the host itself saw of the checks and verification commands of a plan.
//!
//! Only the host's own outcome counts, never words in an output. A change of the workspace makes
//! everything seen before it stale, because it was seen of a different tree.

mod batch;
mod memory;
mod targets;
mod verdict;

use sha2::{Digest, Sha256};

use crate::domain::{CallId, CallStatus, Effects};

use super::canonical::{canonical, shell_call};
use super::model::{Evidence, Plan, TaskStatus};

pub use batch::{BatchCall, barriers};
pub use memory::{FailedMutation, MutationMemory, Tried, reports_blocker, targets_of, touches};
pub use targets::{Worked, unfinished_targets};
pub use verdict::{NotProven, all_fresh, can_complete, is_done, is_fresh, recheck, unproven, word};

/// Name of the tool whose calls satisfy verification commands.
pub const SHELL_TOOL: &str = "bash";
/// Name of the plan tool; its calls are never evidence.
pub const PLAN_TOOL: &str = "plan";
/// Locale key of the reason that a refused call leaves on its check.
pub const REFUSED_KEY: &str = "plan-check-refused";
/// Longest call id that is stored as it came, in characters.
pub const MAX_CALL_ID: usize = 128;

/// One finished call as the host saw it.
#[derive(Debug, Clone, Copy)]
pub struct Observation<'a> {
    /// The call.
    pub call: &'a CallId,
    /// Tool name.
    pub tool: &'a str,
    /// Arguments as the model wrote them, or already canonical.
    pub arguments: &'a str,
    /// What the tool can do at most.
    pub effects: Effects,
    /// How it ended.
    pub status: CallStatus,
    /// Whether the workspace may have changed (fingerprint before and after, else `true`).
    pub changed: bool,
    /// [`epoch`] of the plan before the call's batch began; 0 if there was no plan then, or if the
    /// call belongs to a superseded turn. Such an outcome is never evidence, but it can still spoil it.
    pub epoch: u64,
}

/// What an observation did to a plan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// Checks (`task/check`) and verification commands (`verification/<n>`, counted from 1) that this
    /// call settled, with the word of their new state.
    pub settled: Vec<(String, &'static str)>,
    /// How many pieces of evidence went stale.
    pub staled: usize,
    /// Ids of completed tasks that were fresh before and need a re-check now.
    pub reopened: Vec<String>,
    /// Whether anything differs; the version was counted up exactly once then.
    pub changed: bool,
}

/// The state of the declarations of a plan. It differs as soon as the plan is another one or a check,
/// a title or a verification command is added, removed or altered, and is never 0. Progress, notes and
/// order do not matter.
#[must_use]
pub fn epoch(plan: &Plan) -> u64 {
    let mut lines: Vec<String> = plan
        .tasks
        .iter()
        .flat_map(|task| {
            let checks = task.checks.iter().map(move |check| {
                format!(
                    "c\0{}\0{}\0{}\0{}",
                    task.id, check.id, check.tool, check.arguments
                )
            });
            std::iter::once(format!("t\0{}\0{}", task.id, task.title)).chain(checks)
        })
        .collect();
    lines.extend(
        plan.verification
            .iter()
            .map(|item| format!("v\0{}", item.command)),
    );
    lines.sort();
    let mut hash = Sha256::new();
    hash.update(plan.id.as_bytes());
    for line in &lines {
        hash.update((line.len() as u64).to_be_bytes());
        hash.update(line.as_bytes());
    }
    let digest = hash.finalize();
    let folded = digest
        .iter()
        .take(8)
        .fold(0_u64, |sum, byte| (sum << 8) | u64::from(*byte));
    folded.max(1)
}

/// Records one finished call. The caller stamps `updated_at` when `changed` is set.
pub fn observe(plan: &mut Plan, seen: &Observation<'_>) -> Changes {
    if seen.tool == PLAN_TOOL || seen.effects == Effects::Plan {
        return Changes::default();
    }
    let arguments = canonical(seen.arguments).ok();
    let matches = arguments
        .as_deref()
        .is_some_and(|arguments| is_declared(plan, seen.tool, arguments));
    let current = seen.epoch == epoch(plan);
    let fresh_before = fresh_completed(plan);
    let mut changes = Changes::default();
    let call = || stored(seen.call);
    let (spoils, found) = match seen.status {
        CallStatus::Ok if matches && current => (false, Some(Evidence::Passed { call: call() })),
        CallStatus::Failed if matches => (true, Some(Evidence::Failed { call: call() })),
        CallStatus::Refused => {
            let reason = REFUSED_KEY.to_owned();
            (false, matches.then_some(Evidence::Blocked { reason }))
        }
        CallStatus::Ok | CallStatus::Failed | CallStatus::Interrupted | CallStatus::Cancelled => {
            (mutates(seen.effects, seen.changed), None)
        }
    };
    if spoils {
        changes.staled = stale_all(plan);
    }
    if let (Some(found), Some(arguments), true) = (found, arguments.as_deref(), current) {
        settle(plan, seen.tool, arguments, &found, &mut changes);
    }
    finish(plan, &fresh_before, changes)
}

/// Makes all evidence stale, for a change that no call explains (the workspace was edited by hand, a
/// sub-agent wrote, a checkpoint was restored).
pub fn invalidate(plan: &mut Plan) -> Changes {
    let fresh_before = fresh_completed(plan);
    let changes = Changes {
        staled: stale_all(plan),
        ..Changes::default()
    };
    finish(plan, &fresh_before, changes)
}

/// After a restart nothing that was seen before it is fresh: passed and stale evidence becomes stale
/// and marked restored. Restored evidence gates completion, but is never by itself a reason to run
/// anything.
pub fn restored(plan: &mut Plan) -> Changes {
    let fresh_before = fresh_completed(plan);
    let mut changes = Changes::default();
    for evidence in all_evidence(plan) {
        if matches!(
            evidence,
            Evidence::Passed { .. } | Evidence::Stale { restored: false }
        ) {
            *evidence = Evidence::Stale { restored: true };
            changes.staled += 1;
        }
    }
    finish(plan, &fresh_before, changes)
}

/// Whether a call with these effects may have changed something that evidence speaks about. A command,
/// a sub-agent or a chat message that left the workspace as it was counts as a read.
#[must_use]
pub fn mutates(effects: Effects, changed: bool) -> bool {
    match effects {
        Effects::Read | Effects::Ask | Effects::NetworkRead | Effects::Plan => false,
        Effects::Exec | Effects::Spawn | Effects::Channel => changed,
        Effects::Write | Effects::Unknown => true,
    }
}

/// Whether a canonical call is the call of a check or of a verification command.
#[must_use]
pub fn is_declared(plan: &Plan, tool: &str, arguments: &str) -> bool {
    plan.tasks
        .iter()
        .flat_map(|task| &task.checks)
        .any(|check| check.tool == tool && check.arguments == arguments)
        || (tool == SHELL_TOOL
            && plan
                .verification
                .iter()
                .any(|item| shell_call(&item.command) == arguments))
}

/// A call id as evidence stores it: a foreign one that is long or not plain becomes its SHA-256.
#[must_use]
pub fn stored(call: &CallId) -> CallId {
    let text = call.as_str();
    let plain = text
        .bytes()
        .all(|byte| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\');
    if plain && !text.is_empty() && text.len() <= MAX_CALL_ID {
        return call.clone();
    }
    let digest = Sha256::digest(text.as_bytes());
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    CallId(format!("sha256:{hex}"))
}

fn settle(
    plan: &mut Plan,
    tool: &str,
    arguments: &str,
    evidence: &Evidence,
    changes: &mut Changes,
) {
    let mut put = |name: String, slot: &mut Evidence| {
        if slot != evidence {
            *slot = evidence.clone();
            changes.changed = true;
            changes.settled.push((name, word(evidence)));
        }
    };
    for task in &mut plan.tasks {
        for check in &mut task.checks {
            if check.tool == tool && check.arguments == arguments {
                put(format!("{}/{}", task.id, check.id), &mut check.evidence);
            }
        }
    }
    if tool == SHELL_TOOL {
        for (index, item) in plan.verification.iter_mut().enumerate() {
            if shell_call(&item.command) == arguments {
                put(format!("verification/{}", index + 1), &mut item.evidence);
            }
        }
    }
}

fn stale_all(plan: &mut Plan) -> usize {
    let mut staled = 0;
    for evidence in all_evidence(plan) {
        let next = match evidence {
            Evidence::Passed { .. } => Evidence::Stale { restored: false },
            // They say nothing about the new tree, and there is no pass to come back to.
            Evidence::Failed { .. } | Evidence::Blocked { .. } => Evidence::Pending,
            // A word that was given stays given; it is shown as such.
            Evidence::Pending | Evidence::Stale { .. } | Evidence::Attested { .. } => continue,
        };
        *evidence = next;
        staled += 1;
    }
    staled
}

fn all_evidence(plan: &mut Plan) -> impl Iterator<Item = &mut Evidence> {
    plan.tasks
        .iter_mut()
        .flat_map(|task| task.checks.iter_mut().map(|check| &mut check.evidence))
        .chain(plan.verification.iter_mut().map(|item| &mut item.evidence))
}

fn fresh_completed(plan: &Plan) -> Vec<String> {
    plan.tasks
        .iter()
        .filter(|task| task.status == TaskStatus::Completed && !recheck(task))
        .map(|task| task.id.clone())
        .collect()
}

fn finish(plan: &mut Plan, fresh_before: &[String], mut changes: Changes) -> Changes {
    changes.changed |= changes.staled > 0;
    changes.reopened = plan
        .tasks
        .iter()
        .filter(|task| recheck(task) && fresh_before.contains(&task.id))
        .map(|task| task.id.clone())
        .collect();
    if changes.changed {
        plan.version = plan.version.saturating_add(1);
    }
    changes
}

#[cfg(test)]
mod tests;
