//! The whole store as JSON lines: a header, one line for each row, a footer that proves completeness.
//!
//! `{"greenlight":"store","schema":1,"created":"…"}`, then `{"table":5,"key":"<hex>","value":…}`, then
//! `{"end":true,"rows":N}`. Values that live in files are written out in full.

use std::collections::HashSet;
use std::io::{BufRead, BufWriter, Write};
use std::path::Path;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::StoreError;
use super::blob::{Blobs, hex, unhex};
use super::engine::failure;
use super::layout::{io, sync_dir};
use super::migrate::SCHEMA;

/// Rows that are written together on import.
const CHUNK: usize = 500;

#[derive(Serialize, Deserialize)]
struct Header {
    greenlight: String,
    schema: u32,
    created: DateTime<Utc>,
}

#[derive(Serialize, Deserialize)]
struct Row {
    table: u8,
    key: String,
    value: Box<RawValue>,
}

#[derive(Serialize, Deserialize)]
struct Footer {
    end: bool,
    rows: u64,
}

/// What an export wrote.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exported {
    /// Rows written.
    pub rows: u64,
    /// Rows left out because they could not be read.
    pub skipped: u64,
    pub(super) files: HashSet<String>,
}

/// Writes the database to `path`, atomically and for its owner only.
pub(super) fn export(
    db: &sled::Db,
    blobs: &Blobs,
    path: &Path,
    now: DateTime<Utc>,
) -> Result<Exported, StoreError> {
    let dir = match path.parent() {
        Some(dir) if !dir.as_os_str().is_empty() => dir,
        Some(_) | None => Path::new("."),
    };
    let file = tempfile::NamedTempFile::new_in(dir).map_err(io(path))?;
    let mut out = BufWriter::new(&file);
    let mut done = Exported::default();
    let header = Header {
        greenlight: "store".to_owned(),
        schema: SCHEMA,
        created: now,
    };
    line(&mut out, &header, path)?;
    for row in db.iter() {
        let (key, stored) = row.map_err(|error| failure(error, path))?;
        if let Some(name) = Blobs::reference(&stored) {
            done.files.insert(name.to_owned());
        }
        match as_row(&key, &stored, blobs) {
            Some(row) => {
                line(&mut out, &row, path)?;
                done.rows += 1;
            }
            None => done.skipped += 1,
        }
    }
    let footer = Footer {
        end: true,
        rows: done.rows,
    };
    line(&mut out, &footer, path)?;
    out.flush().map_err(io(path))?;
    drop(out);
    file.as_file().sync_all().map_err(io(path))?;
    file.persist(path).map_err(|error| io(path)(error.error))?;
    sync_dir(dir)?;
    Ok(done)
}

fn as_row(key: &[u8], stored: &[u8], blobs: &Blobs) -> Option<Row> {
    let (table, key) = key.split_first()?;
    let value = String::from_utf8(blobs.decode(stored).ok()?).ok()?;
    Some(Row {
        table: *table,
        key: hex(key),
        value: RawValue::from_string(value).ok()?,
    })
}

fn line(out: &mut impl Write, value: &impl Serialize, path: &Path) -> Result<(), StoreError> {
    let mut text =
        serde_json::to_vec(value).map_err(|error| StoreError::Decode(error.to_string()))?;
    text.push(b'\n');
    out.write_all(&text).map_err(io(path))
}

/// Fills an empty database from a whole export; returns the number of rows. On an error the database is
/// incomplete and must be thrown away.
pub(super) fn fill(db: &sled::Db, blobs: &Blobs, path: &Path) -> Result<u64, StoreError> {
    let file = std::fs::File::open(path).map_err(io(path))?;
    let mut lines = std::io::BufReader::new(file).lines().enumerate();
    let format = |line: usize, reason: &str| StoreError::Format {
        line: line + 1,
        reason: reason.to_owned(),
    };
    let first = lines.next().and_then(|(_, text)| text.ok());
    let header: Header = first
        .and_then(|text| serde_json::from_str(&text).ok())
        .filter(|header: &Header| header.greenlight == "store")
        .ok_or_else(|| format(0, "no header"))?;
    if header.schema > SCHEMA {
        return Err(StoreError::Newer {
            found: header.schema,
            known: SCHEMA,
        });
    }
    let (mut rows, mut batch, mut last) = (0_u64, sled::Batch::default(), 0);
    for (number, text) in lines {
        last = number;
        let text = text.map_err(io(path))?;
        if let Ok(row) = serde_json::from_str::<Row>(&text) {
            let mut key = vec![row.table];
            key.extend(unhex(&row.key).ok_or_else(|| format(number, "bad key"))?);
            batch.insert(key, blobs.encode(row.value.get().as_bytes())?);
            rows += 1;
            if rows.is_multiple_of(CHUNK as u64) {
                db.apply_batch(std::mem::take(&mut batch))
                    .map_err(|error| failure(error, path))?;
            }
            continue;
        }
        let footer: Footer =
            serde_json::from_str(&text).map_err(|_| format(number, "neither row nor footer"))?;
        if !footer.end || footer.rows != rows {
            return Err(format(number, "the number of rows differs"));
        }
        db.apply_batch(batch)
            .and_then(|()| db.flush())
            .map_err(|error| failure(error, path))?;
        return Ok(rows);
    }
    Err(format(last, "cut before its end"))
}

/// Reads a file as far as its header and footer go, without changing anything.
pub(super) fn check(path: &Path) -> Result<(), StoreError> {
    let dir = tempfile::tempdir().map_err(io(path))?;
    let blobs = Blobs {
        dir: dir.path().join("blobs"),
    };
    std::fs::create_dir(&blobs.dir).map_err(io(&blobs.dir))?;
    let db = super::engine::open(&dir.path().join("db"))
        .map_err(|_| StoreError::Database("no scratch database".into()))?;
    fill(&db, &blobs, path).map(|_| ())
}
