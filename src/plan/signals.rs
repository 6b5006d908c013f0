//! Signals about a plan for logs, metrics and the host's hints: counts and versions only, never titles,
//! notes or arguments; once for each effective change, in the order of versions.

mod reassess;
mod stall;

use serde::{Deserialize, Serialize};

use super::evidence::is_done;
use super::model::{Plan, TaskStatus};

pub use reassess::{BatchOutcome, Reassessment, Reassessments};
pub use stall::{StallCall, StallHint, StallWatch};

/// Blocks in a row that ask for a decomposition.
pub const BLOCKED_STREAK: u32 = 3;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Signal {
    /// A checklist or a design came into being.
    PlanCreated {
        /// Tasks.
        tasks: usize,
        /// Version.
        version: u64,
    },
    /// Any other effective change.
    PlanUpdated {
        /// Tasks.
        tasks: usize,
        /// Done with fresh evidence, or skipped.
        done: usize,
        /// In progress, or to be checked again.
        in_progress: usize,
        /// Blocked or failed.
        blocked: usize,
        /// Not begun.
        pending: usize,
        /// Version.
        version: u64,
    },
    /// Three blocks in a row.
    PlanBlocked {
        /// Tasks.
        tasks: usize,
        /// Blocked or failed.
        blocked: usize,
        /// Version.
        version: u64,
    },
    /// The approach should be thought over.
    PlanReassessment {
        /// What triggered it.
        reason: Reassessment,
        /// Always 3.
        failure_batches: u32,
    },
    /// A plan call was refused for its shape or content.
    PlanValidationFailed {
        /// A known operation, or `unknown`.
        operation: String,
        /// What kind of mistake.
        class: RejectionClass,
    },
}

impl Signal {
    /// Name of the event.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::PlanCreated { .. } => "plan_created",
            Self::PlanUpdated { .. } => "plan_updated",
            Self::PlanBlocked { .. } => "plan_blocked",
            Self::PlanReassessment { .. } => "plan_reassessment",
            Self::PlanValidationFailed { .. } => "plan_validation_failed",
        }
    }
}

/// Kinds of mistakes in plan calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RejectionClass {
    /// Not one JSON object.
    ParseError,
    /// Unknown operation.
    UnknownOperation,
    /// Two keys that say different things.
    AliasConflict,
    /// Two keys that may say the same.
    AliasAmbiguous,
    /// No such task.
    UnknownTask,
    /// A field is missing.
    MissingField,
    /// A field with another name.
    WrongFieldName,
    /// A field of another shape.
    Shape,
    /// A rule of the content, such as a bound or missing evidence.
    Rule,
}

/// Compares a plan before and after each change. Lives as long as the session; durable.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signals {
    plan: String,
    version: u64,
    streak: u32,
}

impl Signals {
    /// The events of one change, in order. Asking twice about the same version says nothing the second
    /// time.
    pub fn changed(&mut self, before: Option<&Plan>, after: &Plan) -> Vec<Signal> {
        if self.plan == after.id && after.version <= self.version {
            return Vec::new();
        }
        let same = before.filter(|before| before.id == after.id);
        let is_new = same.is_none() && self.plan != after.id;
        if !is_new && same.is_some_and(|before| before.version >= after.version) {
            return Vec::new();
        }
        self.plan.clone_from(&after.id);
        self.version = after.version;
        let counts = Counts::of(after);
        let mut signals = Vec::new();
        if is_new {
            self.streak = 0;
            signals.push(Signal::PlanCreated {
                tasks: counts.tasks,
                version: after.version,
            });
        } else {
            signals.push(counts.updated(after.version));
        }
        if self.count_blocks(same, after) {
            signals.push(Signal::PlanBlocked {
                tasks: counts.tasks,
                blocked: counts.blocked,
                version: after.version,
            });
        }
        signals
    }

    /// The event of a refused plan call.
    #[must_use]
    pub fn rejected(operation: &str, class: RejectionClass) -> Signal {
        let known = [
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
        let operation = known
            .into_iter()
            .find(|name| *name == operation)
            .unwrap_or("unknown");
        Signal::PlanValidationFailed {
            operation: operation.to_owned(),
            class,
        }
    }

    /// Counts transitions to blocked; one to done or in progress in the same change resets first.
    fn count_blocks(&mut self, before: Option<&Plan>, after: &Plan) -> bool {
        let mut blocked = 0_u32;
        let mut moved = false;
        for task in &after.tasks {
            let old = before.and_then(|plan| plan.tasks.iter().find(|old| old.id == task.id));
            let differs = old.is_none_or(|old| {
                std::mem::discriminant(&old.status) != std::mem::discriminant(&task.status)
            });
            if !differs {
                continue;
            }
            match task.status {
                TaskStatus::Blocked { .. } => blocked += 1,
                TaskStatus::Completed | TaskStatus::Skipped | TaskStatus::InProgress => {
                    moved = true
                }
                TaskStatus::Pending | TaskStatus::Failed => {}
            }
        }
        if moved {
            self.streak = 0;
        }
        self.streak += blocked;
        let fires = self.streak >= BLOCKED_STREAK;
        if fires {
            self.streak = 0;
        }
        fires
    }
}

/// What to tell the model after three blocks in a row, in English.
pub const DECOMPOSE_HINT: &str = "[Plan] Three tasks in a row were marked blocked. Use plan revise to \
    split one of them into a smaller step that can be done now, or ask the user for what is missing.";

/// Checks and verification commands that are still unverified, for the notice at the end of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unverified {
    /// How many.
    pub count: usize,
    /// The first eight, as `task/check` or `verification/<n>`.
    pub names: Vec<String>,
}

/// What of the plan's evidence is missing; `None` if nothing is. Skipped tasks owe none.
#[must_use]
pub fn unverified(plan: &Plan) -> Option<Unverified> {
    let checks = plan
        .tasks
        .iter()
        .filter(|task| task.status != TaskStatus::Skipped)
        .flat_map(|task| {
            task.checks
                .iter()
                .filter(|check| !super::evidence::is_fresh(&check.evidence))
                .map(move |check| format!("{}/{}", task.id, check.id))
        });
    let commands = plan
        .verification
        .iter()
        .enumerate()
        .filter(|(_, item)| !super::evidence::is_fresh(&item.evidence))
        .map(|(index, _)| format!("verification/{}", index + 1));
    let mut names: Vec<String> = checks.chain(commands).collect();
    let count = names.len();
    names.truncate(8);
    (count > 0).then_some(Unverified { count, names })
}

struct Counts {
    tasks: usize,
    done: usize,
    in_progress: usize,
    blocked: usize,
    pending: usize,
}

impl Counts {
    fn of(plan: &Plan) -> Self {
        let count = |matches: fn(&TaskStatus) -> bool| {
            plan.tasks
                .iter()
                .filter(|task| matches(&task.status))
                .count()
        };
        let tasks = plan.tasks.len();
        let done = plan.tasks.iter().filter(|task| is_done(task)).count();
        let blocked =
            count(|status| matches!(status, TaskStatus::Blocked { .. } | TaskStatus::Failed));
        let pending = count(|status| matches!(status, TaskStatus::Pending));
        Self {
            tasks,
            done,
            in_progress: tasks - done - blocked - pending,
            blocked,
            pending,
        }
    }

    fn updated(&self, version: u64) -> Signal {
        Signal::PlanUpdated {
            tasks: self.tasks,
            done: self.done,
            in_progress: self.in_progress,
            blocked: self.blocked,
            pending: self.pending,
            version,
        }
    }
}

#[cfg(test)]
mod tests;
