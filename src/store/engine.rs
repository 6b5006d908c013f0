//! Opening sled so that damage is an answer instead of a panic.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Duration;

use super::StoreError;
use super::layout::io;

/// Cache bound in bytes.
const CACHE_BYTES: u64 = 64 * 1024 * 1024;
/// A database that was closed a moment ago may still be held by its flusher: tries of 50 ms.
const TRIES: u32 = 100;

/// Why a database did not open.
#[derive(Debug)]
pub(super) enum OpenFault {
    /// Its bytes are damaged.
    Damaged(String),
    /// Something else; the bytes are left alone.
    Other(StoreError),
}

pub(super) fn open(path: &Path) -> Result<sled::Db, OpenFault> {
    let config = sled::Config::new().path(path).cache_capacity(CACHE_BYTES);
    let mut tries = 0;
    loop {
        let error = match contained(|| config.open()) {
            Ok(Ok(db)) => return Ok(db),
            Ok(Err(error)) => error,
            Err(panic) => return Err(OpenFault::Damaged(panic)),
        };
        tries += 1;
        if !is_held(&error) {
            return Err(classify(error, path));
        }
        if tries > TRIES {
            return Err(OpenFault::Other(StoreError::Locked(path.to_path_buf())));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Reads every row. Returns the number of rows and their bytes.
pub(super) fn verify(db: &sled::Db, path: &Path) -> Result<(u64, u64), OpenFault> {
    let walked = contained(|| {
        let mut sum = (0_u64, 0_u64);
        for row in db.iter() {
            let (key, value) = row?;
            sum.0 += 1;
            sum.1 += (key.len() + value.len()) as u64;
        }
        Ok(sum)
    });
    match walked {
        Ok(Ok(sum)) => Ok(sum),
        Ok(Err(error)) => Err(classify(error, path)),
        Err(panic) => Err(OpenFault::Damaged(panic)),
    }
}

/// A store error for a failure of the running database.
pub(super) fn failure(error: sled::Error, path: &Path) -> StoreError {
    if let sled::Error::Io(source) = error {
        return io(path)(source);
    }
    StoreError::Database(error.to_string())
}

/// Whether an error of the running database means damage, so that the next start must look closely.
pub(super) fn is_damage(error: &sled::Error) -> bool {
    matches!(
        error,
        sled::Error::Corruption { .. } | sled::Error::ReportableBug(_)
    )
}

fn classify(error: sled::Error, path: &Path) -> OpenFault {
    let sled::Error::Io(source) = error else {
        return OpenFault::Damaged(error.to_string());
    };
    let damaged = matches!(
        source.kind(),
        std::io::ErrorKind::UnexpectedEof
            | std::io::ErrorKind::InvalidData
            | std::io::ErrorKind::InvalidInput
            | std::io::ErrorKind::IsADirectory
            | std::io::ErrorKind::NotADirectory
            | std::io::ErrorKind::Other
    );
    if damaged {
        OpenFault::Damaged(source.to_string())
    } else {
        OpenFault::Other(io(path)(source))
    }
}

/// sled tells a held lock only by these words.
fn is_held(error: &sled::Error) -> bool {
    matches!(error, sled::Error::Io(source) if source.to_string().contains("could not acquire lock"))
}

fn contained<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        panic
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "panic".to_owned())
    })
}
