//! Messages of people.

use axum::body::Bytes;

use super::markup::{detect, normalise};
use super::methods;
use super::model::{Draft, Person, Post};
use super::state::State;
use crate::domain::{ChatId, UserId};

/// A person's message, not stored yet. Text of people is normalised like the bot's.
pub(super) fn compose(state: &mut State, user: UserId, chat: ChatId, draft: Draft) -> Post {
    let person = state
        .people
        .get(&user.0)
        .cloned()
        .unwrap_or_else(|| Person::new(user.0, "Somebody", "somebody"));
    let mut post = state.blank(chat.0, &person);
    let (text, spans) = normalise(&draft.text, &draft.entities).unwrap_or((draft.text, Vec::new()));
    post.entities = detect(&text, spans);
    post.text = text;
    post.thread = draft.thread;
    post.reply_to = draft.reply_to;
    post.extra = draft.extra;
    post.sender_chat = post.extra.remove("sender_chat");
    post.file = draft.file.map(|file| {
        let bytes = Bytes::from(file.bytes);
        methods::keep(state, &file.kind, &file.name, file.mime, bytes, file.size)
    });
    post
}

/// Shows a message and queues its update.
pub(super) fn announce(state: &mut State, post: Post) {
    let body = state.message_json(&post, 1);
    state.store(post);
    state.push("message", body);
}
