//! The gate: one pure function, asked at every tool call of every agent, and the only maker of permits.

use crate::domain::{ActionClass, CallId, Effects, SandboxProfile};

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
