//! The Bot API as the outbox needs it.

use futures::future::BoxFuture;
use serde_json::Value;

use crate::domain::ChatId;

/// A failed call, by what it means for the caller.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// 429.
    #[error("too many requests, wait {seconds} s")]
    RetryAfter {
        /// Seconds that Telegram asks for.
        seconds: u64,
        /// Whether the reply names the whole bot.
        bot_wide: bool,
    },
    /// The group became this supergroup.
    #[error("the group was upgraded")]
    Migrated(ChatId),
    /// The content is already as wanted.
    #[error("not modified")]
    NotModified,
    /// The message does not exist any more.
    #[error("message gone")]
    MessageGone,
    /// The message cannot be edited or deleted any more.
    #[error("message cannot be edited")]
    CantEdit,
    /// The topic does not exist or is closed.
    #[error("topic gone")]
    ThreadGone,
    /// Blocked, kicked, deactivated, or not in the chat.
    #[error("blocked")]
    Blocked,
    /// The token is refused.
    #[error("unauthorized")]
    Unauthorized,
    /// Another process polls with this token.
    #[error("conflict")]
    Conflict,
    /// Any other 400, with its description.
    #[error("bad request: {0}")]
    BadRequest(String),
    /// 5xx with this status; nothing was done.
    #[error("server error {0}")]
    Server(u16),
    /// No connection was made; nothing was done.
    #[error("unreachable")]
    Unreachable,
    /// The reply was lost; the outcome is unknown.
    #[error("outcome unknown")]
    Unknown,
}

/// A file that goes with a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upload {
    /// Field of the method, such as `document`.
    pub field: &'static str,
    /// File name.
    pub name: String,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// Something that can call the Bot API.
pub trait Wire: Send + Sync {
    /// Calls a method with a JSON body and gives its result.
    fn call<'a>(&'a self, method: &'a str, body: &'a Value) -> BoxFuture<'a, Result<Value, Fault>>;

    /// Calls a method with fields and one file (multipart) and gives its result.
    fn upload<'a>(
        &'a self,
        method: &'a str,
        fields: &'a Value,
        file: &'a Upload,
    ) -> BoxFuture<'a, Result<Value, Fault>>;
}
