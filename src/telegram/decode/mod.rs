//! teloxide's updates to domain words: who, where, what was said, and whether it is meant for the bot.

mod parts;

use teloxide::types as wire;

use crate::domain::{
    Attachment, ChatId, ChatKey, ChatKind, Entity, Formatted, MessageId, Origin, Quote, ThreadId,
    UpdateId, UserId,
};

pub use parts::{cut, safe_name, without_mention};

/// Turns text with entities into Markdown for the model.
pub type ToMarkdown = fn(&str, &[Entity]) -> String;

/// This bot, as getMe describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Me {
    /// Its user id.
    pub id: UserId,
    /// Its user name without `@`.
    pub username: String,
}

/// The user behind an update, as the wire names them; everything but the id is untrusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// Numeric id.
    pub id: UserId,
    /// Shown name.
    pub name: String,
    /// User name without `@`.
    pub username: Option<String>,
    /// `language_code` of the client.
    pub language: Option<String>,
    /// Whether it is a bot.
    pub is_bot: bool,
}

/// A message as it came, before anybody decided whether it is served.
#[derive(Debug, Clone, PartialEq)]
pub struct Incoming {
    /// Its update.
    pub update: UpdateId,
    /// Conversation.
    pub key: ChatKey,
    /// Private, group or channel.
    pub chat_kind: ChatKind,
    /// Author; `None` in channels.
    pub person: Option<Person>,
    /// Whether it was sent on behalf of a chat: an anonymous admin, a channel or a linked channel.
    pub for_chat: bool,
    /// Whether it is a new version of an older message.
    pub edited: bool,
    /// Its id.
    pub message: MessageId,
    /// Unix seconds.
    pub sent_at: i64,
    /// Text or caption with the entities that Greenlight reads.
    pub text: Formatted,
    /// Whether it mentions this bot.
    pub mentions_me: bool,
    /// Whether it replies to a message of this bot.
    pub replies_to_me: bool,
    /// What it replies to or quotes.
    pub quote: Option<Quote>,
    /// Where it was forwarded from.
    pub origin: Option<Origin>,
    /// Files.
    pub attachments: Vec<Attachment>,
    /// `media_group_id`.
    pub album: Option<String>,
}

/// A tap as it came.
#[derive(Debug, Clone, PartialEq)]
pub struct IncomingTap {
    /// Its update.
    pub update: UpdateId,
    /// Callback query id.
    pub query: String,
    /// Who tapped.
    pub person: Person,
    /// The message with the button and its conversation; `None` for inline messages.
    pub place: Option<(ChatKey, ChatKind, MessageId)>,
    /// Callback data; `None` for game buttons.
    pub data: Option<String>,
}

/// What an update says.
#[derive(Debug, Clone, PartialEq)]
pub enum Decoded {
    /// A message or a new version of one.
    Message(Box<Incoming>),
    /// A tap on a button.
    Tap(IncomingTap),
    /// The bot became a member of a chat or stopped being one.
    Membership {
        /// Where.
        chat: ChatId,
        /// Private, group or channel.
        kind: ChatKind,
        /// Who changed it.
        by: UserId,
        /// Whether the bot is in the chat now.
        present: bool,
    },
    /// A group became a supergroup.
    Migrated {
        /// Old chat.
        from: ChatId,
        /// New chat.
        to: ChatId,
    },
    /// Nothing that concerns a session.
    Nothing,
}

/// Reads an update. `me` decides what counts as addressed to the bot.
#[must_use]
pub fn decode(update: &wire::Update, me: &Me) -> Decoded {
    let id = UpdateId(update.id.0);
    if let wire::UpdateKind::Message(message) = &update.kind {
        decode_message(id, message, me, false)
    } else if let wire::UpdateKind::EditedMessage(message) = &update.kind {
        decode_message(id, message, me, true)
    } else if let wire::UpdateKind::CallbackQuery(query) = &update.kind {
        Decoded::Tap(decode_tap(id, query))
    } else if let wire::UpdateKind::MyChatMember(change) = &update.kind {
        Decoded::Membership {
            chat: ChatId(change.chat.id.0),
            kind: chat_kind(&change.chat),
            by: user_id(&change.from),
            present: change.new_chat_member.kind.is_present(),
        }
    } else {
        Decoded::Nothing
    }
}

fn decode_message(update: UpdateId, message: &wire::Message, me: &Me, edited: bool) -> Decoded {
    let chat = ChatId(message.chat.id.0);
    if let Some(to) = message.migrate_to_chat_id() {
        return Decoded::Migrated {
            from: chat,
            to: ChatId(to.0),
        };
    }
    if let Some(from) = message.migrate_from_chat_id() {
        return Decoded::Migrated {
            from: ChatId(from.0),
            to: chat,
        };
    }
    let text = parts::text(message);
    let attachments = parts::attachments(message);
    if text.text.is_empty() && attachments.is_empty() {
        return Decoded::Nothing;
    }
    let reply = parts::real_reply(message);
    Decoded::Message(Box::new(Incoming {
        update,
        key: key_of(message),
        chat_kind: chat_kind(&message.chat),
        person: message.from.as_ref().map(person),
        for_chat: message.sender_chat.is_some() || message.is_automatic_forward(),
        edited,
        message: MessageId(message.id.0),
        sent_at: message.date.timestamp(),
        mentions_me: parts::mentions(message, me),
        replies_to_me: reply
            .and_then(|reply| reply.from.as_ref())
            .is_some_and(|author| user_id(author) == me.id),
        quote: parts::quote(message, me),
        origin: message.forward_origin().map(parts::origin),
        album: message.media_group_id().map(|album| album.0.clone()),
        text,
        attachments,
    }))
}

fn decode_tap(update: UpdateId, query: &wire::CallbackQuery) -> IncomingTap {
    let place = query.message.as_ref().map(|message| match message {
        wire::MaybeInaccessibleMessage::Regular(message) => (
            key_of(message),
            chat_kind(&message.chat),
            MessageId(message.id.0),
        ),
        wire::MaybeInaccessibleMessage::Inaccessible(gone) => (
            ChatKey::new(ChatId(gone.chat.id.0), None),
            chat_kind(&gone.chat),
            MessageId(gone.message_id.0),
        ),
    });
    IncomingTap {
        update,
        query: query.id.0.clone(),
        person: person(&query.from),
        place,
        data: query.data.clone(),
    }
}

/// Only `is_topic_message` makes a thread a topic: replies in a plain supergroup carry thread ids too.
fn key_of(message: &wire::Message) -> ChatKey {
    let topic = message.is_topic_message && (message.chat.is_private() || in_forum(&message.chat));
    let thread = message
        .thread_id
        .filter(|_| topic)
        .map(|thread| ThreadId(thread.0.0));
    ChatKey::new(ChatId(message.chat.id.0), thread)
}

fn in_forum(chat: &wire::Chat) -> bool {
    matches!(
        &chat.kind,
        wire::ChatKind::Public(wire::ChatPublic { kind: wire::PublicChatKind::Supergroup(group), .. }) if group.is_forum
    )
}

fn chat_kind(chat: &wire::Chat) -> ChatKind {
    if chat.is_private() {
        ChatKind::Private
    } else if chat.is_channel() {
        ChatKind::Channel
    } else {
        ChatKind::Group
    }
}

fn person(user: &wire::User) -> Person {
    Person {
        id: user_id(user),
        name: user.full_name(),
        username: user.username.clone(),
        language: user.language_code.clone(),
        is_bot: user.is_bot,
    }
}

/// Ids are below 2^52, so they fit; one that does not matches nobody.
fn user_id(user: &wire::User) -> UserId {
    UserId(i64::try_from(user.id.0).unwrap_or_default())
}

#[cfg(test)]
mod tests;
