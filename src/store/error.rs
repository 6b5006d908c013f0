//! Store faults by remedy.

use std::path::PathBuf;

use crate::domain::Fault;

/// What can go wrong with the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process holds the data directory.
    #[error("the data directory {0} is in use by another process")]
    Locked(PathBuf),
    /// The directory cannot be read or written, or its disk is full; nothing was acknowledged.
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
    /// A newer release wrote this store.
    #[error("the store has schema {found}, this release knows {known}")]
    Newer {
        /// Schema on disk.
        found: u32,
        /// Schema of this release.
        known: u32,
    },
    /// A JSONL file is not a whole export.
    #[error("not a complete export, line {line}: {reason}")]
    Format {
        /// Line, counted from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
}

impl StoreError {
    /// The same failure for one more caller.
    pub(super) fn again(&self) -> Self {
        match self {
            Self::Io { path, source } => Self::Io {
                path: path.clone(),
                source: source.raw_os_error().map_or_else(
                    || std::io::Error::new(source.kind(), source.to_string()),
                    std::io::Error::from_raw_os_error,
                ),
            },
            Self::Locked(_)
            | Self::Database(_)
            | Self::Decode(_)
            | Self::Newer { .. }
            | Self::Format { .. } => Self::Database(self.to_string()),
        }
    }

    /// The sentence for people.
    #[must_use]
    pub fn fault(&self) -> Fault {
        match self {
            Self::Locked(path) => {
                Fault::user("store-locked", &[("path", &path.display().to_string())])
            }
            Self::Io { path, source } => io_fault(&path.display().to_string(), source),
            Self::Database(_) | Self::Decode(_) => Fault::user("store-failed", &[]),
            Self::Newer { found, known } => Fault::user(
                "store-newer",
                &[("found", &found.to_string()), ("known", &known.to_string())],
            ),
            Self::Format { line, reason } => Fault::user(
                "store-format",
                &[("line", &line.to_string()), ("reason", reason)],
            ),
        }
    }
}

fn io_fault(path: &str, source: &std::io::Error) -> Fault {
    use std::io::ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    if matches!(source.kind(), StorageFull | QuotaExceeded) {
        Fault::user("store-full", &[("path", path)])
    } else if matches!(source.kind(), ReadOnlyFilesystem | PermissionDenied) {
        Fault::user("store-read-only", &[("path", path)])
    } else {
        let reason = source.to_string();
        Fault::user("store-io", &[("path", path), ("reason", &reason)])
    }
}
