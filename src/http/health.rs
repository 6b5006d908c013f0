//! `/healthz` and `/readyz`.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use futures::future::BoxFuture;
use serde::Serialize;

use crate::store::Store;

/// Whether a part is alive right now.
pub type Alive = Arc<dyn Fn() -> bool + Send + Sync>;
/// Whether a part works; may take a while.
pub type Probe = Arc<dyn Fn() -> BoxFuture<'static, bool> + Send + Sync>;

/// How long an answer of the store holds, so that asking often does not write often.
const PROBE_HOLDS: Duration = Duration::from_secs(2);
/// Longest wait for the store.
const PROBE_LIMIT: Duration = Duration::from_secs(5);

/// What `/readyz` asks.
#[derive(Clone)]
pub struct Health {
    /// Whether updates come in: polls complete, or the webhook is set. Fed by polling alone, so that a
    /// quiet bot is ready.
    pub intake: Alive,
    /// Whether the model answered when it was last asked.
    pub model: Alive,
    /// Whether the store can be written.
    pub store: Probe,
}

impl Health {
    /// Asks `store` by writing a mark.
    #[must_use]
    pub fn new(store: &Store, intake: Alive, model: Alive) -> Self {
        let store = store.clone();
        Self {
            intake,
            model,
            store: Arc::new(move || {
                let store = store.clone();
                Box::pin(async move {
                    let probed = store.probe().await;
                    if let Err(error) = &probed {
                        tracing::warn!(%error, "the store cannot be written");
                    }
                    probed.is_ok()
                })
            }),
        }
    }
}

impl fmt::Debug for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Health").finish_non_exhaustive()
    }
}

/// A part's sign of life: good while its last word was good and, with a limit, not too old.
#[derive(Debug)]
pub struct Pulse {
    limit: Option<Duration>,
    last: Mutex<(Instant, bool)>,
}

impl Pulse {
    /// Good from the start. With a `limit`, a word older than that no longer counts.
    #[must_use]
    pub fn new(limit: Option<Duration>, now: Instant) -> Self {
        Self {
            limit,
            last: Mutex::new((now, true)),
        }
    }

    /// Takes the part's word at `now`.
    pub fn say(&self, good: bool, now: Instant) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = (now, good);
    }

    /// Whether the part is alive at `now`.
    #[must_use]
    pub fn alive(&self, now: Instant) -> bool {
        let (at, good) = *self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = self
            .limit
            .is_none_or(|limit| now.saturating_duration_since(at) <= limit);
        good && fresh
    }
}

#[derive(Clone)]
struct Shared {
    health: Health,
    /// The store's last word. Holding it also keeps many askers from probing at once.
    store: Arc<tokio::sync::Mutex<Option<(Instant, bool)>>>,
}

/// What a ready server answers, and an unready one with status 503.
#[derive(Serialize)]
struct Ready {
    ready: bool,
    intake: bool,
    model: bool,
    store: bool,
}

pub(super) fn router(health: Health) -> Router {
    let shared = Shared {
        health,
        store: Arc::default(),
    };
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .with_state(shared)
}

async fn ready(State(shared): State<Shared>) -> Response {
    let (intake, model) = ((shared.health.intake)(), (shared.health.model)());
    let store = shared.store_works().await;
    let ready = intake && model && store;
    let status = if ready {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    let body = Ready {
        ready,
        intake,
        model,
        store,
    };
    (status, Json(body)).into_response()
}

impl Shared {
    async fn store_works(&self) -> bool {
        let mut last = self.store.lock().await;
        if let Some((at, works)) = *last
            && at.elapsed() < PROBE_HOLDS
        {
            return works;
        }
        let works = tokio::time::timeout(PROBE_LIMIT, (self.health.store)())
            .await
            .unwrap_or(false);
        *last = Some((Instant::now(), works));
        works
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pulse_dies_of_silence_only_with_a_limit() {
        let now = Instant::now();
        let later = now + Duration::from_secs(91);
        let polling = Pulse::new(Some(Duration::from_secs(90)), now);
        let model = Pulse::new(None, now);
        assert!(polling.alive(now) && model.alive(later) && !polling.alive(later));
        polling.say(true, later);
        model.say(false, later);
        assert!(polling.alive(later) && !model.alive(later));
    }
}
