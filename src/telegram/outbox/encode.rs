//! Domain to wire: the bodies of outgoing calls. Never a `parse_mode`, never a thread 1.

use serde_json::{Map, Value, json};

use crate::domain::{ChatId, ChatKey, Entity, EntityKind, Formatted, Keyboard, MessageId};
use crate::text::split::MAX_UNITS;

use super::types::Content;

/// A method with its JSON fields.
pub(super) struct Call {
    pub(super) method: &'static str,
    pub(super) body: Value,
}

pub(super) struct Target {
    pub(super) key: ChatKey,
    pub(super) reply_to: Option<MessageId>,
    pub(super) silent: bool,
    pub(super) previews: bool,
}

pub(super) fn send(target: &Target, content: &Content, keyboard: Option<&Keyboard>) -> Call {
    let mut body = Map::new();
    body.insert("chat_id".into(), json!(target.key.chat));
    if let Some(thread) = target.key.thread {
        body.insert("message_thread_id".into(), json!(thread));
    }
    if let Some(message) = target.reply_to {
        body.insert(
            "reply_parameters".into(),
            json!({ "message_id": message, "allow_sending_without_reply": true }),
        );
    }
    if target.silent {
        body.insert("disable_notification".into(), json!(true));
    }
    if let Some(keyboard) = keyboard.filter(|keyboard| !keyboard.is_empty()) {
        body.insert("reply_markup".into(), markup(Some(keyboard)));
    }
    let method = put_content(&mut body, content, target.previews, false);
    Call {
        method,
        body: Value::Object(body),
    }
}

pub(super) fn edit(
    chat: ChatId,
    message: MessageId,
    content: &Content,
    keyboard: Option<&Keyboard>,
    previews: bool,
) -> Call {
    let mut body = Map::new();
    body.insert("chat_id".into(), json!(chat));
    body.insert("message_id".into(), json!(message));
    body.insert("reply_markup".into(), markup(keyboard));
    let method = put_content(&mut body, content, previews, true);
    Call {
        method,
        body: Value::Object(body),
    }
}

pub(super) fn edit_keyboard(chat: ChatId, message: MessageId, keyboard: Option<&Keyboard>) -> Call {
    Call {
        method: "editMessageReplyMarkup",
        body: json!({ "chat_id": chat, "message_id": message, "reply_markup": markup(keyboard) }),
    }
}

pub(super) fn callback(query: &str, text: &str, alert: bool) -> Value {
    let mut body = json!({ "callback_query_id": query });
    if let Some(body) = body.as_object_mut()
        && !text.is_empty()
    {
        body.insert("text".into(), json!(text));
        body.insert("show_alert".into(), json!(alert));
    }
    body
}

pub(super) fn typing(key: ChatKey) -> Call {
    let mut body = json!({ "chat_id": key.chat, "action": "typing" });
    if let (Some(body), Some(thread)) = (body.as_object_mut(), key.thread) {
        body.insert("message_thread_id".into(), json!(thread));
    }
    Call {
        method: "sendChatAction",
        body,
    }
}

pub(super) fn react(chat: ChatId, message: MessageId, emoji: &str) -> Call {
    Call {
        method: "setMessageReaction",
        body: json!({
            "chat_id": chat,
            "message_id": message,
            "reaction": [{ "type": "emoji", "emoji": emoji }],
        }),
    }
}

fn put_content(
    body: &mut Map<String, Value>,
    content: &Content,
    previews: bool,
    edit: bool,
) -> &'static str {
    let (text_method, rich_method) = if edit {
        ("editMessageText", "editMessageText")
    } else {
        ("sendMessage", "sendRichMessage")
    };
    match content {
        Content::Text(text) => {
            body.insert("text".into(), json!(text.text));
            if !text.entities.is_empty() {
                body.insert("entities".into(), entities(text));
            }
            if !previews {
                body.insert(
                    "link_preview_options".into(),
                    json!({ "is_disabled": true }),
                );
            }
            text_method
        }
        Content::RichHtml { html, .. } => {
            body.insert("rich_message".into(), json!({ "html": html }));
            rich_method
        }
        Content::RichMarkdown { markdown, .. } => {
            body.insert("rich_message".into(), json!({ "markdown": markdown }));
            rich_method
        }
        Content::Document { caption, .. } => {
            if !caption.text.is_empty() {
                body.insert("caption".into(), json!(caption.text));
                if !caption.entities.is_empty() {
                    body.insert("caption_entities".into(), entities(caption));
                }
            }
            "sendDocument"
        }
    }
}

fn markup(keyboard: Option<&Keyboard>) -> Value {
    let rows: Vec<Vec<Value>> = keyboard.map_or_else(Vec::new, |keyboard| {
        keyboard
            .rows
            .iter()
            .filter(|row| !row.is_empty())
            .map(|row| {
                row.iter()
                    .map(|button| json!({ "text": button.label, "callback_data": button.data }))
                    .collect()
            })
            .collect()
    });
    json!({ "inline_keyboard": rows })
}

fn entities(text: &Formatted) -> Value {
    Value::Array(text.entities.iter().map(entity).collect())
}

fn entity(entity: &Entity) -> Value {
    let kind = match &entity.kind {
        EntityKind::Bold => "bold",
        EntityKind::Italic => "italic",
        EntityKind::Underline => "underline",
        EntityKind::Strikethrough => "strikethrough",
        EntityKind::Spoiler => "spoiler",
        EntityKind::Code => "code",
        EntityKind::Pre { .. } => "pre",
        EntityKind::TextLink { .. } => "text_link",
        EntityKind::Blockquote => "blockquote",
        EntityKind::ExpandableBlockquote => "expandable_blockquote",
    };
    let mut value = json!({ "type": kind, "offset": entity.offset, "length": entity.length });
    if let Some(fields) = value.as_object_mut() {
        if let EntityKind::Pre {
            language: Some(language),
        } = &entity.kind
        {
            fields.insert("language".into(), json!(language));
        }
        if let EntityKind::TextLink { url } = &entity.kind {
            fields.insert("url".into(), json!(url));
        }
    }
    value
}

/// The body with a line in front of its text; `None` if it has no text or would become too long.
pub(super) fn marked(body: &Value, mark: &str) -> Option<Value> {
    let text = body.get("text")?.as_str()?;
    let prefix = format!("{mark}\n\n");
    let units = |text: &str| text.encode_utf16().count();
    let shift = units(&prefix);
    if units(text) + shift > MAX_UNITS {
        return None;
    }
    let mut marked = body.clone();
    let fields = marked.as_object_mut()?;
    if let Some(entities) = fields.get_mut("entities").and_then(Value::as_array_mut) {
        for entity in entities {
            let offset = entity.get("offset").and_then(Value::as_u64)?;
            let moved = offset + u64::try_from(shift).ok()?;
            entity
                .as_object_mut()?
                .insert("offset".into(), moved.into());
        }
    }
    fields.insert("text".into(), format!("{prefix}{text}").into());
    Some(marked)
}
