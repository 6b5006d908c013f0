//! `GET /api/events`: server-sent events. `Last-Event-ID` continues where a reader left off; an event
//! named `reset` tells that some are lost and everything must be read anew.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event as Sent, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::{StreamExt, stream};
use serde_json::json;
use tokio_stream::wrappers::BroadcastStream;

use super::Shared;
use crate::http::guard::refuse;
use crate::http::{Event, SCHEMA};

const LAST_SEEN: &str = "last-event-id";
/// Below the idle limits of common proxies.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The event stream, until the reader leaves or the server stops.
pub(super) async fn events(State(shared): State<Shared>, headers: HeaderMap) -> Response {
    let Ok(place) = Arc::clone(&shared.streams).try_acquire_owned() else {
        return refuse(StatusCode::SERVICE_UNAVAILABLE, "too_many_readers");
    };
    let after = headers
        .get(LAST_SEEN)
        .and_then(|id| id.to_str().ok()?.parse().ok());
    let subscription = shared.events.subscribe(after);
    let first = subscription.gap.then(reset);
    let backlog = subscription.backlog.into_iter().map(|event| sent(&event));
    let live = BroadcastStream::new(subscription.live)
        .map(|event| event.map_or_else(|_| reset(), |event| sent(&event)));
    let all = stream::iter(first.into_iter().chain(backlog))
        .chain(live)
        .map(move |event| {
            // Kept as long as the stream, so that the place is free when the reader leaves.
            let _taken = &place;
            Ok::<_, Infallible>(event)
        })
        .take_until(shared.cancel.cancelled_owned());
    Sse::new(all)
        .keep_alive(KeepAlive::new().interval(KEEP_ALIVE))
        .into_response()
}

fn reset() -> Sent {
    Sent::default()
        .event("reset")
        .data(json!({ "schema": SCHEMA }).to_string())
}

fn sent(event: &Event) -> Sent {
    match serde_json::to_string(event) {
        Ok(text) => Sent::default().id(event.id.to_string()).data(text),
        Err(error) => {
            tracing::error!(%error, "an event could not be written");
            reset()
        }
    }
}
