//! What a session keeps on disk, and under which keys.

use std::path::PathBuf;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::domain::{
    ActionClass, ApprovalId, ApprovalLevel, CallId, ChatKey, ChatKind, EndReason, MessageId, Role,
    SessionId, TurnId, UpdateId, UserId, UserMessage,
};

use crate::plan::signals::Signals;

/// The live session of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionRecord {
    /// Its id; names the plan files.
    pub id: SessionId,
    /// Its conversation.
    pub key: ChatKey,
    /// Private, group or channel.
    pub chat_kind: ChatKind,
    /// Creation.
    pub created_at: DateTime<Utc>,
    /// Epoch of the newest turn.
    pub turn: TurnId,
    /// How much it asks.
    pub level: ApprovalLevel,
    /// Directory that the agent works in.
    pub workspace: PathBuf,
    /// Locale chosen with `/language`.
    pub language: Option<String>,
    /// Locale that the owner's client reported last.
    pub client_language: Option<String>,
    /// Model chosen with `/model`, an index into the configured list.
    pub model: usize,
    /// Classes granted with "always".
    pub grants: Vec<ActionClass>,
    /// Goal set by hand with `/goal`.
    pub goal: Option<String>,
    /// How far the signals about its plan are.
    #[serde(default)]
    pub signals: Signals,
    /// Last thing that happened.
    pub used_at: DateTime<Utc>,
}

/// An input that waits for its turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Queued {
    /// First update that it came from; its place in the queue.
    pub update: UpdateId,
    /// What was said.
    pub message: UserMessage,
    /// Whether `/plan` asked for a design turn on it.
    pub design: bool,
}

/// A turn that a restart has to go on with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TurnRecord {
    /// Its epoch.
    pub turn: TurnId,
    /// Who it belongs to.
    pub user: UserId,
    /// What that person may do.
    pub role: Role,
    /// Shown name of that person, untrusted.
    #[serde(default)]
    pub name: String,
    /// The message it answers.
    pub message: MessageId,
    /// Revision whose seed turn this is.
    pub seed: Option<String>,
    /// How far it is.
    pub stage: TurnStage,
}

/// How far a turn is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "stage", rename_all = "snake_case")]
pub enum TurnStage {
    /// It runs.
    Running {
        /// Transcript length when it was resumed last.
        step: usize,
        /// Crashes at that step.
        crashes: u32,
        /// Crashes of the turn.
        total: u32,
    },
    /// It is over; flow and answer are on their way.
    Delivering {
        /// Why it ended.
        reason: EndReason,
        /// The answer as Markdown.
        answer: String,
        /// Unix seconds of the turn's end; what is too old is not sent any more.
        #[serde(default)]
        ended_at: i64,
    },
}

/// An approval card or a question, stored before it is sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CardRow {
    /// Its id in the callback data.
    pub id: ApprovalId,
    /// Session.
    pub session: SessionId,
    /// Conversation of the session; the card may stand in another chat.
    pub home: ChatKey,
    /// Turn that waits.
    pub turn: TurnId,
    /// Call that waits.
    pub call: CallId,
    /// What it is about.
    pub kind: CardKind,
    /// Where it was sent.
    pub key: ChatKey,
    /// Its message, once sent.
    pub message: Option<MessageId>,
    /// The text it carries, for the edit that closes it.
    pub text: crate::domain::Formatted,
    /// After this it counts as denied; Unix seconds.
    pub deadline: i64,
    /// Locale key of how it ended; the row stays until its message says so.
    #[serde(default)]
    pub closed: Option<String>,
}

/// A message that has buttons nobody can use, found by a tap on one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Strip {
    /// Where it stands.
    pub key: ChatKey,
    /// The message.
    pub message: MessageId,
    /// The tap that found it.
    pub update: UpdateId,
}

/// Cards and questions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CardKind {
    /// A tool approval.
    Approval {
        /// Class that "always" would grant.
        class: ActionClass,
        /// Whether "always" is on offer.
        always: bool,
    },
    /// A question of the model.
    Question {
        /// Options in the order of the buttons.
        options: Vec<String>,
        /// Who may answer besides the owner.
        user: UserId,
    },
}

/// Key of a conversation: chat and topic, big-endian and order-preserving.
#[must_use]
pub fn chat_key(key: ChatKey) -> Vec<u8> {
    let mut bytes = (key.chat.0 ^ i64::MIN).to_be_bytes().to_vec();
    bytes.extend_from_slice(&key.thread.map_or(0, |thread| thread.0).to_be_bytes());
    bytes
}

/// Key of something numbered inside a session.
#[must_use]
pub fn session_key(session: &SessionId, number: u64) -> Vec<u8> {
    let mut bytes = session_prefix(session);
    bytes.extend_from_slice(&number.to_be_bytes());
    bytes
}

/// Prefix of everything of a session.
#[must_use]
pub fn session_prefix(session: &SessionId) -> Vec<u8> {
    let mut bytes = session.as_str().as_bytes().to_vec();
    bytes.push(b'/');
    bytes
}
