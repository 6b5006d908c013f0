//! The bot itself, chats, members, taps, reactions, pins and topics.

use serde_json::{Value, json};

use super::target;
use crate::domain::ThreadId;
use crate::playground::model::{Answer, RoomKind, Standing, Topic, set};
use crate::playground::params::Params;
use crate::playground::refusal::Refusal;
use crate::playground::state::State;

/// How long a tap can be answered.
const TAP_WINDOW: std::time::Duration = std::time::Duration::from_secs(15);
const REACTIONS: &str = "👍 👎 ❤ 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤‍🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 😐 🍓 🍾 💋 🖕 😈 😴 😭 🤓 👻 👨‍💻 👀 🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷‍♂ 🤷 🤷‍♀ 😡";

pub(super) fn truth(_state: &mut State, _params: &Params) -> Result<Value, Refusal> {
    Ok(json!(true))
}

pub(super) fn get_me(state: &mut State, _params: &Params) -> Result<Value, Refusal> {
    let mut me = state.me.json();
    for (name, value) in [
        ("can_join_groups", true),
        ("can_read_all_group_messages", true),
        ("supports_inline_queries", false),
        ("can_connect_to_business", false),
        ("has_main_web_app", false),
    ] {
        set(&mut me, name, Some(value));
    }
    Ok(me)
}

pub(super) fn answer(state: &mut State, params: &Params) -> Result<Value, Refusal> {
    let text = params.text("text").unwrap_or_default();
    if text.chars().count() > 200 {
        return Err(Refusal::bad("MESSAGE_TOO_LONG"));
    }
    let alert = params.flag("show_alert");
    let id = params.text("callback_query_id").unwrap_or_default();
    let tap = state
        .taps
        .get_mut(&id)
        .filter(|tap| tap.at.elapsed() <= TAP_WINDOW)
        .ok_or_else(|| {
            Refusal::bad("query is too old and response timeout expired or query ID is invalid")
        })?;
    tap.answers.push(Answer {
        text: text.clone(),
        alert,
    });
    let body = json!({
        "tap": id, "user": tap.user, "chat": tap.chat, "data": tap.data, "text": text, "alert": alert,
    });
    state.emit("answer", body);
    Ok(json!(true))
}

fn message_id(params: &Params) -> Result<i32, Refusal> {
    params
        .int("message_id")?
        .and_then(|id| i32::try_from(id).ok())
        .ok_or_else(|| Refusal::bad("message identifier is not specified"))
}

pub(super) fn react(state: &mut State, params: &Params) -> Result<Value, Refusal> {
    let chat = target::chat(state, params)?;
    let id = message_id(params)?;
    if state.post(chat, id).is_none() {
        return Err(Refusal::bad("message to react not found"));
    }
    let reactions = params.json("reaction", "reactions")?.unwrap_or(json!([]));
    let reactions = reactions.as_array().cloned().unwrap_or_default();
    if reactions.len() > 1 {
        return Err(Refusal::bad("REACTIONS_TOO_MANY"));
    }
    let mut emoji = Vec::new();
    for reaction in reactions {
        let one = reaction
            .get("emoji")
            .and_then(Value::as_str)
            .unwrap_or_default();
        if !REACTIONS.split(' ').any(|known| known == one) {
            return Err(Refusal::bad("REACTION_INVALID"));
        }
        emoji.push(one.to_owned());
    }
    state.change(chat, id, |post| post.reactions = emoji);
    Ok(json!(true))
}

pub(super) fn pin(state: &mut State, params: &Params) -> Result<Value, Refusal> {
    let chat = target::chat(state, params)?;
    let id = message_id(params)?;
    if state.post(chat, id).is_none() {
        return Err(Refusal::bad("message to pin not found"));
    }
    let room = state.rooms.get(&chat);
    if room.is_some_and(|room| room.kind != RoomKind::Private && room.bot != Standing::Admin) {
        return Err(Refusal::bad(
            "not enough rights to manage pinned messages in the chat",
        ));
    }
    Ok(json!(true))
}

pub(super) fn unpin(state: &mut State, params: &Params) -> Result<Value, Refusal> {
    target::chat(state, params)?;
    Ok(json!(true))
}

pub(super) fn get(state: &mut State, params: &Params) -> Result<Value, Refusal> {
    let chat = target::known(state, params)?;
    let room = state.rooms.get(&chat);
    let mut body = room.map_or(Value::Null, |room| room.json(&state.people));
    set(&mut body, "accent_color_id", Some(3));
    set(&mut body, "max_reaction_count", Some(1));
    let gifts = json!({
        "unlimited_gifts": true, "limited_gifts": true, "unique_gifts": true, "premium_subscription": true,
    });
    set(&mut body, "accepted_gift_types", Some(gifts));
    Ok(body)
}

fn member_json(state: &State, chat: i64, user: i64) -> Option<Value> {
    let room = state.rooms.get(&chat)?;
    if user == state.me.id.0 {
        let status = if room.bot == Standing::Admin {
            "administrator"
        } else {
            "member"
        };
        return Some(json!({ "status": status, "user": state.me.json() }));
    }
    let person = state.people.get(&user)?;
    let place = room.members.iter().position(|member| *member == user);
    Some(match place {
        Some(0) => json!({ "status": "creator", "user": person.json(), "is_anonymous": false }),
        Some(_) => json!({ "status": "member", "user": person.json() }),
        None => json!({ "status": "left", "user": person.json() }),
    })
}

pub(super) fn member(state: &mut State, params: &Params) -> Result<Value, Refusal> {
    let chat = target::known(state, params)?;
    let user = params.int("user_id")?.unwrap_or_default();
    member_json(state, chat, user).ok_or_else(|| Refusal::bad("PARTICIPANT_ID_INVALID"))
}

pub(super) fn administrators(state: &mut State, params: &Params) -> Result<Value, Refusal> {
    let chat = target::known(state, params)?;
    let room = state.rooms.get(&chat);
    if room.is_some_and(|room| room.kind == RoomKind::Private) {
        return Err(Refusal::bad(
            "there are no administrators in the private chat",
        ));
    }
    let creator = room.and_then(|room| room.members.first().copied());
    let list: Vec<Value> = creator
        .into_iter()
        .filter_map(|user| member_json(state, chat, user))
        .collect();
    Ok(json!(list))
}

pub(super) fn count(state: &mut State, params: &Params) -> Result<Value, Refusal> {
    let chat = target::known(state, params)?;
    Ok(json!(
        state
            .rooms
            .get(&chat)
            .map_or(0, |room| room.members.len() + 1)
    ))
}

pub(super) fn leave(state: &mut State, params: &Params) -> Result<Value, Refusal> {
    let chat = target::known(state, params)?;
    if let Some(room) = state.rooms.get_mut(&chat) {
        if room.kind == RoomKind::Private {
            return Err(Refusal::bad("chat is not a group or a channel chat"));
        }
        room.bot = Standing::Left;
    }
    Ok(json!(true))
}

pub(super) fn create_topic(state: &mut State, params: &Params) -> Result<Value, Refusal> {
    let chat = target::chat(state, params)?;
    let name = params.text("name").unwrap_or_default();
    if name.is_empty() || name.chars().count() > 128 {
        return Err(Refusal::bad("TOPIC_TITLE_EMPTY"));
    }
    let admin = state
        .rooms
        .get(&chat)
        .is_some_and(|room| room.forum && room.bot == Standing::Admin);
    if !admin {
        return Err(Refusal::bad("not enough rights to create a topic"));
    }
    let me = state.me.clone();
    let mut post = state.blank(chat, &me);
    let id = post.id.0;
    post.thread = Some(ThreadId(id));
    post.extra.insert(
        "forum_topic_created".to_owned(),
        json!({ "name": name, "icon_color": 7_322_096 }),
    );
    if let Some(room) = state.rooms.get_mut(&chat) {
        let topic = Topic {
            name: name.clone(),
            closed: false,
        };
        room.topics.insert(id, topic);
    }
    state.store(post);
    Ok(json!({ "message_thread_id": id, "name": name, "icon_color": 7_322_096 }))
}
