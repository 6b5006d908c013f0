//! Tables and atomic batches.

use serde::Serialize;

use super::StoreError;

/// A table: the first byte of every key, so that one batch is atomic across tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Table {
    /// Schema version and other single values.
    Meta = 0,
    /// Session records by chat key.
    Sessions = 1,
    /// Transcript events: session, sequence number.
    Transcript = 2,
    /// Open updates: bot id, update id.
    Inbox = 3,
    /// Tombstones of closed updates, for dedup.
    InboxDone = 4,
    /// Updates given up on.
    DeadLetters = 5,
    /// Inputs queued in a session.
    Queue = 6,
    /// Sends whose outcome is not known yet, and long waits.
    Outbox = 7,
    /// Parts of final answers: turn, index.
    Ledger = 8,
    /// Approval cards and questions.
    Approvals = 9,
    /// What a message's keyboard refers to.
    Keyboards = 10,
    /// Goals by session.
    Goals = 11,
    /// Settings by session.
    Settings = 12,
    /// Owner, claimed rights, refusals told.
    Access = 13,
    /// Token counts by day and session.
    Usage = 14,
    /// Plan revisions shown, last seen, kept for reading.
    Revisions = 15,
    /// Flow messages of turns by chat key.
    Turns = 16,
    /// Turns that run or are being delivered: session, turn.
    Running = 17,
    /// Sessions that were put aside by `/new`, by session id.
    Archived = 18,
    /// Commands that wait for the end of a turn: session, update.
    Later = 19,
    /// Last plan messages by session, for a live plan whose file gets lost.
    PlanMessages = 20,
    /// Messages whose buttons are to be taken off: session, update of the tap.
    Strips = 21,
}

/// Changes that become durable together or not at all.
#[derive(Debug, Default)]
pub struct Batch {
    pub(super) changes: Vec<(Vec<u8>, Option<Vec<u8>>)>,
}

impl Batch {
    /// An empty batch.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts a value.
    ///
    /// # Errors
    /// If the value does not encode.
    pub fn put<T: Serialize>(
        &mut self,
        table: Table,
        key: &[u8],
        value: &T,
    ) -> Result<&mut Self, StoreError> {
        let value =
            serde_json::to_vec(value).map_err(|error| StoreError::Decode(error.to_string()))?;
        self.changes.push((full_key(table, key), Some(value)));
        Ok(self)
    }

    /// Deletes a value; absent is fine.
    pub fn delete(&mut self, table: Table, key: &[u8]) -> &mut Self {
        self.changes.push((full_key(table, key), None));
        self
    }

    /// Whether nothing would change.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }
}

pub(super) fn full_key(table: Table, key: &[u8]) -> Vec<u8> {
    let mut full = Vec::with_capacity(key.len() + 1);
    full.push(table as u8);
    full.extend_from_slice(key);
    full
}
