//! `GET /api/sessions/{id}`

use axum::Json;
use axum::extract::State;

use super::{Session, Shared};
use crate::http::{SessionDetail, SourceError};

/// One session with its live flow and its plan with evidence, as the panel shows it.
pub(super) async fn detail(
    State(shared): State<Shared>,
    Session(session): Session,
) -> Result<Json<SessionDetail>, SourceError> {
    shared.source.detail(session).await.map(Json)
}
