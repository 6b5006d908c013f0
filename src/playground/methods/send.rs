//! Sending.

use axum::body::Bytes;
use serde_json::{Value, json};

use super::target;
use crate::domain::{MessageId, ThreadId};
use crate::playground::markup::Span;
use crate::playground::model::{FileView, Post};
use crate::playground::params::Params;
use crate::playground::refusal::Refusal;
use crate::playground::state::State;

const FILE_LIMIT: usize = 50 << 20;
const PHOTO_LIMIT: usize = 10 << 20;
const ACTIONS: [&str; 11] = [
    "typing",
    "upload_photo",
    "record_video",
    "upload_video",
    "record_voice",
    "upload_voice",
    "upload_document",
    "choose_sticker",
    "find_location",
    "record_video_note",
    "upload_video_note",
];

/// Everything but the content: where, as an answer to what, with which buttons.
pub(super) fn frame(state: &mut State, params: &Params) -> Result<Post, Refusal> {
    let chat = target::chat(state, params)?;
    let thread = target::thread(state, chat, params)?;
    let reply = target::reply(state, chat, params)?;
    let keyboard = target::keyboard(params)?;
    let me = state.me.clone();
    let mut post = state.blank(chat, &me);
    post.thread = thread.map(ThreadId);
    post.reply_to = reply.map(MessageId);
    post.keyboard = keyboard;
    post.silent = params.flag("disable_notification");
    Ok(post)
}

/// Stores the message and answers with it.
pub(super) fn deliver(state: &mut State, post: Post) -> Value {
    let answer = state.message_json(&post, 1);
    state.emit(
        "typing",
        json!({ "chat": post.chat, "thread": post.thread, "on": false }),
    );
    state.store(post);
    answer
}

pub(super) fn message(state: &mut State, params: &Params) -> Result<Value, Refusal> {
    target::chat(state, params)?;
    let body = target::text(params, false)?;
    let mut post = frame(state, params)?;
    fill(&mut post, body.text, body.entities, body.explicit);
    Ok(deliver(state, post))
}

fn fill(post: &mut Post, text: String, entities: Vec<Span>, explicit: Vec<Span>) {
    post.text = text;
    post.entities = entities;
    post.explicit = explicit;
}

pub(super) fn document(state: &mut State, params: &Params) -> Result<Value, Refusal> {
    media(state, params, "document", FILE_LIMIT)
}

pub(super) fn photo(state: &mut State, params: &Params) -> Result<Value, Refusal> {
    media(state, params, "photo", PHOTO_LIMIT)
}

fn media(state: &mut State, params: &Params, kind: &str, limit: usize) -> Result<Value, Refusal> {
    target::chat(state, params)?;
    let body = target::caption(params)?;
    let file = match params.file(kind) {
        Some(upload) if upload.bytes.is_empty() => {
            return Err(Refusal::bad("file must be non-empty"));
        }
        Some(upload) if upload.bytes.len() > limit => return Err(Refusal::new(413, "")),
        Some(upload) => {
            let (name, mime, bytes) = (&upload.name, upload.mime.clone(), upload.bytes.clone());
            keep(state, kind, name, mime, bytes, None)
        }
        None => {
            let id = params
                .text(kind)
                .ok_or_else(|| Refusal::bad(format!("there is no {kind} in the request")))?;
            state
                .files
                .get(&id)
                .cloned()
                .ok_or_else(|| Refusal::bad("wrong file identifier/HTTP URL specified"))?
        }
    };
    let mut post = frame(state, params)?;
    fill(&mut post, body.text, body.entities, body.explicit);
    post.file = Some(file);
    Ok(deliver(state, post))
}

/// Keeps a file under a new id.
pub(in crate::playground) fn keep(
    state: &mut State,
    kind: &str,
    name: &str,
    mime: Option<String>,
    bytes: Bytes,
    size: Option<u64>,
) -> FileView {
    let file = FileView {
        id: format!("PgFile{:06}", state.unique()),
        kind: kind.to_owned(),
        name: name.to_owned(),
        mime,
        size: size.unwrap_or(bytes.len() as u64),
        bytes,
    };
    state.files.insert(file.id.clone(), file.clone());
    file
}

pub(super) fn action(state: &mut State, params: &Params) -> Result<Value, Refusal> {
    let chat = target::chat(state, params)?;
    let thread = target::thread(state, chat, params)?;
    let action = params.text("action").unwrap_or_default();
    if !ACTIONS.contains(&action.as_str()) {
        return Err(Refusal::bad("wrong parameter action in request"));
    }
    state.emit(
        "typing",
        json!({ "chat": chat, "thread": thread, "on": true }),
    );
    Ok(Value::Bool(true))
}
