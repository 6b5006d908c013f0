//! Bot API failures named by what mends them. The one place that reads error descriptions.

use serde_json::Value;

use crate::domain::ChatId;

/// Longest error description that is kept, in characters.
const DESCRIPTION_LIMIT: usize = 300;

/// Why a Bot API call failed, by remedy. Holds no address, token or raw body.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApiFault {
    /// Nothing happened; call again after so many seconds (429).
    #[error("flood control: retry after {0} s")]
    RetryAfter(u64),
    /// The group is a supergroup now; use this chat id.
    #[error("the chat moved to {0}")]
    Migrated(ChatId),
    /// The message already looks like that; counts as success for an edit.
    #[error("the message is not modified")]
    NotModified,
    /// The message to edit, delete or reply to does not exist (any more).
    #[error("the message is gone")]
    MessageGone,
    /// The message exists but can be neither edited nor deleted by the bot.
    #[error("the message cannot be changed")]
    CantEdit,
    /// The topic was deleted, closed or never existed.
    #[error("the topic is gone or closed")]
    ThreadGone,
    /// The callback query was answered before or is too old; counts as success.
    #[error("the callback query has expired")]
    QueryExpired,
    /// The user blocked the bot, is deactivated or never started it: stop sending there.
    #[error("the user does not accept messages")]
    Blocked,
    /// The bot is not (any more) in the chat, or the chat does not exist.
    #[error("the bot is not in the chat")]
    Kicked,
    /// The bot lacks the right to do this in the chat.
    #[error("the bot lacks rights in the chat")]
    NoRights,
    /// The token is not valid.
    #[error("the bot token is refused")]
    Unauthorized,
    /// Another process polls with the same token (409).
    #[error("another process polls with this token")]
    Conflict,
    /// Polling is refused while a webhook is set (409).
    #[error("a webhook is set")]
    WebhookActive,
    /// The request is wrong; the description as the server gave it, at most 300 characters.
    #[error("refused: {0}")]
    BadRequest(String),
    /// The server failed (5xx) or answered something that is not JSON; the effect is unknown.
    #[error("the server failed with status {0}")]
    Server(u16),
    /// No connection could be made, so nothing happened.
    #[error("no connection")]
    NotSent,
    /// The request went out and no reply came; the effect is unknown.
    #[error("no reply")]
    UnknownOutcome,
}

impl ApiFault {
    /// Whether the call certainly had no effect and may be made again unchanged.
    #[must_use]
    pub fn had_no_effect(&self) -> bool {
        matches!(self, Self::RetryAfter(_) | Self::NotSent)
    }

    /// Whether the effect of the call is unknown, so that repeating it may double it.
    #[must_use]
    pub fn outcome_unknown(&self) -> bool {
        matches!(self, Self::Server(_) | Self::UnknownOutcome)
    }

    /// Whether nothing sent to this chat can arrive until a person changes something.
    #[must_use]
    pub fn chat_closed(&self) -> bool {
        matches!(self, Self::Blocked | Self::Kicked)
    }

    /// A transport error without its address, which would hold the token.
    #[must_use]
    pub fn from_transport(error: &reqwest::Error) -> Self {
        if error.is_connect() || error.is_builder() {
            Self::NotSent
        } else {
            Self::UnknownOutcome
        }
    }
}

/// Descriptions, in lower case, by remedy. The first match decides.
/// Source: telegram-bot-api 10.0 and TDLib 1.8.66.
const KNOWN: &[(&str, ApiFault)] = &[
    ("message is not modified", ApiFault::NotModified),
    ("message to edit not found", ApiFault::MessageGone),
    ("message to delete not found", ApiFault::MessageGone),
    ("message to be replied not found", ApiFault::MessageGone),
    ("message to reply not found", ApiFault::MessageGone),
    ("message to react not found", ApiFault::MessageGone),
    ("message_id_invalid", ApiFault::MessageGone),
    ("message can't be edited", ApiFault::CantEdit),
    ("message can't be deleted", ApiFault::CantEdit),
    (
        "there is no text in the message to edit",
        ApiFault::CantEdit,
    ),
    (
        "there is no caption in the message to edit",
        ApiFault::CantEdit,
    ),
    ("message thread not found", ApiFault::ThreadGone),
    ("topic_closed", ApiFault::ThreadGone),
    ("topic_deleted", ApiFault::ThreadGone),
    ("topic_id_invalid", ApiFault::ThreadGone),
    ("query is too old", ApiFault::QueryExpired),
    ("query id is invalid", ApiFault::QueryExpired),
    ("bot was blocked by the user", ApiFault::Blocked),
    ("user is deactivated", ApiFault::Blocked),
    ("can't initiate conversation", ApiFault::Blocked),
    ("can't send messages to the bot", ApiFault::Blocked),
    ("can't send messages to bots", ApiFault::Blocked),
    ("bot was kicked", ApiFault::Kicked),
    ("bot is not a member", ApiFault::Kicked),
    ("the group chat was deleted", ApiFault::Kicked),
    ("chat not found", ApiFault::Kicked),
    ("not enough rights", ApiFault::NoRights),
    ("have no write access", ApiFault::NoRights),
    ("chat_admin_required", ApiFault::NoRights),
    ("chat_write_forbidden", ApiFault::NoRights),
    ("webhook is active", ApiFault::WebhookActive),
    (
        "can't use getupdates method while webhook",
        ApiFault::WebhookActive,
    ),
];

/// Names the remedy of an error reply.
///
/// `status` is the HTTP status, `body` the decoded reply. Parameters win over descriptions, and
/// descriptions over statuses, because proxies change statuses.
#[must_use]
pub fn classify(status: u16, body: &Value) -> ApiFault {
    let parameter = |name: &str| {
        body.pointer(&format!("/parameters/{name}"))
            .and_then(Value::as_i64)
    };
    if let Some(chat) = parameter("migrate_to_chat_id") {
        return ApiFault::Migrated(ChatId(chat));
    }
    if let Some(seconds) = parameter("retry_after") {
        return ApiFault::RetryAfter(u64::try_from(seconds).unwrap_or(0).max(1));
    }
    let code = body
        .get("error_code")
        .and_then(Value::as_u64)
        .and_then(|code| u16::try_from(code).ok())
        .unwrap_or(status);
    let description = body
        .get("description")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let lower = description.to_lowercase();
    if let Some((_, fault)) = KNOWN.iter().find(|(text, _)| lower.contains(text)) {
        return fault.clone();
    }
    match code {
        401 => ApiFault::Unauthorized,
        404 if lower == "not found" => ApiFault::Unauthorized,
        409 => ApiFault::Conflict,
        429 => ApiFault::RetryAfter(1),
        403 => ApiFault::Kicked,
        500..=599 => ApiFault::Server(code),
        _ => ApiFault::BadRequest(description.chars().take(DESCRIPTION_LIMIT).collect()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(code: u16, description: &str) -> ApiFault {
        classify(
            code,
            &json!({"ok": false, "error_code": code, "description": description}),
        )
    }

    #[test]
    fn what_the_server_really_sends_is_named_by_remedy() {
        let cases = [
            (
                400,
                "Bad Request: message is not modified: specified new message content and reply markup are exactly the same",
                ApiFault::NotModified,
            ),
            (
                400,
                "Bad Request: message to edit not found",
                ApiFault::MessageGone,
            ),
            (
                400,
                "Bad Request: message can't be deleted for everyone",
                ApiFault::CantEdit,
            ),
            (
                400,
                "Bad Request: message thread not found",
                ApiFault::ThreadGone,
            ),
            (400, "Bad Request: TOPIC_CLOSED", ApiFault::ThreadGone),
            (
                400,
                "Bad Request: query is too old and response timeout expired or query ID is invalid",
                ApiFault::QueryExpired,
            ),
            (
                403,
                "Forbidden: bot was blocked by the user",
                ApiFault::Blocked,
            ),
            (
                403,
                "Forbidden: bot can't initiate conversation with a user",
                ApiFault::Blocked,
            ),
            (
                403,
                "Forbidden: bot is not a member of the supergroup chat",
                ApiFault::Kicked,
            ),
            (
                400,
                "Bad Request: not enough rights to send text messages to the chat",
                ApiFault::NoRights,
            ),
            (401, "Unauthorized", ApiFault::Unauthorized),
            (404, "Not Found", ApiFault::Unauthorized),
            (
                409,
                "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
                ApiFault::Conflict,
            ),
            (
                409,
                "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
                ApiFault::WebhookActive,
            ),
            (500, "Internal Server Error: restart", ApiFault::Server(500)),
            (
                400,
                "Bad Request: BUTTON_DATA_INVALID",
                ApiFault::BadRequest("Bad Request: BUTTON_DATA_INVALID".into()),
            ),
        ];
        for (code, description, expected) in cases {
            assert_eq!(of(code, description), expected, "{description}");
        }
    }

    #[test]
    fn parameters_win_over_descriptions() {
        let body = json!({"ok": false, "error_code": 429, "description": "Too Many Requests: retry after 7", "parameters": {"retry_after": 7}});
        assert_eq!(classify(429, &body), ApiFault::RetryAfter(7));
        let body = json!({"ok": false, "error_code": 400, "description": "x", "parameters": {"migrate_to_chat_id": -1001}});
        assert_eq!(classify(400, &body), ApiFault::Migrated(ChatId(-1001)));
        let body = json!({"ok": false, "error_code": 429, "description": "Too Many Requests", "parameters": {}});
        assert_eq!(classify(429, &body), ApiFault::RetryAfter(1));
    }
}
