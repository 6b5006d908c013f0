//! What a turn asks its driver to do.

use std::time::Duration;

use crate::domain::{EndReason, Progress, ToolCall};

use super::TimerId;
use super::transcript::Record;

/// One effect, in the order given. `Append` is durable before the next effect starts.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Send the conversation to model number `model` (0 = configured, then fallbacks).
    CallModel {
        /// Counted from 1 within the turn.
        request: u32,
        /// Index into the list of models.
        model: usize,
    },
    /// Drop the running request.
    CancelModel,
    /// Run the calls of one reply; each answers with `Finished`, the last is followed by `BatchDone`.
    RunTools(Vec<ToolCall>),
    /// Stop running calls.
    CancelTools,
    /// Ask a model for a digest of the conversation so far; answered with `Compacted`.
    Compact,
    /// Make a record durable.
    Append(Record),
    /// Show something.
    Progress(Progress),
    /// Fire a timer once.
    SetTimer {
        /// Which; a running one of the same id is replaced.
        id: TimerId,
        /// From now.
        after: Duration,
    },
    /// The turn is over.
    Finish {
        /// Why.
        reason: EndReason,
        /// The final answer as Markdown; empty if there is none.
        answer: String,
    },
}
