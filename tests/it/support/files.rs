//! The plan files that a bot keeps.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::rig::Rig;

impl Rig {
    /// Live plan files of the private session and all others.
    pub(crate) fn live(&self, extension: &str) -> Vec<PathBuf> {
        let mut found = below(&self.home());
        found.retain(|path| {
            let name = path.file_name().unwrap().to_string_lossy();
            name.starts_with(".greenlight_plan_") && name.ends_with(&format!(".{extension}"))
        });
        found
    }

    pub(crate) fn sidecar(&self) -> Option<Value> {
        let found = self.live("json");
        assert!(found.len() < 2, "{found:?}");
        let text = std::fs::read_to_string(found.first()?).ok()?;
        Some(serde_json::from_str(&text).expect("a sidecar is JSON"))
    }

    fn foreign(path: &Path) -> bool {
        path.display()
            .to_string()
            .contains("4b8f7d52-0c11-4c5e-9a54-7a1b7d1f5f10")
    }

    /// The sidecar, where another session's prose lies beside it.
    pub(crate) fn sidecar_of_session(&self) -> Value {
        let path = self
            .live("json")
            .into_iter()
            .find(|path| !Self::foreign(path));
        let text = std::fs::read_to_string(path.expect("a sidecar")).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    /// The prose, where another session's lies beside it.
    pub(crate) fn md_of_session(&self) -> PathBuf {
        let path = self
            .live("md")
            .into_iter()
            .find(|path| !Self::foreign(path));
        path.expect("a session .md")
    }

    pub(crate) fn status(&self) -> String {
        self.sidecar().map_or_else(String::new, |side| {
            side["status"].as_str().unwrap_or_default().to_owned()
        })
    }

    pub(crate) fn md(&self) -> PathBuf {
        self.live("md").pop().expect("a session .md")
    }

    pub(crate) fn no_plan(&self) -> bool {
        self.live("json").is_empty() && self.live("md").is_empty()
    }

    pub(crate) fn archived(&self, extension: &str) -> Vec<PathBuf> {
        let mut found = below(&self.home());
        found.retain(|path| {
            let name = path.file_name().unwrap().to_string_lossy();
            name.starts_with("greenlight_plan_") && name.ends_with(&format!(".{extension}"))
        });
        found
    }
}

/// Every file below a directory.
pub(crate) fn below(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut todo = vec![root.to_path_buf()];
    while let Some(dir) = todo.pop() {
        for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                todo.push(entry.path());
            } else {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    found
}
