//! Deletion.

use serde_json::{Value, json};

use super::target;
use crate::playground::model::{RoomKind, Standing};
use crate::playground::params::Params;
use crate::playground::refusal::Refusal;
use crate::playground::state::State;

const AGE_LIMIT: i64 = 48 * 3600;

fn remove(state: &mut State, chat: i64, id: i32) -> Result<(), Refusal> {
    let post = state
        .post(chat, id)
        .ok_or_else(|| Refusal::bad("message to delete not found"))?;
    let room = state.rooms.get(&chat);
    let may = post.from_bot
        || room.is_some_and(|room| room.kind == RoomKind::Private || room.bot == Standing::Admin);
    let old = chrono::Utc::now().timestamp() - post.date > AGE_LIMIT;
    if !may || old {
        return Err(Refusal::bad("message can't be deleted"));
    }
    state.change(chat, id, |post| post.deleted = true);
    Ok(())
}

pub(super) fn one(state: &mut State, params: &Params) -> Result<Value, Refusal> {
    let chat = target::known(state, params)?;
    let id = params
        .int("message_id")?
        .and_then(|id| i32::try_from(id).ok())
        .ok_or_else(|| Refusal::bad("message identifier is not specified"))?;
    remove(state, chat, id)?;
    Ok(json!(true))
}

pub(super) fn many(state: &mut State, params: &Params) -> Result<Value, Refusal> {
    let chat = target::known(state, params)?;
    let ids = params.json("message_ids", "message identifiers")?;
    let ids: Vec<i32> = ids
        .and_then(|ids| serde_json::from_value(ids).ok())
        .filter(|ids: &Vec<i32>| !ids.is_empty())
        .ok_or_else(|| Refusal::bad("message identifiers are not specified"))?;
    if ids.len() > 100 {
        return Err(Refusal::bad("too many message identifiers specified"));
    }
    for id in ids {
        // Messages that are not there or not deletable are skipped.
        remove(state, chat, id).ok();
    }
    Ok(json!(true))
}
