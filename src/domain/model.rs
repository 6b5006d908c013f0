//! What goes to a model and what comes back, independent of any provider.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::ToolCall;

/// One request to a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRequest {
    /// Stable head; byte-identical between requests so that prompt caches hit.
    pub system: String,
    /// The conversation, oldest first.
    pub messages: Vec<ModelMessage>,
    /// Tools on offer; empty for a plain completion.
    pub tools: Vec<ToolSpec>,
    /// Upper bound of the reply in tokens.
    pub max_output_tokens: Option<u32>,
}

/// One message of the conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum ModelMessage {
    /// Host text after the head, such as the plan message.
    System {
        /// Text.
        text: String,
    },
    /// The user, or host text that must stand in a user's place.
    User {
        /// Text.
        text: String,
        /// Pictures.
        images: Vec<ImageRef>,
    },
    /// The model.
    Assistant {
        /// Visible text.
        text: String,
        /// Provider's reasoning to be replayed; never shown.
        reasoning: Option<String>,
        /// Calls in the order given.
        calls: Vec<ToolCall>,
    },
    /// The outcome of one call of the assistant message before it.
    Tool {
        /// Which call.
        call: super::CallId,
        /// Tool name.
        name: String,
        /// What the model reads.
        content: String,
    },
}

/// A picture on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageRef {
    /// Path under the session's data.
    pub path: PathBuf,
    /// MIME type.
    pub mime: String,
}

/// A tool as the model sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Name, `[a-z_]+`.
    pub name: String,
    /// What it does, in English for the model.
    pub description: String,
    /// JSON schema of the arguments object.
    pub schema: serde_json::Value,
}

/// A piece of a streamed reply. Exactly one `End` closes a successful stream.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelEvent {
    /// More visible text.
    Text(String),
    /// More reasoning; never shown as text.
    Reasoning(String),
    /// The whole reply. Only this may be acted on.
    End(ModelReply),
}

/// A complete reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelReply {
    /// Visible text.
    pub text: String,
    /// Reasoning to be replayed.
    pub reasoning: Option<String>,
    /// Tool calls in the order given.
    pub calls: Vec<ToolCall>,
    /// Token counts.
    pub usage: Usage,
    /// Why it ended.
    pub finish: FinishReason,
}

/// Why a reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// Complete.
    Stop,
    /// Tool calls follow.
    ToolCalls,
    /// Cut at the output limit.
    Length,
    /// Withheld by the provider.
    Filtered,
    /// Not told.
    Unknown,
}

/// Token counts of one request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read, cached ones included.
    pub input: u64,
    /// Of those, read from the provider's cache.
    pub cached: u64,
    /// Tokens written, reasoning included.
    pub output: u64,
}

/// A failed request, by remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelFault {
    /// 429, 5xx, timeout or a cut connection: try again, after `after` if the provider said so.
    #[error("model unavailable: {reason}")]
    Retry {
        /// Wait that the provider asked for.
        after: Option<Duration>,
        /// Short reason without secrets, such as `429`.
        reason: String,
    },
    /// The request does not fit the window: compact and try once more.
    #[error("context too long")]
    ContextTooLong,
    /// Key or account refused: the user must mend the named setting.
    #[error("model refused the credentials (setting {setting})")]
    Auth {
        /// Configuration key to mend.
        setting: String,
    },
    /// The provider refused the request for good.
    #[error("model refused the request: {reason}")]
    Rejected {
        /// Short reason without secrets.
        reason: String,
    },
    /// The reply cannot be understood.
    #[error("model reply not understood: {reason}")]
    Garbage {
        /// Short reason without secrets.
        reason: String,
    },
}
