//! The data directory: names, rights, the lock and atomic renames.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};

use super::StoreError;

/// Tries to take the lock of a data directory that is held.
const LOCK_TRIES: u32 = 20;
/// Pause between two of them.
const LOCK_PAUSE: std::time::Duration = std::time::Duration::from_millis(50);

/// Backups that are kept.
pub(super) const KEEP_BACKUPS: usize = 24;

/// Paths below the data directory.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    pub(super) home: PathBuf,
}

impl Layout {
    pub(super) fn db(&self) -> PathBuf {
        self.home.join("db")
    }

    pub(super) fn blobs(&self) -> PathBuf {
        self.home.join("blobs")
    }

    pub(super) fn backups(&self) -> PathBuf {
        self.home.join("backups")
    }

    pub(super) fn pending_import(&self) -> PathBuf {
        self.home.join("import.pending.jsonl")
    }

    /// Creates what is missing; directories are for their owner only.
    pub(super) fn create(&self) -> Result<(), StoreError> {
        let fresh = !self.home.exists();
        for dir in [self.home.clone(), self.blobs(), self.backups()] {
            std::fs::create_dir_all(&dir).map_err(io(&dir))?;
        }
        // A directory that was there already may be shared with something else, unless it is known as ours.
        if fresh || self.home.join("lock").exists() {
            private_dir(&self.home)?;
        }
        private_dir(&self.blobs())?;
        private_dir(&self.backups())
    }

    /// Backups, newest first.
    pub(super) fn backup_files(&self) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> = self
            .entries(&self.backups())
            .into_iter()
            .filter(|path| named(path, "store-") && path.extension().is_some_and(|e| e == "jsonl"))
            .collect();
        files.sort();
        files.reverse();
        files
    }

    /// Whether something set aside may still need files that nothing else refers to.
    pub(super) fn has_set_aside(&self) -> bool {
        self.entries(&self.home)
            .iter()
            .any(|path| named(path, "db.corrupt-") || named(path, "db.replaced-"))
    }

    /// A name that does not exist yet: `<stem>-<UTC>[-n]<suffix>`.
    pub(super) fn fresh(dir: &Path, stem: &str, suffix: &str, now: DateTime<Utc>) -> PathBuf {
        let stamp = now.format("%Y%m%dT%H%M%S%3fZ");
        let first = dir.join(format!("{stem}-{stamp}{suffix}"));
        std::iter::once(first.clone())
            .chain((1..1_000).map(|n| dir.join(format!("{stem}-{stamp}-{n}{suffix}"))))
            .find(|path| !path.exists())
            .unwrap_or(first)
    }

    fn entries(&self, dir: &Path) -> Vec<PathBuf> {
        std::fs::read_dir(dir)
            .into_iter()
            .flatten()
            .filter_map(Result::ok)
            .map(|entry| entry.path())
            .collect()
    }

    /// Mends a compaction that was cut between its two renames.
    pub(super) fn mend_swap(&self) -> Result<(), StoreError> {
        let (db, old, new) = (
            self.db(),
            self.home.join("db.old"),
            self.home.join("db.new"),
        );
        if !db.exists() && old.exists() {
            // The new one was complete before the old one was moved away.
            let whole = if new.exists() { &new } else { &old };
            rename(whole, &db)?;
        }
        for leftover in [old, new] {
            if leftover.exists() {
                std::fs::remove_dir_all(&leftover).map_err(io(&leftover))?;
            }
        }
        Ok(())
    }

    /// Puts the complete database `new` in the place of the present one, which is removed.
    pub(super) fn swap(&self, new: &Path) -> Result<(), StoreError> {
        let old = self.home.join("db.old");
        rename(&self.db(), &old)?;
        rename(new, &self.db())?;
        std::fs::remove_dir_all(&old).map_err(io(&old))
    }
}

/// The lock on a data directory. Its file is empty after a clean stop.
#[derive(Debug)]
pub(super) struct HomeLock {
    file: File,
    path: PathBuf,
}

impl HomeLock {
    /// Takes the lock at once or says who is in the way.
    pub(super) fn take(layout: &Layout) -> Result<(Self, bool), StoreError> {
        let path = layout.home.join("lock");
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(io(&path))?;
        // A store that was closed a moment ago may hold its lock until its last thread has ended.
        let mut tries = 0;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if tries < LOCK_TRIES => {
                    tries += 1;
                    std::thread::sleep(LOCK_PAUSE);
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(StoreError::Locked(layout.home.clone()));
                }
                Err(TryLockError::Error(source)) => return Err(StoreError::Io { path, source }),
            }
        }
        private_file(&path)?;
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(io(&path))?;
        Ok((Self { file, path }, text.is_empty()))
    }

    pub(super) fn mark_open(&self) -> Result<(), StoreError> {
        self.mark(&format!("open {}\n", std::process::id()))
    }

    pub(super) fn mark_clean(&self) -> Result<(), StoreError> {
        self.mark("")
    }

    fn mark(&self, text: &str) -> Result<(), StoreError> {
        let mut file = &self.file;
        file.set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(text.as_bytes()))
            .and_then(|()| file.sync_data())
            .map_err(io(&self.path))
    }
}

impl Drop for HomeLock {
    fn drop(&mut self) {
        // Closing the file is not enough: a child that is just being forked holds a copy until its exec,
        // and the lock lives as long as any copy does.
        if let Err(error) = self.file.unlock() {
            tracing::warn!(%error, "the data directory could not be unlocked");
        }
    }
}

pub(super) fn io(path: &Path) -> impl Fn(std::io::Error) -> StoreError {
    move |source| StoreError::Io {
        path: path.to_path_buf(),
        source,
    }
}

pub(super) fn rename(from: &Path, to: &Path) -> Result<(), StoreError> {
    std::fs::rename(from, to).map_err(io(from))?;
    sync_dir(to.parent().unwrap_or(to))
}

pub(super) fn sync_dir(dir: &Path) -> Result<(), StoreError> {
    File::open(dir)
        .and_then(|dir| dir.sync_all())
        .map_err(io(dir))
}

pub(super) fn private_dir(dir: &Path) -> Result<(), StoreError> {
    set_mode(dir, 0o700)
}

pub(super) fn private_file(file: &Path) -> Result<(), StoreError> {
    set_mode(file, 0o600)
}

/// Rights for the owner only, over everything in a flat directory of files.
pub(super) fn private_files(dir: &Path) -> Result<(), StoreError> {
    for entry in std::fs::read_dir(dir).map_err(io(dir))? {
        let path = entry.map_err(io(dir))?.path();
        if path.is_dir() {
            private_dir(&path)?;
            private_files(&path)?;
        } else {
            private_file(&path)?;
        }
    }
    Ok(())
}

fn set_mode(path: &Path, mode: u32) -> Result<(), StoreError> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).map_err(io(path))
}

fn named(path: &Path, prefix: &str) -> bool {
    path.file_name()
        .is_some_and(|name| name.to_string_lossy().starts_with(prefix))
}

/// Refuses a write while less than `reserve` bytes are free, before the database could tear on it.
pub(super) fn require_space(dir: &Path, reserve: u64) -> Result<(), StoreError> {
    let stat = rustix::fs::statvfs(dir).map_err(|errno| io(dir)(errno.into()))?;
    if stat.f_bavail.saturating_mul(stat.f_frsize) < reserve {
        return Err(io(dir)(std::io::ErrorKind::StorageFull.into()));
    }
    Ok(())
}
