//! Commands that go on while turns come and go.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::process::{End, Ended, Running};

/// Jobs of one session that may run at once.
const MAX_RUNNING: usize = 8;
/// Jobs of one session that are remembered, ended ones included.
const MAX_KEPT: usize = 32;
/// Output that is kept of a job, in bytes; the oldest goes first.
const MAX_OUTPUT: usize = 256 * 1024;
/// Longest life of a job.
const MAX_LIFE: Duration = Duration::from_secs(24 * 3600);

/// The jobs of all sessions.
#[derive(Debug, Default)]
pub(super) struct Jobs {
    sessions: Mutex<BTreeMap<PathBuf, Session>>,
}

#[derive(Debug, Default)]
struct Session {
    last: u32,
    jobs: BTreeMap<u32, BackgroundJob>,
}

#[derive(Debug, Clone)]
struct BackgroundJob {
    command: String,
    keep: bool,
    cancel: CancellationToken,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    output: Vec<u8>,
    /// Bytes that were printed before `output` begins.
    dropped: u64,
    ended: Option<Ended>,
}

/// What is new of a job.
#[derive(Debug)]
pub(super) struct Look {
    pub(super) command: String,
    pub(super) text: String,
    /// Position to read on from.
    pub(super) next: u64,
    pub(super) running: bool,
    pub(super) state: String,
}

/// A panic elsewhere leaves the data whole, because every change is one assignment or push.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Jobs {
    /// Takes over a started process. Gives its name, or says why it may not run.
    pub(super) fn adopt(
        &self,
        session: &Path,
        command: &str,
        keep: bool,
        start: impl FnOnce() -> Result<Running, String>,
    ) -> Result<String, String> {
        let mut sessions = lock(&self.sessions);
        let session = sessions.entry(session.to_path_buf()).or_default();
        let running = session.jobs.values().filter(|job| job.is_running()).count();
        if running >= MAX_RUNNING {
            return Err(format!(
                "{running} background commands run already, which is the most. Stop one with bg_stop."
            ));
        }
        let process = start()?;
        let job = BackgroundJob {
            command: command.to_owned(),
            keep,
            cancel: CancellationToken::new(),
            state: Arc::default(),
        };
        session.last += 1;
        let id = session.last;
        tokio::spawn(follow(process, job.cancel.clone(), Arc::clone(&job.state)));
        session.jobs.insert(id, job);
        while session.jobs.len() > MAX_KEPT {
            let oldest = session.jobs.iter().find(|(_, job)| !job.is_running());
            let Some(id) = oldest.map(|(id, _)| *id) else {
                break;
            };
            session.jobs.remove(&id);
        }
        Ok(format!("bg{id}"))
    }

    /// What a job printed from position `from` on.
    pub(super) fn look(&self, session: &Path, name: &str, from: u64) -> Result<Look, String> {
        let job = self.find(session, name)?;
        let state = lock(&job.state);
        let skip = usize::try_from(from.saturating_sub(state.dropped)).unwrap_or(usize::MAX);
        let fresh = state.output.get(skip..).unwrap_or_default();
        let mut text = String::new();
        if from < state.dropped {
            text.push_str(&format!("[… {} bytes are gone …]\n", state.dropped - from));
        }
        text.push_str(&String::from_utf8_lossy(fresh));
        Ok(Look {
            command: job.command.clone(),
            text,
            next: state.dropped + state.output.len() as u64,
            running: state.ended.is_none(),
            state: tell(state.ended),
        })
    }

    /// Tells a job to end; gives whether it was running.
    pub(super) fn stop(&self, session: &Path, name: &str) -> Result<bool, String> {
        let job = self.find(session, name)?;
        let running = job.is_running();
        job.cancel.cancel();
        Ok(running)
    }

    /// Tells the jobs of a session to end and gives how many were running.
    pub(super) fn stop_all(&self, session: &Path, kept: bool) -> usize {
        let sessions = lock(&self.sessions);
        let Some(session) = sessions.get(session) else {
            return 0;
        };
        let ending = session
            .jobs
            .values()
            .filter(|job| job.is_running() && (kept || !job.keep));
        ending.map(|job| job.cancel.cancel()).count()
    }

    fn find(&self, session: &Path, name: &str) -> Result<BackgroundJob, String> {
        let sessions = lock(&self.sessions);
        let jobs = sessions.get(session).map(|session| &session.jobs);
        let id = name
            .strip_prefix("bg")
            .and_then(|id| id.parse::<u32>().ok());
        if let (Some(jobs), Some(id)) = (jobs, id)
            && let Some(job) = jobs.get(&id)
        {
            return Ok(job.clone());
        }
        let known: Vec<String> = jobs
            .into_iter()
            .flat_map(BTreeMap::keys)
            .map(|id| format!("bg{id}"))
            .collect();
        Err(format!(
            "There is no background command `{name}`. Known: {}.",
            if known.is_empty() {
                "none".to_owned()
            } else {
                known.join(", ")
            }
        ))
    }
}

impl Drop for Jobs {
    fn drop(&mut self) {
        for session in lock(&self.sessions).values() {
            session.jobs.values().for_each(|job| job.cancel.cancel());
        }
    }
}

impl BackgroundJob {
    fn is_running(&self) -> bool {
        lock(&self.state).ended.is_none()
    }
}

async fn follow(process: Running, cancel: CancellationToken, state: Arc<Mutex<State>>) {
    let ended = process
        .finish(MAX_LIFE, &cancel, |bytes| {
            let mut state = lock(&state);
            state.output.extend_from_slice(bytes);
            let over = state.output.len().saturating_sub(MAX_OUTPUT);
            state.output.drain(..over);
            state.dropped += over as u64;
        })
        .await;
    lock(&state).ended = Some(ended);
}

fn tell(ended: Option<Ended>) -> String {
    match ended {
        None => "It is running.".to_owned(),
        Some(Ended {
            end: End::Exited,
            code: Some(code),
        }) => format!("It ended with exit code {code}."),
        Some(Ended {
            end: End::Exited,
            code: None,
        }) => "A signal ended it.".to_owned(),
        Some(Ended {
            end: End::TimedOut, ..
        }) => "It was killed after a day.".to_owned(),
        Some(Ended {
            end: End::Cancelled,
            ..
        }) => "It was stopped.".to_owned(),
    }
}
