//! The read model of a plan: what the flow message, the panel and `/plan_status` show.

use serde::{Deserialize, Serialize};

/// A plan as people see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanView {
    /// Plan id.
    pub id: String,
    /// Title; empty in PreInit.
    pub title: String,
    /// State word.
    pub face: PlanFace,
    /// Revision of the prose.
    pub revision: String,
    /// Version of the checklist.
    pub version: u64,
    /// Tasks done with fresh evidence (or skipped).
    pub done: usize,
    /// All tasks.
    pub total: usize,
    /// Blocked or failed tasks.
    pub blocked: usize,
    /// Completed tasks whose evidence went stale.
    pub recheck: usize,
    /// Goal of the running task, on one line.
    pub goal: Option<String>,
    /// Criteria of the running task.
    pub criteria: Vec<String>,
    /// Checklist rows in order.
    pub rows: Vec<PlanRow>,
    /// Prose by level-2 heading (Editing only).
    pub sections: Vec<PlanSection>,
    /// Locale keys of what the validator misses (Editing only).
    pub missing: Vec<String>,
}

/// The state words of the flow message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanFace {
    /// PreInit: discussing.
    Discussing,
    /// Editing while a turn runs.
    Editing,
    /// Editing, idle, valid.
    Ready,
    /// Editing, idle, not valid.
    NotReady,
    /// Seed turn in flight, no tasks.
    Seeding,
    /// Idle, no tasks after approval.
    SeedFailed,
    /// Tasks, none ever started, design track, idle.
    PartialSeed,
    /// Checklist runs.
    Running,
    /// Corrupt sidecar.
    Corrupt,
}

/// One checklist row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanRow {
    /// Task id.
    pub id: String,
    /// Title.
    pub title: String,
    /// Mark.
    pub mark: RowMark,
    /// Reason, note or evidence remark; may be empty.
    pub remark: String,
}

/// Marks of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowMark {
    /// ☐
    Pending,
    /// ▶
    InProgress,
    /// ☑
    Completed,
    /// ⏭
    Skipped,
    /// ❌
    Failed,
    /// ⏸
    Blocked,
    /// ⟳
    Recheck,
}

impl RowMark {
    /// The sign in front of the row.
    #[must_use]
    pub fn sign(self) -> &'static str {
        match self {
            Self::Pending => "☐",
            Self::InProgress => "▶",
            Self::Completed => "☑",
            Self::Skipped => "⏭",
            Self::Failed => "❌",
            Self::Blocked => "⏸",
            Self::Recheck => "⟳",
        }
    }
}

/// One level-2 section of the prose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanSection {
    /// Heading without `## `.
    pub heading: String,
    /// Body as written.
    pub body: String,
}
