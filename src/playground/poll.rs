//! How updates reach the bot: long polling and the webhook.

use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::methods;
use super::params::Params;
use super::refusal::Refusal;
use super::state::{State, update_json};
use super::world::World;

const OTHER: &str =
    "terminated by other getUpdates request; make sure that only one bot instance is running";
const HOOKED: &str = "can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first";
const POST_TIMEOUT: Duration = Duration::from_secs(60);

/// `getUpdates`: confirms by offset alone, returns at once when there is something, and gives way to a
/// newer request.
pub(super) async fn updates(world: &World, params: &Params) -> Result<Value, Refusal> {
    let offset = params.int("offset")?.unwrap_or_default();
    let limit = usize::try_from(params.int("limit")?.unwrap_or(100).clamp(1, 100)).unwrap_or(100);
    let timeout = u64::try_from(params.int("timeout")?.unwrap_or(0).clamp(0, 50)).unwrap_or(0);
    let mut changes = world.watch();
    let mine = world.with(|state| {
        if state.hook.is_some() {
            return Err(Refusal::new(409, HOOKED));
        }
        methods::allow(state, params)?;
        confirm(state, offset);
        state.poll += 1;
        state.last_look = timeout == 0;
        Ok(state.poll)
    })?;
    let deadline = Instant::now() + Duration::from_secs(timeout);
    loop {
        changes.borrow_and_update();
        if let Some(batch) = collect(world, mine, limit, Instant::now() >= deadline)? {
            return Ok(batch);
        }
        // Running out of time only means one more look.
        tokio::time::timeout_at(deadline, changes.changed())
            .await
            .ok();
    }
}

fn confirm(state: &mut State, offset: i64) {
    if offset > 0 {
        state.queue.retain(|update| update.id >= offset);
    } else if offset < 0 {
        let keep = usize::try_from(offset.unsigned_abs()).unwrap_or(usize::MAX);
        let surplus = state.queue.len().saturating_sub(keep);
        state.queue.drain(..surplus);
    }
}

fn collect(world: &World, mine: u64, limit: usize, last: bool) -> Result<Option<Value>, Refusal> {
    let mut state = world.lock();
    if state.poll != mine {
        // A bot that stops ends its long poll by a last look, and hears nothing of this.
        let refusal = if state.last_look {
            Refusal::state(409, OTHER)
        } else {
            Refusal::new(409, OTHER)
        };
        return Err(refusal);
    }
    let now = Instant::now();
    state.queue.retain(|update| update.expires > now);
    let batch: Vec<Value> = state.queue.iter().take(limit).map(update_json).collect();
    Ok((last || !batch.is_empty()).then_some(Value::Array(batch)))
}

/// Posts updates to the webhook, one after the other, until the server stops.
pub(super) async fn post_to_hook(world: World, stop: CancellationToken) {
    let client = reqwest::Client::new();
    let mut changes = world.watch();
    loop {
        changes.borrow_and_update();
        let next = {
            let state = world.lock();
            state.hook.clone().zip(state.queue.front().cloned())
        };
        let Some((hook, update)) = next else {
            tokio::select! {
                () = stop.cancelled() => return,
                changed = changes.changed() => if changed.is_err() { return },
            }
            continue;
        };
        let mut request = client
            .post(&hook.url)
            .timeout(POST_TIMEOUT)
            .json(&update_json(&update));
        if let Some(secret) = &hook.secret {
            request = request.header("X-Telegram-Bot-Api-Secret-Token", secret);
        }
        let reply = tokio::select! {
            () = stop.cancelled() => return,
            reply = request.send() => reply,
        };
        let error = match reply {
            Ok(reply) if reply.status().is_success() => None,
            Ok(reply) => Some(format!(
                "Wrong response from the webhook: {}",
                reply.status()
            )),
            Err(_) => Some("Connection failed".to_owned()),
        };
        let failures = world.with(|state| settle(state, update.id, error));
        // The first retry is immediate, then the pauses double up to a minute.
        if failures > 1 {
            let pause = Duration::from_secs(2_u64.pow(failures.min(6) - 1).min(60));
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(pause) => {}
            }
        }
    }
}

fn settle(state: &mut State, update: i64, error: Option<String>) -> u32 {
    if error.is_none() {
        state.queue.retain(|queued| queued.id != update);
    }
    let Some(hook) = &mut state.hook else {
        return 0;
    };
    hook.failures = if error.is_some() {
        hook.failures + 1
    } else {
        0
    };
    if error.is_some() {
        hook.last_error = error;
    }
    hook.failures
}
