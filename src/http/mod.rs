//! Health, metrics, REST, webhook intake and the read-only panel on one port.
//!
//! | path | who may | what |
//! | --- | --- | --- |
//! | `GET /healthz` | anyone | the process answers |
//! | `GET /readyz` | anyone | intake alive, model reachable lately, store writable |
//! | `POST /telegram/<path>` | Telegram's secret | updates |
//! | `GET /metrics` | this machine's names | Prometheus text |
//! | `GET /` and `/panel/…` | this machine's names | the panel, without any data |
//! | `GET /api/…` | bearer token | JSON, events, export |
//!
//! Nothing here changes a session: every endpoint but the webhook answers GET alone.

mod api;
mod event;
mod guard;
mod health;
mod panel;
mod rate;
mod source;
mod views;
mod webhook;

use std::fmt;
use std::future::IntoFuture;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use axum::routing::get;
use axum::{Router, middleware};
use secrecy::SecretString;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::timeout::TimeoutLayer;

use crate::store::Store;

pub use event::{Event, EventBody, Events, SCHEMA, Subscription};
pub use health::{Alive, Health, Probe, Pulse};
pub use panel::{PANEL_KEYS, Translate, Words};
pub use source::{Source, SourceError};
pub use views::{
    CallState, EvidenceLine, EvidenceState, Face, FlowLine, LineKind, LiveFlow, ModelUsage,
    PlanDetail, PlanStep, PlanSummary, ProseSection, Row, RowMark, SessionDetail, SessionPlan,
    SessionRow, StepStatus, Totals, UsageReport,
};
pub use webhook::WebhookIntake;

/// Longest time for an answer that is no stream.
const ANSWER_LIMIT: Duration = Duration::from_secs(20);
/// Longest time that open requests get to finish once the server must stop.
const DRAIN: Duration = Duration::from_secs(5);

/// Everything the server needs from the rest of the program.
pub struct HttpParts {
    /// What the interface shows.
    pub source: Arc<dyn Source>,
    /// The event stream.
    pub events: Events,
    /// What `/readyz` asks.
    pub health: Health,
    /// The store, for exports while the bot runs.
    pub store: Store,
    /// The metrics as Prometheus text.
    pub metrics: Arc<dyn Fn() -> String + Send + Sync>,
    /// Where webhook calls go; `None` while updates are polled.
    pub webhook: Option<Arc<dyn WebhookIntake>>,
    /// Bearer token of `/api`. Without one `/api` is closed.
    pub token: Option<SecretString>,
    /// Host names under which the panel may be opened besides this machine's own.
    pub hosts: Vec<String>,
    /// The panel's sentences.
    pub words: Words,
}

impl fmt::Debug for HttpParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpParts")
            .field("webhook", &self.webhook.is_some())
            .field("token", &self.token.is_some())
            .field("hosts", &self.hosts)
            .finish_non_exhaustive()
    }
}

/// Serves until `cancel`; then open streams end at once and other requests get 5 seconds.
///
/// # Errors
/// If the listener fails for good.
pub async fn serve(
    listener: TcpListener,
    parts: HttpParts,
    cancel: CancellationToken,
) -> io::Result<()> {
    let bind = listener.local_addr()?;
    let app = router(parts, bind, cancel.clone());
    let server = axum::serve(
        listener,
        app.into_make_service_with_connect_info::<SocketAddr>(),
    )
    .with_graceful_shutdown(cancel.clone().cancelled_owned());
    tokio::select! {
        done = server.into_future() => done,
        () = overdue(cancel) => {
            tracing::warn!("requests were cut off by the stop");
            Ok(())
        }
    }
}

async fn overdue(cancel: CancellationToken) {
    cancel.cancelled().await;
    tokio::time::sleep(DRAIN).await;
}

fn router(parts: HttpParts, bind: SocketAddr, cancel: CancellationToken) -> Router {
    let hosts = guard::Hosts::new(bind, parts.hosts);
    let door = guard::Door::new(parts.token);
    let limit = || TimeoutLayer::with_status_code(StatusCode::SERVICE_UNAVAILABLE, ANSWER_LIMIT);

    let metrics = parts.metrics;
    let local = Router::new()
        .route("/metrics", get(move || async move { metrics() }))
        .merge(panel::router(parts.words))
        .merge(
            api::router(api::Shared::new(
                parts.source,
                parts.events,
                parts.store,
                cancel,
            ))
            .route_layer(middleware::from_fn_with_state(door, guard::bearer)),
        )
        .route_layer(middleware::from_fn_with_state(hosts, guard::own_host));
    Router::new()
        .merge(health::router(parts.health).layer(limit()))
        .merge(webhook::router(parts.webhook).layer(limit()))
        .merge(local)
        .fallback(|| async { guard::refuse(StatusCode::NOT_FOUND, "not_found") })
        .layer(CatchPanicLayer::new())
        .layer(middleware::map_response(guard::headers))
        .layer(middleware::from_fn(guard::count))
}
