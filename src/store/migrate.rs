//! The schema of the stored rows and the steps from older ones.

use super::StoreError;
use super::batch::{Table, full_key};
use super::blob::Blobs;
use super::engine::failure;
use super::layout::Layout;

/// Schema that this release writes.
pub(super) const SCHEMA: u32 = 1;
/// Key of the schema in `Table::Meta`.
const KEY: &[u8] = b"schema";

/// One step from the schema of its place (the first leads from 1 to 2).
type Step = fn(&sled::Db, &Blobs) -> Result<(), StoreError>;

/// Steps in order; `SCHEMA` is always their number plus one.
const STEPS: [Step; 0] = [];

/// Brings a database to the present schema.
///
/// # Errors
/// If a newer release wrote it, or a step fails; then the database still has its old schema.
pub(super) fn migrate(db: &sled::Db, blobs: &Blobs, layout: &Layout) -> Result<(), StoreError> {
    let path = layout.db();
    let fail = |error| failure(error, &path);
    let key = full_key(Table::Meta, KEY);
    let found = match db.get(&key).map_err(fail)? {
        Some(stored) => serde_json::from_slice(&blobs.decode(&stored)?)
            .map_err(|error| StoreError::Decode(error.to_string()))?,
        None if db.is_empty() => SCHEMA,
        None => 1,
    };
    if found > SCHEMA {
        return Err(StoreError::Newer {
            found,
            known: SCHEMA,
        });
    }
    for step in STEPS.iter().skip(found.saturating_sub(1) as usize) {
        step(db, blobs)?;
    }
    db.insert(key, blobs.encode(SCHEMA.to_string().as_bytes())?)
        .map_err(fail)?;
    db.flush().map_err(fail)?;
    Ok(())
}
