//! The durable inbox: an update is on disk before the server may forget it, and open until its effect is.
//!
//! Its rows are behind a trait, because this module does not know the store.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::durable::Durable;
use crate::domain::UpdateId;

/// Failures after which an update goes to the dead letters.
pub const ATTEMPTS_LIMIT: u32 = 5;
/// Ends of the program while an update was being handled, after which the update goes to the dead letters.
/// More than failures, because a program is also ended from outside.
pub const CUTS_LIMIT: u32 = 20;
/// Messages older than this at arrival are counted, not answered, in seconds.
pub const BACKLOG_SECONDS: i64 = 24 * 3600;

/// An update on disk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The update as the server sent it.
    pub raw: Value,
    /// How often handling it failed.
    pub attempts: u32,
    /// How often the program ended while it was being handled.
    #[serde(default)]
    pub cuts: u32,
    /// Unix seconds of its arrival.
    pub received_at: i64,
}

/// What a batch of raw updates held.
#[derive(Debug, Default, PartialEq)]
pub struct Accepted {
    /// New updates, now durable and open, in the order given.
    pub fresh: Vec<(UpdateId, Value)>,
    /// Messages that are too old to be answered.
    pub stale: u64,
    /// Updates that had been accepted before, or had no id.
    pub repeated: u64,
}

/// The inbox of one bot. What a call has changed is durable when its future is done, unless said otherwise;
/// a call that fails has changed nothing. `now` is Unix seconds.
pub trait Inbox: std::fmt::Debug + Send + Sync {
    /// The offset to ask the server for: every update below it is on disk. 0 = none yet.
    fn offset(&self) -> futures::future::BoxFuture<'_, u32>;

    /// Open updates in the order of their arrival.
    fn open_rows(&self) -> Durable<'_, Vec<(UpdateId, Row)>>;

    /// Keeps new updates and moves the offset past the batch. If it fails, the server must deliver the
    /// batch again.
    fn accept(&self, updates: Vec<Value>, now: i64) -> Durable<'_, Accepted>;

    /// Closes updates that have no effect. A crash may open them again.
    fn close<'a>(&'a self, updates: &'a [UpdateId], now: i64) -> Durable<'a, ()>;

    /// Counts a failure of an open update. Gives the update if it may be tried again; else it is among
    /// the dead letters now, or was closed before.
    fn failed<'a>(
        &'a self,
        update: UpdateId,
        reason: &'a str,
        now: i64,
    ) -> Durable<'a, Option<Value>>;

    /// Counts that open updates are handled once more after the program ended. What was cut too often goes
    /// to the dead letters.
    fn cut<'a>(&'a self, updates: &'a [UpdateId], now: i64) -> Durable<'a, ()>;

    /// An update that is still open.
    fn still_open(&self, update: UpdateId) -> Durable<'_, Option<Value>>;

    /// Moves an update to the dead letters.
    fn bury<'a>(
        &'a self,
        update: UpdateId,
        raw: Value,
        reason: &'a str,
        now: i64,
    ) -> Durable<'a, ()>;
}

/// The id of a raw update; without one it cannot be kept.
#[must_use]
pub fn update_id(raw: &Value) -> Option<UpdateId> {
    let id = raw.get("update_id")?.as_u64()?;
    u32::try_from(id).ok().map(UpdateId)
}

/// Whether a message is too old to be answered at `now` (Unix seconds). A migration counts whenever it
/// comes.
#[must_use]
pub fn is_stale(raw: &Value, now: i64) -> bool {
    let time = |pointer: &str| raw.pointer(pointer).and_then(Value::as_i64);
    let moved = [
        "/message/migrate_to_chat_id",
        "/message/migrate_from_chat_id",
    ];
    let sent = time("/message/date").or_else(|| time("/edited_message/edit_date"));
    moved.iter().all(|pointer| raw.pointer(pointer).is_none())
        && sent.is_some_and(|sent| now.saturating_sub(sent) > BACKLOG_SECONDS)
}
