//! Whether a directory tree changed, told from metadata alone.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// Entries after which a tree is too big to compare.
const MAX_ENTRIES: usize = 50_000;
/// Time after which a tree takes too long to compare.
const MAX_TIME: Duration = Duration::from_secs(3);

/// A fingerprint over path, kind, size, times, mode and inode of everything beneath `root`, or `None`
/// when the tree is too big, in which case a caller must assume a change.
///
/// Git's object store and index are left out: reading commands refresh the index, and whatever
/// changes history shows in `HEAD` or `refs`.
pub(super) fn of(root: &Path) -> Option<u64> {
    let started = Instant::now();
    let mut sum: u64 = 0;
    let mut entries = 0;
    let mut open = vec![root.to_path_buf()];
    while let Some(dir) = open.pop() {
        // A directory that vanished or cannot be read is the same before and after, or its parent
        // shows the difference.
        let Ok(list) = std::fs::read_dir(&dir) else {
            continue;
        };
        let in_git = dir.file_name().is_some_and(|name| name == ".git");
        for entry in list.flatten() {
            entries += 1;
            if entries > MAX_ENTRIES || started.elapsed() > MAX_TIME {
                return None;
            }
            let name = entry.file_name();
            if in_git && is_git_noise(&name.to_string_lossy()) {
                continue;
            }
            let path = entry.path();
            let Ok(meta) = path.symlink_metadata() else {
                continue;
            };
            // Order of listing does not matter, so the entries are added up.
            sum = sum.wrapping_add(entry_hash(&path, &meta));
            if meta.is_dir() {
                open.push(path);
            }
        }
    }
    Some(sum)
}

fn is_git_noise(name: &str) -> bool {
    matches!(name, "objects" | "index" | "logs" | "FETCH_HEAD" | "gc.log")
        || name.ends_with(".lock")
}

fn entry_hash(path: &Path, meta: &std::fs::Metadata) -> u64 {
    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    meta.mode().hash(&mut hasher);
    meta.uid().hash(&mut hasher);
    meta.ino().hash(&mut hasher);
    // Times and size of a directory change with lock files that come and go in it.
    if !meta.is_dir() {
        meta.size().hash(&mut hasher);
        (meta.mtime(), meta.mtime_nsec()).hash(&mut hasher);
        (meta.ctime(), meta.ctime_nsec()).hash(&mut hasher);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn every_kind_of_change_shows_and_index_noise_does_not() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("a/b.txt");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::create_dir_all(root.path().join(".git/refs")).unwrap();
        std::fs::write(&file, "one").unwrap();
        let mut last = of(root.path());
        assert!(last.is_some());
        std::fs::write(root.path().join(".git/index"), "noise").unwrap();
        assert_eq!(of(root.path()), last);
        let steps: [&dyn Fn(); 4] = [
            &|| std::fs::write(&file, "two!").unwrap(),
            &|| std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap(),
            &|| std::fs::create_dir(root.path().join("empty")).unwrap(),
            &|| std::fs::write(root.path().join(".git/refs/x"), "ref").unwrap(),
        ];
        for step in steps {
            step();
            let now = of(root.path());
            assert_ne!(now, last);
            last = now;
        }
    }
}
