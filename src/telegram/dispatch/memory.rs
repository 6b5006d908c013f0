//! Rights and refusals that outlive the process: the claimed owner, moved groups, strangers told today.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::domain::{ChatId, UserId};
use crate::store::{Batch, Store, StoreError, Table};

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

/// What was on disk.
#[derive(Debug, Default)]
pub(super) struct Loaded {
    pub(super) owner: Option<UserId>,
    /// New id of a group to its first one.
    pub(super) moved: BTreeMap<ChatId, ChatId>,
}

#[derive(Debug)]
pub(super) struct Memory {
    store: Store,
    refused: Mutex<HashMap<UserId, i64>>,
}

impl Memory {
    pub(super) async fn load(store: Store, now: i64) -> Result<(Self, Loaded), StoreError> {
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
            Loaded { owner, moved },
        ))
    }

    #[cfg(test)]
    pub(super) fn store(&self) -> &Store {
        &self.store
    }

    /// Makes the claim durable.
    pub(super) async fn claim(&self, user: UserId, at: i64) -> Result<(), StoreError> {
        let mut batch = Batch::new();
        batch.put(Table::Access, OWNER, &Claimed { user, at })?;
        self.store.commit(batch).await
    }

    /// Makes the move of a group durable; `first` is the id its settings have.
    pub(super) async fn moved(&self, to: ChatId, first: ChatId) -> Result<(), StoreError> {
        let mut batch = Batch::new();
        batch.put(Table::Access, &numbered(MOVED, to.0), &first)?;
        self.store.commit(batch).await
    }

    /// Whether a stranger is to be told now; notes durably that they were, before they are.
    pub(super) async fn may_refuse(&self, user: UserId, now: i64) -> Result<bool, StoreError> {
        {
            let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
            if refused
                .get(&user)
                .is_some_and(|at| now.saturating_sub(*at) < REFUSAL_SECONDS)
            {
                return Ok(false);
            }
            if refused.len() >= REFUSED_LIMIT {
                refused.retain(|_, at| now.saturating_sub(*at) < REFUSAL_SECONDS);
                if refused.len() >= REFUSED_LIMIT {
                    return Ok(false);
                }
            }
            refused.insert(user, now);
        }
        let mut batch = Batch::new();
        batch.put(Table::Access, &numbered(REFUSED, user.0), &now)?;
        self.store.commit(batch).await?;
        Ok(true)
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
