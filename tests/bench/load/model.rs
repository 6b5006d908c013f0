//! A provider on this machine that speaks the OpenAI protocol and follows one script: so many calls of
//! a shell command that waits, then the answer.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// What people say, followed by the number of their chat.
pub(crate) const TASK: &str = "task-";
/// What the model answers in the end, followed by the same number.
pub(crate) const DONE: &str = "done-";

/// The script and what came of it.
#[derive(Clone)]
pub(crate) struct Script {
    calls: usize,
    seconds: u64,
    ended: Arc<Mutex<HashMap<u64, Instant>>>,
}

impl Script {
    /// Turns of so many calls, each of which takes so many seconds.
    pub(crate) fn new(calls: usize, seconds: u64) -> Self {
        Self {
            calls,
            seconds,
            ended: Arc::default(),
        }
    }

    /// When the model gave its answer, by chat.
    pub(crate) fn ended(&self) -> HashMap<u64, Instant> {
        self.ended
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Listens on a free port and gives the base URL.
    pub(crate) async fn serve(&self) -> io::Result<String> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}/v1/", listener.local_addr()?);
        let app = Router::new().fallback(answer).with_state(self.clone());
        tokio::spawn(async move { axum::serve(listener, app).await });
        Ok(url)
    }

    fn reply(&self, request: &Value) -> Vec<Value> {
        let messages = request.get("messages").and_then(Value::as_array);
        let messages = messages.map_or(&[][..], Vec::as_slice);
        let role = |message: &Value| {
            message
                .get("role")
                .and_then(Value::as_str)
                .map(str::to_owned)
        };
        let since = messages
            .iter()
            .rposition(|message| role(message).as_deref() == Some("user"))
            .unwrap_or_default();
        let after = messages.iter().skip(since);
        let results = after
            .clone()
            .filter(|message| role(message).as_deref() == Some("tool"))
            .count();
        let words = after
            .clone()
            .next()
            .map(Value::to_string)
            .unwrap_or_default();
        let chat = number_after(&words, TASK);
        // The turn of a probe is over at once.
        if results >= self.calls || words.contains("at once") {
            self.ended
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(chat, Instant::now());
            return vec![
                delta(json!({ "role": "assistant", "content": "All of it is " })),
                delta(json!({ "content": format!("{DONE}{chat}.") })),
                end("stop"),
            ];
        }
        let arguments = json!({ "command": format!("sleep {}", self.seconds) }).to_string();
        let call = json!({
            "index": 0, "id": format!("call_{chat}_{results}"), "type": "function",
            "function": { "name": "bash", "arguments": arguments },
        });
        vec![
            delta(
                json!({ "role": "assistant", "content": format!("Step {} takes a moment.", results + 1) }),
            ),
            delta(json!({ "tool_calls": [call] })),
            end("tool_calls"),
        ]
    }
}

async fn answer(State(script): State<Script>, body: Bytes) -> Response {
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let mut text: String = script
        .reply(&request)
        .iter()
        .map(|chunk| format!("data: {chunk}\n\n"))
        .collect();
    text.push_str("data: [DONE]\n\n");
    (
        [(header::CONTENT_TYPE, "text/event-stream")],
        Body::from(text),
    )
        .into_response()
}

fn delta(delta: Value) -> Value {
    json!({ "id": "c", "object": "chat.completion.chunk", "choices": [{ "index": 0, "delta": delta }] })
}

fn end(reason: &str) -> Value {
    json!({
        "id": "c", "object": "chat.completion.chunk",
        "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }],
        "usage": { "prompt_tokens": 2000, "completion_tokens": 20, "total_tokens": 2020 },
    })
}

/// The number behind a word; 0 without one.
pub(crate) fn number_after(text: &str, word: &str) -> u64 {
    text.rsplit(word)
        .next()
        .map(|rest| {
            rest.chars()
                .take_while(char::is_ascii_digit)
                .collect::<String>()
        })
        .and_then(|digits| digits.parse().ok())
        .unwrap_or_default()
}
