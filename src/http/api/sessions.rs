//! `GET /api/sessions?limit=`

use axum::Json;
use axum::extract::{Query, State};
use serde::{Deserialize, Serialize};

use super::Shared;
use crate::http::{SessionRow, SourceError};

const DEFAULT: usize = 100;
const MOST: usize = 500;

#[derive(Deserialize)]
pub(super) struct Wanted {
    limit: Option<usize>,
}

#[derive(Serialize)]
pub(super) struct Sessions {
    sessions: Vec<SessionRow>,
}

/// Sessions by last use.
pub(super) async fn sessions(
    State(shared): State<Shared>,
    Query(wanted): Query<Wanted>,
) -> Result<Json<Sessions>, SourceError> {
    let limit = wanted.limit.unwrap_or(DEFAULT).clamp(1, MOST);
    let mut sessions = shared.source.sessions(limit).await?;
    sessions.truncate(limit);
    Ok(Json(Sessions { sessions }))
}
