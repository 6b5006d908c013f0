//! `GET /api/sessions/{id}/plan`

use axum::Json;
use axum::extract::State;
use serde::Serialize;

use super::{Session, Shared};
use crate::domain::SessionId;
use crate::http::{PlanStep, SourceError};

/// Without a plan `found` is false, `version` 0 and `steps` empty; nothing is ever `null`.
#[derive(Serialize)]
pub(super) struct Answer {
    session_id: SessionId,
    version: u64,
    found: bool,
    steps: Vec<PlanStep>,
}

/// The checklist of a session.
pub(super) async fn plan(
    State(shared): State<Shared>,
    Session(session): Session,
) -> Result<Json<Answer>, SourceError> {
    let plan = shared.source.plan(session.clone()).await?;
    let found = plan.is_some();
    let (version, steps) = plan.map_or((0, Vec::new()), |plan| (plan.version, plan.steps));
    Ok(Json(Answer {
        session_id: session,
        version,
        found,
        steps,
    }))
}
