//! `/api`: one file for each endpoint. All of it only reads.

mod detail;
mod events;
mod export;
mod plan;
mod sessions;
mod usage;

use std::sync::Arc;

use axum::Router;
use axum::extract::FromRequestParts;
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tower_http::timeout::TimeoutLayer;

use crate::domain::SessionId;
use crate::store::Store;

use super::guard::refuse;
use super::{ANSWER_LIMIT, Events, Source, SourceError};

/// Readers of the event stream at one time.
const STREAMS: usize = 32;
/// Characters of a session id.
const ID_LIMIT: usize = 64;

/// What the endpoints share.
#[derive(Clone)]
pub(super) struct Shared {
    source: Arc<dyn Source>,
    events: Events,
    store: Store,
    cancel: CancellationToken,
    streams: Arc<Semaphore>,
    /// One export at a time.
    exports: Arc<Semaphore>,
}

impl Shared {
    pub(super) fn new(
        source: Arc<dyn Source>,
        events: Events,
        store: Store,
        cancel: CancellationToken,
    ) -> Self {
        Self {
            source,
            events,
            store,
            cancel,
            streams: Arc::new(Semaphore::new(STREAMS)),
            exports: Arc::new(Semaphore::new(1)),
        }
    }
}

pub(super) fn router(shared: Shared) -> Router {
    let limit = TimeoutLayer::with_status_code(StatusCode::SERVICE_UNAVAILABLE, ANSWER_LIMIT);
    let short = Router::new()
        .route("/api/sessions", get(sessions::sessions))
        .route("/api/sessions/{id}", get(detail::detail))
        .route("/api/sessions/{id}/plan", get(plan::plan))
        .route("/api/usage", get(usage::usage))
        .route("/api/{*path}", get(|| async { unknown() }))
        .layer(limit);
    Router::new()
        .route("/api/events", get(events::events))
        .route("/api/export", get(export::export))
        .merge(short)
        .with_state(shared)
}

fn unknown() -> Response {
    refuse(StatusCode::NOT_FOUND, "not_found")
}

/// The session of the path, checked for form, so that nothing odd reaches a file name or a log.
struct Session(SessionId);

impl<S: Send + Sync> FromRequestParts<S> for Session {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Response> {
        let axum::extract::Path(id) =
            axum::extract::Path::<String>::from_request_parts(parts, state)
                .await
                .map_err(|_| unknown())?;
        let clean = id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if clean && !id.is_empty() && id.len() <= ID_LIMIT {
            Ok(Self(SessionId(id)))
        } else {
            Err(unknown())
        }
    }
}

impl IntoResponse for SourceError {
    fn into_response(self) -> Response {
        match self {
            Self::UnknownSession => unknown(),
            Self::Store(error) => failed(&error),
            Self::Failed(reason) => failed(&reason),
        }
    }
}

/// The reason goes to the log alone.
fn failed(error: &dyn std::fmt::Display) -> Response {
    tracing::error!(%error, "a request could not be answered");
    refuse(StatusCode::SERVICE_UNAVAILABLE, "unavailable")
}
