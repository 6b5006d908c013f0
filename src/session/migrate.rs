//! A group that became a supergroup: what is kept under its id moves to the new one.

use crate::domain::{ChatId, ChatKey, Command};
use crate::store::{Batch, Store, StoreError, Table};

use super::flow_record;
use super::record::{CardRow, Queued};

/// Rewrites flow messages, buttons, cards and waiting inputs, all or none of them. The sessions' own rows
/// are the registry's.
pub(super) async fn rows(store: &Store, old: ChatId, new: ChatId) -> Result<(), StoreError> {
    let mut batch = Batch::new();
    let moved = |key: &mut ChatKey| {
        let here = key.chat == old;
        if here {
            *key = ChatKey::new(new, key.thread);
        }
        here
    };
    flow_record::migrate_in(store, &mut batch, old, new).await?;
    for (key, mut row) in store.scan::<CardRow>(Table::Approvals, b"").await? {
        let places = [moved(&mut row.home), moved(&mut row.key)];
        if places.contains(&true) {
            batch.put(Table::Approvals, &key, &row)?;
        }
    }
    for (key, mut row) in store.scan::<Queued>(Table::Queue, b"").await? {
        if moved(&mut row.message.key) {
            batch.put(Table::Queue, &key, &row)?;
        }
    }
    for (key, mut row) in store.scan::<Command>(Table::Later, b"").await? {
        if moved(&mut row.key) {
            batch.put(Table::Later, &key, &row)?;
        }
    }
    if batch.is_empty() {
        return Ok(());
    }
    store.commit(batch).await
}
