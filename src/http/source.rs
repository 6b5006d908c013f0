//! Where the interface gets its data; the program implements it over the store and the plan files.

use futures::future::BoxFuture;

use crate::domain::SessionId;
use crate::store::StoreError;

use super::views::{SessionDetail, SessionPlan, SessionRow, UsageReport};

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// No session has that id.
    #[error("no such session")]
    UnknownSession,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Something else failed; the text is for the log and holds no secret.
    #[error("{0}")]
    Failed(String),
}

/// Read-only views of the sessions.
pub trait Source: Send + Sync {
    /// Sessions by last use, newest first, at most `limit`.
    fn sessions(&self, limit: usize) -> BoxFuture<'_, Result<Vec<SessionRow>, SourceError>>;

    /// The checklist of a session; `None` if it has none that can be read.
    ///
    /// The answer is [`SourceError::UnknownSession`] only if the session itself is unknown.
    fn plan(&self, session: SessionId) -> BoxFuture<'_, Result<Option<SessionPlan>, SourceError>>;

    /// One session with its live flow and its plan with evidence.
    fn detail(&self, session: SessionId) -> BoxFuture<'_, Result<SessionDetail, SourceError>>;

    /// What was used since the store was made, and today.
    fn usage(&self) -> BoxFuture<'_, Result<UsageReport, SourceError>>;
}
