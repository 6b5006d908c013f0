//! Transitions between the states of planning, and who may cause them. No model tool reaches
//! [`approve`] or [`discard`]: only the owner's commands and buttons do.

use std::path::PathBuf;

use chrono::{DateTime, Utc};

use super::gate::Phase;
use super::model::{Evidence, Plan, PlanState, PlanStatus, PreInitOrigin, Task, Verification};
use super::ops::bounds;
use super::template::{self, Missing};
use super::view::PlanFace;
use crate::domain::{SessionId, UserId};

/// Why a transition is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// There is no live plan.
    NoPlan,
    /// Plan mode was asked for, `init` has not succeeded.
    PreInit,
    /// A plan is live: discard first.
    LivePlan,
    /// The plan file cannot be read: discard first.
    Corrupt,
    /// The session never plans by prose (yolo level, scheduled or one-shot).
    NoDesignHere,
    /// `mode=design` came with tasks.
    DesignWithTasks,
    /// `mode=checklist` came without tasks.
    ChecklistWithoutTasks,
    /// What was shown is not what is stored now.
    Superseded,
    /// The plan lacks something.
    Incomplete(Vec<Missing>),
    /// The checklist has tasks; there is nothing to approve.
    Running,
    /// Tasks without a start after the seed turn: only discard helps.
    PartialSeed,
    /// A field breaks a bound; text for the model.
    Bound(String),
}

impl Refusal {
    /// Locale key of the sentence for people. `Incomplete` takes `items`.
    #[must_use]
    pub fn key(&self) -> &'static str {
        match self {
            Self::NoPlan => "plan-refused-no-plan",
            Self::PreInit => "plan-refused-preinit",
            Self::LivePlan => "plan-refused-live",
            Self::Corrupt => "plan-refused-corrupt",
            Self::NoDesignHere => "plan-refused-no-design",
            Self::DesignWithTasks | Self::ChecklistWithoutTasks | Self::Bound(_) => {
                "plan-refused-bad-init"
            }
            Self::Superseded => "plan-refused-superseded",
            Self::Incomplete(_) => "plan-refused-incomplete",
            Self::Running => "plan-refused-running",
            Self::PartialSeed => "plan-refused-partial-seed",
        }
    }

    /// The sentence for the model; fixed but for the missing items.
    #[must_use]
    pub fn english(&self) -> String {
        match self {
            Self::NoPlan => "no active plan; create one with init".to_owned(),
            Self::PreInit => "plan mode is on but no plan exists yet; call init with mode design (prose for review) or mode checklist (tasks at once)".to_owned(),
            Self::LivePlan => "a plan is live; discard first: only the user can do that, with /discard. Nothing was changed".to_owned(),
            Self::Corrupt => "the plan file cannot be read; the user must /discard it first. Nothing was changed".to_owned(),
            Self::NoDesignHere => "this session cannot plan by prose because nobody approves here; use mode checklist with tasks, or import".to_owned(),
            Self::DesignWithTasks => "mode design takes no tasks: write them as numbered steps into the .md after init, or use mode checklist".to_owned(),
            Self::ChecklistWithoutTasks => "mode checklist needs at least one task; without tasks use mode design".to_owned(),
            Self::Superseded => "the plan changed after it was shown; the new revision must be shown first".to_owned(),
            Self::Incomplete(items) => format!("the plan lacks: {}", english_list(items)),
            Self::Running => "the checklist is running; continue it".to_owned(),
            Self::PartialSeed => "the checklist was left without a start; the user must /discard it".to_owned(),
            Self::Bound(problem) => problem.clone(),
        }
    }
}

/// Missing items as one line for the model.
#[must_use]
pub fn english_list(items: &[Missing]) -> String {
    items
        .iter()
        .map(|item| item.english())
        .collect::<Vec<_>>()
        .join("; ")
}

/// What a new plan record is made of.
#[derive(Debug, Clone)]
pub struct Birth {
    /// A fresh UUID.
    pub id: String,
    /// Session.
    pub session: SessionId,
    /// Now.
    pub now: DateTime<Utc>,
    /// Workspace.
    pub working_directory: Option<PathBuf>,
}

impl Birth {
    fn plan(self, title: String, status: PlanStatus) -> Plan {
        Plan {
            id: self.id,
            session_id: self.session,
            title,
            description: String::new(),
            tasks: Vec::new(),
            status,
            created_at: self.now,
            updated_at: self.now,
            approved_at: None,
            approved_by: None,
            approved_revision: None,
            version: 0,
            pre_init_editing: false,
            pre_init_origin: None,
            working_directory: self.working_directory,
            verification: Vec::new(),
            revision: String::new(),
            flow: None,
            other: std::collections::BTreeMap::new(),
        }
    }
}

/// Turns plan mode on. `None` if it already is and nothing changes: a nudge never lowers `/plan`.
/// `design_allowed` is false in a yolo, scheduled or one-shot session.
///
/// # Errors
/// A plan is live, the file is corrupt, or the session never plans by prose.
pub fn pre_init(
    state: &PlanState,
    origin: PreInitOrigin,
    birth: Birth,
    design_allowed: bool,
) -> Result<Option<Plan>, Refusal> {
    if !design_allowed {
        return Err(Refusal::NoDesignHere);
    }
    match state {
        PlanState::Editing(_) | PlanState::Active(_) => Err(Refusal::LivePlan),
        PlanState::Corrupt { .. } => Err(Refusal::Corrupt),
        PlanState::PreInit { origin: known }
            if *known == PreInitOrigin::Slash || *known == origin =>
        {
            Ok(None)
        }
        PlanState::NoPlan | PlanState::PreInit { .. } => {
            let mut plan = birth.plan(String::new(), PlanStatus::Editing);
            plan.pre_init_editing = true;
            plan.pre_init_origin = Some(origin);
            Ok(Some(plan))
        }
    }
}

fn free(state: &PlanState) -> Result<(), Refusal> {
    match state {
        PlanState::NoPlan | PlanState::PreInit { .. } => Ok(()),
        PlanState::Editing(_) | PlanState::Active(_) => Err(Refusal::LivePlan),
        PlanState::Corrupt { .. } => Err(Refusal::Corrupt),
    }
}

/// `init mode=design`: the record of an Editing plan whose `.md` is `md`.
///
/// # Errors
/// A plan is live, the file is corrupt, prose is not allowed here, or the title breaks a bound.
pub fn init_design(
    state: &PlanState,
    title: &str,
    md: &str,
    birth: Birth,
    design_allowed: bool,
) -> Result<Plan, Refusal> {
    free(state)?;
    if !design_allowed {
        return Err(Refusal::NoDesignHere);
    }
    let title = bounds::title(title).map_err(Refusal::Bound)?;
    let mut plan = birth.plan(title, PlanStatus::Editing);
    md.clone_into(&mut plan.description);
    plan.revision = template::revision(md);
    Ok(plan)
}

/// `init mode=checklist` or import: Active at once.
///
/// # Errors
/// A plan is live, the file is corrupt, there are no tasks, or a bound is broken.
pub fn init_checklist(
    state: &PlanState,
    title: &str,
    tasks: Vec<Task>,
    birth: Birth,
    max_tasks: usize,
) -> Result<Plan, Refusal> {
    free(state)?;
    if tasks.is_empty() {
        return Err(Refusal::ChecklistWithoutTasks);
    }
    let title = bounds::title(title).map_err(Refusal::Bound)?;
    bounds::tasks(&tasks, max_tasks).map_err(Refusal::Bound)?;
    let mut plan = birth.plan(title, PlanStatus::Active);
    plan.tasks = tasks;
    plan.version = 1;
    Ok(plan)
}

/// What a tap on Approve, or `/execute`, says.
#[derive(Debug, Clone)]
pub struct Approval<'a> {
    /// Plan that was shown.
    pub plan_id: &'a str,
    /// Revision that was shown in full.
    pub revision: &'a str,
    /// Owner.
    pub by: UserId,
    /// Now.
    pub at: DateTime<Utc>,
    /// What the owner wrote with it; it travels with the seed prompt.
    pub note: Option<&'a str>,
    /// Tasks that a checklist may hold.
    pub max_tasks: usize,
}

/// Compare-and-set on plan id, revision shown and state Editing. `md` is the file as read now. The
/// caller has checked that `by` is the owner and that the session is idle, and saves the result before
/// anything else happens.
///
/// # Errors
/// Nothing to approve, another revision than the shown one, or a plan that lacks something.
pub fn approve(state: &PlanState, md: &str, approval: &Approval<'_>) -> Result<Plan, Refusal> {
    let editing = match state {
        PlanState::Editing(editing) => editing,
        PlanState::NoPlan => return Err(Refusal::NoPlan),
        PlanState::PreInit { .. } => return Err(Refusal::PreInit),
        // The second of two taps on the same card lands here.
        PlanState::Active(plan) if plan.id != approval.plan_id => return Err(Refusal::Superseded),
        PlanState::Active(_) => return Err(Refusal::Running),
        PlanState::Corrupt { .. } => return Err(Refusal::Corrupt),
    };
    let revision = template::revision(md);
    if editing.plan.id != approval.plan_id || approval.revision != revision {
        return Err(Refusal::Superseded);
    }
    let missing = template::missing(md, approval.max_tasks);
    if !missing.is_empty() {
        return Err(Refusal::Incomplete(missing));
    }
    let mut plan = (*editing.plan).clone();
    md.clone_into(&mut plan.description);
    if let Some(title) = template::title(md) {
        plan.title = bounds::cut(&bounds::one_line(&title), bounds::TITLE);
    }
    plan.status = PlanStatus::Active;
    plan.tasks = Vec::new();
    plan.approved_at = Some(approval.at);
    plan.approved_by = Some(approval.by);
    plan.approved_revision = Some(revision.clone());
    plan.revision = revision;
    plan.updated_at = approval.at;
    plan.version += 1;
    plan.set_approval_note(
        approval
            .note
            .map(|note| bounds::cut(note, bounds::DESCRIPTION))
            .as_deref(),
    );
    plan.verification = template::verification(md)
        .into_iter()
        .map(|command| Verification {
            command,
            evidence: Evidence::Pending,
        })
        .collect();
    Ok(plan)
}

/// What `/execute` or the Approve button means now, before any revision is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Execute {
    /// Approve the prose.
    Approve,
    /// Send the seed prompt again; no second approval.
    RetrySeed,
}

/// What `/execute` would do in this state of an idle session.
///
/// # Errors
/// Nothing can be executed.
pub fn execute(state: &PlanState) -> Result<Execute, Refusal> {
    match state {
        PlanState::NoPlan => Err(Refusal::NoPlan),
        PlanState::PreInit { .. } => Err(Refusal::PreInit),
        PlanState::Editing(_) => Ok(Execute::Approve),
        PlanState::Active(plan) if plan.tasks.is_empty() => Ok(Execute::RetrySeed),
        PlanState::Active(plan) if plan.is_design() && !plan.ever_started() => {
            Err(Refusal::PartialSeed)
        }
        PlanState::Active(_) => Err(Refusal::Running),
        PlanState::Corrupt { .. } => Err(Refusal::Corrupt),
    }
}

/// Takes an approval back because the `.md` is no longer the approved text.
#[must_use]
pub fn reopen(plan: &Plan, md: &str, now: DateTime<Utc>) -> Plan {
    let mut plan = plan.clone();
    plan.status = PlanStatus::Editing;
    plan.tasks = Vec::new();
    plan.verification = Vec::new();
    plan.approved_at = None;
    plan.approved_by = None;
    plan.approved_revision = None;
    plan.set_approval_note(None);
    md.clone_into(&mut plan.description);
    plan.revision = template::revision(md);
    plan.updated_at = now;
    plan
}

/// What discarding does with the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Discard {
    /// Delete them.
    Delete,
    /// Keep the unreadable file under another name.
    SetAside,
}

/// What `/discard` does in this state.
///
/// # Errors
/// There is nothing to discard.
pub fn discard(state: &PlanState) -> Result<Discard, Refusal> {
    match state {
        PlanState::NoPlan => Err(Refusal::NoPlan),
        PlanState::PreInit { .. } | PlanState::Editing(_) | PlanState::Active(_) => {
            Ok(Discard::Delete)
        }
        PlanState::Corrupt { .. } => Ok(Discard::SetAside),
    }
}

/// Whether nothing is left: every task resolved, every check and every verification command holds.
#[must_use]
pub fn archive_due(plan: &Plan) -> bool {
    plan.status == PlanStatus::Active
        && !plan.tasks.is_empty()
        && plan.tasks.iter().all(Task::is_resolved)
        && plan.verification_holds()
}

/// Where the gate sees planning.
#[must_use]
pub fn phase(state: &PlanState) -> Phase {
    match state {
        PlanState::NoPlan => Phase::NoPlan,
        PlanState::PreInit { origin } => Phase::PreInit {
            slash: *origin == PreInitOrigin::Slash,
        },
        PlanState::Editing(_) => Phase::Editing,
        PlanState::Active(plan) if plan.ever_started() => Phase::Active,
        PlanState::Active(_) => Phase::Seeding,
        PlanState::Corrupt { .. } => Phase::Corrupt,
    }
}

/// The state word that people see; `None` without a plan. `running` is whether a turn runs now.
#[must_use]
pub fn face(state: &PlanState, running: bool, max_tasks: usize) -> Option<PlanFace> {
    Some(match state {
        PlanState::NoPlan => return None,
        PlanState::PreInit { .. } => PlanFace::Discussing,
        PlanState::Editing(_) if running => PlanFace::Editing,
        PlanState::Editing(editing) if template::missing(&editing.prose, max_tasks).is_empty() => {
            PlanFace::Ready
        }
        PlanState::Editing(_) => PlanFace::NotReady,
        PlanState::Active(plan) if plan.tasks.is_empty() && running => PlanFace::Seeding,
        PlanState::Active(plan) if plan.tasks.is_empty() => PlanFace::SeedFailed,
        PlanState::Active(plan) if plan.is_design() && !plan.ever_started() && !running => {
            PlanFace::PartialSeed
        }
        PlanState::Active(_) => PlanFace::Running,
        PlanState::Corrupt { .. } => PlanFace::Corrupt,
    })
}

#[cfg(test)]
mod tests;
