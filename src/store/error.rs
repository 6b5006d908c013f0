//! Store faults by remedy.

use std::path::PathBuf;

/// What can go wrong with the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process holds the data directory.
    #[error("the data directory {0} is in use by another process")]
    Locked(PathBuf),
    /// The directory cannot be read or written.
    #[error("cannot use {path}: {source}")]
    Io {
        /// What was touched.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// The database failed; nothing was acknowledged.
    #[error("the store failed: {0}")]
    Database(String),
    /// A stored value does not decode.
    #[error("a stored value cannot be read: {0}")]
    Decode(String),
}
