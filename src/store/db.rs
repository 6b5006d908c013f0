//! One database per data directory, called off the async threads.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use chrono::Utc;
use serde::de::DeserializeOwned;
use tokio::sync::{Semaphore, oneshot};

use super::batch::full_key;
use super::blob::Blobs;
use super::care::{self, Care, OpenReport};
use super::engine::{failure, is_damage};
use super::jsonl::{self, Exported};
use super::layout::{
    HomeLock, KEEP_BACKUPS, Layout, io, private_file, private_files, require_space,
};
use super::line::{Line, Waiting, Worker};
use super::{Batch, StoreError, Table};

/// Reads that run at once; each takes a thread while it lasts.
const READS: usize = 4;

/// The durable store. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    // Dropped in this order: the database first, the lock last.
    db: sled::Db,
    blobs: Blobs,
    layout: Layout,
    report: OpenReport,
    care: Care,
    /// Batches share it; an export holds it alone, so that it sees whole batches only.
    gate: RwLock<()>,
    /// Whether something changed since the last backup.
    dirty: AtomicBool,
    /// Whether the database showed damage while running.
    suspect: AtomicBool,
    /// Batches that wait for the disk.
    line: Line,
    reads: Semaphore,
    lock: HomeLock,
}

impl Store {
    /// Opens or creates the store below `home`. A damaged database is moved aside and the newest backup
    /// takes its place; [`Store::report`] tells.
    ///
    /// # Errors
    /// If the directory is locked by another process or cannot be used, or a newer release wrote it.
    pub async fn open(home: &Path) -> Result<Self, StoreError> {
        Self::open_with(home, Care::default()).await
    }

    pub(super) async fn open_with(home: &Path, care: Care) -> Result<Self, StoreError> {
        let home = home.to_path_buf();
        off_thread(move || {
            let opened = care::open(&home, &care)?;
            Ok(Self {
                inner: Arc::new(Inner {
                    db: opened.db,
                    blobs: opened.blobs,
                    layout: opened.layout,
                    report: opened.report,
                    care,
                    gate: RwLock::new(()),
                    dirty: AtomicBool::new(false),
                    suspect: AtomicBool::new(false),
                    line: Line::default(),
                    reads: Semaphore::new(READS),
                    lock: opened.lock,
                }),
            })
        })
        .await
    }

    /// What opening had to do.
    #[must_use]
    pub fn report(&self) -> &OpenReport {
        &self.inner.report
    }

    /// Loads one value.
    ///
    /// # Errors
    /// If the database fails or the value does not decode.
    pub async fn get<T: DeserializeOwned + Send + 'static>(
        &self,
        table: Table,
        key: &[u8],
    ) -> Result<Option<T>, StoreError> {
        let key = full_key(table, key);
        self.read(move |inner| {
            let value = inner.db.get(key).map_err(|error| inner.fault(error))?;
            value.map(|value| inner.decode(&value)).transpose()
        })
        .await
    }

    /// Loads every value whose key begins with `prefix`, in key order; keys come without the table byte.
    ///
    /// # Errors
    /// If the database fails or a value does not decode.
    pub async fn scan<T: DeserializeOwned + Send + 'static>(
        &self,
        table: Table,
        prefix: &[u8],
    ) -> Result<Vec<(Vec<u8>, T)>, StoreError> {
        let prefix = full_key(table, prefix);
        self.read(move |inner| {
            inner
                .db
                .scan_prefix(prefix)
                .map(|row| {
                    let (key, value) = row.map_err(|error| inner.fault(error))?;
                    let key = key.get(1..).unwrap_or_default().to_vec();
                    Ok((key, inner.decode(&value)?))
                })
                .collect()
        })
        .await
    }

    /// Makes a batch durable: when this returns, it survives a crash. Batches that wait at the same time
    /// share one flush.
    ///
    /// # Errors
    /// If the database or the disk fails; then nothing of the batch is acknowledged.
    pub async fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        self.hand_in(batch, true).await
    }

    /// Applies a batch atomically without waiting for the disk; a crash may lose it whole.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn write(&self, batch: Batch) -> Result<(), StoreError> {
        self.hand_in(batch, false).await
    }

    /// Writes and flushes a mark, to learn whether the store can be written right now.
    ///
    /// # Errors
    /// If it cannot.
    pub async fn probe(&self) -> Result<(), StoreError> {
        self.run(|inner| {
            let mut batch = Batch::new();
            batch.put(Table::Meta, b"probe", &Utc::now())?;
            let dirty = inner.dirty.load(Ordering::Acquire);
            let written = inner.apply(batch).and_then(|()| inner.flush());
            inner.dirty.store(dirty, Ordering::Release);
            written
        })
        .await
    }

    /// Bytes of the database on disk.
    ///
    /// # Errors
    /// If the disk cannot be asked.
    pub async fn size_on_disk(&self) -> Result<u64, StoreError> {
        self.run(|inner| inner.db.size_on_disk().map_err(|error| inner.fault(error)))
            .await
    }

    /// Writes a JSONL backup if something changed since the last one, keeps the newest 24 and removes
    /// large values that nothing refers to. Meant to be called hourly.
    ///
    /// # Errors
    /// If the backup cannot be written; the store is unharmed and still counts as changed.
    pub async fn backup_if_dirty(&self) -> Result<Option<PathBuf>, StoreError> {
        self.run(Inner::backup_if_dirty).await
    }

    /// Writes the whole store as JSON lines, atomically, readable by its owner only.
    ///
    /// # Errors
    /// If the file cannot be written or the database fails.
    pub async fn export(&self, path: &Path) -> Result<Exported, StoreError> {
        let path = path.to_path_buf();
        self.run(move |inner| inner.export(&path)).await
    }

    /// A clean stop: a backup if due, a flush, and a mark that the next start need not read every row.
    /// Nothing may be written afterwards.
    ///
    /// # Errors
    /// If the disk fails; what was acknowledged is durable all the same.
    pub async fn stop(&self) -> Result<(), StoreError> {
        self.run(|inner| {
            let backup = inner.backup_if_dirty();
            inner.db.flush().map_err(|error| inner.fault(error))?;
            if !inner.suspect.load(Ordering::Acquire) {
                inner.lock.mark_clean()?;
            }
            backup.map(|_| ())
        })
        .await
    }

    /// Stages a JSONL export of a whole store: it replaces the content at the next start, whether the
    /// store is in use or not. The replaced database is kept as `db.replaced-<UTC>`.
    ///
    /// # Errors
    /// If the file is not a whole export or cannot be copied; then nothing is staged.
    pub async fn stage_import(home: &Path, file: &Path) -> Result<(), StoreError> {
        let (home, file) = (home.to_path_buf(), file.to_path_buf());
        off_thread(move || {
            jsonl::check(&file)?;
            let layout = Layout { home };
            layout.create()?;
            let staged = layout.pending_import();
            let part = staged.with_extension("part");
            std::fs::copy(&file, &part).map_err(io(&part))?;
            private_file(&part)?;
            std::fs::File::open(&part)
                .and_then(|file| file.sync_all())
                .map_err(io(&part))?;
            super::layout::rename(&part, &staged)
        })
        .await
    }

    /// The newest backup of a data directory, whether the store is in use or not.
    #[must_use]
    pub fn newest_backup(home: &Path) -> Option<PathBuf> {
        let layout = Layout {
            home: home.to_path_buf(),
        };
        layout.backup_files().into_iter().next()
    }

    async fn hand_in(&self, batch: Batch, durable: bool) -> Result<(), StoreError> {
        let (done, told) = oneshot::channel();
        let waiting = Waiting {
            batch,
            durable,
            done,
        };
        if self.inner.line.join(waiting) {
            let inner = Arc::clone(&self.inner);
            // Detached, because those who joined the line wait for it too.
            drop(tokio::task::spawn_blocking(move || inner.work()));
        }
        told.await
            .unwrap_or_else(|_| Err(StoreError::Database("the writer broke".into())))
            .inspect_err(|fault| self.suspect(fault))
    }

    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Inner) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        // The semaphore is never closed.
        let _turn = self.inner.reads.acquire().await.ok();
        self.run(work).await
    }

    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Inner) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let inner = Arc::clone(&self.inner);
        off_thread(move || work(&inner))
            .await
            .inspect_err(|fault| self.suspect(fault))
    }

    fn suspect(&self, fault: &StoreError) {
        if matches!(fault, StoreError::Database(_)) {
            self.inner.suspect.store(true, Ordering::Release);
        }
    }
}

impl Inner {
    /// Writes what waits until nothing does.
    fn work(&self) {
        let _worker = Worker(&self.line);
        while let Some(group) = self.line.take() {
            let mut written = Vec::with_capacity(group.len());
            for waiting in group {
                match self.apply(waiting.batch) {
                    Ok(()) if waiting.durable => written.push(waiting.done),
                    // Whoever went away in the meantime needs no answer.
                    result => drop(waiting.done.send(result)),
                }
            }
            if written.is_empty() {
                continue;
            }
            let flushed = self.flush();
            for done in written {
                let result = match &flushed {
                    Ok(()) => Ok(()),
                    Err(fault) => Err(fault.again()),
                };
                drop(done.send(result));
            }
        }
    }

    fn flush(&self) -> Result<(), StoreError> {
        self.db
            .flush()
            .map(|_| ())
            .map_err(|error| self.fault(error))
    }

    fn apply(&self, batch: Batch) -> Result<(), StoreError> {
        let _shared = self.gate.read().unwrap_or_else(PoisonError::into_inner);
        if batch.changes.iter().any(|(_, value)| value.is_some()) {
            require_space(&self.layout.home, self.care.reserve)?;
        }
        let mut changes = sled::Batch::default();
        for (key, value) in batch.changes {
            match value {
                Some(value) => changes.insert(key, self.blobs.encode(&value)?),
                None => changes.remove(key),
            }
        }
        self.dirty.store(true, Ordering::Release);
        self.db
            .apply_batch(changes)
            .map_err(|error| self.fault(error))
    }

    fn decode<T: DeserializeOwned>(&self, stored: &[u8]) -> Result<T, StoreError> {
        serde_json::from_slice(&self.blobs.decode(stored)?)
            .map_err(|error| StoreError::Decode(error.to_string()))
    }

    fn export(&self, path: &Path) -> Result<Exported, StoreError> {
        let _alone = self.gate.write().unwrap_or_else(PoisonError::into_inner);
        jsonl::export(&self.db, &self.blobs, path, Utc::now())
    }

    fn backup_if_dirty(&self) -> Result<Option<PathBuf>, StoreError> {
        if !self.dirty.load(Ordering::Acquire) {
            return Ok(None);
        }
        let path = Layout::fresh(&self.layout.backups(), "store", ".jsonl", Utc::now());
        let _alone = self.gate.write().unwrap_or_else(PoisonError::into_inner);
        let done = jsonl::export(&self.db, &self.blobs, &path, Utc::now())?;
        self.dirty.store(false, Ordering::Release);
        for old in self.layout.backup_files().into_iter().skip(KEEP_BACKUPS) {
            std::fs::remove_file(&old).map_err(io(&old))?;
        }
        // What was set aside may need its files for a rescue by hand.
        if done.skipped == 0 && !self.layout.has_set_aside() {
            self.blobs.sweep(&done.files);
        }
        private_files(&self.layout.db())?;
        Ok(Some(path))
    }

    fn fault(&self, error: sled::Error) -> StoreError {
        if is_damage(&error) {
            self.suspect.store(true, Ordering::Release);
        }
        failure(error, &self.layout.db())
    }
}

async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(StoreError::Database(error.to_string())),
    }
}
