//! The read model of a plan: what the flow message, the panel and `/plan_status` show.

use serde::{Deserialize, Serialize};

use super::lifecycle;
use super::model::{Evidence, Plan, PlanState, Task, TaskStatus};
use super::ops::bounds;
use super::template::{self, Missing};

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
    /// Done and archived in the turn that is shown.
    Done,
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

/// The sentence of a locale key with its arguments, in the language of a chat.
pub type Say<'a> = &'a dyn Fn(&str, &[(&str, &str)]) -> String;

/// Builds the read model; `None` without a plan. `running` is whether a turn runs now; `say` gives the
/// sentence of a locale key with its arguments in the language of the chat.
#[must_use]
pub fn build(state: &PlanState, running: bool, max_tasks: usize, say: Say<'_>) -> Option<PlanView> {
    let face = lifecycle::face(state, running, max_tasks)?;
    let empty = blank(face);
    Some(match state {
        PlanState::NoPlan | PlanState::PreInit { .. } | PlanState::Corrupt { .. } => empty,
        PlanState::Editing(editing) => PlanView {
            id: editing.plan.id.clone(),
            // What approval will take as the title.
            title: template::title(&editing.prose).map_or_else(
                || editing.plan.title.clone(),
                |title| bounds::cut(&bounds::one_line(&title), bounds::TITLE),
            ),
            revision: template::revision(&editing.prose),
            sections: template::sections(&editing.prose),
            missing: template::missing(&editing.prose, max_tasks)
                .into_iter()
                .map(|item| Missing::key(item).to_owned())
                .collect(),
            ..empty
        },
        PlanState::Active(plan) => active(plan, empty, say),
    })
}

fn blank(face: PlanFace) -> PlanView {
    PlanView {
        id: String::new(),
        title: String::new(),
        face,
        revision: String::new(),
        version: 0,
        done: 0,
        total: 0,
        blocked: 0,
        recheck: 0,
        goal: None,
        criteria: Vec::new(),
        rows: Vec::new(),
        sections: Vec::new(),
        missing: Vec::new(),
    }
}

/// The read model of a plan that has just gone to the archive, for the turn that finished it.
#[must_use]
pub fn finished(plan: &Plan, say: Say<'_>) -> PlanView {
    PlanView {
        goal: None,
        criteria: Vec::new(),
        ..active(plan, blank(PlanFace::Done), say)
    }
}

fn active(plan: &Plan, empty: PlanView, say: Say<'_>) -> PlanView {
    let counts = plan.counts();
    let running = plan
        .tasks
        .iter()
        .rev()
        .find(|task| task.status == TaskStatus::InProgress);
    let criteria = running
        .map(|task| task.acceptance_criteria.clone())
        .unwrap_or_default();
    PlanView {
        id: plan.id.clone(),
        title: plan.title.clone(),
        revision: plan.revision.clone(),
        version: plan.version,
        done: counts.done,
        total: counts.total,
        blocked: counts.blocked,
        recheck: counts.recheck,
        goal: (!criteria.is_empty()).then(|| bounds::one_line(&criteria.join("; "))),
        criteria,
        rows: plan.tasks.iter().map(|task| row(task, say)).collect(),
        ..empty
    }
}

fn row(task: &Task, say: Say<'_>) -> PlanRow {
    let (mark, own) = match &task.status {
        TaskStatus::Pending => (RowMark::Pending, ""),
        TaskStatus::InProgress => (RowMark::InProgress, ""),
        TaskStatus::Completed if task.needs_recheck() => (RowMark::Recheck, ""),
        TaskStatus::Completed => (RowMark::Completed, ""),
        TaskStatus::Skipped => (RowMark::Skipped, task.notes.as_str()),
        TaskStatus::Failed => (RowMark::Failed, task.notes.as_str()),
        TaskStatus::Blocked { reason } => (RowMark::Blocked, reason.as_str()),
    };
    let mut remarks: Vec<String> = Vec::new();
    if !own.is_empty() {
        remarks.push(own.to_owned());
    }
    for check in &task.checks {
        match &check.evidence {
            Evidence::Attested { note } => {
                remarks.push(say("plan-row-attested", &[("note", note)]))
            }
            Evidence::Blocked { reason } => {
                remarks.push(say("plan-row-check-blocked", &[("reason", reason)]))
            }
            Evidence::Stale { restored: true } => remarks.push(say("plan-row-restored", &[])),
            Evidence::Pending
            | Evidence::Passed { .. }
            | Evidence::Failed { .. }
            | Evidence::Stale { restored: false } => {}
        }
    }
    remarks.dedup();
    PlanRow {
        id: task.id.clone(),
        title: task.title.clone(),
        mark,
        remark: bounds::one_line(&remarks.join("; ")),
    }
}
