//! What happens before the store is used: mend, import, open, quarantine and restore, migrate, compact.

use std::path::{Path, PathBuf};

use chrono::Utc;

use super::StoreError;
use super::blob::Blobs;
use super::engine::{self, OpenFault};
use super::jsonl;
use super::layout::{HomeLock, Layout, private_dir, private_files, rename};
use super::migrate::migrate;

/// Thresholds, in one place so that tests can lower them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Care {
    /// A database is compacted when it is larger than this many times its live bytes …
    pub(super) compact_ratio: u64,
    /// … and larger than this many bytes.
    pub(super) compact_floor: u64,
    /// Bytes that must stay free on the disk for a write to begin.
    pub(super) reserve: u64,
}

impl Default for Care {
    fn default() -> Self {
        Self {
            compact_ratio: 4,
            compact_floor: 16 * 1024 * 1024,
            reserve: 16 * 1024 * 1024,
        }
    }
}

/// What opening the store had to do; worth telling the owner unless it is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpenReport {
    /// The damaged database was moved aside.
    pub quarantined: Option<Quarantine>,
    /// Bytes on disk before and after compaction.
    pub compacted: Option<(u64, u64)>,
    /// Rows of a staged import that replaced the store.
    pub imported: Option<u64>,
    /// A staged import that was refused, and why.
    pub refused_import: Option<String>,
}

/// A database that was damaged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quarantine {
    /// Where it lies now; it is never deleted.
    pub moved_to: PathBuf,
    /// What was wrong with it.
    pub reason: String,
    /// The backup in use instead; `None` if there was no whole one.
    pub restored_from: Option<PathBuf>,
    /// Rows restored.
    pub rows: u64,
}

/// An opened data directory.
pub(super) struct Opened {
    pub(super) db: sled::Db,
    pub(super) blobs: Blobs,
    pub(super) layout: Layout,
    pub(super) lock: HomeLock,
    pub(super) report: OpenReport,
}

pub(super) fn open(home: &Path, care: &Care) -> Result<Opened, StoreError> {
    let layout = Layout {
        home: home.to_path_buf(),
    };
    layout.create()?;
    let (lock, was_clean) = HomeLock::take(&layout)?;
    layout.mend_swap()?;
    let blobs = Blobs {
        dir: layout.blobs(),
    };
    let mut report = OpenReport::default();
    import_pending(&layout, &blobs, &mut report)?;
    let db = open_or_restore(&layout, &blobs, was_clean, &mut report)?;
    migrate(&db, &blobs, &layout)?;
    let db = compact(db, &layout, care, &mut report)?;
    private_dir(&layout.db())?;
    private_files(&layout.db())?;
    lock.mark_open()?;
    Ok(Opened {
        db,
        blobs,
        layout,
        lock,
        report,
    })
}

/// Opens the database; a damaged one is moved aside and the newest whole backup takes its place.
fn open_or_restore(
    layout: &Layout,
    blobs: &Blobs,
    was_clean: bool,
    report: &mut OpenReport,
) -> Result<sled::Db, StoreError> {
    let path = layout.db();
    let opened = engine::open(&path).and_then(|db| {
        // After a clean stop the bytes are known to be good; otherwise every row is read once.
        if !was_clean {
            engine::verify(&db, &path)?;
        }
        Ok(db)
    });
    let reason = match opened {
        Ok(db) => return Ok(db),
        Err(OpenFault::Other(error)) => return Err(error),
        Err(OpenFault::Damaged(reason)) => reason,
    };
    let moved_to = Layout::fresh(&layout.home, "db.corrupt", "", Utc::now());
    rename(&path, &moved_to)?;
    let (restored_from, rows, db) = restore(layout, blobs)?;
    report.quarantined = Some(Quarantine {
        moved_to,
        reason,
        restored_from,
        rows,
    });
    Ok(db)
}

/// A new database from the newest backup that is whole; an empty one if there is none.
fn restore(layout: &Layout, blobs: &Blobs) -> Result<(Option<PathBuf>, u64, sled::Db), StoreError> {
    for backup in layout.backup_files() {
        let fresh = layout.home.join("db.new");
        if let Ok(rows) = build(&fresh, blobs, &backup) {
            rename(&fresh, &layout.db())?;
            return Ok((Some(backup), rows, reopen(&layout.db())?));
        }
        remove_tree(&fresh)?;
    }
    Ok((None, 0, reopen(&layout.db())?))
}

/// Builds a database at `path` from an export.
fn build(path: &Path, blobs: &Blobs, export: &Path) -> Result<u64, StoreError> {
    remove_tree(path)?;
    let db = reopen(path)?;
    jsonl::fill(&db, blobs, export)
}

fn reopen(path: &Path) -> Result<sled::Db, StoreError> {
    engine::open(path).map_err(|fault| match fault {
        OpenFault::Damaged(reason) => StoreError::Database(reason),
        OpenFault::Other(error) => error,
    })
}

/// Replaces the store by a staged import. A file that is not whole is set aside and changes nothing.
fn import_pending(
    layout: &Layout,
    blobs: &Blobs,
    report: &mut OpenReport,
) -> Result<(), StoreError> {
    let pending = layout.pending_import();
    if !pending.exists() {
        return Ok(());
    }
    let fresh = layout.home.join("db.new");
    match build(&fresh, blobs, &pending) {
        Ok(rows) => {
            if layout.db().exists() {
                let aside = Layout::fresh(&layout.home, "db.replaced", "", Utc::now());
                rename(&layout.db(), &aside)?;
            }
            rename(&fresh, &layout.db())?;
            std::fs::remove_file(&pending).map_err(super::layout::io(&pending))?;
            report.imported = Some(rows);
        }
        Err(error) => {
            remove_tree(&fresh)?;
            let aside = Layout::fresh(&layout.home, "import.refused", ".jsonl", Utc::now());
            rename(&pending, &aside)?;
            report.refused_import = Some(error.to_string());
        }
    }
    Ok(())
}

/// Rewrites a database that is mostly dead bytes.
fn compact(
    db: sled::Db,
    layout: &Layout,
    care: &Care,
    report: &mut OpenReport,
) -> Result<sled::Db, StoreError> {
    let path = layout.db();
    let fail = |error| engine::failure(error, &path);
    let before = db.size_on_disk().map_err(fail)?;
    if before <= care.compact_floor {
        return Ok(db);
    }
    let Ok((rows, live)) = engine::verify(&db, &path) else {
        // Damage is the business of the next start; a compaction must not hide it.
        return Ok(db);
    };
    if before <= live.saturating_mul(care.compact_ratio) {
        return Ok(db);
    }
    let fresh = layout.home.join("db.new");
    remove_tree(&fresh)?;
    let target = reopen(&fresh)?;
    for row in db.iter() {
        let (key, value) = row.map_err(fail)?;
        target.insert(key, value).map_err(fail)?;
    }
    target.flush().map_err(fail)?;
    let copied = target.len() as u64;
    drop(target);
    if copied != rows {
        remove_tree(&fresh)?;
        return Ok(db);
    }
    drop(db);
    layout.swap(&fresh)?;
    let db = reopen(&path)?;
    let after = db.size_on_disk().map_err(fail)?;
    report.compacted = Some((before, after));
    Ok(db)
}

fn remove_tree(path: &Path) -> Result<(), StoreError> {
    match std::fs::remove_dir_all(path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(super::layout::io(path)(error)),
    }
}
