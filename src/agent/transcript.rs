//! The durable conversation: records as they are appended, and what they amount to.

use serde::{Deserialize, Serialize};

use crate::domain::{
    CallId, CallStatus, EndReason, ImageRef, ModelMessage, ToolCall, ToolOutcome, TurnId, Usage,
};

/// What the model is told about a call that has no outcome.
pub const INTERRUPTED: &str = "interrupted, effect unknown: the program stopped while this call ran. \
     Check what it did before you go on; do not assume that it ran or that it did not.";

/// Text that a person gave to a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UserInput {
    /// What the model reads: the words, hints and wrapped quotes.
    pub text: String,
    /// The person's own words, as typed.
    pub words: String,
    /// Pictures.
    #[serde(default)]
    pub images: Vec<ImageRef>,
}

/// One record of a session's transcript.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case")]
pub enum Record {
    /// A person spoke.
    User {
        /// Turn that took it.
        turn: TurnId,
        /// What was said.
        input: UserInput,
    },
    /// The host corrects or informs the model; people never see it.
    Host {
        /// Turn.
        turn: TurnId,
        /// English for the model.
        text: String,
    },
    /// The model replied.
    Assistant {
        /// Turn.
        turn: TurnId,
        /// Visible text.
        text: String,
        /// Reasoning to be replayed.
        reasoning: Option<String>,
        /// Calls.
        calls: Vec<ToolCall>,
        /// Token counts.
        usage: Usage,
    },
    /// A call with effects is about to run.
    Started {
        /// Turn.
        turn: TurnId,
        /// Which call.
        call: CallId,
    },
    /// A call ended.
    Outcome {
        /// Turn.
        turn: TurnId,
        /// The host's record.
        outcome: ToolOutcome,
    },
    /// Everything before `keep_from` turns is summed up.
    Digest {
        /// Turn.
        turn: TurnId,
        /// The digest.
        text: String,
        /// First turn that stays in full.
        keep_from: TurnId,
    },
    /// The turn ended.
    Ended {
        /// Turn.
        turn: TurnId,
        /// Why.
        reason: EndReason,
        /// The answer that was delivered.
        answer: String,
    },
}

impl Record {
    /// The turn it belongs to.
    #[must_use]
    pub fn turn(&self) -> TurnId {
        match self {
            Self::User { turn, .. }
            | Self::Host { turn, .. }
            | Self::Assistant { turn, .. }
            | Self::Started { turn, .. }
            | Self::Outcome { turn, .. }
            | Self::Digest { turn, .. }
            | Self::Ended { turn, .. } => *turn,
        }
    }
}

/// The conversation of a session in memory.
#[derive(Debug, Clone, Default)]
pub struct Conversation {
    records: Vec<Record>,
}

impl Conversation {
    /// A conversation from its records, oldest first.
    #[must_use]
    pub fn replay(records: Vec<Record>) -> Self {
        Self { records }
    }

    /// Adds a record.
    pub fn push(&mut self, record: Record) {
        self.records.push(record);
    }

    /// Number of records.
    #[must_use]
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether nothing was said yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The records, oldest first.
    #[must_use]
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// Calls of `turn` without an outcome, in order, and whether each had been started.
    #[must_use]
    pub fn open_calls(&self, turn: TurnId) -> Vec<(ToolCall, bool)> {
        let mut open: Vec<(ToolCall, bool)> = Vec::new();
        for record in self.records.iter().filter(|record| record.turn() == turn) {
            match record {
                Record::Assistant { calls, .. } => {
                    open.extend(calls.iter().cloned().map(|call| (call, false)));
                }
                Record::Started { call, .. } => {
                    for (known, started) in &mut open {
                        *started |= known.id == *call;
                    }
                }
                Record::Outcome { outcome, .. } => open.retain(|(call, _)| call.id != outcome.call),
                Record::User { .. }
                | Record::Host { .. }
                | Record::Digest { .. }
                | Record::Ended { .. } => {}
            }
        }
        open
    }

    /// The latest digest and the first turn that stays in full.
    #[must_use]
    pub fn digest(&self) -> Option<(&str, TurnId)> {
        self.records.iter().rev().find_map(|record| {
            if let Record::Digest {
                text, keep_from, ..
            } = record
            {
                Some((text.as_str(), *keep_from))
            } else {
                None
            }
        })
    }

    /// The first thing a person asked for.
    #[must_use]
    pub fn original_task(&self) -> Option<&UserInput> {
        self.records.iter().find_map(|record| {
            if let Record::User { input, .. } = record {
                Some(input)
            } else {
                None
            }
        })
    }

    /// Messages of the turns from `from` on. Every call has exactly one result right after its reply.
    #[must_use]
    pub fn messages(&self, from: TurnId) -> Vec<ModelMessage> {
        let mut messages = Vec::new();
        let mut pending: Vec<ToolCall> = Vec::new();
        let mut results: Vec<ToolOutcome> = Vec::new();
        for record in self.records.iter().filter(|record| record.turn() >= from) {
            match record {
                Record::Outcome { outcome, .. } => {
                    results.push(outcome.clone());
                    if results.len() >= pending.len() {
                        close_batch(&mut messages, &mut pending, &mut results);
                    }
                }
                Record::User { input, .. } => {
                    close_batch(&mut messages, &mut pending, &mut results);
                    messages.push(ModelMessage::User {
                        text: input.text.clone(),
                        images: input.images.clone(),
                    });
                }
                Record::Host { text, .. } => {
                    close_batch(&mut messages, &mut pending, &mut results);
                    messages.push(ModelMessage::User {
                        text: format!("[host] {text}"),
                        images: Vec::new(),
                    });
                }
                Record::Assistant {
                    text,
                    reasoning,
                    calls,
                    ..
                } => {
                    close_batch(&mut messages, &mut pending, &mut results);
                    if text.trim().is_empty() && calls.is_empty() {
                        continue;
                    }
                    messages.push(ModelMessage::Assistant {
                        text: text.clone(),
                        reasoning: reasoning.clone(),
                        calls: calls.clone(),
                    });
                    pending.clone_from(calls);
                }
                Record::Started { .. } | Record::Digest { .. } => {}
                Record::Ended { .. } => close_batch(&mut messages, &mut pending, &mut results),
            }
        }
        close_batch(&mut messages, &mut pending, &mut results);
        messages
    }
}

/// Answers every pending call in the order of the reply.
fn close_batch(
    messages: &mut Vec<ModelMessage>,
    pending: &mut Vec<ToolCall>,
    results: &mut Vec<ToolOutcome>,
) {
    for call in pending.drain(..) {
        let content = results
            .iter()
            .find(|outcome| outcome.call == call.id)
            .map_or_else(|| INTERRUPTED.to_owned(), |outcome| outcome.content.clone());
        messages.push(ModelMessage::Tool {
            call: call.id,
            name: call.name,
            content,
        });
    }
    results.clear();
}

/// The outcome of a call that was running when the program stopped.
#[must_use]
pub fn interrupted(call: &CallId) -> ToolOutcome {
    ToolOutcome {
        call: call.clone(),
        status: CallStatus::Interrupted,
        content: INTERRUPTED.to_owned(),
        summary: String::new(),
        changed: true,
        duration_ms: 0,
        exit: None,
    }
}
