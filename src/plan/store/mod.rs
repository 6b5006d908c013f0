//! The plan files of one session: names, atomic saves, loads, the archive. Blocking; the session calls
//! it off the runtime. Keep one [`PlanFiles`] for each session: it serialises every change.

mod archive;
mod disk;
mod load;
mod names;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Utc};

use super::model::{Plan, PlanState};
use super::template;
use crate::domain::{SessionId, TurnId};
use disk::{read_bounded, remove, write_atomic};

pub use archive::{ArchivedPlan, list_archived};
pub use disk::{MAX_BYTES, NoHook, SaveHook, SavePoint, read_import};

/// Why a plan file could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum PlanStoreError {
    /// The session id is not a lower-case UUID.
    #[error("the session id is not a UUID")]
    BadSession,
    /// The turn that saves was cancelled or superseded; nothing was written.
    #[error("the turn {turn} was superseded")]
    Superseded {
        /// The turn.
        turn: TurnId,
    },
    /// The path is a symbolic link, or not a regular file.
    #[error("refused: {} is a link or no regular file", .0.display())]
    NotAFile(PathBuf),
    /// More than 10 MiB.
    #[error("refused: {} exceeds 10 MiB", .0.display())]
    TooLarge(PathBuf),
    /// Not UTF-8.
    #[error("refused: {} is not text", .0.display())]
    NotText(PathBuf),
    /// The path is not absolute.
    #[error("refused: {} is not an absolute path", .0.display())]
    NotAbsolute(PathBuf),
    /// The record cannot be written as JSON.
    #[error("the plan cannot be written as JSON")]
    Json(#[source] serde_json::Error),
    /// The disk refused.
    #[error("{} could not be accessed", path.display())]
    Io {
        /// Path.
        path: PathBuf,
        /// Cause.
        #[source]
        source: std::io::Error,
    },
}

impl PlanStoreError {
    /// Locale key of a short reason for people.
    #[must_use]
    pub fn key(&self) -> &'static str {
        match self {
            Self::BadSession => "plan-corrupt-session",
            Self::Superseded { .. } => "plan-save-superseded",
            Self::NotAFile(_) => "plan-corrupt-link",
            Self::TooLarge(_) => "plan-corrupt-size",
            Self::NotText(_) | Self::Json(_) => "plan-corrupt-json",
            Self::NotAbsolute(_) => "plan-import-not-absolute",
            Self::Io { .. } => "plan-corrupt-io",
        }
    }
}

/// The plan files of one session.
pub struct PlanFiles {
    dir: PathBuf,
    session: SessionId,
    legacy: Vec<PathBuf>,
    hook: Arc<dyn SaveHook>,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// Saves of a lower epoch are refused.
    epoch: u64,
}

impl PlanFiles {
    /// Files in `dir` (made on the first save, mode 0700), with read-only fallback directories.
    ///
    /// # Errors
    /// The session id is not a lower-case UUID, so that no name can be built from it.
    pub fn new(
        dir: &Path,
        session: &SessionId,
        legacy: &[PathBuf],
    ) -> Result<Self, PlanStoreError> {
        Self::with_hook(dir, session, legacy, Arc::new(NoHook))
    }

    /// Like [`Self::new`], with a hook that is asked at every step of a save.
    ///
    /// # Errors
    /// The session id is not a lower-case UUID.
    pub fn with_hook(
        dir: &Path,
        session: &SessionId,
        legacy: &[PathBuf],
        hook: Arc<dyn SaveHook>,
    ) -> Result<Self, PlanStoreError> {
        if !names::is_session(session.as_str()) {
            return Err(PlanStoreError::BadSession);
        }
        Ok(Self {
            dir: dir.to_path_buf(),
            session: session.clone(),
            legacy: legacy.to_vec(),
            hook,
            inner: Mutex::new(Inner::default()),
        })
    }

    /// The sidecar's path.
    #[must_use]
    pub fn json_path(&self) -> PathBuf {
        self.dir.join(names::live(&self.session, "json"))
    }

    /// The path of the session `.md`; canonical if its directory exists.
    #[must_use]
    pub fn md_path(&self) -> PathBuf {
        let dir = self.dir.canonicalize().unwrap_or_else(|_| self.dir.clone());
        dir.join(names::live(&self.session, "md"))
    }

    /// Names the epoch of the turn that runs now; saves of earlier turns are refused from here on.
    pub fn begin(&self, turn: TurnId) {
        let mut inner = self.lock();
        inner.epoch = inner.epoch.max(turn.0);
    }

    /// Refuses every further save of this turn and earlier ones. Called on discard, after which a
    /// cancelled turn can bring nothing back.
    pub fn fence(&self, turn: TurnId) {
        let mut inner = self.lock();
        inner.epoch = inner.epoch.max(turn.0.saturating_add(1));
    }

    // A poisoned lock guards a number only, which is valid whatever happened.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn current(&self, turn: TurnId) -> Result<MutexGuard<'_, Inner>, PlanStoreError> {
        let inner = self.lock();
        if turn.0 < inner.epoch {
            return Err(PlanStoreError::Superseded { turn });
        }
        Ok(inner)
    }

    /// Saves a plan, and its `.md` if `md` is given, on behalf of a turn. Durable when it returns; after
    /// a crash in between, the next load sees the old or the new plan.
    ///
    /// # Errors
    /// The turn was superseded, a file is a link or too large, or the disk refuses.
    pub fn save(&self, plan: &Plan, md: Option<&str>, turn: TurnId) -> Result<(), PlanStoreError> {
        let _held = self.current(turn)?;
        self.write(plan, md)
    }

    fn write(&self, plan: &Plan, md: Option<&str>) -> Result<(), PlanStoreError> {
        self.make_dir()?;
        // The prose goes first: a sidecar never speaks of a `.md` that is not there, and prose that is
        // newer than the sidecar is mirrored at the next load.
        // A plan taken over from a foreign directory brings its prose along.
        let adopted =
            md.is_none() && plan.is_design() && self.md_path().symlink_metadata().is_err();
        if let Some(md) = md.or_else(|| adopted.then_some(plan.description.as_str())) {
            write_atomic(
                &self.md_path(),
                md.as_bytes(),
                &self.temp_prefix(),
                &*self.hook,
            )?;
        }
        let text = serde_json::to_string_pretty(plan).map_err(PlanStoreError::Json)?;
        write_atomic(
            &self.json_path(),
            text.as_bytes(),
            &self.temp_prefix(),
            &*self.hook,
        )?;
        self.bury_legacy()
    }

    fn make_dir(&self) -> Result<(), PlanStoreError> {
        disk::make_private_dir(&self.dir)
    }

    fn temp_prefix(&self) -> String {
        format!(".tmp_plan_{}_", self.session)
    }

    /// Loads the state at a turn boundary: maps older statuses, archives a finished plan, removes a
    /// cancelled one, mirrors prose that changed. Never fails: what cannot be read is Corrupt.
    #[must_use]
    pub fn load(&self, now: DateTime<Utc>) -> PlanState {
        let _held = self.lock();
        disk::sweep(&self.dir, &self.temp_prefix());
        self.load_with(Some(now))
    }

    /// Loads the state for rendering: moves and writes nothing.
    #[must_use]
    pub fn peek(&self) -> PlanState {
        let _held = self.lock();
        self.load_with(None)
    }

    /// Reads the session `.md`; `None` if there is none.
    ///
    /// # Errors
    /// It is a link, too large, not text, or the disk refuses.
    pub fn read_md(&self) -> Result<Option<String>, PlanStoreError> {
        read_bounded(&self.md_path())
    }

    /// After a write to the `.md`: mirrors its body into the record and saves it. True if it changed.
    ///
    /// # Errors
    /// As [`Self::save`] and [`Self::read_md`].
    pub fn sync_md(
        &self,
        plan: &mut Plan,
        now: DateTime<Utc>,
        turn: TurnId,
    ) -> Result<bool, PlanStoreError> {
        let _held = self.current(turn)?;
        let md = read_bounded(&self.md_path())?.unwrap_or_default();
        disk::make_private(&self.md_path())?;
        let revision = template::revision(&md);
        if revision == plan.revision && plan.description == md {
            return Ok(false);
        }
        let mut next = plan.clone();
        next.description = md;
        next.revision = revision;
        next.updated_at = now;
        self.write(&next, None)?;
        *plan = next;
        Ok(true)
    }

    /// Whether a path is exactly the session `.md`, links resolved. Its parent must exist; an equal
    /// name elsewhere is another file.
    #[must_use]
    pub fn is_plan_md(&self, candidate: &Path) -> bool {
        let (Ok(dir), Some(name)) = (self.dir.canonicalize(), candidate.file_name()) else {
            return false;
        };
        let resolved = candidate.canonicalize().or_else(|_| {
            // A dangling link must not pass as a file that does not exist yet.
            if candidate.symlink_metadata().is_ok() {
                return Err(std::io::Error::from(std::io::ErrorKind::NotFound));
            }
            candidate
                .parent()
                .unwrap_or(Path::new("/"))
                .canonicalize()
                .map(|parent| parent.join(name))
        });
        resolved.is_ok_and(|path| path == dir.join(names::live(&self.session, "md")))
    }

    /// Moves a finished plan into the archive, never over another one. Returns the archived sidecar.
    ///
    /// # Errors
    /// The turn was superseded or the disk refuses.
    pub fn archive(
        &self,
        plan: &Plan,
        now: DateTime<Utc>,
        turn: TurnId,
    ) -> Result<PathBuf, PlanStoreError> {
        let _held = self.current(turn)?;
        self.archive_now(plan, now)
    }

    /// Deletes the live files. A corrupt sidecar is kept as `*.corrupt-<UTC>` instead. The caller has
    /// called [`Self::fence`] before.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn discard(&self, now: DateTime<Utc>) -> Result<(), PlanStoreError> {
        let _held = self.lock();
        let corrupt = matches!(self.load_with(None), PlanState::Corrupt { .. });
        self.bury_legacy()?;
        if corrupt {
            return self.set_aside(now);
        }
        remove(&self.json_path())?;
        remove(&self.md_path())?;
        disk::sync_dir(&self.dir)
    }

    /// The archived plans of this session, newest first.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn list(&self) -> Result<Vec<ArchivedPlan>, PlanStoreError> {
        list_archived(&self.dir, Some(&self.session))
    }
}
