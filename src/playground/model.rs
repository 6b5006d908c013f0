//! People, chats and messages of the playground.

use std::collections::BTreeMap;

use axum::body::Bytes;
use serde::Serialize;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::markup::Span;
use crate::domain::{ChatId, MessageId, ThreadId, UserId};

/// A person, or a bot that is not ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Person {
    /// Numeric id.
    pub id: UserId,
    /// Shown name.
    pub name: String,
    /// User name without `@`.
    pub username: Option<String>,
    /// Language of the person's app.
    pub language: Option<String>,
    /// Whether this is a bot.
    pub bot: bool,
}

impl Person {
    /// A person with an English app.
    #[must_use]
    pub fn new(id: i64, name: &str, username: &str) -> Self {
        Self {
            id: UserId(id),
            name: name.to_owned(),
            username: Some(username.to_owned()),
            language: Some("en".to_owned()),
            bot: false,
        }
    }

    pub(super) fn json(&self) -> Value {
        let mut user = json!({ "id": self.id, "is_bot": self.bot, "first_name": self.name });
        set(&mut user, "username", self.username.clone());
        set(&mut user, "language_code", self.language.clone());
        user
    }
}

/// Sets `name` in an object if there is a value.
pub(super) fn set(object: &mut Value, name: &str, value: Option<impl Into<Value>>) {
    if let (Some(map), Some(value)) = (object.as_object_mut(), value) {
        map.insert(name.to_owned(), value.into());
    }
}

/// Kinds of chats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RoomKind {
    /// One person and the bot.
    Private,
    /// A basic group.
    Group,
    /// A supergroup, perhaps with topics.
    Supergroup,
    /// A channel.
    Channel,
}

impl RoomKind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Private => "private",
            Self::Group => "group",
            Self::Supergroup => "supergroup",
            Self::Channel => "channel",
        }
    }
}

/// How the bot stands in a chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// May write.
    Member,
    /// May write, pin and delete.
    Admin,
    /// Muted.
    Restricted,
    /// Left by itself.
    Left,
    /// Removed from a group, or blocked by the person.
    Kicked,
    /// The person's account is gone.
    Deactivated,
}

#[derive(Debug, Clone)]
pub(super) struct Topic {
    pub(super) name: String,
    pub(super) closed: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Room {
    pub(super) id: i64,
    pub(super) kind: RoomKind,
    pub(super) title: String,
    pub(super) forum: bool,
    pub(super) members: Vec<i64>,
    pub(super) bot: Standing,
    pub(super) migrated: Option<i64>,
    pub(super) topics: BTreeMap<i32, Topic>,
    pub(super) posts: BTreeMap<i32, Post>,
    pub(super) last: i32,
}

impl Room {
    pub(super) fn json(&self, people: &BTreeMap<i64, Person>) -> Value {
        let mut chat = json!({ "id": self.id, "type": self.kind.name() });
        if self.kind == RoomKind::Private {
            let person = people.get(&self.id);
            set(
                &mut chat,
                "first_name",
                person.map(|person| person.name.clone()),
            );
            set(
                &mut chat,
                "username",
                person.and_then(|person| person.username.clone()),
            );
        } else {
            set(&mut chat, "title", Some(self.title.clone()));
            set(&mut chat, "is_forum", self.forum.then_some(true));
        }
        chat
    }
}

/// A button of an inline keyboard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Button {
    /// Label.
    pub text: String,
    /// Callback data.
    pub data: Option<String>,
    /// Address to open.
    pub url: Option<String>,
    /// `primary`, `success` or `danger`.
    pub style: Option<String>,
}

/// A file that came with a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileView {
    /// File id.
    pub id: String,
    /// `photo`, `document`, `voice` or `audio`.
    pub kind: String,
    /// Name.
    pub name: String,
    /// MIME type.
    pub mime: Option<String>,
    /// Bytes; a test may claim more than there are.
    pub size: u64,
    /// Content.
    #[serde(skip)]
    pub bytes: Bytes,
}

/// A message as it stands now.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Post {
    /// Message id inside the chat.
    pub id: MessageId,
    /// Chat.
    pub chat: ChatId,
    /// Topic.
    pub thread: Option<ThreadId>,
    /// Author.
    pub from: UserId,
    /// Author's shown name.
    pub author: String,
    /// Whether our bot wrote it.
    pub from_bot: bool,
    /// Chat in whose name it was written (anonymous admins, channels).
    pub sender_chat: Option<Value>,
    /// Text or caption.
    pub text: String,
    /// Entities as stored.
    pub entities: Vec<Span>,
    /// Inline keyboard, row by row.
    pub keyboard: Vec<Vec<Button>>,
    /// Sent without a notification.
    pub silent: bool,
    /// Unix seconds.
    pub date: i64,
    /// Unix seconds of the last edit.
    pub edited: Option<i64>,
    /// Every earlier text, oldest first.
    pub history: Vec<String>,
    /// Whether it was deleted.
    pub deleted: bool,
    /// Message that it answers.
    pub reply_to: Option<MessageId>,
    /// File.
    pub file: Option<FileView>,
    /// Reactions of the bot.
    pub reactions: Vec<String>,
    /// Rich source (`html` or `markdown`), if it is a rich message.
    pub rich: Option<Value>,
    /// Further Bot API fields of the message, as they are.
    #[serde(skip)]
    pub extra: Map<String, Value>,
    #[serde(skip)]
    pub(super) explicit: Vec<Span>,
}

impl Post {
    /// Callback data of every button, row by row.
    #[must_use]
    pub fn data(&self) -> Vec<String> {
        self.keyboard
            .iter()
            .flatten()
            .filter_map(|button| button.data.clone())
            .collect()
    }
}

/// The bot's answer to a tap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// Toast or alert; empty when the bot only stopped the spinner.
    pub text: String,
    /// Whether it must be dismissed.
    pub alert: bool,
}

/// A tap on a button.
#[derive(Debug, Clone)]
pub(super) struct TapState {
    pub(super) user: i64,
    pub(super) chat: i64,
    pub(super) data: String,
    pub(super) at: Instant,
    pub(super) answers: Vec<Answer>,
}

/// A message of a person with more than text.
#[derive(Debug, Clone, Default)]
pub struct Draft {
    /// Text, or caption when there is a file.
    pub text: String,
    /// Entities that the person chose.
    pub entities: Vec<Span>,
    /// Topic.
    pub thread: Option<ThreadId>,
    /// Message that it answers.
    pub reply_to: Option<MessageId>,
    /// File: kind (`photo`, `document`, `voice`), name, MIME type, content.
    pub file: Option<DraftFile>,
    /// Further Bot API fields such as `forward_origin`, `quote` or `media_group_id`.
    pub extra: Map<String, Value>,
}

/// A file to be sent by a person.
#[derive(Debug, Clone, Default)]
pub struct DraftFile {
    /// `photo`, `document`, `voice` or `audio`.
    pub kind: String,
    /// Name.
    pub name: String,
    /// MIME type.
    pub mime: Option<String>,
    /// Content.
    pub bytes: Vec<u8>,
    /// Claimed size, if it is to differ from the content's.
    pub size: Option<u64>,
}

impl Draft {
    /// A plain text.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            ..Self::default()
        }
    }
}
