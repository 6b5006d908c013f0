//! What this module needs on disk fails through one error, because it does not know the store.

use futures::future::BoxFuture;

use crate::domain::Fault;

/// Rows could not be read or written; nothing was acknowledged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct DurableError {
    /// What happened, in English, for the log.
    pub reason: String,
    /// The sentence for people.
    pub fault: Fault,
}

/// Result of a call that reads or writes rows.
pub type Durable<'a, T> = BoxFuture<'a, Result<T, DurableError>>;
