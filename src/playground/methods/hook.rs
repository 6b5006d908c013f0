//! Setting the webhook; posting to it is in `webhook`.

use serde_json::{Value, json};

use crate::playground::params::Params;
use crate::playground::refusal::Refusal;
use crate::playground::state::{Hook, State};

/// Remembers which kinds of updates the bot wants, if it says so.
pub(in crate::playground) fn allow(state: &mut State, params: &Params) -> Result<(), Refusal> {
    if let Some(kinds) = params.json("allowed_updates", "allowed_updates")? {
        let kinds = serde_json::from_value(kinds)
            .map_err(|_| Refusal::bad("can't parse allowed_updates: wrong type"))?;
        state.allowed = Some(kinds);
    }
    Ok(())
}

pub(super) fn set(state: &mut State, params: &Params) -> Result<Value, Refusal> {
    let url = params.text("url").unwrap_or_default();
    let secret = params
        .text("secret_token")
        .filter(|secret| !secret.is_empty());
    if let Some(secret) = &secret {
        if secret.len() > 256 {
            return Err(Refusal::bad("secret token is too long"));
        }
        let fine = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        if !secret.bytes().all(fine) {
            return Err(Refusal::bad("secret token contains unallowed characters"));
        }
    }
    // Plain HTTP is taken for this machine only, because nothing here can have a certificate.
    let local = url.starts_with("http://127.0.0.1") || url.starts_with("http://localhost");
    if !url.is_empty() && !url.starts_with("https://") && !local {
        return Err(Refusal::bad(
            "bad webhook: An HTTPS URL must be provided for webhook",
        ));
    }
    allow(state, params)?;
    forget(state, params);
    state.poll += 1;
    state.hook = (!url.is_empty()).then(|| Hook {
        url,
        secret,
        ..Hook::default()
    });
    Ok(json!(true))
}

fn forget(state: &mut State, params: &Params) {
    if params.flag("drop_pending_updates") {
        state.queue.clear();
    }
}

pub(super) fn delete(state: &mut State, params: &Params) -> Result<Value, Refusal> {
    forget(state, params);
    state.hook = None;
    Ok(json!(true))
}

pub(super) fn info(state: &mut State, _params: &Params) -> Result<Value, Refusal> {
    let hook = state.hook.clone().unwrap_or_default();
    let mut body = json!({
        "url": hook.url,
        "has_custom_certificate": false,
        "pending_update_count": state.queue.len(),
        "max_connections": 40,
    });
    if let (Some(error), Some(map)) = (hook.last_error, body.as_object_mut()) {
        map.insert("last_error_message".to_owned(), json!(error));
        map.insert(
            "last_error_date".to_owned(),
            json!(chrono::Utc::now().timestamp()),
        );
    }
    Ok(body)
}
