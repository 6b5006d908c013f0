//! Stored values: small ones inline, large ones as content-addressed files.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::StoreError;
use super::layout::{io, sync_dir};

/// Largest value kept inside the database, in bytes; larger ones become content-addressed files.
const INLINE_LIMIT: usize = 32 * 1024;
/// First byte of a value: JSON follows.
const FORMAT_JSON: u8 = 1;
/// First byte of a value: the hex hash of a file follows.
const FORMAT_FILE: u8 = 2;

/// The directory of large values.
#[derive(Debug, Clone)]
pub(super) struct Blobs {
    pub(super) dir: PathBuf,
}

impl Blobs {
    /// What the database holds for these JSON bytes.
    pub(super) fn encode(&self, value: &[u8]) -> Result<Vec<u8>, StoreError> {
        if value.len() <= INLINE_LIMIT {
            let mut stored = Vec::with_capacity(value.len() + 1);
            stored.push(FORMAT_JSON);
            stored.extend_from_slice(value);
            return Ok(stored);
        }
        let name = hex(&Sha256::digest(value));
        let path = self.dir.join(&name);
        if !path.exists() {
            let mut file = tempfile::NamedTempFile::new_in(&self.dir).map_err(io(&path))?;
            std::io::Write::write_all(&mut file, value).map_err(io(&path))?;
            file.as_file().sync_all().map_err(io(&path))?;
            file.persist(&path)
                .map_err(|error| io(&path)(error.error))?;
            sync_dir(&self.dir)?;
        }
        let mut stored = vec![FORMAT_FILE];
        stored.extend_from_slice(name.as_bytes());
        Ok(stored)
    }

    /// The JSON bytes behind what the database holds.
    pub(super) fn decode(&self, stored: &[u8]) -> Result<Vec<u8>, StoreError> {
        match stored.split_first() {
            Some((&FORMAT_JSON, json)) => Ok(json.to_vec()),
            Some((&FORMAT_FILE, _)) => {
                let name = Self::reference(stored)
                    .ok_or_else(|| StoreError::Decode("bad file name".into()))?;
                let path = self.dir.join(name);
                std::fs::read(&path).map_err(io(&path))
            }
            Some(_) | None => Err(StoreError::Decode("unknown value format".into())),
        }
    }

    /// The file that a stored value refers to.
    pub(super) fn reference(stored: &[u8]) -> Option<&str> {
        let (&FORMAT_FILE, name) = stored.split_first()? else {
            return None;
        };
        let name = std::str::from_utf8(name).ok()?;
        (name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(name)
    }

    /// Removes files that nothing refers to; returns how many.
    pub(super) fn sweep(&self, used: &HashSet<String>) -> usize {
        let entries = std::fs::read_dir(&self.dir).into_iter().flatten();
        entries
            .filter_map(Result::ok)
            .filter(|entry| !used.contains(entry.file_name().to_string_lossy().as_ref()))
            .filter(|entry| remove(&entry.path()))
            .count()
    }
}

fn remove(path: &Path) -> bool {
    std::fs::remove_file(path).is_ok()
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn unhex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.is_ascii() {
        return None;
    }
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok())
        .collect()
}
