//! The line of batches before the disk: whoever works takes all that wait, so that many commits share
//! one flush.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use super::{Batch, StoreError};

/// A batch and who waits for it.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) batch: Batch,
    /// Whether it has to be on the disk before it is answered.
    pub(super) durable: bool,
    pub(super) done: oneshot::Sender<Result<(), StoreError>>,
}

/// Batches in the order in which they were handed in.
#[derive(Debug, Default)]
pub(super) struct Line {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    waiting: Vec<Waiting>,
    worked: bool,
}

impl Line {
    /// Puts a batch at the end. True if nobody works and the caller has to.
    pub(super) fn join(&self, waiting: Waiting) -> bool {
        let mut state = self.lock();
        state.waiting.push(waiting);
        !std::mem::replace(&mut state.worked, true)
    }

    /// Everything that waits; `None` ends the work.
    pub(super) fn take(&self) -> Option<Vec<Waiting>> {
        let mut state = self.lock();
        if state.waiting.is_empty() {
            state.worked = false;
            return None;
        }
        Some(std::mem::take(&mut state.waiting))
    }

    /// After a worker that broke: who waits is told nothing was done, and the next one may work.
    fn abandon(&self) {
        let mut state = self.lock();
        state.waiting.clear();
        state.worked = false;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Frees the line if its worker panics.
pub(super) struct Worker<'a>(pub(super) &'a Line);

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.abandon();
        }
    }
}
