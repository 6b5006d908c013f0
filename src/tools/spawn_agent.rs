//! `spawn_agent`: a sub-agent for one task. Read here, run by the session.

use schemars::JsonSchema;
use serde::Deserialize;

use super::args;
use super::call::{Inspection, Place, Unfit};
use crate::domain::{ActionClass, AgentRole, Effects, ToolDescriptor};

const EXAMPLE: &str = r#"{"role":"explorer","task":"Find where dates are parsed and list the files with line numbers."}"#;
const MAX_TASK: usize = 8000;

pub(super) static DESCRIPTOR: ToolDescriptor = ToolDescriptor {
    name: "spawn_agent",
    description: "Gives one self-contained task to a sub-agent and waits for its report. explorer looks \
        around and architect designs, both only reading; worker may change files and run commands, each \
        call under the same rules as yours. It knows nothing of this conversation or of the plan, so the \
        task must say everything it needs.",
    schema: args::schema::<Args>,
    effects: Effects::Spawn,
    label: "tool-spawn-agent",
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// explorer, architect (also: plan, design) or worker.
    role: String,
    /// The whole task in 1 to 8000 characters.
    task: String,
}

/// A task for a sub-agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Errand {
    /// What kind of sub-agent.
    pub role: AgentRole,
    /// The task, 1–8000 characters.
    pub task: String,
}

pub(super) fn errand(raw: &str) -> Result<Errand, Unfit> {
    let parsed: Args = args::parse("spawn_agent", raw, EXAMPLE)?;
    let role = AgentRole::named(&parsed.role).ok_or_else(|| {
        Unfit::Malformed(format!(
            "`role` must be explorer, architect or worker. A valid example: {EXAMPLE}"
        ))
    })?;
    let task = parsed.task.trim().to_owned();
    if task.is_empty() || task.chars().count() > MAX_TASK {
        return Err(Unfit::Malformed(format!(
            "`task` must have 1 to {MAX_TASK} characters. A valid example: {EXAMPLE}"
        )));
    }
    Ok(Errand { role, task })
}

pub(super) fn inspect(raw: &str, place: &Place) -> Result<Inspection, Unfit> {
    let errand = errand(raw)?;
    let argument = format!("{}: {}", errand.role.name(), errand.task);
    Ok(Inspection::plain(
        &DESCRIPTOR,
        ActionClass::Spawn,
        argument,
        Vec::new(),
        place,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_has_aliases_and_a_task_has_bounds() {
        for (name, role) in [
            ("explorer", AgentRole::Explorer),
            ("Architect", AgentRole::Architect),
            ("plan", AgentRole::Architect),
            ("design", AgentRole::Architect),
            ("worker", AgentRole::Worker),
        ] {
            let raw = format!(r#"{{"role":"{name}","task":" look "}}"#);
            let task = "look".to_owned();
            assert_eq!(errand(&raw), Ok(Errand { role, task }));
        }
        assert!(errand(EXAMPLE).is_ok());
        for bad in [
            r#"{"role":"boss","task":"x"}"#,
            r#"{"role":"worker","task":" "}"#,
            r#"{"role":"worker"}"#,
        ] {
            assert!(matches!(errand(bad), Err(Unfit::Malformed(text)) if text.contains(EXAMPLE)));
        }
    }
}
