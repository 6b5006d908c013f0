//! The outbox's durable rows in the store.

use futures::future::BoxFuture;
use serde::Serialize;

use crate::domain::ChatId;
use crate::store::{Batch, Store, StoreError, Table};
use crate::telegram::outbox::{Journal, JournalError, LedgerKey, LedgerRow, Parked};

const WAIT: &[u8] = b"wait:";
const PARKED: &[u8] = b"send:";

/// [`Journal`] over the store: ledger rows in `Ledger`, waits and parked sends in `Outbox`.
#[derive(Debug, Clone)]
pub struct StoreJournal {
    store: Store,
}

impl StoreJournal {
    /// A journal in this store.
    #[must_use]
    pub fn new(store: Store) -> Self {
        Self { store }
    }

    /// Forgets rows of messages that were tried last before `before` (Unix seconds): what they belong to
    /// is over. Gives their number.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn expire(&self, before: i64) -> Result<usize, StoreError> {
        let rows = self.store.scan::<LedgerRow>(Table::Ledger, b"").await?;
        let mut batch = Batch::new();
        let mut count = 0;
        for (key, row) in rows {
            if row.at < before {
                batch.delete(Table::Ledger, &key);
                count += 1;
            }
        }
        self.store.write(batch).await?;
        Ok(count)
    }

    async fn set<T: Serialize + Send>(
        &self,
        table: Table,
        key: Vec<u8>,
        row: Option<T>,
    ) -> Result<(), JournalError> {
        let mut batch = Batch::new();
        match &row {
            Some(row) => batch
                .put(table, &key, row)
                .map_err(|error| failed(&error))?,
            None => batch.delete(table, &key),
        };
        self.store
            .commit(batch)
            .await
            .map_err(|error| failed(&error))
    }
}

impl Journal for StoreJournal {
    fn ledger<'a>(
        &'a self,
        key: &'a LedgerKey,
    ) -> BoxFuture<'a, Result<Option<LedgerRow>, JournalError>> {
        Box::pin(async move {
            self.store
                .get(Table::Ledger, &ledger_key(key))
                .await
                .map_err(|error| failed(&error))
        })
    }

    fn set_ledger<'a>(
        &'a self,
        key: &'a LedgerKey,
        row: Option<LedgerRow>,
    ) -> BoxFuture<'a, Result<(), JournalError>> {
        Box::pin(self.set(Table::Ledger, ledger_key(key), row))
    }

    fn waits(&self) -> BoxFuture<'_, Result<Vec<(ChatId, i64)>, JournalError>> {
        Box::pin(async move {
            let rows = self
                .store
                .scan(Table::Outbox, WAIT)
                .await
                .map_err(|error| failed(&error))?;
            Ok(rows.into_iter().map(|(_, row)| row).collect())
        })
    }

    fn set_wait(
        &self,
        chat: ChatId,
        until: Option<i64>,
    ) -> BoxFuture<'_, Result<(), JournalError>> {
        let mut key = WAIT.to_vec();
        key.extend_from_slice(&chat.0.to_be_bytes());
        let row = until.map(|until| (chat, until));
        Box::pin(self.set(Table::Outbox, key, row))
    }

    fn parked(&self) -> BoxFuture<'_, Result<Vec<Parked>, JournalError>> {
        Box::pin(async move {
            let rows: Vec<(Vec<u8>, Parked)> = self
                .store
                .scan(Table::Outbox, PARKED)
                .await
                .map_err(|error| failed(&error))?;
            let mut rows: Vec<Parked> = rows.into_iter().map(|(_, row)| row).collect();
            // Sends of one answer keep their order; the sort is stable over keys that end in the index.
            rows.sort_by_key(|row| row.born);
            Ok(rows)
        })
    }

    fn set_parked<'a>(
        &'a self,
        key: &'a LedgerKey,
        row: Option<Parked>,
    ) -> BoxFuture<'a, Result<(), JournalError>> {
        let mut full = PARKED.to_vec();
        full.extend_from_slice(&ledger_key(key));
        Box::pin(self.set(Table::Outbox, full, row))
    }
}

fn ledger_key(key: &LedgerKey) -> Vec<u8> {
    let mut bytes = key.scope.as_bytes().to_vec();
    bytes.push(0);
    bytes.extend_from_slice(&key.index.to_be_bytes());
    bytes
}

fn failed(error: &StoreError) -> JournalError {
    JournalError(error.to_string())
}
