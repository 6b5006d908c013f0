//! `GET /api/usage`

use axum::Json;
use axum::extract::State;

use super::Shared;
use crate::http::{SourceError, UsageReport};

/// What was used since the store was made, and today.
pub(super) async fn usage(State(shared): State<Shared>) -> Result<Json<UsageReport>, SourceError> {
    shared.source.usage().await.map(Json)
}
