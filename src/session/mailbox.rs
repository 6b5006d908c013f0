//! Unbounded queues for large values. A queue of tokio's keeps room for 32 values even when it is empty, so
//! that ten thousand bytes would lie idle in every session; here the values are boxed.

use std::fmt;

use tokio::sync::mpsc;

/// Puts values in.
pub(super) struct Post<T>(mpsc::UnboundedSender<Box<T>>);

/// Takes values out.
pub(super) struct Mailbox<T>(mpsc::UnboundedReceiver<Box<T>>);

/// A new queue.
pub(super) fn mailbox<T>() -> (Post<T>, Mailbox<T>) {
    let (post, mailbox) = mpsc::unbounded_channel();
    (Post(post), Mailbox(mailbox))
}

impl<T> Post<T> {
    /// Puts a value at the end, at once.
    ///
    /// # Errors
    /// The value, if nobody takes any more.
    pub(super) fn send(&self, value: T) -> Result<(), T> {
        self.0.send(Box::new(value)).map_err(|back| *back.0)
    }

    /// Whether nobody takes any more.
    pub(super) fn is_closed(&self) -> bool {
        self.0.is_closed()
    }
}

impl<T> fmt::Debug for Post<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Post")
    }
}

impl<T> Clone for Post<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Mailbox<T> {
    /// The next value; `None` when nobody can put one in any more.
    pub(super) async fn recv(&mut self) -> Option<T> {
        self.0.recv().await.map(|value| *value)
    }
}
