//! Writes a file so that a reader sees the old or the new content, never a mixture.

use std::fs::{File, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Mode of a file that did not exist before.
const NEW_MODE: u32 = 0o644;

/// Replaces the content of `path`, keeping its mode; missing parent directories are made.
///
/// # Errors
/// Whatever the file system says; the old content is then untouched.
pub(super) fn write(path: &Path, content: &[u8]) -> std::io::Result<()> {
    let parent = path
        .parent()
        .ok_or_else(|| std::io::Error::other("the path has no parent directory"))?;
    std::fs::create_dir_all(parent)?;
    let mode = match path.symlink_metadata() {
        Ok(found) if found.is_file() => found.permissions().mode() & 0o7777,
        Ok(_) => return Err(std::io::Error::other("it is not a regular file")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => NEW_MODE,
        Err(error) => return Err(error),
    };
    let mut file = tempfile::Builder::new()
        .prefix(".greenlight-")
        .tempfile_in(parent)?;
    file.write_all(content)?;
    file.as_file()
        .set_permissions(Permissions::from_mode(mode))?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    File::open(parent)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_replaced_and_the_mode_is_kept() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("a/b/run.sh");
        write(&path, b"one").unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        write(&path, b"two").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o755);
        assert_eq!(
            std::fs::read_dir(path.parent().unwrap()).unwrap().count(),
            1
        );
    }
}
