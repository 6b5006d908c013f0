//! Calls around polling: who the bot is, its command menus, its webhook.

use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{UNAUTHORIZED_LIMIT, backoff, wait_for};
use crate::domain::{Fault, UserId};
use crate::telegram::api::{ApiClient, ApiFault};
use crate::telegram::command;
use crate::telegram::decode::Me;
use crate::telegram::repair::ALLOWED;

/// Asks the server who this bot is, until it answers.
///
/// # Errors
/// If the token is refused, or `cancel` came first.
pub async fn who_am_i(api: &ApiClient, cancel: &CancellationToken) -> Result<Me, Fault> {
    let mut waits = backoff();
    let mut refused = 0;
    loop {
        let fault = match cancel
            .run_until_cancelled(api.call("getMe", &json!({})))
            .await
        {
            None => return Err(Fault::user("access-stopped", &[])),
            Some(Ok(me)) => match (
                me.get("id").and_then(Value::as_i64),
                me.get("username").and_then(Value::as_str),
            ) {
                (Some(id), Some(username)) => {
                    return Ok(Me {
                        id: UserId(id),
                        username: username.to_owned(),
                    });
                }
                (_, _) => ApiFault::Server(200),
            },
            Some(Err(fault)) => fault,
        };
        refused = if fault == ApiFault::Unauthorized {
            refused + 1
        } else {
            0
        };
        if refused >= UNAUTHORIZED_LIMIT {
            return Err(Fault::user("access-token-refused", &[]));
        }
        tracing::warn!(error = %fault, "getMe failed");
        let wait = wait_for(&fault, &mut waits);
        if cancel
            .run_until_cancelled(tokio::time::sleep(wait))
            .await
            .is_none()
        {
            return Err(Fault::user("access-stopped", &[]));
        }
    }
}

/// Registers the command menus. Never fatal, and never clears a menu first.
pub async fn register_commands(api: &ApiClient, default: &str, languages: &[&str]) {
    for body in command::registrations(default, languages) {
        if let Err(fault) = api.call("setMyCommands", &body).await {
            let language = body
                .get("language_code")
                .and_then(Value::as_str)
                .unwrap_or("");
            tracing::warn!(error = %fault, language, "the command menu was not registered");
        }
    }
}

/// Sets the webhook with its secret and the kinds of updates that are read.
///
/// # Errors
/// See [`ApiFault`].
pub async fn set_webhook(
    api: &ApiClient,
    url: &str,
    secret: &SecretString,
) -> Result<(), ApiFault> {
    let body =
        json!({"url": url, "secret_token": secret.expose_secret(), "allowed_updates": ALLOWED});
    api.call("setWebhook", &body).await.map(|_| ())
}
