//! From files to a state, with the older program's directories as a read-only fallback.

use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};

use super::disk::{move_to_free, read_bounded, remove, sync_dir, write_atomic};
use super::{NoHook, PlanFiles, PlanStoreError, names};
use crate::plan::legacy::{self, Loaded};
use crate::plan::lifecycle;
use crate::plan::model::{EditingPlan, Plan, PlanState, PlanStatus, PreInitOrigin};
use crate::plan::template;

/// A sidecar that was found.
struct Found {
    path: PathBuf,
    text: String,
    md: Option<String>,
    own: bool,
}

fn corrupt(path: PathBuf, reason: &str) -> PlanState {
    PlanState::Corrupt {
        path,
        reason: reason.to_owned(),
    }
}

impl PlanFiles {
    /// `boundary` is the time of a turn boundary, at which files may be moved; `None` only looks.
    pub(super) fn load_with(&self, boundary: Option<DateTime<Utc>>) -> PlanState {
        let found = match self.find() {
            Ok(Some(found)) => found,
            Ok(None) => return PlanState::NoPlan,
            Err((path, error)) => return corrupt(path, error.key()),
        };
        match legacy::read(&found.text, &self.session, found.md.is_some()) {
            Ok(Loaded::Live(plan)) => self.live(*plan, found, boundary),
            Ok(Loaded::Finished(plan)) => self.settled(found, boundary, |now| {
                self.archive_now(&plan, now).map(|_| ())
            }),
            Ok(Loaded::Gone) => self.settled(found, boundary, |_| {
                remove(&self.json_path())?;
                remove(&self.md_path())
            }),
            Err(reason) => corrupt(found.path, reason),
        }
    }

    /// A plan that is over: out of the way at a boundary, unseen before.
    fn settled(
        &self,
        found: Found,
        boundary: Option<DateTime<Utc>>,
        act: impl FnOnce(DateTime<Utc>) -> Result<(), PlanStoreError>,
    ) -> PlanState {
        let done = match boundary {
            Some(now) => act(now).and_then(|()| self.bury_legacy()),
            None => Ok(()),
        };
        match done {
            Ok(()) => PlanState::NoPlan,
            Err(error) => corrupt(found.path, error.key()),
        }
    }

    fn live(&self, mut plan: Plan, found: Found, boundary: Option<DateTime<Utc>>) -> PlanState {
        if plan.pre_init_editing && plan.tasks.is_empty() && plan.revision.is_empty() {
            return PlanState::PreInit {
                origin: plan.pre_init_origin.unwrap_or(PreInitOrigin::Nudge),
            };
        }
        plan.pre_init_editing = false;
        plan.pre_init_origin = None;
        if plan.status == PlanStatus::Active {
            if lifecycle::archive_due(&plan) {
                // The turn died between the last task and the archive.
                return self.settled(found, boundary, |now| {
                    self.archive_now(&plan, now).map(|_| ())
                });
            }
            if let (true, Some(md)) = (plan.revision.is_empty() || !found.own, &found.md) {
                plan.revision = template::revision(md);
                md.clone_into(&mut plan.description);
            }
            return PlanState::Active(Box::new(plan));
        }
        let prose = found.md.clone().unwrap_or_else(|| plan.description.clone());
        let stale = plan.description != prose
            || plan.revision != template::revision(&prose)
            || found.md.is_none();
        plan.revision = template::revision(&prose);
        prose.clone_into(&mut plan.description);
        if let (true, true, Some(now)) = (stale, found.own, boundary) {
            plan.updated_at = now;
            if let Err(error) = self.write(&plan, found.md.is_none().then_some(prose.as_str())) {
                return corrupt(found.path, error.key());
            }
        }
        // The prose of a foreign plan is written here next, so its directory has to exist.
        if boundary.is_some()
            && let Err(error) = self.make_dir()
        {
            return corrupt(found.path, error.key());
        }
        PlanState::Editing(EditingPlan {
            plan: Box::new(plan),
            md_path: self.md_path(),
            prose,
        })
    }

    /// Our own sidecar, else the first one in the fallback directories that was not taken over before.
    fn find(&self) -> Result<Option<Found>, (PathBuf, PlanStoreError)> {
        let path = self.json_path();
        if let Some(text) = read_bounded(&path).map_err(|error| (path.clone(), error))? {
            let md = self.read_md().map_err(|error| (self.md_path(), error))?;
            return Ok(Some(Found {
                path,
                text,
                md,
                own: true,
            }));
        }
        self.find_legacy()
    }

    fn find_legacy(&self) -> Result<Option<Found>, (PathBuf, PlanStoreError)> {
        for dir in &self.legacy {
            let path = dir.join(names::legacy(&self.session, "json"));
            let Some(text) = read_bounded(&path).map_err(|error| (path.clone(), error))? else {
                continue;
            };
            if self.is_buried(&text) {
                continue;
            }
            let md = dir.join(names::legacy(&self.session, "md"));
            let md = read_bounded(&md).map_err(|error| (md.clone(), error))?;
            return Ok(Some(Found {
                path,
                text,
                md,
                own: false,
            }));
        }
        Ok(None)
    }

    fn grave(&self) -> PathBuf {
        self.dir.join(names::live(&self.session, "taken"))
    }

    fn is_buried(&self, text: &str) -> bool {
        let known = read_bounded(&self.grave())
            .ok()
            .flatten()
            .unwrap_or_default();
        let mark = template::revision(text);
        known.lines().any(|line| line == mark)
    }

    /// Remembers that a foreign sidecar was taken over, archived or discarded, because it cannot be
    /// removed from its read-only directory and must not come back.
    pub(super) fn bury_legacy(&self) -> Result<(), PlanStoreError> {
        let mut marks = String::new();
        for dir in &self.legacy {
            let path = dir.join(names::legacy(&self.session, "json"));
            let text = match read_bounded(&path) {
                Ok(Some(text)) => text,
                Ok(None) => continue,
                // What cannot be read cannot be marked; it stays corrupt until its owner mends it.
                Err(error) => {
                    tracing::debug!(error = %error, "a foreign plan file could not be marked");
                    continue;
                }
            };
            if !self.is_buried(&text) {
                marks.push_str(&template::revision(&text));
                marks.push('\n');
            }
        }
        if marks.is_empty() {
            return Ok(());
        }
        self.make_dir()?;
        let mut known = read_bounded(&self.grave())?.unwrap_or_default();
        known.push_str(&marks);
        write_atomic(
            &self.grave(),
            known.as_bytes(),
            &self.temp_prefix(),
            &NoHook,
        )
    }

    /// Keeps an unreadable sidecar under another name and frees the session.
    pub(super) fn set_aside(&self, now: DateTime<Utc>) -> Result<(), PlanStoreError> {
        for path in [self.json_path(), self.md_path()] {
            if path.symlink_metadata().is_err() {
                continue;
            }
            self.aside(&path, now)?;
        }
        sync_dir(&self.dir)
    }

    fn aside(&self, path: &Path, now: DateTime<Utc>) -> Result<(), PlanStoreError> {
        for n in 0..1000_u32 {
            let tail = if n == 0 {
                String::new()
            } else {
                format!("-{n}")
            };
            let mut name = path.as_os_str().to_owned();
            name.push(format!(".corrupt-{}{tail}", names::stamp(now)));
            let to = PathBuf::from(name);
            // A link cannot be linked; it is removed, its target stays.
            if path.symlink_metadata().is_ok_and(|meta| !meta.is_file()) {
                return remove(path);
            }
            if move_to_free(path, &to)? {
                return Ok(());
            }
        }
        Err(PlanStoreError::Io {
            path: path.to_path_buf(),
            source: std::io::ErrorKind::AlreadyExists.into(),
        })
    }
}
