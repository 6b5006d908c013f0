//! Rights and refusals in the store.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::domain::{ChatId, UserId};
use crate::store::{Batch, Store, StoreError, Table};
use crate::telegram::dispatch::{Known, Memory};
use crate::telegram::durable::Durable;

const OWNER: &[u8] = b"owner";
const MOVED: &[u8] = b"moved.";
const REFUSED: &[u8] = b"refused.";
/// A stranger is told once in so many seconds.
const REFUSAL_SECONDS: i64 = 24 * 3600;
/// Strangers remembered; beyond it further ones get silence.
const REFUSED_LIMIT: usize = 10_000;

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Claimed {
    user: UserId,
    at: i64,
}

/// [`Memory`] over the store, in `Access`.
#[derive(Debug)]
pub struct StoreMemory {
    store: Store,
    refused: Mutex<HashMap<UserId, i64>>,
}

impl StoreMemory {
    /// Loads what former processes left; `now` is Unix seconds.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn load(store: Store, now: i64) -> Result<(Self, Known), StoreError> {
        let owner = store
            .get::<Claimed>(Table::Access, OWNER)
            .await?
            .map(|claimed| claimed.user);
        let mut moved = BTreeMap::new();
        for (key, first) in store.scan::<ChatId>(Table::Access, MOVED).await? {
            if let Some(to) = number(&key, MOVED) {
                moved.insert(ChatId(to), first);
            }
        }
        let mut refused = HashMap::new();
        let mut old = Batch::new();
        for (key, at) in store.scan::<i64>(Table::Access, REFUSED).await? {
            match number(&key, REFUSED).filter(|_| now.saturating_sub(at) < REFUSAL_SECONDS) {
                Some(user) => {
                    refused.insert(UserId(user), at);
                }
                None => {
                    old.delete(Table::Access, &key);
                }
            }
        }
        if !old.is_empty() {
            store.write(old).await?;
        }
        Ok((
            Self {
                store,
                refused: Mutex::new(refused),
            },
            Known { owner, moved },
        ))
    }

    /// Whether a stranger is due to be told; then it counts as told in memory.
    fn due(&self, user: UserId, now: i64) -> bool {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        let recent = |at: &i64| now.saturating_sub(*at) < REFUSAL_SECONDS;
        if refused.get(&user).is_some_and(recent) {
            return false;
        }
        if refused.len() >= REFUSED_LIMIT {
            refused.retain(|_, at| recent(at));
            if refused.len() >= REFUSED_LIMIT {
                return false;
            }
        }
        refused.insert(user, now);
        true
    }
}

impl Memory for StoreMemory {
    fn claim(&self, user: UserId, at: i64) -> Durable<'_, ()> {
        Box::pin(async move {
            let mut batch = Batch::new();
            batch.put(Table::Access, OWNER, &Claimed { user, at })?;
            Ok(self.store.commit(batch).await?)
        })
    }

    fn moved(&self, to: ChatId, first: ChatId) -> Durable<'_, ()> {
        Box::pin(async move {
            let mut batch = Batch::new();
            batch.put(Table::Access, &numbered(MOVED, to.0), &first)?;
            Ok(self.store.commit(batch).await?)
        })
    }

    fn may_refuse(&self, user: UserId, now: i64) -> Durable<'_, bool> {
        Box::pin(async move {
            if !self.due(user, now) {
                return Ok(false);
            }
            let mut batch = Batch::new();
            batch.put(Table::Access, &numbered(REFUSED, user.0), &now)?;
            self.store.commit(batch).await?;
            Ok(true)
        })
    }
}

fn numbered(prefix: &[u8], number: i64) -> Vec<u8> {
    let mut key = prefix.to_vec();
    key.extend_from_slice(&number.to_be_bytes());
    key
}

fn number(key: &[u8], prefix: &[u8]) -> Option<i64> {
    Some(i64::from_be_bytes(
        key.strip_prefix(prefix)?.try_into().ok()?,
    ))
}
