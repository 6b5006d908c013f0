//! The plan as it goes into a model's context.

use serde::{Deserialize, Serialize};

use super::super::canonical::canonical;
use super::super::evidence::{recheck, stored, word};
use super::super::model::{Check, Evidence, Plan, Task, TaskStatus};
use super::line::clean;
use super::{CHECKS, MAX_VERSION};

/// Characters of a title.
pub(in super::super) const MAX_TITLE: usize = 200;
/// Characters of a note.
pub(in super::super) const MAX_NOTE: usize = 2000;
/// Characters of a check's description.
pub(in super::super) const MAX_DESCRIPTION: usize = 200;
/// Characters of a revision's reason and of each line of its summary.
pub(in super::super) const MAX_REASON: usize = 240;
/// Lines of a revision's summary.
pub(in super::super) const MAX_SUMMARY: usize = 8;

/// Everything the message says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// Version, at most 999 999 999.
    pub version: u64,
    /// The latest revision of the checklist.
    pub revision: Option<RevisionNote>,
    /// Plan-wide verification commands.
    pub verification: Vec<WireVerification>,
    /// Tasks in order.
    pub steps: Vec<Step>,
}

/// Why and how the checklist was revised last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RevisionNote {
    /// At most 240 characters.
    pub reason: String,
    /// At most 8 lines of at most 240 characters.
    pub summary: Vec<String>,
}

/// A plan-wide verification command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WireVerification {
    /// The shell command.
    pub command: String,
    /// A word of [`super::super::evidence::word`].
    pub status: String,
}

/// One task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Id.
    pub id: String,
    /// Status.
    pub status: WireStatus,
    /// Title on one line, at most 200 characters.
    pub title: String,
    /// Reason of a block, then the note, on one line; at most 2000 characters; may be empty.
    pub note: String,
    /// At most 4.
    pub checks: Vec<WireCheck>,
}

/// Statuses as the message spells them. A completed task whose evidence went stale is in progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WireStatus {
    /// Not begun.
    Pending,
    /// Begun, or to be checked again.
    InProgress,
    /// Completed with fresh evidence.
    Done,
    /// Left out on purpose; counts as done.
    Skipped,
    /// Given up; counts as blocked.
    Failed,
    /// Waits for something outside.
    Blocked,
}

impl WireStatus {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Pending,
        Self::InProgress,
        Self::Done,
        Self::Skipped,
        Self::Failed,
        Self::Blocked,
    ];

    /// The word in the message.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Done => "done",
            Self::Skipped => "skipped",
            Self::Failed => "failed",
            Self::Blocked => "blocked",
        }
    }

    /// The status of a word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.word() == word)
    }

    /// Whether it counts as done.
    #[must_use]
    pub fn is_done(self) -> bool {
        matches!(self, Self::Done | Self::Skipped)
    }

    /// Whether it counts as blocked.
    #[must_use]
    pub fn is_blocked(self) -> bool {
        matches!(self, Self::Blocked | Self::Failed)
    }

    /// The status of a task.
    #[must_use]
    pub fn of(task: &Task) -> Self {
        match &task.status {
            TaskStatus::Pending => Self::Pending,
            TaskStatus::InProgress => Self::InProgress,
            TaskStatus::Completed if recheck(task) => Self::InProgress,
            TaskStatus::Completed => Self::Done,
            TaskStatus::Skipped => Self::Skipped,
            TaskStatus::Failed => Self::Failed,
            TaskStatus::Blocked { .. } => Self::Blocked,
        }
    }
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireCheck {
    /// Id.
    pub id: String,
    /// At most 200 characters.
    pub description: String,
    /// Tool name.
    pub tool: String,
    /// Canonical arguments.
    pub arguments: String,
    /// A word of [`super::super::evidence::word`].
    pub status: String,
    /// The call, for passed and failed.
    pub call_id: Option<String>,
}

impl Snapshot {
    /// Whether any task has checks.
    #[must_use]
    pub fn has_checks(&self) -> bool {
        self.steps.iter().any(|step| !step.checks.is_empty())
    }

    /// Tasks that count as done.
    #[must_use]
    pub fn done(&self) -> usize {
        self.steps
            .iter()
            .filter(|step| step.status.is_done())
            .count()
    }

    /// Tasks that count as blocked.
    #[must_use]
    pub fn blocked(&self) -> usize {
        self.steps
            .iter()
            .filter(|step| step.status.is_blocked())
            .count()
    }

    /// Whether the message is one line and the ids: everything is done, and there is no check, no
    /// revision and no verification command that could still matter.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        !self.steps.is_empty()
            && self.done() == self.steps.len()
            && !self.has_checks()
            && self.revision.is_none()
            && self.verification.is_empty()
    }
}

/// What the message of `plan` says. Text is put on one line and within its bounds here, so that a
/// message can be read back whatever an older file holds.
#[must_use]
pub fn snapshot(plan: &Plan) -> Snapshot {
    let checked = plan.tasks.iter().any(|task| !task.checks.is_empty());
    Snapshot {
        version: plan.version.min(MAX_VERSION),
        revision: revision(plan),
        verification: plan
            .verification
            .iter()
            .map(|item| WireVerification {
                command: item.command.clone(),
                status: word(&item.evidence).to_owned(),
            })
            .collect(),
        steps: plan.tasks.iter().map(|task| step(task, checked)).collect(),
    }
}

fn revision(plan: &Plan) -> Option<RevisionNote> {
    let stored = plan.other.get("last_revision")?;
    let mut note: RevisionNote = serde_json::from_value(stored.clone()).ok()?;
    note.reason = clean(&note.reason, MAX_REASON);
    note.summary.truncate(MAX_SUMMARY);
    for line in &mut note.summary {
        *line = clean(line, MAX_REASON);
    }
    (!note.reason.is_empty()).then_some(note)
}

fn step(task: &Task, checked: bool) -> Step {
    let note = match &task.status {
        TaskStatus::Blocked { reason } if task.notes.is_empty() => reason.clone(),
        TaskStatus::Blocked { reason } if !reason.is_empty() && *reason != task.notes => {
            format!("{reason}; {}", task.notes)
        }
        TaskStatus::Blocked { .. }
        | TaskStatus::Pending
        | TaskStatus::InProgress
        | TaskStatus::Completed
        | TaskStatus::Skipped
        | TaskStatus::Failed => task.notes.clone(),
    };
    let title = clean(&task.title, MAX_TITLE);
    Step {
        id: task.id.clone(),
        status: WireStatus::of(task),
        title: if title.is_empty() {
            "(untitled)".to_owned()
        } else {
            undelimited(title, checked)
        },
        note: undelimited(clean(&note, MAX_NOTE), checked),
        checks: task.checks.iter().map(check).collect(),
    }
}

/// In a plan with checks the delimiter must occur once in a line; its leading space may come from the
/// text before.
fn undelimited(mut text: String, checked: bool) -> String {
    let delimiter = CHECKS.trim_start();
    while checked && text.contains(delimiter) {
        text = text.replace(delimiter, "| checks:");
    }
    text
}

fn check(check: &Check) -> WireCheck {
    let description: String = check
        .description
        .trim()
        .chars()
        .take(MAX_DESCRIPTION)
        .collect();
    let call_id = match &check.evidence {
        Evidence::Passed { call } | Evidence::Failed { call } => Some(stored(call).0),
        Evidence::Pending
        | Evidence::Stale { .. }
        | Evidence::Blocked { .. }
        | Evidence::Attested { .. } => None,
    };
    WireCheck {
        id: check.id.clone(),
        description: if description.is_empty() {
            check.tool.clone()
        } else {
            description
        },
        tool: check.tool.clone(),
        arguments: canonical(&check.arguments).unwrap_or_else(|_| "{}".to_owned()),
        status: word(&check.evidence).to_owned(),
        call_id,
    }
}
