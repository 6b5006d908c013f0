//! What the interface says about sessions, plans and usage, in its own wire types. No field is ever
//! `null`: what is absent is left out.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::domain::{CallId, ChatId, SessionId, ThreadId, TurnId, UserId};

/// One session in the list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SessionRow {
    /// Session.
    pub id: SessionId,
    /// What it is called, such as the chat's name; untrusted.
    pub title: String,
    /// Chat.
    pub chat_id: ChatId,
    /// Topic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<ThreadId>,
    /// Whether a turn runs now.
    pub running: bool,
    /// The last turn; 0 before the first.
    pub turn: TurnId,
    /// Inputs that wait.
    pub queued: usize,
    /// Model, `<adapter>/<name>`; empty until one is configured.
    pub model: String,
    /// Last use.
    pub updated_at: DateTime<Utc>,
    /// The plan in one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanSummary>,
}

/// A plan in one line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlanSummary {
    /// State word.
    pub face: Face,
    /// Title; empty before one is given.
    pub title: String,
    /// Tasks done with fresh evidence, or skipped.
    pub done: usize,
    /// All tasks.
    pub total: usize,
}

/// State words of a plan, the same as on the flow message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Face {
    /// Before the plan exists.
    Discussing,
    /// Prose is being written.
    Editing,
    /// Valid prose waits for the owner.
    Ready,
    /// The prose lacks something.
    NotReady,
    /// The checklist is being built.
    Seeding,
    /// Building the checklist failed.
    SeedFailed,
    /// The checklist is incomplete.
    PartialSeed,
    /// The checklist runs.
    Running,
    /// The file cannot be read.
    Corrupt,
}

/// A checklist as `/api/sessions/{id}/plan` tells it: steps, without evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SessionPlan {
    /// Version of the checklist, from 1.
    pub version: u64,
    /// Steps in order.
    pub steps: Vec<PlanStep>,
}

/// One step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlanStep {
    /// Task id.
    pub id: String,
    /// Title.
    pub title: String,
    /// Status.
    pub status: StepStatus,
    /// Reason or note; left out when empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// The four words that a step may have. A skipped task is `done`, a failed one `blocked`, a completed one
/// whose evidence went stale `in_progress`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    /// Not begun.
    Pending,
    /// Begun, or to be checked again.
    InProgress,
    /// Done or skipped.
    Done,
    /// Blocked or failed.
    Blocked,
}

/// One session in full.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SessionDetail {
    /// The session.
    pub session: SessionRow,
    /// The flow of the running or the last turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<LiveFlow>,
    /// The plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanDetail>,
}

/// What the flow message shows. Texts are redacted and in the session's language.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LiveFlow {
    /// Whether the turn runs.
    pub running: bool,
    /// How long it has run, in milliseconds.
    pub elapsed_ms: u64,
    /// Why it ended, as a sentence; left out while it runs.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub ended: String,
    /// Log lines, oldest first.
    pub lines: Vec<FlowLine>,
    /// The end of the text that is streaming; left out when empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Tokens of the last request's context; 0 = not known.
    pub context_tokens: u64,
    /// Window in tokens; 0 = not known.
    pub window_tokens: u64,
}

/// One line of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FlowLine {
    /// What it is.
    pub kind: LineKind,
    /// Narration, label of the tool, or sentence of the notice.
    pub text: String,
    /// Main argument of a tool call; left out when empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub argument: String,
    /// Output or summary of a tool call; left out when empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// Where a tool call stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<CallState>,
    /// How long a tool call ran, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

/// Kinds of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LineKind {
    /// The model's words between calls.
    Narration,
    /// A tool call.
    Tool,
    /// A line of the host.
    Notice,
}

/// Where a tool call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CallState {
    /// It runs.
    Running,
    /// It succeeded.
    Ok,
    /// It failed.
    Failed,
    /// It was refused.
    Refused,
    /// The process died while it ran.
    Interrupted,
    /// It was cancelled.
    Cancelled,
}

/// A plan with evidence.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlanDetail {
    /// State word.
    pub face: Face,
    /// Title.
    pub title: String,
    /// Version of the checklist; 0 without one.
    pub version: u64,
    /// Revision of the prose; left out without prose.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub revision: String,
    /// Tasks done with fresh evidence, or skipped.
    pub done: usize,
    /// All tasks.
    pub total: usize,
    /// Blocked or failed tasks.
    pub blocked: usize,
    /// Completed tasks whose evidence went stale.
    pub recheck: usize,
    /// When the owner approved it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved_at: Option<DateTime<Utc>>,
    /// Who approved it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved_by: Option<UserId>,
    /// Checklist.
    pub rows: Vec<Row>,
    /// Commands that verify the whole plan.
    pub verification: Vec<EvidenceLine>,
    /// Prose by heading, while it is being written.
    pub sections: Vec<ProseSection>,
    /// What the prose lacks, as sentences.
    pub missing: Vec<String>,
}

/// One task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Task id.
    pub id: String,
    /// Title.
    pub title: String,
    /// Mark.
    pub mark: RowMark,
    /// Reason or note; left out when empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub remark: String,
    /// What "done" means.
    pub criteria: Vec<String>,
    /// Checks with what the host saw.
    pub checks: Vec<EvidenceLine>,
}

/// Marks of tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowMark {
    /// Not begun.
    Pending,
    /// Begun.
    InProgress,
    /// Done.
    Completed,
    /// Left out on purpose.
    Skipped,
    /// Given up.
    Failed,
    /// Waits.
    Blocked,
    /// Done, to be checked again.
    Recheck,
}

/// A check or a verification command, with what the host saw. Arguments of checks are not told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EvidenceLine {
    /// Description of the check, or the command.
    pub what: String,
    /// What the host saw.
    pub state: EvidenceState,
    /// Reason or note; left out when empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// The call that proved or refuted it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<CallId>,
}

/// What the host saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceState {
    /// Nothing yet.
    Pending,
    /// It succeeded and nothing changed since.
    Passed,
    /// It failed.
    Failed,
    /// It had passed, then something changed.
    Stale,
    /// It was refused.
    Blocked,
    /// Somebody's word instead of a call.
    Attested,
}

/// One section of the prose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProseSection {
    /// Heading.
    pub heading: String,
    /// Body as written.
    pub body: String,
}

/// What was used.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct UsageReport {
    /// Known sessions.
    pub sessions: usize,
    /// Turns that run now.
    pub running: usize,
    /// Since the store was made.
    pub lifetime: Totals,
    /// Since midnight UTC.
    pub today: Totals,
    /// Tokens allowed a day; 0 = unlimited.
    pub day_tokens: u64,
    /// Plans created since the store was made.
    pub plans_created: u64,
    /// Changes of checklists since the store was made.
    pub plans_updated: u64,
    /// Checklists that ran into three blocked steps in a row, since the store was made.
    pub plans_blocked: u64,
    /// Since the store was made, by model.
    pub models: Vec<ModelUsage>,
}

/// Sums.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Turns.
    pub turns: u64,
    /// Model requests.
    pub requests: u64,
    /// Tool calls.
    pub tool_calls: u64,
    /// Tokens read, cached ones included.
    pub input_tokens: u64,
    /// Of those, read from the provider's cache.
    pub cached_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
}

/// Sums of one model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ModelUsage {
    /// `<adapter>/<name>`.
    pub model: String,
    /// Sums.
    #[serde(flatten)]
    pub totals: Totals,
}
