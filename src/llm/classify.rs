//! The one place that decides what mends a provider's error.
//!
//! Reasons are made of status codes and the provider's own short codes only: its messages may repeat the
//! prompt or parts of a key.

use std::time::Duration;

use chrono::{DateTime, Utc};
use genai::Error;
use reqwest13::header::HeaderMap;
use serde_json::Value;

use crate::domain::ModelFault;

/// Longest wait that is believed.
const MAX_WAIT: Duration = Duration::from_secs(600);
/// Longest short code of a provider that is repeated.
const MAX_CODE: usize = 48;
/// The setting to mend when the key or the account is refused.
const KEY_SETTING: &str = "model.api_key";

/// What `error` means for the turn.
pub(super) fn fault(error: &Error) -> ModelFault {
    if let Error::WebStream { error, .. } = error {
        // The library hides the answer of a failed streaming request inside this error.
        return match error.downcast_ref::<Error>() {
            Some(inner) => fault(inner),
            None => retry(None, "the connection failed"),
        };
    }
    if let Some(status) = error.status() {
        return by_status(status.as_u16(), error.headers(), body(error));
    }
    if let Error::ChatResponse { body, .. } = error {
        return in_stream(body);
    }
    if matches!(
        error,
        Error::RequiresApiKey { .. } | Error::NoAuthResolver { .. } | Error::NoAuthData { .. }
    ) {
        return auth();
    }
    if matches!(
        error,
        Error::StreamParse { .. }
            | Error::NoChatResponse { .. }
            | Error::InvalidJsonResponseElement { .. }
            | Error::JsonValueExt(_)
            | Error::SerdeJson(_)
    ) {
        return ModelFault::Garbage {
            reason: "the stream is no valid JSON".to_owned(),
        };
    }
    if let Error::WebModelCall { webc_error, .. } | Error::WebAdapterCall { webc_error, .. } = error
    {
        return if matches!(webc_error, genai::webc::Error::Reqwest(_)) {
            retry(None, "the connection failed")
        } else {
            ModelFault::Garbage {
                reason: "the reply is no valid JSON".to_owned(),
            }
        };
    }
    ModelFault::Rejected {
        reason: "the request cannot be expressed for this provider".to_owned(),
    }
}

fn body(error: &Error) -> &str {
    if let Error::HttpError { body, .. }
    | Error::WebModelCall {
        webc_error: genai::webc::Error::ResponseFailedStatus { body, .. },
        ..
    } = error
    {
        body
    } else {
        ""
    }
}

fn by_status(status: u16, headers: Option<&HeaderMap>, body: &str) -> ModelFault {
    let details = Details::read(body);
    let reason = details.reason(status);
    if details.is_context() || status == 413 {
        return ModelFault::ContextTooLong;
    }
    if matches!(status, 401..=403) || details.is_account() {
        return auth();
    }
    if matches!(status, 408 | 409 | 425 | 429 | 500..=599) {
        return retry(headers.and_then(wait), &reason);
    }
    ModelFault::Rejected { reason }
}

/// An error object that arrived in the middle of a stream that began well.
fn in_stream(body: &Value) -> ModelFault {
    let details = Details::of(body);
    if details.is_context() {
        return ModelFault::ContextTooLong;
    }
    if details.is_account() {
        return auth();
    }
    let refused = details.codes.iter().any(|code| {
        matches!(
            code.as_str(),
            "invalid_request_error" | "not_found_error" | "model_not_found" | "400" | "404" | "422"
        )
    });
    let reason = details.first().unwrap_or("error in the stream").to_owned();
    if refused {
        ModelFault::Rejected { reason }
    } else {
        retry(None, &reason)
    }
}

/// What a provider's error body says, lower case.
struct Details {
    codes: Vec<String>,
    message: String,
}

impl Details {
    fn read(body: &str) -> Self {
        let parsed: Value = serde_json::from_str(body).unwrap_or(Value::Null);
        // Gemini wraps its error into a list.
        let first = parsed.get(0).unwrap_or(&parsed);
        Self::of(first.get("error").unwrap_or(first))
    }

    fn of(error: &Value) -> Self {
        let text = |value: Option<&Value>| match value {
            Some(Value::String(text)) => Some(text.to_lowercase()),
            Some(Value::Number(number)) => Some(number.to_string()),
            _ => None,
        };
        let inner = error.get("details").and_then(|details| details.get(0));
        let codes = [
            text(error.get("code")),
            text(error.get("type")),
            text(error.get("status")),
            text(inner.and_then(|inner| inner.get("reason"))),
        ];
        let message = text(error.get("message"))
            .or_else(|| text(Some(error)))
            .unwrap_or_default();
        Self {
            codes: codes
                .into_iter()
                .flatten()
                .filter(|code| is_code(code))
                .collect(),
            message,
        }
    }

    fn first(&self) -> Option<&str> {
        self.codes.first().map(String::as_str)
    }

    fn reason(&self, status: u16) -> String {
        let word = self.codes.iter().find(|code| code.parse::<u32>().is_err());
        word.map_or_else(|| status.to_string(), |word| format!("{status} {word}"))
    }

    fn has(&self, codes: &[&str]) -> bool {
        self.codes.iter().any(|code| codes.contains(&code.as_str()))
    }

    /// Providers without a code of their own for this are known by their sentences.
    fn is_context(&self) -> bool {
        self.has(&[
            "context_length_exceeded",
            "exceed_context_size_error",
            "model_context_window_exceeded",
            "request_too_large",
        ]) || [
            "maximum context length",
            "prompt is too long",
            "context window",
            "exceeds the maximum number of tokens",
            "exceeds the available context size",
            "input is too long",
        ]
        .iter()
        .any(|sentence| self.message.contains(sentence))
    }

    fn is_account(&self) -> bool {
        self.has(&[
            "invalid_api_key",
            "api_key_invalid",
            "authentication_error",
            "permission_error",
            "permission_denied",
            "unauthenticated",
            "insufficient_quota",
            "billing_error",
            "account_deactivated",
        ])
    }
}

fn is_code(code: &str) -> bool {
    !code.is_empty()
        && code.len() <= MAX_CODE
        && code
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// The wait that the provider asks for: milliseconds, seconds or a date.
fn wait(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(milliseconds) = text("retry-after-ms").and_then(|value| value.trim().parse().ok()) {
        return Some(Duration::from_millis(milliseconds).min(MAX_WAIT));
    }
    let value = text("retry-after")?.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds)
            .ok()
            .map(|wait| wait.min(MAX_WAIT));
    }
    let date = DateTime::parse_from_rfc2822(value).ok()?;
    let left = date.signed_duration_since(Utc::now());
    Some(left.to_std().unwrap_or_default().min(MAX_WAIT))
}

fn auth() -> ModelFault {
    ModelFault::Auth {
        setting: KEY_SETTING.to_owned(),
    }
}

fn retry(after: Option<Duration>, reason: &str) -> ModelFault {
    ModelFault::Retry {
        after,
        reason: reason.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &'static str, value: &'static str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(name, value.parse().expect("a header value"));
        headers
    }

    fn rejected(reason: &str) -> ModelFault {
        ModelFault::Rejected {
            reason: reason.to_owned(),
        }
    }

    #[test]
    fn answers_are_sorted_by_what_mends_them() {
        for (status, body, fault) in [
            (401, "", auth()),
            (
                400,
                r#"{"error":{"code":"context_length_exceeded","message":"x"}}"#,
                ModelFault::ContextTooLong,
            ),
            (
                400,
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 > 8"}}"#,
                ModelFault::ContextTooLong,
            ),
            (
                400,
                r#"[{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"m","details":[{"reason":"API_KEY_INVALID"}]}}]"#,
                auth(),
            ),
            (
                429,
                r#"{"error":{"type":"insufficient_quota","code":"insufficient_quota"}}"#,
                auth(),
            ),
            (
                429,
                r#"{"error":{"type":"rate_limit_error"}}"#,
                retry(None, "429 rate_limit_error"),
            ),
            (
                529,
                r#"{"error":{"type":"overloaded_error"}}"#,
                retry(None, "529 overloaded_error"),
            ),
            (502, "<html>bad</html>", retry(None, "502")),
            (
                404,
                r#"{"error":{"code":"model_not_found","message":"sk-secret"}}"#,
                rejected("404 model_not_found"),
            ),
            (
                400,
                r#"{"error":{"code":"Contains a SECRET sk-1"}}"#,
                rejected("400"),
            ),
            (
                400,
                r#"{"error":"model requires more memory"}"#,
                rejected("400"),
            ),
        ] {
            assert_eq!(by_status(status, None, body), fault, "{status} {body}");
        }
    }

    #[test]
    fn the_wait_of_the_provider_is_read_and_bounded() {
        let seconds = Duration::from_secs;
        assert_eq!(wait(&headers("retry-after", "7")), Some(seconds(7)));
        assert_eq!(
            wait(&headers("retry-after-ms", "250")),
            Some(Duration::from_millis(250))
        );
        assert_eq!(wait(&headers("retry-after", "99999")), Some(MAX_WAIT));
        assert_eq!(wait(&headers("retry-after", "-3")), None);
        assert_eq!(wait(&headers("retry-after", "soon")), None);
        assert_eq!(
            wait(&headers("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT")),
            Some(Duration::ZERO)
        );
    }
}
