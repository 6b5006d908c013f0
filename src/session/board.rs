//! Which sessions work now, for health, metrics and the panel.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::domain::{SessionId, TurnId};

/// The board.
#[derive(Debug)]
pub struct Board(Mutex<Notes>);

#[derive(Debug)]
struct Notes {
    running: HashMap<SessionId, TurnId>,
    model_answers: bool,
}

impl Default for Board {
    fn default() -> Self {
        Self(Mutex::new(Notes {
            running: HashMap::new(),
            model_answers: true,
        }))
    }
}

impl Board {
    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A turn began.
    pub fn running(&self, session: &SessionId, turn: TurnId) {
        self.notes().running.insert(session.clone(), turn);
    }

    /// A session has no turn any more.
    pub fn idle(&self, session: &SessionId) {
        self.notes().running.remove(session);
    }

    /// Whether a session has a turn.
    #[must_use]
    pub fn is_running(&self, session: &SessionId) -> bool {
        self.notes().running.contains_key(session)
    }

    /// Turns that run now.
    #[must_use]
    pub fn turns(&self) -> usize {
        self.notes().running.len()
    }

    /// Notes whether the model answered when it was asked last.
    pub fn model_answered(&self, good: bool) {
        self.notes().model_answers = good;
    }

    /// Whether the model answered when it was asked last; good until it was asked.
    #[must_use]
    pub fn model_answers(&self) -> bool {
        self.notes().model_answers
    }
}
