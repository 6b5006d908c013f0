//! Bytes on disk: bounded reads that follow no link, atomic private writes.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use super::PlanStoreError;

/// Bytes of one plan file, 10 MiB.
pub const MAX_BYTES: u64 = 10 * 1024 * 1024;

/// Steps of a save at which a process can die.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SavePoint {
    /// Before the temporary file is made.
    Begin,
    /// It is written.
    Written,
    /// It is on disk.
    Synced,
    /// It has the final name.
    Renamed,
    /// The directory is on disk.
    Durable,
}

/// Asked at every step of a save; an error stops the save there, as a crash would.
pub trait SaveHook: Send + Sync {
    /// Called when `point` of the save of `path` is reached.
    ///
    /// # Errors
    /// The save stops with it.
    fn at(&self, point: SavePoint, path: &Path) -> io::Result<()>;
}

/// Never stops a save.
#[derive(Debug, Clone, Copy)]
pub struct NoHook;

impl SaveHook for NoHook {
    fn at(&self, _point: SavePoint, _path: &Path) -> io::Result<()> {
        Ok(())
    }
}

fn io_at(path: &Path) -> impl Fn(io::Error) -> PlanStoreError + '_ {
    move |source| PlanStoreError::Io {
        path: path.to_path_buf(),
        source,
    }
}

/// True if it exists; refuses links and everything that is no regular file.
fn is_file(path: &Path) -> Result<bool, PlanStoreError> {
    match path.symlink_metadata() {
        Ok(meta) if meta.is_file() => Ok(true),
        Ok(_) => Err(PlanStoreError::NotAFile(path.to_path_buf())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(io_at(path)(error)),
    }
}

/// The text of a file, `None` if there is none.
pub(super) fn read_bounded(path: &Path) -> Result<Option<String>, PlanStoreError> {
    if !is_file(path)? {
        return Ok(None);
    }
    // The flag closes the gap between the look above and the opening; a pipe put there must not block.
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(path)
        .map_err(io_at(path))?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(io_at(path))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(PlanStoreError::TooLarge(path.to_path_buf()));
    }
    String::from_utf8(bytes)
        .map(Some)
        .map_err(|_| PlanStoreError::NotText(path.to_path_buf()))
}

/// Reads a file to import: absolute, no link as its last part, at most 10 MiB of text.
///
/// # Errors
/// One of these rules is broken, the file is not there, or the disk refuses.
pub fn read_import(path: &Path) -> Result<String, PlanStoreError> {
    if !path.is_absolute() {
        return Err(PlanStoreError::NotAbsolute(path.to_path_buf()));
    }
    read_bounded(path)?.ok_or_else(|| io_at(path)(io::ErrorKind::NotFound.into()))
}

/// Replaces a file atomically and durably, mode 0600.
pub(super) fn write_atomic(
    path: &Path,
    bytes: &[u8],
    temp_prefix: &str,
    hook: &dyn SaveHook,
) -> Result<(), PlanStoreError> {
    let at = io_at(path);
    if bytes.len() as u64 > MAX_BYTES {
        return Err(PlanStoreError::TooLarge(path.to_path_buf()));
    }
    is_file(path)?;
    let dir = path.parent().unwrap_or(Path::new("/"));
    hook.at(SavePoint::Begin, path).map_err(&at)?;
    let mut temp = tempfile::Builder::new()
        .prefix(temp_prefix)
        .permissions(fs::Permissions::from_mode(0o600))
        .tempfile_in(dir)
        .map_err(&at)?;
    temp.write_all(bytes).map_err(&at)?;
    hook.at(SavePoint::Written, path).map_err(&at)?;
    temp.as_file().sync_all().map_err(&at)?;
    hook.at(SavePoint::Synced, path).map_err(&at)?;
    temp.persist(path).map_err(|error| at(error.error))?;
    hook.at(SavePoint::Renamed, path).map_err(&at)?;
    sync_dir(dir)?;
    hook.at(SavePoint::Durable, path).map_err(&at)
}

/// Makes names durable. A directory that does not exist has none.
pub(super) fn sync_dir(dir: &Path) -> Result<(), PlanStoreError> {
    match File::open(dir) {
        Ok(file) => file.sync_all().map_err(io_at(dir)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(io_at(dir)(error)),
    }
}

/// Makes a directory that only its owner enters.
pub(super) fn make_private_dir(dir: &Path) -> Result<(), PlanStoreError> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
        .map_err(io_at(dir))
}

/// Gives an existing file mode 0600.
pub(super) fn make_private(path: &Path) -> Result<(), PlanStoreError> {
    if !is_file(path)? {
        return Ok(());
    }
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).map_err(io_at(path))
}

/// Removes a file; one that is not there is fine.
pub(super) fn remove(path: &Path) -> Result<(), PlanStoreError> {
    match fs::remove_file(path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(io_at(path)(error)),
    }
}

/// Moves a file to a name that is free; false if that name is taken.
pub(super) fn move_to_free(from: &Path, to: &Path) -> Result<bool, PlanStoreError> {
    // A hard link fails where a rename would overwrite.
    match fs::hard_link(from, to) {
        Ok(()) => remove(from).map(|()| true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(io_at(to)(error)),
    }
}

/// Removes temporary files that a crash left behind. Failing to is harmless: they are never read.
pub(super) fn sweep(dir: &Path, temp_prefix: &str) {
    let Ok(entries) = fs::read_dir(dir) else {
        return;
    };
    for entry in entries.flatten() {
        let stale = entry
            .file_name()
            .to_str()
            .is_some_and(|name| name.starts_with(temp_prefix));
        if stale && let Err(error) = fs::remove_file(entry.path()) {
            tracing::debug!(error = %error, "a stale temporary plan file could not be removed");
        }
    }
}
