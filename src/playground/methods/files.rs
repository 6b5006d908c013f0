//! Files to be fetched by the bot.

use serde_json::{Value, json};

use crate::playground::params::Params;
use crate::playground::refusal::Refusal;
use crate::playground::state::State;

const FETCH_LIMIT: u64 = 20 << 20;

pub(super) fn get(state: &mut State, params: &Params) -> Result<Value, Refusal> {
    let id = params
        .text("file_id")
        .ok_or_else(|| Refusal::bad("file_id not specified"))?;
    let file = state
        .files
        .get(&id)
        .ok_or_else(|| Refusal::bad("wrong file_id or the file is temporarily unavailable"))?;
    if file.size > FETCH_LIMIT {
        return Err(Refusal::state(400, "file is too big"));
    }
    Ok(json!({
        "file_id": id,
        "file_unique_id": format!("u{id}"),
        "file_size": file.size,
        "file_path": format!("{}s/{id}", file.kind),
    }))
}
