//! Names of plan files: fixed around a session id that is a UUID, so that none can point elsewhere.

use chrono::{DateTime, NaiveDateTime, Utc};

use crate::domain::SessionId;

/// A lower-case UUID with hyphens.
pub(super) fn is_session(id: &str) -> bool {
    uuid::Uuid::try_parse(id).is_ok_and(|parsed| parsed.hyphenated().to_string() == id)
}

/// Name of a live file.
pub(super) fn live(session: &SessionId, extension: &str) -> String {
    format!(".greenlight_plan_{session}.{extension}")
}

/// Name of a live file of the older program.
pub(super) fn legacy(session: &SessionId, extension: &str) -> String {
    format!(".opencrabs_plan_{session}.{extension}")
}

/// Stem of an archived plan; `n` from 1 stands behind a name that was taken.
pub(super) fn archived(session: &SessionId, now: DateTime<Utc>, n: u32) -> String {
    let stem = format!("greenlight_plan_{session}-{}", stamp(now));
    if n == 0 { stem } else { format!("{stem}-{n}") }
}

/// `YYYYMMDD-HHMMSS` in UTC.
pub(super) fn stamp(now: DateTime<Utc>) -> String {
    now.format("%Y%m%d-%H%M%S").to_string()
}

/// Session, time and number of an archived sidecar's stem.
pub(super) fn parse_archived(stem: &str) -> Option<(SessionId, DateTime<Utc>, u32)> {
    let rest = stem.strip_prefix("greenlight_plan_")?;
    let session = rest.get(..36).filter(|id| is_session(id))?;
    let rest = rest.get(36..)?.strip_prefix('-')?;
    let time = NaiveDateTime::parse_from_str(rest.get(..15)?, "%Y%m%d-%H%M%S").ok()?;
    let n = match rest.get(15..)? {
        "" => 0,
        tail => tail.strip_prefix('-')?.parse().ok()?,
    };
    Some((SessionId::from(session), time.and_utc(), n))
}
