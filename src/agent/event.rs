//! What a turn hears.

use crate::domain::{Effects, ModelFault, ModelReply, ToolCall, ToolOutcome};

use super::transcript::UserInput;

/// One event of a turn. The driver drops events of older turns before they get here.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The turn begins with these inputs.
    Begin(Vec<UserInput>),
    /// The turn goes on after a crash. Reads that were open run again; every other open call has been
    /// answered in the transcript.
    Resume {
        /// Reads to repeat.
        rerun: Vec<ToolCall>,
    },
    /// More visible text of the reply.
    Text(String),
    /// The reply is complete.
    Reply {
        /// The reply.
        reply: ModelReply,
        /// Where the plan stands now.
        plan: PlanFacts,
    },
    /// The request failed.
    ModelFailed(ModelFault),
    /// One call of the batch ended.
    Finished(Finished),
    /// Every call of the batch has ended.
    BatchDone {
        /// Messages that arrived meanwhile, to be handed to the model now.
        steer: Vec<UserInput>,
        /// What the host has to say about the batch, in English for the model.
        hints: Vec<String>,
    },
    /// The side call for the digest ended; `None` if it failed.
    Compacted(Option<String>),
    /// A timer fired.
    Timer(TimerId),
    /// The turn must end.
    Cancel(Cancel),
}

/// A finished call, with what the judgement of later replies needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    /// The host's record.
    pub outcome: ToolOutcome,
    /// Declared effects.
    pub effects: Effects,
    /// Resolved paths it was about; empty if they are not known.
    pub targets: Vec<String>,
    /// Whether the arguments could not be understood.
    pub malformed: bool,
    /// Whether it was a plan submission that was refused, with the error people may read.
    pub refused_submission: Option<String>,
}

/// Where the plan stands when a reply is judged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlanFacts {
    /// In Editing: what the validator misses, as English for the model; `None` outside Editing.
    pub editing_missing: Option<Vec<String>>,
    /// Locale keys of the same.
    pub missing_keys: Vec<String>,
    /// In Active: titles of tasks that are not resolved with fresh evidence.
    pub open_tasks: Vec<String>,
    /// The one nudge about open tasks, in English for the model; `None` if there is no reason for one.
    pub nudge: Option<String>,
    /// Planned targets that nothing has touched.
    pub unfinished_targets: Vec<String>,
    /// Verification commands without fresh success while every task is resolved.
    pub verification_owed: Vec<String>,
}

/// Timers of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TimerId {
    /// The turn's wall time.
    WallTime,
    /// The next try of a model request.
    Retry,
}

/// Why a turn is cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cancel {
    /// `/stop`, the stop button or `/discard`.
    Stopped,
    /// The program is shutting down; the turn resumes later.
    Shutdown,
    /// The chat is gone: blocked or kicked.
    ChatGone,
}
