//! A workspace and whether anything touched it.

use std::fmt::Write as _;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use inotify::{EventMask, Inotify, WatchMask};

pub(crate) const GOOD_CALC: &str = "def add(a, b):\n    return a + b\n";

/// A small git repository whose only function is wrong.
pub(crate) fn workspace(root: &Path) {
    std::fs::create_dir_all(root).unwrap();
    for (name, text) in [
        ("README.md", "# Sample\n\nA calculator with one function.\n"),
        ("calc.py", "def add(a, b):\n    return a - b\n"),
        ("check.sh", "grep -q 'a + b' calc.py\n"),
        ("notes.md", "# Notes\n"),
    ] {
        std::fs::write(root.join(name), text).unwrap();
    }
    for arguments in [
        vec!["init", "-q", "-b", "main"],
        vec!["add", "."],
        vec![
            "-c",
            "user.name=T",
            "-c",
            "user.email=t@example.org",
            "commit",
            "-qm",
            "start",
        ],
    ] {
        let done = Command::new("git")
            .args(&arguments)
            .current_dir(root)
            .env("HOME", root)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .status()
            .unwrap();
        assert!(done.success(), "git {arguments:?}");
    }
}

/// Every path below `root` with type, mode and content.
pub(crate) fn picture(root: &Path) -> String {
    let mut lines = Vec::new();
    let mut todo = vec![root.to_path_buf()];
    while let Some(dir) = todo.pop() {
        for entry in std::fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().display().to_string();
            // git refreshes its index while it only looks.
            if name == ".git/index" {
                continue;
            }
            let meta = path.symlink_metadata().unwrap();
            let body = if meta.is_symlink() {
                format!("{:?}", std::fs::read_link(&path).unwrap())
            } else if meta.is_dir() {
                todo.push(path.clone());
                String::new()
            } else {
                format!("{:?}", std::fs::read(&path).unwrap())
            };
            let mut line = String::new();
            write!(line, "{name} {:o} {} {body}", meta.mode(), meta.nlink()).unwrap();
            lines.push(line);
        }
    }
    lines.sort();
    lines.join("\n")
}

/// Notes every change below a directory while it exists, even one that is undone.
pub(crate) struct Watch {
    inotify: Inotify,
    names: std::collections::HashMap<inotify::WatchDescriptor, PathBuf>,
}

impl Watch {
    pub(crate) fn new(root: &Path) -> Self {
        let inotify = Inotify::init().unwrap();
        let mask = WatchMask::MODIFY
            | WatchMask::ATTRIB
            | WatchMask::MOVED_FROM
            | WatchMask::MOVED_TO
            | WatchMask::CREATE
            | WatchMask::DELETE;
        let mut names = std::collections::HashMap::new();
        let mut todo = vec![root.to_path_buf()];
        while let Some(dir) = todo.pop() {
            let id = inotify.watches().add(&dir, mask).unwrap();
            let entries = std::fs::read_dir(&dir).unwrap().flatten();
            todo.extend(
                entries
                    .filter(|entry| entry.file_type().unwrap().is_dir())
                    .map(|entry| entry.path()),
            );
            names.insert(id, dir.strip_prefix(root).unwrap().to_path_buf());
        }
        Self { inotify, names }
    }

    /// What happened since the last look.
    pub(crate) fn events(&mut self) -> Vec<(String, EventMask)> {
        let mut found = Vec::new();
        let mut buffer = [0; 65536];
        loop {
            let events: Vec<(String, EventMask)> = match self.inotify.read_events(&mut buffer) {
                Ok(events) => events
                    .map(|event| {
                        let dir = self.names.get(&event.wd).cloned().unwrap_or_default();
                        let name = dir.join(event.name.unwrap_or_default());
                        (name.display().to_string(), event.mask)
                    })
                    .collect(),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return found,
                Err(error) => panic!("inotify: {error}"),
            };
            if events.is_empty() {
                return found;
            }
            found.extend(
                events
                    .into_iter()
                    .filter(|(name, _)| !name.starts_with(".git/index")),
            );
        }
    }
}
