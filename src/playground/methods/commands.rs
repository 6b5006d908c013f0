//! Command menus by scope and language.

use serde_json::{Value, json};

use crate::playground::model::RoomKind;
use crate::playground::params::Params;
use crate::playground::refusal::Refusal;
use crate::playground::state::State;

fn key(state: &State, params: &Params) -> Result<(String, String), Refusal> {
    let scope = params
        .json("scope", "BotCommandScope")?
        .unwrap_or(json!({ "type": "default" }));
    let kind = scope
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let number = |field: &str| {
        scope.get(field).and_then(Value::as_i64).ok_or_else(|| {
            Refusal::bad(format!(
                "can't parse BotCommandScope: Can't find field \"{field}\""
            ))
        })
    };
    let scope = match kind {
        "default" | "all_private_chats" | "all_group_chats" | "all_chat_administrators" => {
            kind.to_owned()
        }
        "chat" | "chat_administrators" | "chat_member" => {
            let chat = number("chat_id")?;
            if !state.rooms.contains_key(&chat) {
                return Err(Refusal::bad("chat not found"));
            }
            if kind == "chat_member" {
                format!("{kind} {chat} {}", number("user_id")?)
            } else {
                format!("{kind} {chat}")
            }
        }
        _ => {
            return Err(Refusal::bad(
                "can't parse BotCommandScope: Unsupported type specified",
            ));
        }
    };
    let language = params.text("language_code").unwrap_or_default();
    let two = language.len() == 2 && language.bytes().all(|byte| byte.is_ascii_lowercase());
    if language.is_empty() || two {
        Ok((scope, language))
    } else {
        Err(Refusal::bad("invalid language code specified"))
    }
}

pub(super) fn set(state: &mut State, params: &Params) -> Result<Value, Refusal> {
    let key = key(state, params)?;
    let given = params.json("commands", "commands")?;
    let list = given
        .as_ref()
        .and_then(Value::as_array)
        .ok_or_else(|| Refusal::bad("commands are not specified"))?;
    if list.len() > 100 {
        return Err(Refusal::bad("BOT_COMMANDS_TOO_MUCH"));
    }
    let mut commands = Vec::new();
    for item in list {
        let text = |field: &str| {
            item.get(field)
                .and_then(Value::as_str)
                .map(|text| text.trim().to_owned())
                .ok_or_else(|| {
                    Refusal::bad(format!(
                        "can't parse BotCommand: Can't find field \"{field}\""
                    ))
                })
        };
        let name = text("command")?.trim_start_matches('/').to_owned();
        let description = text("description")?;
        if name.is_empty() {
            return Err(Refusal::bad("command must be non-empty"));
        }
        if name.chars().count() > 32 {
            return Err(Refusal::bad("command length must not exceed 32"));
        }
        let fine = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        if !name.bytes().all(fine) {
            return Err(Refusal::bad("BOT_COMMAND_INVALID"));
        }
        if description.is_empty() {
            return Err(Refusal::bad("command description must be non-empty"));
        }
        if description.chars().count() > 256 {
            return Err(Refusal::bad(
                "command description length must not exceed 256",
            ));
        }
        commands.push(json!({ "command": name, "description": description }));
    }
    state.commands.insert(key, json!(commands));
    state.emit("menu", json!({}));
    Ok(json!(true))
}

pub(super) fn get(state: &mut State, params: &Params) -> Result<Value, Refusal> {
    let key = key(state, params)?;
    Ok(state.commands.get(&key).cloned().unwrap_or(json!([])))
}

pub(super) fn delete(state: &mut State, params: &Params) -> Result<Value, Refusal> {
    let key = key(state, params)?;
    state.commands.remove(&key);
    Ok(json!(true))
}

/// The menu as Telegram resolves it: the narrowest scope, the person's language first.
pub(super) fn menu(state: &State, chat: i64, user: i64, language: &str) -> Value {
    let room = state.rooms.get(&chat);
    let private = room.is_none_or(|room| room.kind == RoomKind::Private);
    let creator = room.and_then(|room| room.members.first().copied()) == Some(user);
    let mut scopes = vec![format!("chat_member {chat} {user}")];
    if creator && !private {
        scopes.push(format!("chat_administrators {chat}"));
    }
    scopes.push(format!("chat {chat}"));
    if creator && !private {
        scopes.push("all_chat_administrators".to_owned());
    }
    let all = if private {
        "all_private_chats"
    } else {
        "all_group_chats"
    };
    scopes.push(all.to_owned());
    scopes.push("default".to_owned());
    for scope in scopes {
        for language in [language, ""] {
            if let Some(menu) = state.commands.get(&(scope.clone(), language.to_owned())) {
                return menu.clone();
            }
        }
    }
    json!([])
}
