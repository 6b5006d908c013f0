//! What a plan is: the sidecar's fields, and the states that hold exactly what is valid in them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::domain::{CallId, ChatId, MessageId, SessionId, ThreadId, UserId};

mod facts;

pub use facts::{Counts, Revision};

/// A session's planning, as loaded at a turn boundary.
#[derive(Debug, Clone, PartialEq)]
pub enum PlanState {
    /// No live plan.
    NoPlan,
    /// Plan mode was asked for; `init` has not succeeded.
    PreInit {
        /// Who asked.
        origin: PreInitOrigin,
    },
    /// Design prose is being written.
    Editing(EditingPlan),
    /// The checklist is live.
    Active(Box<Plan>),
    /// A sidecar that cannot be read or breaks a bound. Never treated as no plan.
    Corrupt {
        /// The file.
        path: PathBuf,
        /// Locale key of a short reason for people.
        reason: String,
    },
}

/// Who asked for plan mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PreInitOrigin {
    /// `/plan`.
    Slash,
    /// A plan phrase in natural chat.
    Nudge,
}

/// An Editing plan: the record without tasks, and the prose.
#[derive(Debug, Clone, PartialEq)]
pub struct EditingPlan {
    /// The record; its `tasks` are empty.
    pub plan: Box<Plan>,
    /// Canonical path of the session `.md`.
    pub md_path: PathBuf,
    /// The text of the `.md`.
    pub prose: String,
}

/// The sidecar's root. Unknown fields survive load and save.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Id of this plan, a UUID.
    pub id: String,
    /// Session that owns it.
    pub session_id: SessionId,
    /// Title, at most 200 characters.
    pub title: String,
    /// Full `.md` body for a design plan, else free text.
    #[serde(default)]
    pub description: String,
    /// The checklist.
    #[serde(default)]
    pub tasks: Vec<Task>,
    /// Only these two are ever written.
    pub status: PlanStatus,
    /// Creation.
    pub created_at: DateTime<Utc>,
    /// Last change.
    pub updated_at: DateTime<Utc>,
    /// Set by approve, never by `start`.
    #[serde(default)]
    pub approved_at: Option<DateTime<Utc>>,
    /// Set by approve.
    #[serde(default)]
    pub approved_by: Option<UserId>,
    /// SHA-256 (hex) of the approved `.md` with normalised line ends.
    #[serde(default)]
    pub approved_revision: Option<String>,
    /// Counts effective changes of the checklist, from 1.
    #[serde(default)]
    pub version: u64,
    /// Intent only (PreInit). Never approvable.
    #[serde(default)]
    pub pre_init_editing: bool,
    /// Who asked, while `pre_init_editing`.
    #[serde(default)]
    pub pre_init_origin: Option<PreInitOrigin>,
    /// Workspace at creation.
    #[serde(default)]
    pub working_directory: Option<PathBuf>,
    /// Plan-wide verification commands.
    #[serde(default)]
    pub verification: Vec<Verification>,
    /// SHA-256 (hex) of the current `.md`; empty without one.
    #[serde(default)]
    pub revision: String,
    /// The flow message that shows the plan.
    #[serde(default)]
    pub flow: Option<FlowBinding>,
    /// Everything else found in the file.
    #[serde(flatten)]
    pub other: BTreeMap<String, serde_json::Value>,
}

/// The two statuses that are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PlanStatus {
    /// Prose is written.
    Editing,
    /// Checklist is live.
    Active,
}

/// Which message shows which revision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowBinding {
    /// Chat.
    pub chat_id: ChatId,
    /// Topic.
    pub thread_id: Option<ThreadId>,
    /// Message.
    pub message_id: MessageId,
    /// Revision it shows in full.
    pub revision: String,
}

/// One task of the checklist.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Short token, `t1`…, at most 32 characters.
    pub id: String,
    /// Title, at most 200 characters.
    pub title: String,
    /// Description, at most 5000 characters.
    #[serde(default)]
    pub description: String,
    /// Status.
    #[serde(default)]
    pub status: TaskStatus,
    /// Ids of tasks that come first.
    #[serde(default)]
    pub dependencies: Vec<String>,
    /// What "done" means, in words.
    #[serde(default)]
    pub acceptance_criteria: Vec<String>,
    /// At most 4.
    #[serde(default)]
    pub checks: Vec<Check>,
    /// At most 2000 characters.
    #[serde(default)]
    pub notes: String,
    /// Paths it touches.
    #[serde(default)]
    pub targets: Vec<String>,
    /// Kind of work.
    #[serde(default)]
    pub action: Option<TaskAction>,
    /// Failures so far.
    #[serde(default)]
    pub retry_count: u32,
    /// Whether it was ever started.
    #[serde(default)]
    pub started: bool,
    /// Everything else found in the file (`complexity`, `task_type`, `artifacts`, …).
    #[serde(flatten)]
    pub other: BTreeMap<String, serde_json::Value>,
}

/// Status of a task as the sidecar stores it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TaskStatus {
    /// Not begun.
    #[default]
    Pending,
    /// Begun.
    InProgress,
    /// Done.
    Completed,
    /// Left out on purpose.
    Skipped,
    /// Given up.
    Failed,
    /// Waits for something outside.
    Blocked {
        /// Why.
        reason: String,
    },
}

/// Kind of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskAction {
    /// Looks.
    Inspect,
    /// Changes.
    Change,
    /// Verifies.
    Verify,
}

/// One check that gates a task: an exact tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// `c1`…
    pub id: String,
    /// At most 200 characters.
    pub description: String,
    /// Tool name.
    pub tool: String,
    /// Canonical arguments: one JSON object as text, keys sorted, numbers as written; ≤ 4096 bytes.
    pub arguments: String,
    /// What the host saw.
    #[serde(default)]
    pub evidence: Evidence,
}

/// What the host recorded about a check or a verification command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Evidence {
    /// Nothing yet.
    #[default]
    Pending,
    /// The call succeeded and nothing changed since.
    Passed {
        /// The call.
        call: CallId,
    },
    /// The latest matching call failed.
    Failed {
        /// The call.
        call: CallId,
    },
    /// It had passed, then something changed.
    Stale {
        /// Whether a restart made it stale.
        restored: bool,
    },
    /// The gate or the user refused the call.
    Blocked {
        /// Why, for people.
        reason: String,
    },
    /// A person's or the model's word instead of a call, shown as such. Never "passed".
    Attested {
        /// The note.
        note: String,
    },
}

/// A plan-wide verification command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verification {
    /// The shell command.
    pub command: String,
    /// What the host saw.
    #[serde(default)]
    pub evidence: Evidence,
}
