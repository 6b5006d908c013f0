//! The durable inbox: an update is on disk before the server may forget it, and open until its effect is.

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::Mutex;

use crate::domain::UpdateId;
use crate::store::{Batch, Store, StoreError, Table};

/// Failures after which an update goes to the dead letters.
pub const ATTEMPTS_LIMIT: u32 = 5;
/// Ends of the program while an update was being handled, after which the update goes to the dead letters.
/// More than failures, because a program is also ended from outside.
pub const CUTS_LIMIT: u32 = 20;
/// Messages older than this at arrival are counted, not answered, in seconds.
pub const BACKLOG_SECONDS: i64 = 24 * 3600;
/// The server redelivers for a day; tombstones live twice as long, in seconds.
const TOMBSTONE_SECONDS: i64 = 2 * BACKLOG_SECONDS;
/// Most ids remembered for dedup; beyond it the oldest go first.
const SEEN_LIMIT: usize = 20_000;
/// Old tombstones are looked for once in so many accepted updates.
const PRUNE_EVERY: usize = 1024;

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

/// An update that was given up on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeadLetter {
    /// The update as the server sent it.
    pub raw: Value,
    /// Why, in English, for `doctor`.
    pub reason: String,
    /// Unix seconds.
    pub at: i64,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Tombstone {
    at: i64,
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

/// The inbox of one bot. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Inbox {
    store: Store,
    bot: i64,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    seen: HashMap<u32, i64>,
    offset: u32,
    since_prune: usize,
}

impl Inbox {
    /// Opens the inbox of `bot`, with what is on disk about it. Another bot's offset and rows are its own.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn open(store: Store, bot: i64, now: i64) -> Result<Self, StoreError> {
        let mut state = State {
            offset: store.get(Table::Meta, &offset_key(bot)).await?.unwrap_or(0),
            ..State::default()
        };
        for (key, tombstone) in store
            .scan::<Tombstone>(Table::InboxDone, &bot.to_be_bytes())
            .await?
        {
            if let Some(id) = id_of(&key) {
                state.seen.insert(id, tombstone.at);
            }
        }
        for (key, row) in store.scan::<Row>(Table::Inbox, &bot.to_be_bytes()).await? {
            if let Some(id) = id_of(&key) {
                state.seen.insert(id, row.received_at);
            }
        }
        let mut batch = Batch::new();
        prune(&mut state, &mut batch, bot, now);
        if !batch.is_empty() {
            store.write(batch).await?;
        }
        Ok(Self {
            store,
            bot,
            state: Arc::new(Mutex::new(state)),
        })
    }

    /// The bot this inbox belongs to.
    #[must_use]
    pub fn bot(&self) -> i64 {
        self.bot
    }

    /// The offset to ask the server for: every update below it is on disk. 0 = none yet.
    pub async fn offset(&self) -> u32 {
        self.state.lock().await.offset
    }

    /// Open updates in the order of their arrival.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn open_rows(&self) -> Result<Vec<(UpdateId, Row)>, StoreError> {
        let mut rows: Vec<(UpdateId, Row)> = self
            .store
            .scan::<Row>(Table::Inbox, &self.bot.to_be_bytes())
            .await?
            .into_iter()
            .filter_map(|(key, row)| id_of(&key).map(|id| (UpdateId(id), row)))
            .collect();
        // Ids restart at random after an idle week, so arrival comes first.
        rows.sort_by_key(|(id, row)| (row.received_at, *id));
        Ok(rows)
    }

    /// Makes new updates durable and moves the offset past the batch. Nothing has changed if it fails.
    ///
    /// # Errors
    /// If the store fails; then the server must deliver the batch again.
    pub async fn accept(&self, updates: Vec<Value>, now: i64) -> Result<Accepted, StoreError> {
        let mut state = self.state.lock().await;
        let mut batch = Batch::new();
        let mut accepted = Accepted::default();
        let mut offset = None;
        let mut seen = Vec::new();
        for raw in updates {
            let Some(id) = raw
                .get("update_id")
                .and_then(Value::as_u64)
                .and_then(|id| u32::try_from(id).ok())
            else {
                accepted.repeated += 1;
                continue;
            };
            offset = Some(id.saturating_add(1));
            if state.seen.contains_key(&id) || seen.contains(&id) {
                accepted.repeated += 1;
                continue;
            }
            seen.push(id);
            if is_stale(&raw, now) {
                accepted.stale += 1;
                batch.put(Table::InboxDone, &key(self.bot, id), &Tombstone { at: now })?;
                continue;
            }
            let row = Row {
                raw,
                attempts: 0,
                cuts: 0,
                received_at: now,
            };
            batch.put(Table::Inbox, &key(self.bot, id), &row)?;
            accepted.fresh.push((UpdateId(id), row.raw));
        }
        if let Some(offset) = offset.filter(|offset| *offset != state.offset) {
            batch.put(Table::Meta, &offset_key(self.bot), &offset)?;
        }
        let new = seen.len();
        if state.since_prune + new >= PRUNE_EVERY {
            prune(&mut state, &mut batch, self.bot, now);
        }
        if !batch.is_empty() {
            self.store.commit(batch).await?;
        }
        state.seen.extend(seen.into_iter().map(|id| (id, now)));
        state.since_prune += new;
        state.offset = offset.unwrap_or(state.offset);
        Ok(accepted)
    }

    /// Adds to `batch` the closing of updates, so that it becomes durable together with their effect.
    ///
    /// # Errors
    /// If a value does not encode.
    pub fn close_in(
        &self,
        batch: &mut Batch,
        updates: &[UpdateId],
        now: i64,
    ) -> Result<(), StoreError> {
        for update in updates {
            let key = key(self.bot, update.0);
            batch.delete(Table::Inbox, &key);
            batch.put(Table::InboxDone, &key, &Tombstone { at: now })?;
        }
        Ok(())
    }

    /// Closes updates whose effect is durable or that have none.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn close(&self, updates: &[UpdateId], now: i64) -> Result<(), StoreError> {
        let mut batch = Batch::new();
        self.close_in(&mut batch, updates, now)?;
        // Losing this in a crash runs an update again that had no effect.
        self.store.write(batch).await
    }

    /// Counts a failure of an open update durably. Gives the update if it may be tried again; else it is
    /// among the dead letters now, or was closed before.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn failed(
        &self,
        update: UpdateId,
        reason: &str,
        now: i64,
    ) -> Result<Option<Value>, StoreError> {
        let key = key(self.bot, update.0);
        let Some(mut row) = self.store.get::<Row>(Table::Inbox, &key).await? else {
            return Ok(None);
        };
        row.attempts += 1;
        if row.attempts >= ATTEMPTS_LIMIT {
            self.bury(update, row.raw, reason, now).await?;
            return Ok(None);
        }
        let mut batch = Batch::new();
        batch.put(Table::Inbox, &key, &row)?;
        self.store.commit(batch).await?;
        Ok(Some(row.raw))
    }

    /// Counts durably that open updates are handled once more after the program ended. What was cut too
    /// often goes to the dead letters.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn cut(&self, updates: &[UpdateId], now: i64) -> Result<(), StoreError> {
        let mut batch = Batch::new();
        for update in updates {
            let key = key(self.bot, update.0);
            let Some(mut row) = self.store.get::<Row>(Table::Inbox, &key).await? else {
                continue;
            };
            row.cuts += 1;
            if row.cuts > CUTS_LIMIT {
                let reason = "the program ended too often while handling it";
                self.bury(*update, row.raw, reason, now).await?;
            } else {
                batch.put(Table::Inbox, &key, &row)?;
            }
        }
        self.store.commit(batch).await
    }

    /// An update that is still open.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn still_open(&self, update: UpdateId) -> Result<Option<Value>, StoreError> {
        let row: Option<Row> = self
            .store
            .get(Table::Inbox, &key(self.bot, update.0))
            .await?;
        Ok(row.map(|row| row.raw))
    }

    /// Moves an update to the dead letters.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn bury(
        &self,
        update: UpdateId,
        raw: Value,
        reason: &str,
        now: i64,
    ) -> Result<(), StoreError> {
        let mut batch = Batch::new();
        self.close_in(&mut batch, &[update], now)?;
        let letter = DeadLetter {
            raw,
            reason: reason.to_owned(),
            at: now,
        };
        batch.put(Table::DeadLetters, &key(self.bot, update.0), &letter)?;
        self.store.commit(batch).await
    }
}

/// Every update that was given up on, of every bot.
///
/// # Errors
/// If the store fails.
pub async fn dead_letters(store: &Store) -> Result<Vec<(UpdateId, DeadLetter)>, StoreError> {
    let rows = store.scan::<DeadLetter>(Table::DeadLetters, &[]).await?;
    Ok(rows
        .into_iter()
        .filter_map(|(key, letter)| id_of(&key).map(|id| (UpdateId(id), letter)))
        .collect())
}

fn key(bot: i64, id: u32) -> Vec<u8> {
    let mut key = bot.to_be_bytes().to_vec();
    key.extend_from_slice(&id.to_be_bytes());
    key
}

fn id_of(key: &[u8]) -> Option<u32> {
    let (_, id) = key.split_at_checked(size_of::<i64>())?;
    Some(u32::from_be_bytes(id.try_into().ok()?))
}

fn offset_key(bot: i64) -> Vec<u8> {
    let mut key = b"telegram.offset.".to_vec();
    key.extend_from_slice(&bot.to_be_bytes());
    key
}

/// Whether a message is too old to be answered. A migration counts whenever it comes.
fn is_stale(raw: &Value, now: i64) -> bool {
    let time = |pointer: &str| raw.pointer(pointer).and_then(Value::as_i64);
    let moved = [
        "/message/migrate_to_chat_id",
        "/message/migrate_from_chat_id",
    ];
    let sent = time("/message/date").or_else(|| time("/edited_message/edit_date"));
    moved.iter().all(|pointer| raw.pointer(pointer).is_none())
        && sent.is_some_and(|sent| now.saturating_sub(sent) > BACKLOG_SECONDS)
}

/// Forgets ids that the server cannot deliver any more.
fn prune(state: &mut State, batch: &mut Batch, bot: i64, now: i64) {
    state.since_prune = 0;
    let mut by_age: Vec<(i64, u32)> = state.seen.iter().map(|(id, at)| (*at, *id)).collect();
    by_age.sort_unstable();
    let surplus = by_age.len().saturating_sub(SEEN_LIMIT);
    for (index, (at, id)) in by_age.into_iter().enumerate() {
        if index < surplus || now.saturating_sub(at) > TOMBSTONE_SECONDS {
            state.seen.remove(&id);
            batch.delete(Table::InboxDone, &key(bot, id));
        }
    }
}

#[cfg(test)]
mod tests;
