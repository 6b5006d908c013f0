//! Where a call goes: chat, topic, answered message, keyboard, text.

use serde_json::Value;

use crate::playground::markup::{
    self, CAPTION_LIMIT, DATA_LIMIT, RAW_LIMIT, SPAN_LIMIT, Span, TEXT_LIMIT,
};
use crate::playground::model::{Button, RoomKind, Standing};
use crate::playground::params::Params;
use crate::playground::refusal::Refusal;
use crate::playground::state::State;

/// The chat of a call that writes.
pub(super) fn chat(state: &State, params: &Params) -> Result<i64, Refusal> {
    let id = known(state, params)?;
    let Some(room) = state.rooms.get(&id) else {
        return Err(Refusal::bad("chat not found"));
    };
    if room.bot == Standing::Restricted {
        return Err(Refusal::state(
            400,
            "not enough rights to send text messages to the chat",
        ));
    }
    Ok(id)
}

/// The chat of a call, which the bot can at least see.
pub(super) fn known(state: &State, params: &Params) -> Result<i64, Refusal> {
    let id = params
        .int("chat_id")?
        .ok_or_else(|| Refusal::bad("chat_id is empty"))?;
    let Some(room) = state.rooms.get(&id) else {
        return Err(match state.people.get(&id) {
            Some(person) if person.bot => {
                Refusal::new(403, "the bot can't send messages to the bot")
            }
            Some(_) => Refusal::new(403, "bot can't initiate conversation with a user"),
            None => Refusal::bad("chat not found"),
        });
    };
    if let Some(new) = room.migrated {
        return Err(Refusal::migrated(new));
    }
    let kind = room.kind.name();
    match room.bot {
        Standing::Member | Standing::Admin | Standing::Restricted => Ok(id),
        Standing::Left => Err(Refusal::state(
            403,
            format!("bot is not a member of the {kind} chat"),
        )),
        Standing::Kicked if room.kind == RoomKind::Private => {
            Err(Refusal::state(403, "bot was blocked by the user"))
        }
        Standing::Kicked => Err(Refusal::state(
            403,
            format!("bot was kicked from the {kind} chat"),
        )),
        Standing::Deactivated => Err(Refusal::state(403, "user is deactivated")),
    }
}

/// The topic of a call. General (1) is refused like any topic that does not exist.
pub(super) fn thread(state: &State, chat: i64, params: &Params) -> Result<Option<i32>, Refusal> {
    let Some(wanted) = params.int("message_thread_id")? else {
        return Ok(None);
    };
    let topic = i32::try_from(wanted).ok().and_then(|id| {
        let topic = state.rooms.get(&chat)?.topics.get(&id)?;
        Some((id, topic.closed))
    });
    match topic {
        Some((_, true)) => Err(Refusal::state(400, "TOPIC_CLOSED")),
        Some((id, false)) => Ok(Some(id)),
        None => Err(Refusal::bad("message thread not found")),
    }
}

/// The message that is answered.
pub(super) fn reply(state: &State, chat: i64, params: &Params) -> Result<Option<i32>, Refusal> {
    let given = params.json("reply_parameters", "reply parameters")?;
    let (id, lenient) = match &given {
        Some(value) => (
            value.get("message_id").and_then(Value::as_i64),
            value
                .get("allow_sending_without_reply")
                .and_then(Value::as_bool)
                .unwrap_or_default(),
        ),
        None => (
            params.int("reply_to_message_id")?,
            params.flag("allow_sending_without_reply"),
        ),
    };
    let Some(id) = id.and_then(|id| i32::try_from(id).ok()) else {
        return Ok(None);
    };
    if state.post(chat, id).is_some() {
        return Ok(Some(id));
    }
    if lenient {
        Ok(None)
    } else {
        Err(Refusal::bad("message to be replied not found"))
    }
}

/// An inline keyboard; other kinds of markup show nothing here.
pub(super) fn keyboard(params: &Params) -> Result<Vec<Vec<Button>>, Refusal> {
    let Some(value) = params.json("reply_markup", "reply keyboard markup")? else {
        return Ok(Vec::new());
    };
    let Some(rows) = value.get("inline_keyboard") else {
        return Ok(Vec::new());
    };
    let wrong = || Refusal::bad("field \"inline_keyboard\" must be of type Array");
    let mut keyboard = Vec::new();
    let mut total = 0;
    for row in rows.as_array().ok_or_else(wrong)? {
        let mut buttons = Vec::new();
        for item in row.as_array().ok_or_else(wrong)? {
            let button = button(item)?;
            // Telegram cuts silently at 12 in a row and 300 in all.
            if buttons.len() < 12 && total < 300 {
                buttons.push(button);
                total += 1;
            }
        }
        if !buttons.is_empty() {
            keyboard.push(buttons);
        }
    }
    Ok(keyboard)
}

fn button(item: &Value) -> Result<Button, Refusal> {
    let text = |name: &str| item.get(name).and_then(Value::as_str).map(str::to_owned);
    let label = text("text").unwrap_or_default();
    if label.trim().is_empty() {
        return Err(Refusal::bad(
            "Inline keyboard button text must be non-empty",
        ));
    }
    let button = Button {
        text: label,
        data: text("callback_data"),
        url: text("url"),
        style: text("style"),
    };
    if button.data.is_some() == button.url.is_some() {
        return Err(Refusal::bad(
            "can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard",
        ));
    }
    if let Some(data) = &button.data
        && !(1..=DATA_LIMIT).contains(&data.len())
    {
        return Err(Refusal::bad("BUTTON_DATA_INVALID"));
    }
    if button
        .url
        .as_deref()
        .is_some_and(|url| !url.contains("://"))
    {
        return Err(Refusal::bad("BUTTON_URL_INVALID"));
    }
    if let Some(style) = button.style.as_deref()
        && !["primary", "success", "danger"].contains(&style)
    {
        return Err(Refusal::bad(
            "can't parse inline keyboard button: invalid button style specified",
        ));
    }
    Ok(button)
}

/// A text after the whole pipeline.
#[derive(Debug, Default)]
pub(super) struct Body {
    /// Text as stored.
    pub(super) text: String,
    /// Entities that were sent and kept.
    pub(super) explicit: Vec<Span>,
    /// Those and the ones found by the server.
    pub(super) entities: Vec<Span>,
}

/// The text of a message; `edit` changes the word for "too long".
pub(super) fn text(params: &Params, edit: bool) -> Result<Body, Refusal> {
    let raw = params
        .text("text")
        .filter(|text| !text.is_empty())
        .ok_or_else(|| Refusal::bad("message text is empty"))?;
    let body = pipeline(params, &raw, "entities")?;
    if body.text.is_empty() {
        return Err(Refusal::bad("text must be non-empty"));
    }
    if body.text.chars().count() > TEXT_LIMIT {
        let words = if edit {
            "MESSAGE_TOO_LONG"
        } else {
            "message is too long"
        };
        return Err(Refusal::bad(words));
    }
    Ok(body)
}

/// A caption, perhaps empty.
pub(super) fn caption(params: &Params) -> Result<Body, Refusal> {
    let raw = params.text("caption").unwrap_or_default();
    let body = pipeline(params, &raw, "caption_entities")?;
    if body.text.chars().count() > CAPTION_LIMIT {
        return Err(Refusal::bad("message caption is too long"));
    }
    Ok(body)
}

fn pipeline(params: &Params, raw: &str, entities: &str) -> Result<Body, Refusal> {
    if raw.len() > RAW_LIMIT {
        return Err(Refusal::bad("text is too long"));
    }
    // Markup strings can fail in ways that entities cannot, so this server takes entities alone.
    if params
        .text("parse_mode")
        .is_some_and(|mode| !mode.is_empty())
    {
        return Err(Refusal::bad("unsupported parse_mode"));
    }
    let spans = markup::parse_spans(params.json(entities, "entities")?)?;
    let (text, mut explicit) = markup::normalise(raw, &spans)?;
    explicit.truncate(SPAN_LIMIT);
    let entities = markup::detect(&text, explicit.clone());
    Ok(Body {
        text,
        explicit,
        entities,
    })
}
