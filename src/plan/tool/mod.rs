//! The `plan` tool as the model calls it: schema, forgiving parsing with notes that teach, and errors
//! that name what was received and end with a call that works.

mod parse;
mod parse_begin;
mod parse_work;
mod raw;
mod schema;
mod shape;
mod teach;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use super::draft::Draft;
use super::gate::PlanOperation;
use super::model::TaskAction;

pub use parse::parse;
pub(super) use raw::{Fields, array, object, text};
pub use schema::{DESCRIPTION, schema};
pub(super) use shape::task_of;
pub use teach::{Class, EXAMPLES, Rejection, example};

/// One understood call.
#[derive(Debug, Clone, PartialEq)]
pub enum Operation {
    /// `init`.
    Init(Init),
    /// `submit`: a whole plan as fields.
    Submit(Box<Draft>),
    /// `add_tasks`.
    AddTasks {
        /// At least one.
        tasks: Vec<NewTask>,
    },
    /// `start`.
    Start {
        /// Which; the next one if left out.
        task_id: Option<String>,
    },
    /// `complete`.
    Complete {
        /// Which.
        task_id: String,
        /// How it ended.
        outcome: Outcome,
        /// Note to keep.
        note: Option<String>,
    },
    /// `update`.
    Update {
        /// Applied in order, all or none.
        updates: Vec<Update>,
    },
    /// `revise`.
    Revise {
        /// Why.
        reason: String,
        /// Applied in order, all or none.
        operations: Vec<Change>,
    },
    /// `check_replace`.
    CheckReplace(CheckReplace),
    /// `get`.
    Get,
}

/// The three ways to begin.
#[derive(Debug, Clone, PartialEq)]
pub enum Init {
    /// Prose first.
    Design {
        /// Title.
        title: String,
        /// The whole plan as fields, if given at once.
        draft: Option<Box<Draft>>,
        /// Whether tasks came with it, which is refused.
        with_tasks: bool,
    },
    /// Tasks at once.
    Checklist {
        /// Title.
        title: String,
        /// Perhaps empty, which is refused.
        tasks: Vec<NewTask>,
    },
    /// From a file.
    Import {
        /// As given.
        path: PathBuf,
    },
}

/// A task as the model wrote it; ids perhaps missing, fields not cleaned yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewTask {
    /// Id; assigned if missing.
    pub id: Option<String>,
    /// Title.
    pub title: String,
    /// Description.
    pub description: String,
    /// Ids or 1-based numbers of tasks that come first.
    pub dependencies: Vec<String>,
    /// Criteria.
    pub acceptance_criteria: Vec<String>,
    /// Checks.
    pub checks: Vec<NewCheck>,
    /// Note.
    pub notes: String,
    /// Paths.
    pub targets: Vec<String>,
    /// Kind of work.
    pub action: Option<TaskAction>,
}

/// A check as the model wrote it. A status or call id that came with it is ignored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCheck {
    /// Id; assigned if missing.
    pub id: Option<String>,
    /// Description; the tool's name if blank.
    pub description: String,
    /// Tool.
    pub tool: String,
    /// Arguments as raw JSON text, numbers as written; not canonical yet.
    pub arguments: String,
}

/// How a task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Done, with evidence.
    Success,
    /// Left out on purpose.
    Skip,
    /// Given up.
    Fail,
}

/// One entry of `update`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Update {
    /// Which task.
    pub id: String,
    /// New status.
    pub status: Option<NewStatus>,
    /// New note; an empty one clears it.
    pub note: Option<String>,
}

/// A status as `update` names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewStatus {
    /// Not begun.
    Pending,
    /// Begun.
    InProgress,
    /// Done; needs evidence like `complete`.
    Completed,
    /// Left out.
    Skipped,
    /// Given up.
    Failed,
    /// Waits; the note says why.
    Blocked,
}

/// Where a task goes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Anchor {
    /// Last.
    #[default]
    End,
    /// After that task.
    After(String),
    /// Before that task.
    Before(String),
}

/// One operation of `revise`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Inserts tasks.
    Add {
        /// At least one.
        tasks: Vec<NewTask>,
        /// Where.
        anchor: Anchor,
    },
    /// Changes a task's text, or appends checks.
    Edit {
        /// Which.
        task_id: String,
        /// New title; another one reopens the task.
        title: Option<String>,
        /// New description.
        description: Option<String>,
        /// New note; an empty one clears it.
        note: Option<String>,
        /// Appended.
        checks: Vec<NewCheck>,
    },
    /// Moves a task.
    Move {
        /// Which.
        task_id: String,
        /// Where.
        anchor: Anchor,
    },
    /// Replaces a task by at least `least` others.
    Replace {
        /// Which.
        task_id: String,
        /// The others.
        tasks: Vec<NewTask>,
        /// Which of them takes over the checks.
        carry_checks_to: Option<String>,
        /// True for `split` (two at least), false for `supersede` (one at least).
        split: bool,
    },
}

/// Arguments of `check_replace`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckReplace {
    /// Task.
    pub task_id: String,
    /// Check of that task.
    pub check_id: String,
    /// Why.
    pub justification: String,
    /// What takes its place.
    pub by: Substitute,
}

/// What takes the place of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Substitute {
    /// Another call, pending.
    Check(NewCheck),
    /// The model's word; shown as attested, never as passed.
    Word(String),
}

impl Operation {
    /// The operation as the gate's table names it.
    #[must_use]
    pub fn gate_kind(&self) -> PlanOperation {
        match self {
            Self::Init(Init::Design { .. }) => PlanOperation::InitDesign,
            Self::Init(Init::Checklist { .. } | Init::Import { .. }) => {
                PlanOperation::InitChecklist
            }
            Self::Submit(_) => PlanOperation::Submit,
            Self::AddTasks { .. } => PlanOperation::AddTasks,
            Self::Start { .. } => PlanOperation::Start,
            Self::Complete { .. } => PlanOperation::Complete,
            Self::Update { .. } => PlanOperation::Update,
            Self::Revise { .. } => PlanOperation::Revise,
            Self::CheckReplace(_) => PlanOperation::CheckReplace,
            Self::Get => PlanOperation::Get,
        }
    }

    /// The canonical name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Init(_) => "init",
            Self::Submit(_) => "submit",
            Self::AddTasks { .. } => "add_tasks",
            Self::Start { .. } => "start",
            Self::Complete { .. } => "complete",
            Self::Update { .. } => "update",
            Self::Revise { .. } => "revise",
            Self::CheckReplace(_) => "check_replace",
            Self::Get => "get",
        }
    }
}

/// An understood call with what was learnt on the way.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// What to do.
    pub operation: Operation,
    /// One-line notes that teach the canonical form; put in front of the reply.
    pub notes: Vec<String>,
    /// Keys received, cut, for a refusal later on.
    pub received: String,
}

impl Parsed {
    /// The reply with its notes in front.
    #[must_use]
    pub fn reply(&self, text: &str) -> String {
        let mut lines = self.notes.clone();
        lines.push(text.to_owned());
        lines.join("\n")
    }

    /// A refusal of the understood call, in the form of every rejection.
    #[must_use]
    pub fn refusal(&self, problem: &str, class: Class) -> Rejection {
        Rejection::new(class, Some(self.operation.name()), problem, &self.received)
    }
}
