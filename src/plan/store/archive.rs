//! Finished plans: moved below the session directory, never overwritten, listed by name.

use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};

use super::disk::{make_private_dir, move_to_free, sync_dir, write_atomic};
use super::{PlanFiles, PlanStoreError, names};
use crate::domain::SessionId;
use crate::plan::model::Plan;

/// One archived plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchivedPlan {
    /// Session it belonged to.
    pub session: SessionId,
    /// When it was archived.
    pub at: DateTime<Utc>,
    /// Its number among those of the same second, from 0.
    pub number: u32,
    /// Its sidecar.
    pub json: PathBuf,
    /// Its prose, if it had any.
    pub md: Option<PathBuf>,
}

impl PlanFiles {
    pub(super) fn archive_dir(&self) -> PathBuf {
        self.dir.join("archive")
    }

    /// Writes the final record, then moves prose and sidecar to a pair of free names.
    pub(super) fn archive_now(
        &self,
        plan: &Plan,
        now: DateTime<Utc>,
    ) -> Result<PathBuf, PlanStoreError> {
        let dir = self.archive_dir();
        make_private_dir(&dir)?;
        let text = serde_json::to_string_pretty(plan).map_err(PlanStoreError::Json)?;
        write_atomic(
            &self.json_path(),
            text.as_bytes(),
            &self.temp_prefix(),
            &*self.hook,
        )?;
        self.bury_legacy()?;
        for n in 0..10_000_u32 {
            let stem = names::archived(&self.session, now, n);
            let json = dir.join(format!("{stem}.json"));
            let md = dir.join(format!("{stem}.md"));
            if json.symlink_metadata().is_ok() || md.symlink_metadata().is_ok() {
                continue;
            }
            // The prose goes first: while the sidecar is live, the move is tried again at the next load.
            if self.md_path().symlink_metadata().is_ok() && !move_to_free(&self.md_path(), &md)? {
                continue;
            }
            if move_to_free(&self.json_path(), &json)? {
                sync_dir(&dir)?;
                sync_dir(&self.dir)?;
                return Ok(json);
            }
        }
        Err(PlanStoreError::Io {
            path: dir,
            source: std::io::ErrorKind::AlreadyExists.into(),
        })
    }
}

/// Archived plans below a session directory, newest first; of one session, or of all. Files with other
/// names are passed over. Reading has no effect.
///
/// # Errors
/// The disk refuses.
pub fn list_archived(
    dir: &Path,
    session: Option<&SessionId>,
) -> Result<Vec<ArchivedPlan>, PlanStoreError> {
    let dir = dir.join("archive");
    let entries = match std::fs::read_dir(&dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(PlanStoreError::Io { path: dir, source }),
    };
    let mut found: Vec<ArchivedPlan> = entries
        .flatten()
        .filter_map(|entry| {
            let json = entry.path();
            if json.extension()? != "json" || !entry.file_type().ok()?.is_file() {
                return None;
            }
            let (owner, at, number) = names::parse_archived(json.file_stem()?.to_str()?)?;
            if session.is_some_and(|wanted| *wanted != owner) {
                return None;
            }
            let md = json.with_extension("md");
            Some(ArchivedPlan {
                session: owner,
                at,
                number,
                md: md.is_file().then_some(md),
                json,
            })
        })
        .collect();
    found.sort_by(|a, b| (b.at, b.number, &a.session).cmp(&(a.at, a.number, &b.session)));
    Ok(found)
}
