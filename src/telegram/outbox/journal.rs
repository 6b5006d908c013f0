//! The durable rows of the outbox, behind a trait, because this module does not know the store.

use std::collections::HashMap;
use std::sync::Mutex;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::domain::{ChatId, MessageId};

use super::types::Send;

/// Names one message that is to be sent once, such as a part of a turn's answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LedgerKey {
    /// What it belongs to, such as the session and turn; at most 200 bytes, no NUL.
    pub scope: String,
    /// Number of the part, from 0.
    pub index: u32,
}

/// What is known about such a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerRow {
    /// SHA-256 (hex) of the content.
    pub hash: String,
    /// Its message, once Telegram has accepted it.
    pub message: Option<MessageId>,
    /// Whether it was sent again after an unknown outcome.
    pub retried: bool,
    /// Unix seconds of its last attempt; rows that are too old to matter are forgotten.
    #[serde(default)]
    pub at: i64,
}

/// A send that waits out a long refusal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parked {
    /// The send.
    pub send: Send,
    /// Unix seconds when it was first asked for; too old ones are dropped.
    pub born: i64,
}

/// A row could not be read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the outbox journal failed: {0}")]
pub struct JournalError(pub String);

/// Result of a journal call.
type Answer<'a, T> = BoxFuture<'a, Result<T, JournalError>>;

/// Durable rows. Every write is durable when its future is done.
pub trait Journal: std::marker::Send + Sync {
    /// The ledger row of a message.
    fn ledger<'a>(&'a self, key: &'a LedgerKey) -> Answer<'a, Option<LedgerRow>>;
    /// Writes, or with `None` deletes, the ledger row of a message.
    fn set_ledger<'a>(&'a self, key: &'a LedgerKey, row: Option<LedgerRow>) -> Answer<'a, ()>;
    /// Chats that are closed for long, with the Unix time in seconds when they open.
    fn waits(&self) -> Answer<'_, Vec<(ChatId, i64)>>;
    /// Writes, or with `None` deletes, when a chat opens.
    fn set_wait(&self, chat: ChatId, until: Option<i64>) -> Answer<'_, ()>;
    /// Sends that wait out a long refusal.
    fn parked(&self) -> Answer<'_, Vec<Parked>>;
    /// Writes, or with `None` deletes, a parked send.
    fn set_parked<'a>(&'a self, key: &'a LedgerKey, row: Option<Parked>) -> Answer<'a, ()>;
}

/// Rows in memory: for tests, and for a playground that keeps nothing.
#[derive(Debug, Default)]
pub struct MemoryJournal {
    rows: Mutex<Rows>,
}

#[derive(Debug, Default)]
struct Rows {
    ledger: HashMap<LedgerKey, LedgerRow>,
    waits: HashMap<ChatId, i64>,
    parked: HashMap<LedgerKey, Parked>,
}

impl MemoryJournal {
    fn with<'a, T: std::marker::Send + 'a>(
        &'a self,
        work: impl FnOnce(&mut Rows) -> T,
    ) -> Answer<'a, T> {
        let result = self
            .rows
            .lock()
            .map(|mut rows| work(&mut rows))
            .map_err(|error| JournalError(error.to_string()));
        Box::pin(std::future::ready(result))
    }
}

fn put<K: Eq + std::hash::Hash, V>(map: &mut HashMap<K, V>, key: K, value: Option<V>) {
    match value {
        Some(value) => {
            map.insert(key, value);
        }
        None => {
            map.remove(&key);
        }
    }
}

impl Journal for MemoryJournal {
    fn ledger<'a>(&'a self, key: &'a LedgerKey) -> Answer<'a, Option<LedgerRow>> {
        self.with(|rows| rows.ledger.get(key).cloned())
    }

    fn set_ledger<'a>(&'a self, key: &'a LedgerKey, row: Option<LedgerRow>) -> Answer<'a, ()> {
        self.with(|rows| put(&mut rows.ledger, key.clone(), row))
    }

    fn waits(&self) -> Answer<'_, Vec<(ChatId, i64)>> {
        self.with(|rows| rows.waits.iter().map(|(chat, at)| (*chat, *at)).collect())
    }

    fn set_wait(&self, chat: ChatId, until: Option<i64>) -> Answer<'_, ()> {
        self.with(|rows| put(&mut rows.waits, chat, until))
    }

    fn parked(&self) -> Answer<'_, Vec<Parked>> {
        self.with(|rows| rows.parked.values().cloned().collect())
    }

    fn set_parked<'a>(&'a self, key: &'a LedgerKey, row: Option<Parked>) -> Answer<'a, ()> {
        self.with(|rows| put(&mut rows.parked, key.clone(), row))
    }
}
