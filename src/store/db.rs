//! One database per data directory, called off the async threads.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use super::batch::full_key;
use super::{Batch, StoreError, Table};

/// Largest value kept inside the database, in bytes; larger ones become content-addressed files.
const INLINE_LIMIT: usize = 32 * 1024;
/// Cache bound in bytes.
const CACHE_BYTES: u64 = 64 * 1024 * 1024;
/// First byte of a value: JSON follows.
const FORMAT_JSON: u8 = 1;
/// First byte of a value: the hex hash of a file follows.
const FORMAT_FILE: u8 = 2;

/// The durable store. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    db: sled::Db,
    files: PathBuf,
}

impl Store {
    /// Opens or creates the store below `home`.
    ///
    /// # Errors
    /// If the directory is locked by another process or cannot be used.
    pub async fn open(home: &Path) -> Result<Self, StoreError> {
        let home = home.to_path_buf();
        off_thread(move || {
            let files = home.join("blobs");
            std::fs::create_dir_all(&files).map_err(|source| StoreError::Io {
                path: files.clone(),
                source,
            })?;
            let db = sled::Config::new()
                .path(home.join("db"))
                .cache_capacity(CACHE_BYTES)
                .open()
                .map_err(|error| StoreError::Database(error.to_string()))?;
            Ok(Self {
                inner: Arc::new(Inner { db, files }),
            })
        })
        .await
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
        let inner = Arc::clone(&self.inner);
        let key = full_key(table, key);
        off_thread(move || {
            let value = inner.db.get(key).map_err(database)?;
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
        let inner = Arc::clone(&self.inner);
        let prefix = full_key(table, prefix);
        off_thread(move || {
            inner
                .db
                .scan_prefix(prefix)
                .map(|row| {
                    let (key, value) = row.map_err(database)?;
                    let key = key.get(1..).unwrap_or_default().to_vec();
                    Ok((key, inner.decode(&value)?))
                })
                .collect()
        })
        .await
    }

    /// Makes a batch durable: when this returns, it survives a crash.
    ///
    /// # Errors
    /// If the database or the disk fails; then nothing of the batch is acknowledged.
    pub async fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        self.apply(batch, true).await
    }

    /// Applies a batch atomically without waiting for the disk; a crash may lose it whole.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn write(&self, batch: Batch) -> Result<(), StoreError> {
        self.apply(batch, false).await
    }

    async fn apply(&self, batch: Batch, flush: bool) -> Result<(), StoreError> {
        let inner = Arc::clone(&self.inner);
        off_thread(move || {
            let mut changes = sled::Batch::default();
            for (key, value) in batch.changes {
                match value {
                    Some(value) => changes.insert(key, inner.encode(value)?),
                    None => changes.remove(key),
                }
            }
            inner.db.apply_batch(changes).map_err(database)?;
            if flush {
                inner.db.flush().map_err(database)?;
            }
            Ok(())
        })
        .await
    }
}

impl Inner {
    fn encode(&self, value: Vec<u8>) -> Result<Vec<u8>, StoreError> {
        if value.len() <= INLINE_LIMIT {
            let mut stored = Vec::with_capacity(value.len() + 1);
            stored.push(FORMAT_JSON);
            stored.extend_from_slice(&value);
            return Ok(stored);
        }
        let name = hex(&Sha256::digest(&value));
        let path = self.files.join(&name);
        let io = |source| StoreError::Io {
            path: path.clone(),
            source,
        };
        if !path.exists() {
            let mut file = tempfile::NamedTempFile::new_in(&self.files).map_err(io)?;
            std::io::Write::write_all(&mut file, &value).map_err(io)?;
            file.as_file().sync_all().map_err(io)?;
            file.persist(&path).map_err(|error| io(error.error))?;
        }
        let mut stored = vec![FORMAT_FILE];
        stored.extend_from_slice(name.as_bytes());
        Ok(stored)
    }

    fn decode<T: DeserializeOwned>(&self, stored: &[u8]) -> Result<T, StoreError> {
        let decode = |bytes: &[u8]| {
            serde_json::from_slice(bytes).map_err(|error| StoreError::Decode(error.to_string()))
        };
        match stored.split_first() {
            Some((&FORMAT_JSON, json)) => decode(json),
            Some((&FORMAT_FILE, name)) => {
                let path = self.files.join(String::from_utf8_lossy(name).as_ref());
                let bytes =
                    std::fs::read(&path).map_err(|source| StoreError::Io { path, source })?;
                decode(&bytes)
            }
            Some(_) | None => Err(StoreError::Decode("unknown value format".into())),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn database(error: sled::Error) -> StoreError {
    StoreError::Database(error.to_string())
}

async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(StoreError::Database(error.to_string())),
    }
}
