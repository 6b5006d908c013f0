//! Flow messages of a conversation come one after the other: a new one opens when the one before it has
//! settled, so that there is never more than one whose state a restart has to know.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::oneshot;

/// The order of a conversation's flow messages. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct FlowLine(Arc<Mutex<Option<oneshot::Receiver<()>>>>);

/// A place in the line, held until the message has settled.
#[derive(Debug)]
pub(super) struct Place {
    before: Option<oneshot::Receiver<()>>,
    _done: oneshot::Sender<()>,
}

impl FlowLine {
    /// Takes the next place.
    pub(super) fn place(&self) -> Place {
        let (done, over) = oneshot::channel();
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Place {
            before: last.replace(over),
            _done: done,
        }
    }
}

impl Place {
    /// Waits until everything before this place is over.
    pub(super) async fn reached(&mut self) {
        if let Some(before) = self.before.take() {
            // An error means that it is over just as well: its place was dropped.
            before.await.ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_place_is_reached_when_the_one_before_is_given_up() {
        let line = FlowLine::default();
        let mut first = line.place();
        let mut second = line.place();
        first.reached().await;
        let waiting = tokio::spawn(async move { second.reached().await });
        assert!(!waiting.is_finished());
        drop(first);
        waiting.await.unwrap();
    }
}
