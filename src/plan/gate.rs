//! The gate: one pure function, asked at every tool call of every agent, and the only maker of permits.
//!
//! Two questions are kept apart. [`decide`] says what planning lets a call do; its refusals stand
//! whatever the approval level and whatever was granted. Where it leaves the call to policy,
//! [`approval`] says whether the owner is asked.

mod approval;
mod refusal;

use crate::domain::{ActionClass, CallId, Effects, SandboxProfile};

pub use approval::{Decision, Grants, approval, design_refusal};
pub use refusal::{Refusal, refusal};

/// Leave to run one call, made only by the gate.
#[derive(Debug, PartialEq, Eq)]
pub struct Permit {
    call: CallId,
    profile: SandboxProfile,
}

impl Permit {
    /// The call it is for.
    #[must_use]
    pub fn call(&self) -> &CallId {
        &self.call
    }

    /// What the kernel lets the call touch.
    #[must_use]
    pub fn profile(&self) -> SandboxProfile {
        self.profile
    }
}

/// Where planning stands, as far as the gate cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// No live plan.
    NoPlan,
    /// Plan mode was asked for; `slash` if by the owner's own `/plan`.
    PreInit {
        /// Whether `/plan` asked for it.
        slash: bool,
    },
    /// Prose is written.
    Editing,
    /// Approved or initialised, no task ever started.
    Seeding,
    /// The checklist runs.
    Active,
    /// The sidecar cannot be read.
    Corrupt,
}

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    /// The call.
    pub call: &'a CallId,
    /// Tool name.
    pub tool: &'a str,
    /// Declared effects.
    pub effects: Effects,
    /// Class of this call.
    pub class: ActionClass,
    /// For `plan`: the operation.
    pub operation: Option<PlanOperation>,
    /// Whether it writes exactly the session `.md`, by canonical path.
    pub writes_plan_md: bool,
    /// Whether a kernel sandbox is at hand.
    pub sandbox: bool,
    /// Whether the owner allows bash before `init` without a sandbox.
    pub unsandboxed_preinit: bool,
    /// For `spawn_agent`: whether the role only reads.
    pub read_only_role: bool,
}

/// Plan operations as the gate tells them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanOperation {
    /// `init`, design track.
    InitDesign,
    /// `init`, checklist track, or import.
    InitChecklist,
    /// `submit`.
    Submit,
    /// `add_tasks`.
    AddTasks,
    /// `start`.
    Start,
    /// `complete`.
    Complete,
    /// `update`.
    Update,
    /// `revise`.
    Revise,
    /// `check_replace`.
    CheckReplace,
    /// `get`.
    Get,
}

/// What the table says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Run it under this profile; no approval needed.
    Allow(SandboxProfile),
    /// The approval policy decides.
    Policy,
    /// Ask the owner first, whatever the level says.
    Ask,
    /// Refuse with this fixed text for the model.
    Deny(&'static str),
}

/// Mints a permit for a call that the table allows, or that policy or the owner granted.
/// `None` if the verdict is a denial, or needs a grant that was not given.
#[must_use]
pub fn permit(
    ask: &Ask<'_>,
    verdict: &Verdict,
    granted: bool,
    usual: SandboxProfile,
) -> Option<Permit> {
    let profile = match verdict {
        Verdict::Allow(profile) => *profile,
        Verdict::Policy | Verdict::Ask if granted => usual,
        Verdict::Policy | Verdict::Ask | Verdict::Deny(_) => return None,
    };
    Some(Permit {
        call: ask.call.clone(),
        profile,
    })
}

impl Phase {
    /// Whether planning is under way: saved grants and the yolo level are suspended.
    #[must_use]
    pub fn is_planning(self) -> bool {
        match self {
            Self::PreInit { .. } | Self::Editing | Self::Seeding | Self::Corrupt => true,
            Self::NoPlan | Self::Active => false,
        }
    }
}

/// What planning says about a call. The phase is read anew for every call, also of a sub-agent that was
/// spawned earlier.
#[must_use]
pub fn decide(phase: &Phase, ask: &Ask<'_>) -> Verdict {
    match trusted_effects(ask) {
        Effects::Ask => Verdict::Allow(SandboxProfile::ReadOnly),
        Effects::Plan => plan_operation(*phase, ask.operation),
        Effects::Read => read(*phase),
        // It changes nothing here, but it can carry words out: never laxer than without a plan.
        Effects::NetworkRead => Verdict::Policy,
        Effects::Write if ask.writes_plan_md => plan_md(*phase),
        Effects::Write => elsewhere(*phase, Refusal::Write),
        Effects::Exec => exec(*phase, ask),
        Effects::Spawn => spawn(*phase, ask.read_only_role),
        Effects::Channel => elsewhere(*phase, Refusal::Channel),
        Effects::Unknown => elsewhere(*phase, Refusal::Unknown),
    }
}

/// Declared effects, or `Unknown` where the class of this very call says more than they do.
fn trusted_effects(ask: &Ask<'_>) -> Effects {
    let reads = matches!(
        ask.effects,
        Effects::Read | Effects::NetworkRead | Effects::Ask
    );
    let class_acts = match ask.class {
        ActionClass::WorkspaceWrite
        | ActionClass::Exec
        | ActionClass::Destructive
        | ActionClass::Spawn => true,
        // A question goes to a chat by nature.
        ActionClass::Channel => ask.effects != Effects::Ask,
        ActionClass::Read | ActionClass::Network | ActionClass::Plan => false,
    };
    if reads && class_acts {
        Effects::Unknown
    } else {
        ask.effects
    }
}

fn deny(phase: Phase, refused: Refusal) -> Verdict {
    Verdict::Deny(refusal(phase, refused))
}

fn read(phase: Phase) -> Verdict {
    match phase {
        Phase::PreInit { .. } | Phase::Editing | Phase::Seeding => {
            Verdict::Allow(SandboxProfile::ReadOnly)
        }
        Phase::NoPlan | Phase::Active | Phase::Corrupt => Verdict::Policy,
    }
}

fn plan_md(phase: Phase) -> Verdict {
    match phase {
        Phase::Editing => Verdict::Allow(SandboxProfile::Workspace),
        Phase::NoPlan | Phase::PreInit { .. } | Phase::Seeding | Phase::Active | Phase::Corrupt => {
            deny(phase, Refusal::PlanFile)
        }
    }
}

fn elsewhere(phase: Phase, refused: Refusal) -> Verdict {
    match phase {
        Phase::NoPlan | Phase::Active => Verdict::Policy,
        Phase::PreInit { .. } | Phase::Editing | Phase::Seeding | Phase::Corrupt => {
            deny(phase, refused)
        }
    }
}

fn exec(phase: Phase, ask: &Ask<'_>) -> Verdict {
    match phase {
        Phase::PreInit { .. } if ask.sandbox => Verdict::Allow(SandboxProfile::ReadOnly),
        // The owner chose this risk for looking around, not for destroying.
        Phase::PreInit { .. } if ask.unsandboxed_preinit => match ask.class {
            ActionClass::Destructive => deny(phase, Refusal::Destructive),
            ActionClass::Read
            | ActionClass::WorkspaceWrite
            | ActionClass::Exec
            | ActionClass::Network
            | ActionClass::Spawn
            | ActionClass::Channel
            | ActionClass::Plan => Verdict::Allow(SandboxProfile::Off),
        },
        Phase::PreInit { .. } => deny(phase, Refusal::NoSandbox),
        Phase::NoPlan | Phase::Editing | Phase::Seeding | Phase::Active | Phase::Corrupt => {
            elsewhere(phase, Refusal::Exec)
        }
    }
}

fn spawn(phase: Phase, read_only_role: bool) -> Verdict {
    match phase {
        Phase::PreInit { .. } if read_only_role => Verdict::Allow(SandboxProfile::ReadOnly),
        Phase::NoPlan
        | Phase::PreInit { .. }
        | Phase::Editing
        | Phase::Seeding
        | Phase::Active
        | Phase::Corrupt => elsewhere(phase, Refusal::Spawn),
    }
}

fn plan_operation(phase: Phase, operation: Option<PlanOperation>) -> Verdict {
    let allow = Verdict::Allow(SandboxProfile::ReadOnly);
    let Some(operation) = operation else {
        return deny(phase, Refusal::UnreadPlanCall);
    };
    match (phase, operation) {
        (Phase::Corrupt, _) => deny(phase, Refusal::Operation(operation)),
        (_, PlanOperation::Get)
        | (Phase::PreInit { slash: true }, PlanOperation::InitDesign)
        | (Phase::PreInit { .. } | Phase::Editing, PlanOperation::Submit)
        | (Phase::Seeding | Phase::Active, PlanOperation::AddTasks | PlanOperation::Start)
        | (
            Phase::Active,
            PlanOperation::Complete
            | PlanOperation::Update
            | PlanOperation::Revise
            | PlanOperation::CheckReplace,
        ) => allow,
        (
            Phase::NoPlan | Phase::PreInit { .. },
            PlanOperation::InitDesign | PlanOperation::InitChecklist,
        ) => Verdict::Ask,
        (
            Phase::NoPlan | Phase::PreInit { .. } | Phase::Editing | Phase::Seeding | Phase::Active,
            PlanOperation::InitDesign
            | PlanOperation::InitChecklist
            | PlanOperation::Submit
            | PlanOperation::AddTasks
            | PlanOperation::Start
            | PlanOperation::Complete
            | PlanOperation::Update
            | PlanOperation::Revise
            | PlanOperation::CheckReplace,
        ) => deny(phase, Refusal::Operation(operation)),
    }
}

#[cfg(test)]
mod tests;
