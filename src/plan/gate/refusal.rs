//! The fixed texts of refusals. Each says what is allowed now, in English for the model.

use super::{Phase, PlanOperation};

/// What was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// A file write outside the session `.md`.
    Write,
    /// A write to the session `.md`.
    PlanFile,
    /// A command.
    Exec,
    /// A command before `init` on a kernel without a sandbox.
    NoSandbox,
    /// A destructive command before `init` without a sandbox.
    Destructive,
    /// A sub-agent.
    Spawn,
    /// A message or file to a chat.
    Channel,
    /// A tool whose effects are not declared.
    Unknown,
    /// A plan operation that does not fit the phase.
    Operation(PlanOperation),
    /// A plan call whose operation cannot be told.
    UnreadPlanCall,
}

const CORRUPT: &str = "Refused, nothing was done: the plan file of this session cannot be read, so \
    plan operations and changes are closed. Reading and asking the user are allowed. Tell the user \
    that /discard moves the file aside and frees the session.";

/// The text for a refusal in a phase. The same refusal always reads the same.
#[must_use]
pub fn refusal(phase: Phase, refused: Refusal) -> &'static str {
    if phase == Phase::Corrupt {
        return CORRUPT;
    }
    match refused {
        Refusal::PlanFile => plan_file(phase),
        Refusal::NoSandbox => {
            "Refused, nothing was run: commands before plan init need a read-only sandbox, and this \
             kernel lacks Landlock. Allowed now: the read and search tools, ask_user, plan init, plan \
             submit."
        }
        Refusal::Destructive => {
            "Refused, nothing was run: a command that may destroy something does not run before a \
             plan is approved. Allowed now: reading commands, the read and search tools, ask_user, \
             plan init, plan submit."
        }
        Refusal::Operation(operation) => operation_refused(phase, operation),
        Refusal::UnreadPlanCall => {
            "Refused: this plan call names no known operation. Operations: init, submit, add_tasks, \
             start, complete, update, revise, check_replace, get."
        }
        Refusal::Write | Refusal::Exec | Refusal::Spawn | Refusal::Channel | Refusal::Unknown => {
            action(phase, refused)
        }
    }
}

fn plan_file(phase: Phase) -> &'static str {
    match phase {
        Phase::NoPlan => "Refused: there is no session plan to write. plan init creates it.",
        Phase::PreInit { .. } => {
            "Refused: the session plan file does not exist yet. Call plan init with mode \"design\", \
             or plan submit with a whole draft."
        }
        Phase::Seeding | Phase::Active => {
            "Refused: the session plan file is frozen since its approval. To change what is being \
             done use plan revise; for another design the owner must discard this plan first."
        }
        Phase::Editing | Phase::Corrupt => CORRUPT,
    }
}

fn action(phase: Phase, refused: Refusal) -> &'static str {
    match phase {
        Phase::PreInit { .. } => match refused {
            Refusal::Spawn => {
                "Refused, nothing was started: before plan init only sub-agents with a reading role \
                 (explorer, architect) are allowed. Allowed now: the read and search tools, ask_user, \
                 plan init, plan submit."
            }
            Refusal::Write
            | Refusal::PlanFile
            | Refusal::Exec
            | Refusal::NoSandbox
            | Refusal::Destructive
            | Refusal::Channel
            | Refusal::Unknown
            | Refusal::Operation(_)
            | Refusal::UnreadPlanCall => {
                "Refused, nothing was done: plan mode is on and no plan is approved, so nothing may \
                 be changed or sent. Allowed now: the read and search tools, ask_user, commands in a \
                 read-only sandbox, plan init, plan submit. A message in the chat does not lift this; \
                 only the owner's Approve does."
            }
        },
        Phase::Editing => {
            "Refused, nothing was done: the session plan waits for approval, so only its .md file may \
             be written. Allowed now: the read and search tools, ask_user, writing the session .md, \
             plan submit, plan get. When the plan is complete, end the turn and wait: a message in \
             the chat does not lift this, only the owner's Approve does."
        }
        Phase::Seeding => {
            "Refused, nothing was done: the plan is approved but no task has started. Allowed now: \
             the read and search tools, ask_user, plan add_tasks, plan start. Call plan start first."
        }
        Phase::NoPlan | Phase::Active | Phase::Corrupt => CORRUPT,
    }
}

fn operation_refused(phase: Phase, operation: PlanOperation) -> &'static str {
    let init = matches!(
        operation,
        PlanOperation::InitDesign | PlanOperation::InitChecklist
    );
    match phase {
        Phase::NoPlan if operation == PlanOperation::Submit => {
            "Refused: there is no plan mode to submit to. Call plan init with mode \"design\" first."
        }
        Phase::NoPlan => {
            "Refused: there is no active plan. Allowed now: plan init (mode \"design\", or mode \
             \"checklist\" with tasks), plan get."
        }
        Phase::PreInit { .. } => {
            "Refused: no plan exists yet. Allowed now: plan init, plan submit, plan get."
        }
        Phase::Editing if init => {
            "Refused: a plan is being written. The owner must discard it first (/discard). Allowed \
             now: plan submit, plan get, writing the session .md."
        }
        Phase::Editing => {
            "Refused: the checklist begins after the owner's Approve. Allowed now: plan submit, plan \
             get, writing the session .md. Then end the turn and wait."
        }
        Phase::Seeding | Phase::Active if init => LIVE,
        Phase::Seeding => {
            "Refused: no task has started. Allowed now: plan add_tasks, plan start, plan get."
        }
        Phase::Active => {
            "Refused: the plan is approved and frozen. To change the checklist use plan revise; for \
             another design the owner must discard this plan first (/discard)."
        }
        Phase::Corrupt => CORRUPT,
    }
}

const LIVE: &str = "Refused: a plan is live. The owner must discard it first (/discard). Allowed \
    now: plan add_tasks, plan start, plan get, and once a task has started also complete, update, \
    revise and check_replace.";
