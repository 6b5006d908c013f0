//! Tool calls, their outcomes and what they may do.

use serde::{Deserialize, Serialize};

use super::CallId;

/// One call as the model wrote it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Call id.
    pub id: CallId,
    /// Tool name.
    pub name: String,
    /// Arguments as raw JSON text, perhaps malformed; number literals are kept as written.
    pub arguments: String,
}

/// What a tool can do at most. Unknown counts as mutating.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effects {
    /// Reads local files.
    Read,
    /// Writes files.
    Write,
    /// Runs commands.
    Exec,
    /// Asks the user.
    Ask,
    /// Reads from the network.
    NetworkRead,
    /// Starts a sub-agent.
    Spawn,
    /// Sends to a chat.
    Channel,
    /// Changes or reads the plan.
    Plan,
    /// Not declared; treated as mutating.
    Unknown,
}

/// The class of one call, on which approval is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionClass {
    /// Reads only.
    Read,
    /// Writes a file in the workspace.
    WorkspaceWrite,
    /// Runs a command.
    Exec,
    /// Runs a command that destroys or cannot be read with certainty.
    Destructive,
    /// Uses the network.
    Network,
    /// Starts a sub-agent.
    Spawn,
    /// Sends to a chat.
    Channel,
    /// A plan operation.
    Plan,
}

/// How much a session asks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalLevel {
    /// Writes, commands and network ask.
    #[default]
    Ask,
    /// Only destructive commands ask.
    Auto,
    /// Nothing asks; the design track is refused.
    Yolo,
}

/// What a sub-agent is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentRole {
    /// Looks around and reports.
    Explorer,
    /// Designs and reports.
    Architect,
    /// Does a piece of the work.
    Worker,
}

impl AgentRole {
    /// The role of that name or alias.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name.trim().to_ascii_lowercase().as_str() {
            "explorer" => Some(Self::Explorer),
            "architect" | "plan" | "design" => Some(Self::Architect),
            "worker" => Some(Self::Worker),
            _ => None,
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Explorer => "explorer",
            Self::Architect => "architect",
            Self::Worker => "worker",
        }
    }

    /// Whether it has reading tools only.
    #[must_use]
    pub fn reads_only(self) -> bool {
        match self {
            Self::Explorer | Self::Architect => true,
            Self::Worker => false,
        }
    }
}

/// The two ways to plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanTrack {
    /// Prose that the owner approves before anything is built.
    Design,
    /// A checklist at once.
    Checklist,
}

/// What the kernel lets a command touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxProfile {
    /// Workspace and system readable; only a private temporary directory writable.
    ReadOnly,
    /// Workspace and temporary directory writable.
    Workspace,
    /// No sandbox.
    Off,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    /// Succeeded by the host's own judgement.
    Ok,
    /// Ran and failed.
    Failed,
    /// Not run: refused by the gate or by the user.
    Refused,
    /// The process died while it ran; its effect is unknown.
    Interrupted,
    /// Cancelled before or while it ran.
    Cancelled,
}

/// The host's record of one call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolOutcome {
    /// Which call.
    pub call: CallId,
    /// How it ended.
    pub status: CallStatus,
    /// What the model reads; bounded, redacted, wrapped where it is untrusted.
    pub content: String,
    /// One short line for people; may be empty.
    pub summary: String,
    /// Whether the workspace may have changed.
    pub changed: bool,
    /// How long it ran, in milliseconds.
    pub duration_ms: u64,
    /// Exit code of a command.
    pub exit: Option<i32>,
}

/// The static description of a tool.
#[derive(Debug, Clone, Copy)]
pub struct ToolDescriptor {
    /// Name, `[a-z_]+`.
    pub name: &'static str,
    /// What it does, in English for the model.
    pub description: &'static str,
    /// Builds the JSON schema of the arguments object.
    pub schema: fn() -> serde_json::Value,
    /// What it can do at most.
    pub effects: Effects,
    /// Locale key of its label while it runs.
    pub label: &'static str,
}
