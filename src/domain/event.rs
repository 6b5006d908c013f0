//! Events for people and programs that watch from outside.

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::{SessionId, TurnId};

/// Schema of the events, named in every one.
pub const EVENT_SCHEMA: &str = "greenlight.event/v1";

/// One event: counts and versions only, never words of a person or a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HostEvent {
    /// Always [`EVENT_SCHEMA`].
    pub schema: &'static str,
    /// Name, such as `plan_updated`.
    #[serde(rename = "type")]
    pub name: &'static str,
    /// Session it is about.
    pub session: SessionId,
    /// Newest turn of that session.
    pub turn: TurnId,
    /// When.
    pub at: DateTime<Utc>,
    /// What else it says.
    pub data: serde_json::Value,
}
