//! The operations of the `plan` tool on a state: pure, all or nothing. What is refused leaves state,
//! version and evidence as they were.

pub mod bounds;
mod build;
mod checks;
mod init;
mod progress;
#[cfg(test)]
mod tests;
mod update;

use std::path::Path;

use chrono::{DateTime, Utc};

use super::lifecycle::{self, Birth};
use super::model::{Plan, PlanState, Revision};
use super::seed;
use super::template;
use super::tool::{Class, Operation};
use crate::domain::SessionId;

pub use build::{new_check, new_tasks};

/// What an operation needs from outside, all of it values or pure functions.
pub struct Context<'a> {
    /// Now.
    pub now: DateTime<Utc>,
    /// Session.
    pub session: &'a SessionId,
    /// A fresh UUID for a plan that begins.
    pub fresh_id: &'a str,
    /// Workspace.
    pub working_directory: Option<&'a Path>,
    /// Absolute path of the session `.md`, whether it exists or not.
    pub md_path: &'a Path,
    /// False in a yolo, scheduled or one-shot session.
    pub design_allowed: bool,
    /// Tasks that a checklist may hold.
    pub max_tasks: usize,
    /// The frozen `.md`, if there is one; the seed turn is compared with it.
    pub md: Option<&'a str>,
    /// Text of the file that `init` imports, or why it cannot be read; set only for an import.
    pub import: Option<Result<&'a str, &'a str>>,
    /// Canonical JSON of an object.
    pub canonical: &'a dyn Fn(&str) -> Result<String, String>,
    /// Whether a shell command can fail for a reason about the project.
    pub meaningful: &'a dyn Fn(&str) -> bool,
    /// Whether the worst-case render of the plan fits.
    pub fits: &'a dyn Fn(&Plan) -> Result<(), String>,
    /// The current render, for the model.
    pub render: &'a dyn Fn(&Plan) -> String,
}

impl Context<'_> {
    fn birth(&self) -> Birth {
        Birth {
            id: self.fresh_id.to_owned(),
            session: self.session.clone(),
            now: self.now,
            working_directory: self.working_directory.map(Path::to_path_buf),
        }
    }
}

/// What happens to the goal of the running task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum GoalChange {
    /// It stays.
    #[default]
    Keep,
    /// These criteria are the goal now.
    Set {
        /// Task.
        task_id: String,
        /// Its criteria, not empty.
        criteria: Vec<String>,
    },
    /// No goal.
    Clear,
}

/// What changed, with counts only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A plan began.
    Created {
        /// Version.
        version: u64,
        /// Tasks.
        total: usize,
    },
    /// A checklist changed.
    Updated {
        /// Version.
        version: u64,
        /// Whether by `revise` or `check_replace`.
        revised: bool,
        /// Whether a task became done or in progress by this call.
        progressed: bool,
        /// How many tasks became blocked by this call.
        became_blocked: usize,
    },
}

/// An accepted operation.
#[derive(Debug, Clone, PartialEq)]
pub struct Applied {
    /// The state after it; `None` if nothing changed.
    pub state: Option<PlanState>,
    /// Text for the `.md`, to be saved together with the state.
    pub md: Option<String>,
    /// What the model reads.
    pub reply: String,
    /// The goal.
    pub goal: GoalChange,
    /// At most one.
    pub event: Option<Event>,
    /// Whether the set of checks changed, so that outcomes of calls already on their way do not count.
    pub checks_changed: bool,
    /// Whether nothing is left to do; the host archives.
    pub archive: bool,
}

impl Applied {
    fn unchanged(reply: String) -> Self {
        Self {
            state: None,
            md: None,
            reply,
            goal: GoalChange::Keep,
            event: None,
            checks_changed: false,
            archive: false,
        }
    }
}

/// A refused operation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct Refusal {
    /// For counting.
    pub class: Class,
    /// The sentence for the model, without example.
    pub text: String,
}

impl Refusal {
    pub(super) fn new(class: Class, text: impl Into<String>) -> Self {
        Self {
            class,
            text: text.into(),
        }
    }
}

impl From<lifecycle::Refusal> for Refusal {
    fn from(refusal: lifecycle::Refusal) -> Self {
        let class = match &refusal {
            lifecycle::Refusal::Bound(_) => Class::Bound,
            lifecycle::Refusal::ChecklistWithoutTasks => Class::MissingField,
            lifecycle::Refusal::DesignWithTasks => Class::Shape,
            lifecycle::Refusal::NoPlan
            | lifecycle::Refusal::PreInit
            | lifecycle::Refusal::LivePlan
            | lifecycle::Refusal::Corrupt
            | lifecycle::Refusal::NoDesignHere
            | lifecycle::Refusal::Superseded
            | lifecycle::Refusal::Incomplete(_)
            | lifecycle::Refusal::Running
            | lifecycle::Refusal::PartialSeed => Class::State,
        };
        Self::new(class, refusal.english())
    }
}

/// Applies one operation.
///
/// # Errors
/// The state forbids it, a rule or bound is broken, or evidence is missing.
pub fn apply(
    state: &PlanState,
    operation: Operation,
    ctx: &Context<'_>,
) -> Result<Applied, Refusal> {
    match operation {
        Operation::Init(how) => init::init(state, how, ctx),
        Operation::Submit(draft) => init::submit(state, &draft, ctx),
        Operation::AddTasks { tasks } => add_tasks(active(state)?, tasks, ctx),
        Operation::Start { task_id } => progress::start(active(state)?, task_id.as_deref(), ctx),
        Operation::Complete {
            task_id,
            outcome,
            note,
        } => progress::complete(active(state)?, &task_id, outcome, note.as_deref(), ctx),
        Operation::Update { updates } => update::update(active(state)?, &updates, ctx),
        Operation::Revise { reason, operations } => {
            super::revise::revise(active(state)?, &reason, operations, ctx)
        }
        Operation::CheckReplace(replace) => checks::replace(active(state)?, replace, ctx),
        Operation::Get => Ok(get(state, ctx)),
    }
}

/// The checklist, or the fixed text for a state without one.
fn active(state: &PlanState) -> Result<&Plan, Refusal> {
    let text = match state {
        PlanState::Active(plan) => return Ok(plan),
        PlanState::NoPlan => lifecycle::Refusal::NoPlan.english(),
        PlanState::PreInit { .. } => lifecycle::Refusal::PreInit.english(),
        PlanState::Editing(_) => {
            "the plan is being written and waits for the user's approval; until then there is no checklist. \
             Write the .md and end your turn"
                .to_owned()
        }
        PlanState::Corrupt { .. } => lifecycle::Refusal::Corrupt.english(),
    };
    Err(Refusal::new(Class::State, text))
}

fn add_tasks(
    plan: &Plan,
    mut tasks: Vec<super::tool::NewTask>,
    ctx: &Context<'_>,
) -> Result<Applied, Refusal> {
    let seeding = plan.is_design() && !plan.ever_started();
    if seeding && !plan.tasks.is_empty() {
        return Err(Refusal::new(
            Class::State,
            "the checklist of the approved plan is complete; call start now",
        ));
    }
    if seeding {
        let md = ctx.md.ok_or_else(|| {
            Refusal::new(
                Class::State,
                "the approved .md cannot be read, so its steps cannot be compared",
            )
        })?;
        let steps = template::steps(md);
        seed::compare(&tasks, &steps).map_err(|text| Refusal::new(Class::Shape, text))?;
        seed::complete(&mut tasks, &steps);
    }
    let count = tasks.len();
    let mut next = plan.clone();
    next.tasks
        .extend(new_tasks(tasks, &plan.tasks, ctx.canonical)?);
    let reply = if seeding {
        format!("{count} tasks added, one for each step. Call start now.")
    } else {
        format!("{count} tasks added.")
    };
    finish(plan, next, ctx, None, |applied| {
        applied.reply = reply;
        applied.checks_changed = true;
    })
}

fn get(state: &PlanState, ctx: &Context<'_>) -> Applied {
    Applied::unchanged(match state {
        PlanState::NoPlan => "No active plan.".to_owned(),
        PlanState::PreInit { .. } => {
            "No active plan: plan mode is on, init has not been called yet.".to_owned()
        }
        PlanState::Editing(editing) => format!(
            "The plan \"{}\" is being written in {} and waits for the user's approval. {}",
            editing.plan.title,
            editing.md_path.display(),
            match template::missing(&editing.prose, ctx.max_tasks).as_slice() {
                [] => "It has everything that approval needs.".to_owned(),
                items => format!("It lacks: {}.", lifecycle::english_list(items)),
            }
        ),
        PlanState::Active(plan) if plan.tasks.is_empty() => {
            "The plan is approved, its checklist is empty: call add_tasks once, then start."
                .to_owned()
        }
        PlanState::Active(plan) => (ctx.render)(plan),
        PlanState::Corrupt { .. } => lifecycle::Refusal::Corrupt.english(),
    })
}

/// Ends every change of a checklist: no effect means no version, else the rules of the whole plan, one
/// more version, and the event. `revision` is recorded only if something changed.
pub(super) fn finish(
    before: &Plan,
    mut next: Plan,
    ctx: &Context<'_>,
    revision: Option<Revision>,
    say: impl FnOnce(&mut Applied),
) -> Result<Applied, Refusal> {
    if next.tasks == before.tasks {
        let mut applied = Applied::unchanged((ctx.render)(before));
        applied.archive = lifecycle::archive_due(before);
        return Ok(applied);
    }
    bounds::tasks(&next.tasks, ctx.max_tasks.max(before.tasks.len()))
        .map_err(|text| Refusal::new(Class::Bound, text))?;
    let revised = revision.is_some();
    if let Some(revision) = revision {
        next.set_last_revision(&revision);
    }
    next.version = before.version + 1;
    next.updated_at = ctx.now;
    (ctx.fits)(&next).map_err(|text| Refusal::new(Class::Bound, text))?;
    let (progressed, became_blocked) = transitions(before, &next);
    let mut applied = Applied::unchanged(String::new());
    applied.event = Some(Event::Updated {
        version: next.version,
        revised,
        progressed,
        became_blocked,
    });
    applied.archive = lifecycle::archive_due(&next);
    say(&mut applied);
    applied.state = Some(PlanState::Active(Box::new(next)));
    Ok(applied)
}

/// Whether a task became done or in progress, and how many became blocked.
fn transitions(before: &Plan, next: &Plan) -> (bool, usize) {
    use super::model::TaskStatus as Status;
    let mut progressed = false;
    let mut blocked = 0;
    for task in &next.tasks {
        let old = before
            .task(&task.id)
            .map_or(&Status::Pending, |task| &task.status);
        match &task.status {
            Status::Completed | Status::Skipped | Status::InProgress if *old != task.status => {
                progressed = true
            }
            Status::Blocked { .. } if !matches!(old, Status::Blocked { .. }) => blocked += 1,
            Status::Completed
            | Status::Skipped
            | Status::InProgress
            | Status::Blocked { .. }
            | Status::Pending
            | Status::Failed => {}
        }
    }
    (progressed, blocked)
}
