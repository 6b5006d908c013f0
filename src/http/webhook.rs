//! `POST /telegram/<path>`: updates that Telegram brings.

use std::sync::Arc;

use axum::Router;
use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use futures::future::BoxFuture;

use crate::telegram::durable::DurableError;

use super::guard::refuse;

/// Header that carries the secret. Source: Bot API, `setWebhook`.
const SECRET_HEADER: &str = "x-telegram-bot-api-secret-token";
/// Bytes of one update; far above what Telegram sends, as large as the proxy examples let through.
const BODY_LIMIT: usize = 2 * 1024 * 1024;

/// Where webhook calls go.
pub trait WebhookIntake: Send + Sync {
    /// Whether `secret` is the webhook's, compared in constant time.
    fn secret_matches(&self, secret: &[u8]) -> bool;

    /// Takes the body of a call. Once it is done, the update is durable (or was none) and the call is
    /// answered with success.
    ///
    /// # Errors
    /// If the store fails; the call is then refused, so that Telegram brings it again.
    fn accept(&self, body: Vec<u8>) -> BoxFuture<'static, Result<(), DurableError>>;
}

type Intake = Option<Arc<dyn WebhookIntake>>;

pub(super) fn router(intake: Intake) -> Router {
    Router::new()
        .route("/telegram/{*path}", post(take))
        .with_state(intake)
}

async fn take(State(intake): State<Intake>, request: Request) -> Response {
    let Some(intake) = intake else {
        return refuse(StatusCode::NOT_FOUND, "no_webhook");
    };
    // Before a byte of the body is read.
    let known = request
        .headers()
        .get(SECRET_HEADER)
        .is_some_and(|secret| intake.secret_matches(secret.as_bytes()));
    if !known {
        return refuse(StatusCode::UNAUTHORIZED, "unauthorized");
    }
    let Ok(body) = to_bytes(request.into_body(), BODY_LIMIT).await else {
        return refuse(StatusCode::PAYLOAD_TOO_LARGE, "too_large");
    };
    // In a task of its own, so that a cut connection does not stop it half-way.
    match tokio::spawn(intake.accept(body.to_vec())).await {
        Ok(Ok(())) => StatusCode::OK.into_response(),
        Ok(Err(error)) => {
            tracing::warn!(%error, "a webhook call could not be stored");
            refuse(StatusCode::SERVICE_UNAVAILABLE, "not_stored")
        }
        Err(error) => {
            tracing::error!(%error, "taking a webhook call failed");
            refuse(StatusCode::SERVICE_UNAVAILABLE, "not_stored")
        }
    }
}
