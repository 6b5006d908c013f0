//! A provider on a free port of this machine that answers every request by one script.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a helper of a test fails it by panicking"
)]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use greenlight::config::{Adapter, ModelSettings};
use greenlight::domain::{ModelMessage, ModelRequest};
use greenlight::llm::{self, Model, Patience};
use serde_json::{Value, json};

pub(super) const KEY: &str = "sk-test-0123456789abcdef";

/// What the server does with every request.
#[derive(Clone)]
pub(super) enum Script {
    /// Status, headers, whole body.
    Answer(u16, Vec<(&'static str, &'static str)>, String),
    /// Pieces of an event stream, then a proper end.
    Stream(Vec<String>),
    /// Pieces, then a broken connection.
    Cut(Vec<String>),
    /// Pieces, then silence.
    Silent(Vec<String>),
}

pub(super) type Seen = Arc<Mutex<Vec<(String, HeaderMap, Value)>>>;

/// A provider on a free port of this machine.
pub(super) struct Provider {
    pub(super) url: String,
    pub(super) seen: Seen,
}

impl Provider {
    pub(super) async fn start(script: Script) -> Self {
        let seen = Seen::default();
        let app = Router::new()
            .fallback(answer)
            .with_state((script, Arc::clone(&seen)));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
            .await
            .expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { url, seen }
    }

    pub(super) fn settings(&self, adapter: Adapter) -> ModelSettings {
        let path = match adapter {
            Adapter::Ollama => "",
            Adapter::Openai | Adapter::Anthropic | Adapter::Gemini | Adapter::Demo => "/v1",
        };
        ModelSettings {
            adapter,
            name: "test-model".into(),
            base_url: Some(format!("{}{path}", self.url)),
            api_key: Some(KEY.to_owned().into()),
            context_tokens: 8000,
        }
    }

    pub(super) fn model(&self, adapter: Adapter) -> Arc<dyn Model> {
        let patience = Patience {
            connect: Duration::from_secs(5),
            idle: Duration::from_millis(300),
        };
        llm::connect_with(&self.settings(adapter), patience).expect("a client")
    }

    pub(super) fn body(&self) -> Value {
        self.seen.lock().expect("a lock")[0].2.clone()
    }
}

async fn answer(
    State((script, seen)): State<(Script, Seen)>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    seen.lock()
        .expect("a lock")
        .push((uri.to_string(), headers, body));
    let stream = |pieces: Vec<String>| {
        futures::stream::iter(pieces).map(|piece| Ok::<_, std::io::Error>(Bytes::from(piece)))
    };
    let body = match script {
        Script::Answer(status, headers, body) => {
            let mut response = Response::builder().status(status);
            for (name, value) in headers {
                response = response.header(name, value);
            }
            return response
                .body(Body::from(body))
                .unwrap_or_else(|_| StatusCode::IM_A_TEAPOT.into_response());
        }
        Script::Stream(pieces) => Body::from_stream(stream(pieces)),
        Script::Cut(pieces) => Body::from_stream(
            // The server only writes what it holds when the next piece is not ready.
            stream(pieces).chain(futures::stream::once(async {
                tokio::task::yield_now().await;
                Err(std::io::Error::other("cut"))
            })),
        ),
        Script::Silent(pieces) => {
            Body::from_stream(stream(pieces).chain(futures::stream::pending()))
        }
    };
    Response::builder()
        .header("content-type", "text/event-stream")
        .body(body)
        .expect("a response")
}

pub(super) fn event(value: &Value) -> String {
    format!("data: {value}\n\n")
}

pub(super) fn delta(delta: Value, finish: Option<&str>) -> String {
    event(&json!({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}))
}

pub(super) fn done() -> String {
    "data: [DONE]\n\n".to_owned()
}

pub(super) fn request(text: &str) -> ModelRequest {
    ModelRequest {
        system: "You are a test.".into(),
        messages: vec![ModelMessage::User {
            text: text.into(),
            images: Vec::new(),
        }],
        tools: Vec::new(),
        max_output_tokens: None,
    }
}
