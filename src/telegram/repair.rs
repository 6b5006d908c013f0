//! Raw updates to teloxide's types, without losing a person's words to a kind that the types do not know.
//!
//! teloxide 0.17 knows Bot API 9.1. One unknown entity or button kind makes it read a whole message as
//! empty, without an error, so parts that it does not know are taken out before it reads.

use serde_json::{Map, Value};
use teloxide::types::{Message, MessageEntity, MessageKind, Update, UpdateKind};

/// How deep messages inside messages are repaired.
const DEPTH_LIMIT: usize = 4;

/// What became of a raw update.
#[derive(Debug, Clone, PartialEq)]
pub enum Repaired {
    /// Readable, perhaps after parts were taken out.
    Update(Box<Update>),
    /// A kind that is none of ours; nothing is lost by closing it.
    Irrelevant,
    /// Carries something for us that cannot be read even after repair.
    Hopeless,
}

/// Fields that hold another message.
const NESTED: &[&str] = &["reply_to_message", "pinned_message", "message"];
/// Fields without which a message can still be served.
const ESSENTIAL: &[&str] = &[
    "message_id",
    "date",
    "chat",
    "from",
    "sender_chat",
    "text",
    "entities",
    "caption",
    "caption_entities",
    "photo",
    "document",
    "voice",
    "audio",
    "video",
    "message_thread_id",
    "is_topic_message",
    "media_group_id",
    "is_automatic_forward",
    "edit_date",
    "migrate_to_chat_id",
    "migrate_from_chat_id",
    "forward_origin",
];
/// Update kinds that are decoded.
const MESSAGES: &[&str] = &["message", "edited_message"];
/// Update kinds that are asked for; see `decode`.
pub const ALLOWED: &[&str] = &[
    "message",
    "edited_message",
    "callback_query",
    "my_chat_member",
];

/// Reads a raw update, repairing it first.
#[must_use]
pub fn repair(raw: &Value) -> Repaired {
    let Some(kind) = ALLOWED.iter().find(|kind| raw.get(**kind).is_some()) else {
        return Repaired::Irrelevant;
    };
    let mut value = raw.clone();
    if let Some(body) = value.get_mut(*kind) {
        mend(body, DEPTH_LIMIT);
    }
    if let Some(update) = read(&value) {
        return Repaired::Update(Box::new(update));
    }
    if !MESSAGES.contains(kind) {
        return Repaired::Hopeless;
    }
    let Some(body) = value.get_mut(*kind).and_then(Value::as_object_mut) else {
        return Repaired::Hopeless;
    };
    reduce(body);
    match read(&value) {
        Some(update) => Repaired::Update(Box::new(update)),
        None if has_content(raw.get(*kind)) => Repaired::Hopeless,
        None => Repaired::Irrelevant,
    }
}

fn read(value: &Value) -> Option<Update> {
    // The types borrow their keys from the text, so a tree of values cannot be read directly.
    let update: Update = serde_json::from_str(&value.to_string()).ok()?;
    let lost =
        match_message(&update).is_some_and(is_blank) || matches!(update.kind, UpdateKind::Error(_));
    (!lost).then_some(update)
}

fn match_message(update: &Update) -> Option<&Message> {
    if let UpdateKind::Message(message) | UpdateKind::EditedMessage(message) = &update.kind {
        Some(message)
    } else {
        None
    }
}

/// Whether the types gave up on the message.
fn is_blank(message: &Message) -> bool {
    matches!(message.kind, MessageKind::Empty {})
}

fn has_content(body: Option<&Value>) -> bool {
    [
        "text",
        "caption",
        "photo",
        "document",
        "voice",
        "audio",
        "video",
        "migrate_to_chat_id",
        "migrate_from_chat_id",
    ]
    .iter()
    .any(|field| body.is_some_and(|body| body.get(field).is_some()))
}

/// Takes out what the types may not know: entities, keyboards (which say nothing about a person's
/// words), odd MIME types and sizes, in this message and those inside it.
fn mend(body: &mut Value, depth: usize) {
    let Some(fields) = body.as_object_mut() else {
        return;
    };
    fields.remove("reply_markup");
    for name in ["entities", "caption_entities"] {
        mend_entities(fields, name);
    }
    if let Some(quote) = fields.get_mut("quote").and_then(Value::as_object_mut) {
        mend_entities(quote, "entities");
    }
    for name in ["document", "voice", "audio", "video"] {
        if let Some(file) = fields.get_mut(name).and_then(Value::as_object_mut) {
            mend_file(file);
        }
    }
    if depth > 0 {
        for name in NESTED {
            if let Some(inner) = fields.get_mut(*name) {
                mend(inner, depth - 1);
            }
        }
    }
}

fn mend_entities(fields: &mut Map<String, Value>, name: &str) {
    if let Some(list) = fields.get_mut(name).and_then(Value::as_array_mut) {
        list.retain(|entity| serde_json::from_value::<MessageEntity>(entity.clone()).is_ok());
    }
}

fn mend_file(file: &mut Map<String, Value>) {
    file.remove("thumbnail");
    let odd = |text: &str| {
        text.split('/').count() != 2 || !text.bytes().all(|byte| byte.is_ascii_graphic())
    };
    if file
        .get("mime_type")
        .and_then(Value::as_str)
        .is_some_and(odd)
    {
        file.remove("mime_type");
    }
    // The types count sizes in 32 bits; what is larger is too big for us anyway.
    if file
        .get("file_size")
        .and_then(Value::as_u64)
        .is_some_and(|size| size >= u64::from(u32::MAX))
    {
        file.insert("file_size".into(), Value::from(u32::MAX - 1));
    }
}

/// Keeps the fields that carry a person's words, and of a reply who it answers.
fn reduce(body: &mut Map<String, Value>) {
    let reply = body
        .get("reply_to_message")
        .and_then(Value::as_object)
        .cloned();
    body.retain(|name, _| ESSENTIAL.contains(&name.as_str()));
    if let Some(mut reply) = reply {
        reply.retain(|name, _| {
            ["message_id", "date", "chat", "from", "text", "caption"].contains(&name.as_str())
        });
        if reply.get("text").is_none() {
            let caption = reply.remove("caption").unwrap_or_else(|| Value::from(""));
            reply.insert("text".into(), caption);
        }
        body.insert("reply_to_message".into(), Value::Object(reply));
    }
    if serde_json::from_value::<teloxide::types::MessageOrigin>(
        body.get("forward_origin").cloned().unwrap_or_default(),
    )
    .is_err()
        && body.remove("forward_origin").is_some()
    {
        // A forward whose origin is unreadable is still a forward, never the sender's own words.
        body.insert(
            "forward_origin".into(),
            serde_json::json!({"type": "hidden_user", "date": 0, "sender_user_name": "?"}),
        );
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text_of(raw: &Value) -> Option<String> {
        match repair(raw) {
            Repaired::Update(update) => match_message(&update)
                .and_then(Message::text)
                .map(str::to_owned),
            Repaired::Irrelevant | Repaired::Hopeless => None,
        }
    }

    fn message(extra: Value) -> Value {
        let mut body = json!({
            "message_id": 5, "date": 1_700_000_000, "chat": {"id": 11, "type": "private", "first_name": "O"},
            "from": {"id": 11, "is_bot": false, "first_name": "O"}, "text": "look at this",
        });
        body.as_object_mut()
            .unwrap()
            .extend(extra.as_object().unwrap().clone());
        json!({"update_id": 7, "message": body})
    }

    #[test]
    fn unknown_entities_and_buttons_do_not_swallow_the_words() {
        let cases = [
            json!({"entities": [{"type": "date_time", "offset": 0, "length": 4, "unix_time": 1}]}),
            json!({"entities": [{"type": "text_link", "offset": 0, "length": 4, "url": "not a url"}]}),
            json!({"reply_markup": {"inline_keyboard": [[{"text": "x", "disabled": {}}]]}}),
            json!({"reply_to_message": {"message_id": 4, "date": 1, "chat": {"id": 11, "type": "private", "first_name": "O"},
                "rich_message": {"blocks": []}, "reply_markup": {"inline_keyboard": [[{"text": "x", "disabled": {}}]]}}}),
            json!({"some_future_field": {"deep": [1, 2]}}),
            json!({"forward_origin": {"type": "community", "date": 3}}),
            json!({"external_reply": {"origin": {"type": "community"}}}),
        ];
        for case in cases {
            assert_eq!(
                text_of(&message(case.clone())).as_deref(),
                Some("look at this"),
                "{case}"
            );
        }
    }

    #[test]
    fn an_unreadable_forward_stays_a_forward() {
        let Repaired::Update(update) = repair(&message(
            json!({"forward_origin": {"type": "community", "date": 3}}),
        )) else {
            panic!("not read");
        };
        let UpdateKind::Message(message) = update.kind else {
            panic!("not a message")
        };
        assert!(message.forward_origin().is_some());
    }

    #[test]
    fn a_huge_document_with_an_odd_type_is_still_a_document() {
        let mut raw = message(
            json!({"document": {"file_id": "a", "file_unique_id": "b", "mime_type": "odd", "file_size": 9_000_000_000_u64}}),
        );
        raw["message"].as_object_mut().unwrap().remove("text");
        let Repaired::Update(update) = repair(&raw) else {
            panic!("not read")
        };
        let UpdateKind::Message(message) = update.kind else {
            panic!("not a message")
        };
        assert!(message.document().is_some());
    }

    #[test]
    fn other_kinds_are_irrelevant_and_garbage_is_hopeless() {
        assert_eq!(
            repair(&json!({"update_id": 1, "guest_message": {}})),
            Repaired::Irrelevant
        );
        assert_eq!(
            repair(&json!({"update_id": 1, "message": {"text": "x"}})),
            Repaired::Hopeless
        );
        assert_eq!(
            repair(&json!({"update_id": 1, "callback_query": {"id": 3}})),
            Repaired::Hopeless
        );
    }
}
