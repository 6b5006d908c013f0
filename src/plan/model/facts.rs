//! What follows from a plan's fields, computed in one place.

use serde::{Deserialize, Serialize};

use super::{Evidence, Plan, PlanState, Task, TaskStatus};

/// Why the checklist was last changed by `revise` or `check_replace`; only the latest is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revision {
    /// The model's reason, at most 240 characters.
    pub reason: String,
    /// One short line for each operation, at most 8.
    pub summary: Vec<String>,
}

/// How many tasks stand where, as everything outside the sidecar counts them: a completed task whose
/// evidence is not fresh counts as in progress.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// All tasks.
    pub total: usize,
    /// Completed with fresh evidence, or skipped.
    pub done: usize,
    /// In progress, or completed with stale evidence.
    pub in_progress: usize,
    /// Blocked or failed.
    pub blocked: usize,
    /// Pending.
    pub pending: usize,
    /// Completed with stale evidence (a part of `in_progress`).
    pub recheck: usize,
}

impl PlanState {
    /// The record, while prose is written or the checklist is live.
    #[must_use]
    pub fn plan(&self) -> Option<&Plan> {
        match self {
            Self::Editing(editing) => Some(&editing.plan),
            Self::Active(plan) => Some(plan),
            Self::NoPlan | Self::PreInit { .. } | Self::Corrupt { .. } => None,
        }
    }
}

impl Evidence {
    /// Whether it speaks for the work now: the call passed, or a word was given and is shown as such.
    #[must_use]
    pub fn holds(&self) -> bool {
        match self {
            Self::Passed { .. } | Self::Attested { .. } => true,
            Self::Pending | Self::Failed { .. } | Self::Stale { .. } | Self::Blocked { .. } => {
                false
            }
        }
    }
}

impl Task {
    /// Whether every check holds. True without checks.
    #[must_use]
    pub fn checks_hold(&self) -> bool {
        self.checks.iter().all(|check| check.evidence.holds())
    }

    /// Completed, but a check no longer holds.
    #[must_use]
    pub fn needs_recheck(&self) -> bool {
        self.status == TaskStatus::Completed && !self.checks_hold()
    }

    /// Whether nothing is left to do or to prove.
    #[must_use]
    pub fn is_resolved(&self) -> bool {
        self.satisfies_dependents() && !self.needs_recheck()
    }

    /// Whether tasks that depend on it may begin.
    #[must_use]
    pub fn satisfies_dependents(&self) -> bool {
        matches!(self.status, TaskStatus::Completed | TaskStatus::Skipped)
    }
}

/// Key of the latest [`Revision`] among the kept fields of the sidecar.
const LAST_REVISION: &str = "last_revision";

/// Key of the note that the owner gave with the approval.
const APPROVAL_NOTE: &str = "approval_note";

impl Plan {
    /// The task of that id.
    #[must_use]
    pub fn task(&self, id: &str) -> Option<&Task> {
        self.tasks.iter().find(|task| task.id == id)
    }

    /// Whether the checklist came from prose, so that a `.md` belongs to it.
    #[must_use]
    pub fn is_design(&self) -> bool {
        !self.revision.is_empty()
    }

    /// Whether any task was ever started.
    #[must_use]
    pub fn ever_started(&self) -> bool {
        self.tasks
            .iter()
            .any(|task| task.started || task.status != TaskStatus::Pending)
    }

    /// Whether every verification command has succeeded since the last mutation.
    #[must_use]
    pub fn verification_holds(&self) -> bool {
        self.verification.iter().all(|one| one.evidence.holds())
    }

    /// Counts for headers, events and the read model.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let mut counts = Counts {
            total: self.tasks.len(),
            ..Counts::default()
        };
        for task in &self.tasks {
            match &task.status {
                TaskStatus::Completed if task.needs_recheck() => {
                    counts.in_progress += 1;
                    counts.recheck += 1;
                }
                TaskStatus::Completed | TaskStatus::Skipped => counts.done += 1,
                TaskStatus::InProgress => counts.in_progress += 1,
                TaskStatus::Blocked { .. } | TaskStatus::Failed => counts.blocked += 1,
                TaskStatus::Pending => counts.pending += 1,
            }
        }
        counts
    }

    /// The latest revision, if the checklist was ever revised.
    #[must_use]
    pub fn last_revision(&self) -> Option<Revision> {
        let value = self.other.get(LAST_REVISION)?;
        serde_json::from_value(value.clone()).ok()
    }

    /// Replaces the latest revision.
    pub fn set_last_revision(&mut self, revision: &Revision) {
        self.other.insert(
            LAST_REVISION.to_owned(),
            serde_json::json!({ "reason": revision.reason, "summary": revision.summary }),
        );
    }

    /// The note that came with the approval.
    #[must_use]
    pub fn approval_note(&self) -> Option<&str> {
        self.other.get(APPROVAL_NOTE)?.as_str()
    }

    /// Records or clears the note that came with the approval.
    pub fn set_approval_note(&mut self, note: Option<&str>) {
        match note {
            Some(note) => {
                self.other.insert(APPROVAL_NOTE.to_owned(), note.into());
            }
            None => {
                self.other.remove(APPROVAL_NOTE);
            }
        }
    }
}
