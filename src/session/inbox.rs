//! The inbox's rows in the store.

use std::collections::HashMap;
use std::sync::Arc;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::Mutex;

use crate::domain::UpdateId;
use crate::store::{Batch, Store, StoreError, Table};
use crate::telegram::durable::{Durable, DurableError};
use crate::telegram::inbox::{
    ATTEMPTS_LIMIT, Accepted, BACKLOG_SECONDS, CUTS_LIMIT, Inbox, Row, is_stale, update_id,
};

/// The server redelivers for a day; tombstones live twice as long, in seconds.
const TOMBSTONE_SECONDS: i64 = 2 * BACKLOG_SECONDS;
/// Most ids remembered for dedup; beyond it the oldest go first.
const SEEN_LIMIT: usize = 20_000;
/// Old tombstones are looked for once in so many accepted updates.
const PRUNE_EVERY: usize = 1024;

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

/// [`Inbox`] over the store: open updates in `Inbox`, closed ones in `InboxDone`, the offset in `Meta`.
/// Cheap to clone.
#[derive(Debug, Clone)]
pub struct StoreInbox {
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

impl StoreInbox {
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

    async fn keep(&self, updates: Vec<Value>, now: i64) -> Result<Accepted, StoreError> {
        let mut state = self.state.lock().await;
        let mut batch = Batch::new();
        let mut accepted = Accepted::default();
        let mut offset = None;
        let mut seen = Vec::new();
        for raw in updates {
            let Some(UpdateId(id)) = update_id(&raw) else {
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
}

impl Inbox for StoreInbox {
    fn offset(&self) -> BoxFuture<'_, u32> {
        Box::pin(async { self.state.lock().await.offset })
    }

    fn open_rows(&self) -> Durable<'_, Vec<(UpdateId, Row)>> {
        Box::pin(async {
            let rows = self
                .store
                .scan::<Row>(Table::Inbox, &self.bot.to_be_bytes())
                .await?;
            let mut rows: Vec<(UpdateId, Row)> = rows
                .into_iter()
                .filter_map(|(key, row)| id_of(&key).map(|id| (UpdateId(id), row)))
                .collect();
            // Ids restart at random after an idle week, so arrival comes first.
            rows.sort_by_key(|(id, row)| (row.received_at, *id));
            Ok(rows)
        })
    }

    fn accept(&self, updates: Vec<Value>, now: i64) -> Durable<'_, Accepted> {
        Box::pin(async move { Ok(self.keep(updates, now).await?) })
    }

    fn close<'a>(&'a self, updates: &'a [UpdateId], now: i64) -> Durable<'a, ()> {
        Box::pin(async move {
            let mut batch = Batch::new();
            self.close_in(&mut batch, updates, now)?;
            // Losing this in a crash runs an update again that had no effect.
            Ok(self.store.write(batch).await?)
        })
    }

    fn failed<'a>(
        &'a self,
        update: UpdateId,
        reason: &'a str,
        now: i64,
    ) -> Durable<'a, Option<Value>> {
        Box::pin(async move {
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
        })
    }

    fn cut<'a>(&'a self, updates: &'a [UpdateId], now: i64) -> Durable<'a, ()> {
        Box::pin(async move {
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
            Ok(self.store.commit(batch).await?)
        })
    }

    fn still_open(&self, update: UpdateId) -> Durable<'_, Option<Value>> {
        Box::pin(async move {
            let key = key(self.bot, update.0);
            let row: Option<Row> = self.store.get(Table::Inbox, &key).await?;
            Ok(row.map(|row| row.raw))
        })
    }

    fn bury<'a>(
        &'a self,
        update: UpdateId,
        raw: Value,
        reason: &'a str,
        now: i64,
    ) -> Durable<'a, ()> {
        Box::pin(async move {
            let mut batch = Batch::new();
            self.close_in(&mut batch, &[update], now)?;
            let letter = DeadLetter {
                raw,
                reason: reason.to_owned(),
                at: now,
            };
            batch.put(Table::DeadLetters, &key(self.bot, update.0), &letter)?;
            Ok(self.store.commit(batch).await?)
        })
    }
}

impl From<StoreError> for DurableError {
    fn from(error: StoreError) -> Self {
        Self {
            reason: error.to_string(),
            fault: error.fault(),
        }
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
