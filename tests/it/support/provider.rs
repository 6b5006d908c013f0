//! The script behind an OpenAI-compatible server, for a bot in its own process.

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::Response;
use futures::StreamExt;
use greenlight::domain::{
    ModelEvent, ModelFault, ModelMessage, ModelReply, ModelRequest, ToolCall, ToolSpec,
};
use greenlight::llm::Model;
use serde_json::{Value, json};

use super::script::Script;

/// Serves the script on a free port; gives the API root. It ends with the test's runtime.
pub(crate) async fn serve(script: Script) -> String {
    let app = Router::new().fallback(answer).with_state(script);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1/", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    url
}

fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part["text"].as_str())
            .collect(),
        _ => String::new(),
    }
}

fn message(value: &Value) -> ModelMessage {
    let text = text_of(&value["content"]);
    match value["role"].as_str().unwrap_or_default() {
        "assistant" => ModelMessage::Assistant {
            text,
            reasoning: None,
            calls: value["tool_calls"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|call| ToolCall {
                    id: call["id"].as_str().unwrap_or_default().into(),
                    name: call["function"]["name"]
                        .as_str()
                        .unwrap_or_default()
                        .to_owned(),
                    arguments: call["function"]["arguments"]
                        .as_str()
                        .unwrap_or_default()
                        .to_owned(),
                })
                .collect(),
        },
        "tool" => ModelMessage::Tool {
            call: value["tool_call_id"].as_str().unwrap_or_default().into(),
            name: String::new(),
            content: text,
        },
        "user" => ModelMessage::User {
            text,
            images: Vec::new(),
        },
        _ => ModelMessage::System { text },
    }
}

fn request(body: &Value) -> ModelRequest {
    let mut messages: Vec<ModelMessage> = body["messages"]
        .as_array()
        .into_iter()
        .flatten()
        .map(message)
        .collect();
    let system = match messages.first() {
        Some(ModelMessage::System { text }) => text.clone(),
        _ => String::new(),
    };
    if !system.is_empty() {
        messages.remove(0);
    }
    let tools = body["tools"].as_array().into_iter().flatten();
    ModelRequest {
        system,
        messages,
        tools: tools
            .map(|tool| ToolSpec {
                name: tool["function"]["name"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned(),
                description: String::new(),
                schema: Value::Null,
            })
            .collect(),
        max_output_tokens: None,
    }
}

fn chunk(delta: &Value, finish: Option<&str>) -> String {
    format!(
        "data: {}\n\n",
        json!({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
    )
}

fn end(reply: &ModelReply) -> String {
    let mut out = String::new();
    for (index, call) in reply.calls.iter().enumerate() {
        let call = json!({"index": index, "id": call.id.as_str(), "type": "function",
            "function": {"name": call.name, "arguments": call.arguments}});
        out.push_str(&chunk(&json!({"tool_calls": [call]}), None));
    }
    let finish = if reply.calls.is_empty() {
        "stop"
    } else {
        "tool_calls"
    };
    out.push_str(&chunk(&json!({}), Some(finish)));
    let usage = json!({"choices": [], "usage": {"prompt_tokens": reply.usage.input, "completion_tokens": reply.usage.output,
        "total_tokens": reply.usage.input + reply.usage.output}});
    out.push_str(&format!("data: {usage}\n\ndata: [DONE]\n\n"));
    out
}

async fn answer(State(script): State<Script>, body: Bytes) -> Response {
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    match script.stream(request(&body)).await {
        Ok(events) => {
            let pieces = events.map(|event| match event {
                Ok(ModelEvent::Text(text)) => {
                    Ok(Bytes::from(chunk(&json!({"content": text}), None)))
                }
                Ok(ModelEvent::Reasoning(_)) => Ok(Bytes::new()),
                Ok(ModelEvent::End(reply)) => Ok(Bytes::from(end(&reply))),
                Err(fault) => Err(std::io::Error::other(fault.to_string())),
            });
            let response = Response::builder().header("content-type", "text/event-stream");
            response.body(Body::from_stream(pieces)).unwrap()
        }
        Err(fault) => {
            let status = match fault {
                ModelFault::Retry { .. } => 503,
                ModelFault::Auth { .. } => 401,
                ModelFault::ContextTooLong
                | ModelFault::Rejected { .. }
                | ModelFault::Garbage { .. } => 400,
            };
            let body = json!({"error": {"message": fault.to_string()}}).to_string();
            Response::builder()
                .status(status)
                .body(Body::from(body))
                .unwrap()
        }
    }
}
