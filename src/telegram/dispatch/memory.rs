//! Rights and refusals that outlive the process: the claimed owner, moved groups, strangers told today.
//! Behind a trait, because this module does not know the store.

use std::collections::BTreeMap;

use crate::domain::{ChatId, UserId};
use crate::telegram::durable::Durable;

/// What former processes left.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Known {
    /// The owner by claim.
    pub owner: Option<UserId>,
    /// New id of a group to its first one.
    pub moved: BTreeMap<ChatId, ChatId>,
}

/// Durable memory of rights and refusals. Every write is durable when its future is done.
pub trait Memory: std::fmt::Debug + Send + Sync {
    /// Keeps the claim of the owner, made at `at` (Unix seconds).
    fn claim(&self, user: UserId, at: i64) -> Durable<'_, ()>;

    /// Keeps the move of a group; `first` is the id its settings have.
    fn moved(&self, to: ChatId, first: ChatId) -> Durable<'_, ()>;

    /// Whether a stranger is to be told at `now` (Unix seconds); notes that they were, before they are.
    fn may_refuse(&self, user: UserId, now: i64) -> Durable<'_, bool>;
}
