//! The parts of a message: text and entities, quotes, origins, files, mentions.

use teloxide::types as wire;

use super::{Me, user_id};
use crate::domain::{
    Attachment, AttachmentKind, Entity, EntityKind, Formatted, MessageId, Origin, Quote,
};

/// Longest file name that is kept, in characters.
const NAME_LIMIT: usize = 96;
/// The types' number for a size that was not reported.
const SIZE_UNKNOWN: u32 = u32::MAX;

pub(super) fn text(message: &wire::Message) -> Formatted {
    let text = message
        .text()
        .or_else(|| message.caption())
        .unwrap_or_default();
    let entities = message
        .entities()
        .or_else(|| message.caption_entities())
        .unwrap_or_default();
    Formatted {
        text: text.to_owned(),
        entities: entities.iter().filter_map(entity).collect(),
    }
}

fn entity(entity: &wire::MessageEntity) -> Option<Entity> {
    use wire::MessageEntityKind as Wire;
    let kind = match &entity.kind {
        Wire::Bold => EntityKind::Bold,
        Wire::Italic => EntityKind::Italic,
        Wire::Underline => EntityKind::Underline,
        Wire::Strikethrough => EntityKind::Strikethrough,
        Wire::Spoiler => EntityKind::Spoiler,
        Wire::Code => EntityKind::Code,
        Wire::Pre { language } => EntityKind::Pre {
            language: language.clone(),
        },
        Wire::TextLink { url } => EntityKind::TextLink {
            url: url.to_string(),
        },
        Wire::Blockquote => EntityKind::Blockquote,
        Wire::ExpandableBlockquote => EntityKind::ExpandableBlockquote,
        // What Telegram marks by itself stands in the text as it is.
        Wire::Mention
        | Wire::Hashtag
        | Wire::Cashtag
        | Wire::BotCommand
        | Wire::Url
        | Wire::Email
        | Wire::PhoneNumber
        | Wire::TextMention { .. }
        | Wire::CustomEmoji { .. } => return None,
    };
    (entity.length > 0).then_some(Entity {
        kind,
        offset: entity.offset,
        length: entity.length,
    })
}

/// Drops the first `bytes` bytes and the white space after them; entities move along.
#[must_use]
pub fn cut(formatted: &Formatted, bytes: usize) -> Formatted {
    let rest = formatted.text.get(bytes..).unwrap_or_default().trim_start();
    let dropped = formatted
        .text
        .get(..formatted.text.len() - rest.len())
        .unwrap_or_default();
    let units = dropped.encode_utf16().count();
    let entities = formatted
        .entities
        .iter()
        .filter_map(|entity| {
            let end = (entity.offset + entity.length)
                .checked_sub(units)
                .filter(|end| *end > 0)?;
            let offset = entity.offset.saturating_sub(units);
            Some(Entity {
                kind: entity.kind.clone(),
                offset,
                length: end - offset,
            })
        })
        .collect();
    Formatted {
        text: rest.to_owned(),
        entities,
    }
}

/// The bot's own name at the start says only whom the text is for.
#[must_use]
pub fn without_mention(text: &Formatted, me: &str) -> Formatted {
    let length = me.len() + 1;
    let named = text
        .text
        .strip_prefix('@')
        .and_then(|rest| rest.get(..me.len()))
        .is_some_and(|name| name.eq_ignore_ascii_case(me));
    let ends = text.text.get(length..).is_some_and(|rest| {
        !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_') && !rest.trim().is_empty()
    });
    if !(named && ends) {
        return text.clone();
    }
    let rest = text.text.get(length..).unwrap_or_default();
    let punctuation = rest.len() - rest.trim_start_matches([',', ':']).len();
    cut(text, length + punctuation)
}

/// The replied-to message. In a topic every message "replies" to the one that opened it; that is none.
pub(super) fn real_reply(message: &wire::Message) -> Option<&wire::Message> {
    message
        .reply_to_message()
        .filter(|reply| reply.forum_topic_created().is_none())
}

pub(super) fn quote(message: &wire::Message, me: &Me) -> Option<Quote> {
    let quoted = message.quote().map(|quote| quote.text.clone());
    if let Some(reply) = real_reply(message) {
        let author = reply.from.as_ref();
        let name = reply
            .sender_chat
            .as_ref()
            .and_then(|chat| chat.title().map(str::to_owned))
            .or_else(|| author.map(wire::User::full_name));
        return Some(Quote {
            message: MessageId(reply.id.0),
            from_bot: author.is_some_and(|author| user_id(author) == me.id),
            author: name.unwrap_or_default(),
            text: quoted.unwrap_or_else(|| text(reply).text),
        });
    }
    // A reply to a message of another chat: only its origin and the quoted part are known.
    let external = external_reply(message)?;
    Some(Quote {
        message: MessageId(external.message_id.map_or(0, |id| id.0)),
        from_bot: false,
        author: origin(&external.origin).name,
        text: quoted.unwrap_or_default(),
    })
}

fn external_reply(message: &wire::Message) -> Option<&wire::ExternalReplyInfo> {
    if let wire::MessageKind::Common(common) = &message.kind {
        common.external_reply.as_ref()
    } else {
        None
    }
}

pub(super) fn origin(origin: &wire::MessageOrigin) -> Origin {
    let name = match origin {
        wire::MessageOrigin::User { sender_user, .. } => sender_user.full_name(),
        wire::MessageOrigin::HiddenUser {
            sender_user_name, ..
        } => sender_user_name.clone(),
        wire::MessageOrigin::Chat {
            sender_chat: chat, ..
        }
        | wire::MessageOrigin::Channel { chat, .. } => chat.title().unwrap_or_default().to_owned(),
    };
    Origin { name }
}

/// Whether the message names this bot, by entity or by `@name` as a word of its own.
pub(super) fn mentions(message: &wire::Message, me: &Me) -> bool {
    let entities = message
        .entities()
        .or_else(|| message.caption_entities())
        .unwrap_or_default();
    let by_id = entities.iter().any(|entity| {
        matches!(&entity.kind, wire::MessageEntityKind::TextMention { user } if user_id(user) == me.id)
    });
    by_id
        || names(
            message
                .text()
                .or_else(|| message.caption())
                .unwrap_or_default(),
            &me.username,
        )
        .is_some()
}

/// Byte range of the first `@name` in `text` that is a word of its own.
pub(super) fn names(text: &str, name: &str) -> Option<std::ops::Range<usize>> {
    if name.is_empty() {
        return None;
    }
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices('@').find_map(|(at, _)| {
        let end = at + 1 + name.len();
        let same = text
            .get(at + 1..end)
            .is_some_and(|word| word.eq_ignore_ascii_case(name));
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        let after = text.get(end..).and_then(|text| text.chars().next());
        (same && !before.is_some_and(is_word) && !after.is_some_and(is_word)).then_some(at..end)
    })
}

pub(super) fn attachments(message: &wire::Message) -> Vec<Attachment> {
    let mut found = Vec::new();
    if let Some(photo) = message
        .photo()
        .and_then(|sizes| sizes.iter().max_by_key(|size| size.width * size.height))
    {
        let name = format!("photo_{}.jpg", message.id.0);
        found.push(attachment(
            AttachmentKind::Photo,
            &photo.file,
            name,
            Some("image/jpeg".into()),
        ));
    }
    if let Some(document) = message.document() {
        let name = safe_name(document.file_name.as_deref().unwrap_or_default());
        let mime = document.mime_type.as_ref().map(ToString::to_string);
        found.push(attachment(
            AttachmentKind::Document,
            &document.file,
            name,
            mime,
        ));
    }
    if let Some(voice) = message.voice() {
        let name = format!("voice_{}.ogg", message.id.0);
        let mime = voice.mime_type.as_ref().map(ToString::to_string);
        found.push(attachment(AttachmentKind::Voice, &voice.file, name, mime));
    }
    // Music is a file to look at, not speech to transcribe.
    if let Some(audio) = message.audio() {
        let name = safe_name(audio.file_name.as_deref().unwrap_or("audio.mp3"));
        let mime = audio.mime_type.as_ref().map(ToString::to_string);
        found.push(attachment(
            AttachmentKind::Document,
            &audio.file,
            name,
            mime,
        ));
    }
    if let Some(video) = message.video() {
        let name = safe_name(video.file_name.as_deref().unwrap_or("video.mp4"));
        let mime = video.mime_type.as_ref().map(ToString::to_string);
        found.push(attachment(
            AttachmentKind::Document,
            &video.file,
            name,
            mime,
        ));
    }
    found
}

fn attachment(
    kind: AttachmentKind,
    file: &wire::FileMeta,
    name: String,
    mime: Option<String>,
) -> Attachment {
    let size = (file.size != SIZE_UNKNOWN).then_some(u64::from(file.size));
    Attachment {
        kind,
        file_id: file.id.0.clone(),
        name,
        mime,
        size,
        path: None,
    }
}

/// A base name that is safe as a file name: no directories, no control or direction characters, no
/// leading dot, at most 96 characters; `file` when nothing is left. The extension survives the cut.
#[must_use]
pub fn safe_name(name: &str) -> String {
    let base = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let clean: String = base
        .chars()
        .map(|c| {
            if c.is_alphanumeric() || matches!(c, '.' | '-' | '_') {
                c
            } else {
                '_'
            }
        })
        .collect();
    let clean = clean.trim_start_matches(['.', '-']).trim_end_matches('.');
    if clean.is_empty() || clean.chars().all(|c| c == '_') {
        return "file".into();
    }
    let count = clean.chars().count();
    if count <= NAME_LIMIT {
        return clean.to_owned();
    }
    let extension: String = clean
        .rsplit_once('.')
        .map(|(_, extension)| extension)
        .filter(|extension| extension.chars().count() <= 12)
        .map(|extension| format!(".{extension}"))
        .unwrap_or_default();
    let stem: String = clean
        .chars()
        .take(NAME_LIMIT - extension.chars().count())
        .collect();
    format!("{stem}{extension}")
}
