//! What people send, already authorised, decoded and freed of wire details.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{ChatKey, ChatKind, MessageId, UpdateId, UserId};

/// What a person is to this bot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The one who may approve.
    Owner,
    /// A listed person who may chat.
    Member,
}

/// The person behind a message or tap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sender {
    /// Numeric id, the only thing that counts for rights.
    pub id: UserId,
    /// Shown name, untrusted.
    pub name: String,
    /// User name without `@`, untrusted.
    pub username: Option<String>,
    /// `language_code` as the client reports it.
    pub language: Option<String>,
    /// Owner or member.
    pub role: Role,
}

/// One authorised input for a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Inbound {
    /// Natural text, perhaps merged from several updates.
    Message(UserMessage),
    /// A slash command that is ours.
    Command(Command),
    /// A tap on an inline button.
    Tap(Tap),
    /// A queued message was edited before it was consumed.
    Edited(UserMessage),
}

/// A message of a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UserMessage {
    /// Conversation.
    pub key: ChatKey,
    /// Private, group or channel.
    pub chat_kind: ChatKind,
    /// Author.
    pub sender: Sender,
    /// Id of the (first) message.
    pub message: MessageId,
    /// Ids of the updates it was merged from, ascending.
    pub updates: Vec<UpdateId>,
    /// Text with entities turned into Markdown.
    pub text: String,
    /// The message that was replied to or quoted.
    pub quote: Option<Quote>,
    /// Where forwarded text came from; `None` for the sender's own words.
    pub origin: Option<Origin>,
    /// Photos, documents, voice.
    pub attachments: Vec<Attachment>,
    /// Text observed in a group from people who are not members; never the user's words.
    pub observed: bool,
    /// Unix seconds of the (first) message.
    pub sent_at: i64,
}

/// A replied-to or quoted message; untrusted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Quote {
    /// Its message id.
    pub message: MessageId,
    /// Whether this bot wrote it.
    pub from_bot: bool,
    /// Shown name of its author.
    pub author: String,
    /// The quoted part, or the whole text.
    pub text: String,
}

/// Origin of a forwarded message; untrusted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    /// Shown name of the first author, chat or channel.
    pub name: String,
}

/// A file that came with a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attachment {
    /// What it is.
    pub kind: AttachmentKind,
    /// Telegram's file id.
    pub file_id: String,
    /// Safe base name.
    pub name: String,
    /// MIME type if reported.
    pub mime: Option<String>,
    /// Size in bytes if reported.
    pub size: Option<u64>,
    /// Where it was stored, once downloaded.
    pub path: Option<PathBuf>,
}

/// Kinds of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttachmentKind {
    /// A photo.
    Photo,
    /// Any document.
    Document,
    /// A voice note or audio.
    Voice,
}

/// A slash command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Command {
    /// Conversation.
    pub key: ChatKey,
    /// Private, group or channel.
    pub chat_kind: ChatKind,
    /// Author.
    pub sender: Sender,
    /// Its message.
    pub message: MessageId,
    /// Its update.
    pub update: UpdateId,
    /// Canonical name without slash, `show_plan` for all of its spellings.
    pub name: String,
    /// Everything after the command word, trimmed.
    pub arguments: String,
    /// The replied-to message.
    pub quote: Option<Quote>,
    /// Files that came with it.
    pub attachments: Vec<Attachment>,
}

/// A tap on an inline button.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tap {
    /// Conversation.
    pub key: ChatKey,
    /// Who tapped.
    pub sender: Sender,
    /// Its update.
    pub update: UpdateId,
    /// Callback query id, to be answered exactly once.
    pub query: String,
    /// The message that carries the button.
    pub message: MessageId,
    /// Callback data, at most 64 bytes.
    pub data: String,
}
