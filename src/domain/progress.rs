//! What a turn tells the flow message, and how turns end.

use serde::{Deserialize, Serialize};

use super::{CallId, CallStatus, Usage};

/// One step of a running turn that a person may see.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Progress {
    /// The model is working on request number `request` of the turn.
    Thinking {
        /// Counted from 1.
        request: u32,
    },
    /// More streamed text of the current reply.
    Text {
        /// The delta.
        delta: String,
    },
    /// The streamed text was narration before tool calls: it folds into the log.
    Narration {
        /// The whole text.
        text: String,
    },
    /// The streamed text is dropped, because the reply is corrected or retried.
    TextDropped,
    /// A tool call began.
    ToolStarted {
        /// Which call.
        call: CallId,
        /// Tool name.
        tool: String,
        /// Locale key of its label.
        label: String,
        /// The main argument on one line, redacted.
        argument: String,
    },
    /// A running tool printed something.
    ToolOutput {
        /// Which call.
        call: CallId,
        /// The last line or lines, redacted.
        text: String,
    },
    /// A tool call ended.
    ToolFinished {
        /// Which call.
        call: CallId,
        /// How.
        status: CallStatus,
        /// One short line, redacted; may be empty.
        summary: String,
        /// How long it ran, in milliseconds.
        duration_ms: u64,
    },
    /// A host line; a later one with the same key replaces it.
    Notice(Notice),
    /// Token counts changed.
    Usage {
        /// Tokens of the last request's context.
        context: u64,
        /// Window in tokens.
        window: u64,
        /// Sum of the turn.
        total: Usage,
    },
    /// The turn ended.
    Ended {
        /// Why.
        reason: EndReason,
    },
}

/// A localised host line in the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// Locale key; lines of the same key overwrite each other.
    pub key: String,
    /// Arguments by name.
    pub arguments: Vec<(String, String)>,
}

/// Why a turn ended; the user sees every one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum EndReason {
    /// Answered.
    Done,
    /// A valid plan waits for the owner.
    PlanReady,
    /// The plan lacks what is named.
    PlanNotReady {
        /// Missing items as locale keys.
        missing: Vec<String>,
    },
    /// A question waits for an answer.
    Question,
    /// The model reported what blocks it.
    Blocked {
        /// In the model's words.
        why: String,
    },
    /// The process died or was stopped while the turn ran.
    Interrupted,
    /// A budget is used up.
    Budget {
        /// Which, as a locale key.
        budget: String,
    },
    /// Something is left open.
    Incomplete {
        /// What is left, one line each.
        left: Vec<String>,
    },
    /// Stopped by a person.
    Stopped,
    /// The turn's wall time is over.
    TimedOut,
    /// An error ended it.
    Failed(super::Fault),
}
