//! Where a conversation is, and formatted text as Telegram measures it.

use serde::{Deserialize, Serialize};

use super::{ChatId, ThreadId};

/// The key of a conversation: a chat and, in a forum or a private chat with topics, its topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ChatKey {
    /// The chat.
    pub chat: ChatId,
    /// The topic; `None` outside topics and in General.
    pub thread: Option<ThreadId>,
}

impl ChatKey {
    /// A key, with the General topic (1) folded into "no topic".
    #[must_use]
    pub fn new(chat: ChatId, thread: Option<ThreadId>) -> Self {
        Self {
            chat,
            thread: thread.filter(|thread| thread.0 != 1),
        }
    }
}

/// What kind of chat a message came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChatKind {
    /// One person and the bot.
    Private,
    /// A group or supergroup, with or without topics.
    Group,
    /// A channel.
    Channel,
}

/// Text with explicit entities; what every outgoing message carries.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Formatted {
    /// The text after parsing.
    pub text: String,
    /// Entities in Telegram's order: by offset, outer before inner.
    pub entities: Vec<Entity>,
}

impl Formatted {
    /// Text without entities.
    #[must_use]
    pub fn plain(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            entities: Vec::new(),
        }
    }
}

/// One span of formatting. Offset and length count UTF-16 code units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entity {
    /// What the span is.
    pub kind: EntityKind,
    /// First unit, in UTF-16 code units from the start of the text.
    pub offset: usize,
    /// Number of UTF-16 code units, at least 1.
    pub length: usize,
}

/// The formatting kinds that Greenlight sends or reads.
/// Source: Bot API, object `MessageEntity`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntityKind {
    /// **bold**
    Bold,
    /// *italic*
    Italic,
    /// Underlined.
    Underline,
    /// Struck through.
    Strikethrough,
    /// Hidden until tapped.
    Spoiler,
    /// Inline monospace.
    Code,
    /// A monospace block.
    Pre {
        /// Language label of the block.
        language: Option<String>,
    },
    /// Text that opens an address.
    TextLink {
        /// The address; only http, https, tg and mailto are sent.
        url: String,
    },
    /// A quote.
    Blockquote,
    /// A quote that is collapsed until tapped.
    ExpandableBlockquote,
}
