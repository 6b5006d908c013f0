//! The record of every call, and what must hold for all of them.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::markup::{DATA_LIMIT, RAW_LIMIT, SPAN_LIMIT, Span, TEXT_LIMIT, normalise};

/// Calls that are kept; older ones are dropped.
pub(super) const LOG_LIMIT: usize = 200_000;

/// One call of the Bot API.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Call {
    /// Counted from 1.
    pub number: u64,
    /// Milliseconds since the server was made.
    pub at_ms: u64,
    /// Method in Bot API spelling.
    pub method: String,
    /// Arguments; nested JSON strings are opened, files appear as their names.
    pub params: Value,
    /// Chat, if the method has one.
    pub chat: Option<i64>,
    /// HTTP status; 0 while it waits or when the connection was cut.
    pub status: u16,
    /// Description of a refusal.
    pub description: Option<String>,
    /// Made by a fault that a test switched on.
    pub injected: bool,
    /// Refused for a reason that the bot cannot foresee.
    pub expected: bool,
    /// Sent although an earlier 429 asked to wait.
    pub ignored_wait: bool,
    /// Held a secret.
    pub leaked: bool,
}

/// What is wrong with the calls, one line each; an empty list is a clean run.
///
/// Checked are: refusals caused by the bot, floods, calls inside a `retry_after`, lengths, entities,
/// keyboards, topics, double answers and secrets.
#[must_use]
pub fn invariants(log: &[Call]) -> Vec<String> {
    let mut found = Vec::new();
    let mut answers: BTreeMap<String, u32> = BTreeMap::new();
    for call in log {
        let mut say = |what: &str| {
            found.push(format!("#{} {}: {what}", call.number, call.method));
        };
        if call.leaked {
            say("a secret was sent");
        }
        if call.ignored_wait {
            say("sent inside a retry_after");
        }
        if let Some(words) = blame(call) {
            say(&words);
        }
        for words in content(call) {
            say(&words);
        }
        if call.method == "answerCallbackQuery" && call.status == 200 {
            let id = call.params.get("callback_query_id").map(Value::to_string);
            let count = answers.entry(id.unwrap_or_default()).or_default();
            *count += 1;
            if *count == 2 {
                say("the same tap was answered twice");
            }
        }
    }
    found
}

fn blame(call: &Call) -> Option<String> {
    let words = call.description.as_deref().unwrap_or_default();
    let harmless = call.injected
        || call.expected
        || words.contains("message is not modified")
        || words.contains("message to delete not found");
    if harmless || !(400..500).contains(&call.status) {
        return None;
    }
    Some(format!("refused with {} {words}", call.status))
}

fn content(call: &Call) -> Vec<String> {
    let mut found = Vec::new();
    let params = &call.params;
    let thread = params.get("message_thread_id").map(Value::to_string);
    if thread.is_some_and(|thread| thread.trim_matches('"') == "1") {
        found.push("topic 1 was sent".to_owned());
    }
    if params.get("parse_mode").is_some_and(|mode| !mode.is_null()) {
        found.push("parse_mode was sent".to_owned());
    }
    let texts = [
        ("text", "entities", TEXT_LIMIT),
        ("caption", "caption_entities", 1024),
    ];
    for (name, entities, limit) in texts {
        let Some(text) = params.get(name).and_then(Value::as_str) else {
            continue;
        };
        if call.method == "answerCallbackQuery" {
            if text.chars().count() > 200 {
                found.push("an answer to a tap is over 200 characters".to_owned());
            }
            continue;
        }
        if text.chars().count() > limit || text.len() > RAW_LIMIT {
            found.push(format!("{name} is too long"));
        }
        let spans = params
            .get(entities)
            .cloned()
            .unwrap_or(Value::Array(Vec::new()));
        let spans: Vec<Span> = serde_json::from_value(spans).unwrap_or_default();
        if spans.len() > SPAN_LIMIT {
            found.push(format!("{} entities", spans.len()));
        }
        if spans.iter().any(|span| span.length == 0) {
            found.push("an empty entity".to_owned());
        }
        if let Err(refusal) = normalise(text, &spans) {
            found.push(refusal.text);
        }
    }
    let rows = params
        .pointer("/reply_markup/inline_keyboard")
        .and_then(Value::as_array);
    for button in rows
        .into_iter()
        .flatten()
        .filter_map(Value::as_array)
        .flatten()
    {
        let data = button
            .get("callback_data")
            .and_then(Value::as_str)
            .unwrap_or_default();
        if data.len() > DATA_LIMIT {
            found.push("callback data is over 64 bytes".to_owned());
        }
    }
    found
}

/// Opens nested JSON strings, so that a form reads like JSON.
pub(super) fn opened(name: &str, value: &Value) -> Value {
    const NESTED: [&str; 7] = [
        "entities",
        "caption_entities",
        "reply_markup",
        "reply_parameters",
        "link_preview_options",
        "commands",
        "scope",
    ];
    match value.as_str() {
        Some(text) if NESTED.contains(&name) => {
            serde_json::from_str(text).unwrap_or_else(|_| value.clone())
        }
        _ => value.clone(),
    }
}

/// Whether any string inside `value` holds one of `secrets`.
pub(super) fn leaks(value: &Value, secrets: &[String]) -> bool {
    match value {
        Value::String(text) => secrets.iter().any(|secret| text.contains(secret.as_str())),
        Value::Array(list) => list.iter().any(|item| leaks(item, secrets)),
        Value::Object(map) => map.values().any(|item| leaks(item, secrets)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
