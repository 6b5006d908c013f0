//! What was used: sums since the store was made, of today and by model. One book for all sessions, so
//! that two of them never overwrite each other's counts.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::{NaiveDate, Utc};
use serde::{Deserialize, Serialize};

use crate::domain::Usage;
use crate::store::{Batch, Store, StoreError, Table};

/// Key of the book in its table.
const KEY: &[u8] = b"book";

/// Sums.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sums {
    /// Turns that ended.
    pub turns: u64,
    /// Model requests that were answered.
    pub requests: u64,
    /// Tool calls that ended.
    pub tool_calls: u64,
    /// Tokens read, cached ones included.
    pub input: u64,
    /// Of those, read from the provider's cache.
    pub cached: u64,
    /// Tokens written.
    pub output: u64,
}

impl Sums {
    fn add(&mut self, usage: Usage) {
        self.requests += 1;
        self.input += usage.input;
        self.cached += usage.cached;
        self.output += usage.output;
    }
}

/// The book's pages.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pages {
    /// Since the store was made.
    pub lifetime: Sums,
    /// The day that `today` is about (UTC).
    pub day: NaiveDate,
    /// That day's sums.
    pub today: Sums,
    /// By model.
    pub models: BTreeMap<String, Sums>,
    /// Plans created, changed and blocked.
    pub plans: [u64; 3],
}

/// The book.
#[derive(Debug, Default)]
pub struct UsageBook(Mutex<Pages>);

impl UsageBook {
    /// Opens the book as it was written last.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub async fn open(store: &Store) -> Result<Self, StoreError> {
        let pages = store.get(Table::Usage, KEY).await?.unwrap_or_default();
        Ok(Self(Mutex::new(pages)))
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let today = Utc::now().date_naive();
        if pages.day != today {
            pages.day = today;
            pages.today = Sums::default();
        }
        pages
    }

    /// What stands in it now.
    #[must_use]
    pub fn read(&self) -> Pages {
        self.pages().clone()
    }

    /// Tokens of today.
    #[must_use]
    pub fn tokens_today(&self) -> u64 {
        let pages = self.pages();
        pages.today.input + pages.today.output
    }

    /// Counts an answered request.
    pub fn request(&self, model: &str, usage: Usage) {
        let mut pages = self.pages();
        pages.lifetime.add(usage);
        pages.today.add(usage);
        pages.models.entry(model.to_owned()).or_default().add(usage);
    }

    /// Counts a tool call.
    pub fn call(&self) {
        let mut pages = self.pages();
        pages.lifetime.tool_calls += 1;
        pages.today.tool_calls += 1;
    }

    /// Counts a turn.
    pub fn turn(&self) {
        let mut pages = self.pages();
        pages.lifetime.turns += 1;
        pages.today.turns += 1;
    }

    /// Writes the book; a crash may lose the last counts, never an effect.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub async fn save(&self, store: &Store) -> Result<(), StoreError> {
        let mut batch = Batch::new();
        batch.put(Table::Usage, KEY, &self.read())?;
        store.write(batch).await
    }
}
