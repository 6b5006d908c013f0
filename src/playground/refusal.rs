//! How the server says no: the Bot API's status, prefix and description.

use serde_json::{Value, json};

/// A refused request.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Refusal {
    /// HTTP status, also `error_code`.
    pub(super) code: u16,
    /// Description without its prefix.
    pub(super) text: String,
    /// `parameters`, only when there are any.
    pub(super) parameters: Option<Value>,
    /// Whether the state of the chat explains it, so that the bot is not to blame.
    pub(super) expected: bool,
}

impl Refusal {
    /// A fault of the request.
    pub(super) fn bad(text: impl Into<String>) -> Self {
        Self::new(400, text)
    }

    /// Any other code.
    pub(super) fn new(code: u16, text: impl Into<String>) -> Self {
        Self {
            code,
            text: text.into(),
            parameters: None,
            expected: false,
        }
    }

    /// A refusal that a bot cannot foresee, such as being blocked.
    pub(super) fn state(code: u16, text: impl Into<String>) -> Self {
        Self {
            expected: true,
            ..Self::new(code, text)
        }
    }

    /// Too many requests.
    pub(super) fn flood(retry_after: u64) -> Self {
        Self {
            parameters: Some(json!({ "retry_after": retry_after })),
            ..Self::new(429, format!("retry after {retry_after}"))
        }
    }

    /// The group became a supergroup.
    pub(super) fn migrated(new: i64) -> Self {
        Self {
            parameters: Some(json!({ "migrate_to_chat_id": new })),
            ..Self::state(400, "group chat was upgraded to a supergroup chat")
        }
    }

    /// The whole description with its prefix.
    pub(super) fn description(&self) -> String {
        let prefix = match self.code {
            401 => "Unauthorized",
            403 => "Forbidden",
            404 => "Not Found",
            409 => "Conflict",
            413 => "Request Entity Too Large",
            429 => "Too Many Requests",
            500..=599 => "Internal Server Error",
            _ => "Bad Request",
        };
        if self.text.is_empty() {
            return prefix.to_owned();
        }
        format!("{prefix}: {}", self.text)
    }

    /// The JSON body.
    pub(super) fn body(&self) -> Value {
        let mut body = json!({
            "ok": false,
            "error_code": self.code,
            "description": self.description(),
        });
        if let (Some(parameters), Some(map)) = (&self.parameters, body.as_object_mut()) {
            map.insert("parameters".to_owned(), parameters.clone());
        }
        body
    }
}
