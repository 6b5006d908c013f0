//! Edits, with Telegram's order of checks.

use serde_json::{Value, json};

use super::{rich, target};
use crate::playground::model::Post;
use crate::playground::params::Params;
use crate::playground::refusal::Refusal;
use crate::playground::state::State;

const SAME: &str = "message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message";

/// The message to be edited: known, own, not deleted.
fn own(state: &State, params: &Params) -> Result<(i64, Post), Refusal> {
    if params.get("inline_message_id").is_some() {
        return Err(Refusal::bad("MESSAGE_ID_INVALID"));
    }
    let chat = target::chat(state, params)?;
    let id = params
        .int("message_id")?
        .filter(|id| *id > 0)
        .ok_or_else(|| Refusal::bad("message identifier is not specified"))?;
    let post = i32::try_from(id)
        .ok()
        .and_then(|id| state.post(chat, id))
        .ok_or_else(|| Refusal::bad("message to edit not found"))?;
    if !post.from_bot {
        return Err(Refusal::bad("message can't be edited"));
    }
    Ok((chat, post.clone()))
}

/// Compares and stores; a keyboard that is not given again is removed.
fn apply(state: &mut State, chat: i64, old: &Post, mut new: Post) -> Result<Value, Refusal> {
    let same = old.text == new.text
        && old.explicit == new.explicit
        && old.keyboard == new.keyboard
        && old.rich == new.rich;
    if same {
        return Err(Refusal::bad(SAME));
    }
    new.edited = Some(chrono::Utc::now().timestamp());
    let id = new.id.0;
    state.change(chat, id, |post| {
        let history = std::mem::take(&mut post.history);
        *post = new;
        post.history = history;
    });
    let answer = state.post(chat, id).map(|post| state.message_json(post, 1));
    Ok(answer.unwrap_or_else(|| json!(true)))
}

pub(super) fn text(state: &mut State, params: &Params) -> Result<Value, Refusal> {
    let keyboard = target::keyboard(params)?;
    let rich = params.json("rich_message", "rich message")?;
    if rich.is_some() == params.get("text").is_some() {
        return Err(Refusal::bad(
            "exactly one of text and rich_message must be specified",
        ));
    }
    let body = match &rich {
        Some(rich) => rich::body(rich)?,
        None => target::text(params, true)?,
    };
    let (chat, old) = own(state, params)?;
    if old.file.is_some() || old.text.is_empty() {
        return Err(Refusal::bad("there is no text in the message to edit"));
    }
    let mut new = old.clone();
    new.text = body.text;
    new.entities = body.entities;
    new.explicit = body.explicit;
    new.rich = rich;
    new.keyboard = keyboard;
    apply(state, chat, &old, new)
}

pub(super) fn caption(state: &mut State, params: &Params) -> Result<Value, Refusal> {
    let keyboard = target::keyboard(params)?;
    let body = target::caption(params)?;
    let (chat, old) = own(state, params)?;
    if old.file.is_none() {
        return Err(Refusal::bad("there is no caption in the message to edit"));
    }
    let mut new = old.clone();
    new.text = body.text;
    new.entities = body.entities;
    new.explicit = body.explicit;
    new.keyboard = keyboard;
    apply(state, chat, &old, new)
}

pub(super) fn markup(state: &mut State, params: &Params) -> Result<Value, Refusal> {
    let keyboard = target::keyboard(params)?;
    let (chat, old) = own(state, params)?;
    let mut new = old.clone();
    new.keyboard = keyboard;
    apply(state, chat, &old, new)
}
