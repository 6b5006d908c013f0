//! What callers put in and get back.

use serde::{Deserialize, Serialize};

use crate::domain::{ChatId, ChatKey, Formatted, Keyboard, MessageId};

use super::journal::LedgerKey;
use super::scheduler::Lane;

/// The content of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "form", rename_all = "snake_case")]
pub enum Content {
    /// Text with entities.
    Text(Formatted),
    /// Rich HTML (Bot API 10.1).
    RichHtml {
        /// The HTML.
        html: String,
        /// What is sent where rich messages are refused.
        fallback: Formatted,
    },
    /// Rich Markdown (Bot API 10.1).
    RichMarkdown {
        /// The Markdown.
        markdown: String,
        /// What is sent where rich messages are refused.
        fallback: Formatted,
    },
    /// A file; only sent, never edited.
    Document {
        /// File name.
        name: String,
        /// The bytes.
        bytes: Vec<u8>,
        /// Caption, at most 1024 characters; may be empty.
        caption: Formatted,
    },
}

/// One message to be sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Send {
    /// Where to.
    pub key: ChatKey,
    /// What.
    pub content: Content,
    /// Buttons.
    pub keyboard: Option<Keyboard>,
    /// The message it answers; a deleted one does not matter.
    pub reply_to: Option<MessageId>,
    /// Without notification.
    pub silent: bool,
    /// Priority.
    pub lane: Lane,
    /// Makes the send happen once: a row that is sent already gives its message, and one whose outcome
    /// is unknown after a crash is tried once more.
    pub ledger: Option<LedgerKey>,
}

impl Send {
    /// A message without buttons, reply or ledger, that notifies.
    #[must_use]
    pub fn new(key: ChatKey, content: Content, lane: Lane) -> Self {
        Self {
            key,
            content,
            keyboard: None,
            reply_to: None,
            silent: false,
            lane,
            ledger: None,
        }
    }
}

/// One edit of text and keyboard. A message edited without keyboard loses its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// Where.
    pub key: ChatKey,
    /// Which message.
    pub message: MessageId,
    /// New content; not a document.
    pub content: Content,
    /// New buttons.
    pub keyboard: Option<Keyboard>,
    /// Priority.
    pub lane: Lane,
}

/// One change of a keyboard alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditKeyboard {
    /// Where.
    pub key: ChatKey,
    /// Which message.
    pub message: MessageId,
    /// New buttons; `None` takes them away.
    pub keyboard: Option<Keyboard>,
}

/// What became of an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditReport {
    /// Telegram shows it ("not modified" counts).
    Accepted,
    /// A newer edit of the same message took its place.
    Superseded,
}

/// Why something was given up on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendFault {
    /// The message to be edited is gone or can no longer be edited.
    #[error("the message is gone")]
    Gone,
    /// The bot was blocked, kicked or the account deleted: the chat's turn should stop.
    #[error("the chat does not take messages")]
    Blocked,
    /// The token is refused: the bot is stopped.
    #[error("the bot token is refused")]
    Unauthorized,
    /// Refused for good, even as plain text.
    #[error("refused: {0}")]
    Refused(String),
    /// Telegram could not be reached for too long.
    #[error("telegram cannot be reached")]
    Unavailable,
    /// The reply was lost twice; the message may or may not be there.
    #[error("the outcome is unknown")]
    Unknown,
    /// Too old to be sent.
    #[error("too old to be sent")]
    Expired,
    /// The outbox has stopped.
    #[error("the outbox has stopped")]
    Closed,
}

/// What happens to chats, for those who keep keys and turns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutboxNotice {
    /// A group became a supergroup: keys, settings and keyboards move.
    Migrated {
        /// Old id.
        from: ChatId,
        /// New id.
        to: ChatId,
    },
    /// The chat does not take messages.
    Blocked {
        /// Which.
        chat: ChatId,
    },
    /// The topic is gone; its messages go to the chat's root.
    TopicGone {
        /// Which.
        key: ChatKey,
    },
    /// The token is refused; nothing is sent any more.
    Halted,
}
