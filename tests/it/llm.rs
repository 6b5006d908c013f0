//! The model client over real sockets, against a server that speaks the providers' protocols.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a helper of a test fails it by panicking"
)]

mod provider;

use std::time::Duration;

use futures::StreamExt;
use greenlight::config::{Adapter, ModelSettings};
use greenlight::domain::{
    CallId, FinishReason, ImageRef, ModelEvent, ModelFault, ModelMessage, ModelReply, ModelRequest,
    ToolCall, ToolSpec, Usage,
};
use greenlight::llm::{self, Model};
use serde_json::{Value, json};

use provider::{KEY, Provider, Script, delta, done, event, request};

/// All events; a fault is the last one.
async fn events(model: &dyn Model, request: ModelRequest) -> Vec<Result<ModelEvent, ModelFault>> {
    match model.stream(request).await {
        Ok(stream) => stream.collect().await,
        Err(fault) => vec![Err(fault)],
    }
}

async fn fault(script: Script) -> ModelFault {
    let provider = Provider::start(script).await;
    let model = provider.model(Adapter::Openai);
    let last = events(model.as_ref(), request("hi"))
        .await
        .pop()
        .expect("an event");
    let fault = last.expect_err("a fault");
    assert!(!format!("{fault} {fault:?}").contains(KEY));
    fault
}

async fn reply(provider: &Provider, adapter: Adapter, request: ModelRequest) -> ModelReply {
    let mut all = events(provider.model(adapter).as_ref(), request).await;
    let last = all.pop().expect("an event").expect("no fault");
    let ModelEvent::End(reply) = last else {
        panic!("no end: {last:?}");
    };
    let text: String = all
        .into_iter()
        .filter_map(|event| match event.expect("no fault") {
            ModelEvent::Text(text) => Some(text),
            ModelEvent::Reasoning(_) => None,
            ModelEvent::End(end) => panic!("two ends: {end:?}"),
        })
        .collect();
    assert_eq!(text, reply.text);
    reply
}

#[tokio::test]
async fn text_and_reasoning_arrive_in_pieces_with_usage_at_the_end() {
    let snow = event(&json!({"choices": [{"index": 0, "delta": {"content": "Снег ☃"}}]}));
    let provider = Provider::start(Script::Stream(vec![
        delta(json!({"role": "assistant", "content": ""}), None),
        delta(json!({"reasoning_content": "hm"}), None),
        ": a comment\n\n".into(),
        snow,
        delta(json!({"content": " идёт"}), None),
        delta(json!({}), Some("stop")),
        event(
            &json!({"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 20,
            "total_tokens": 120, "prompt_tokens_details": {"cached_tokens": 64}}}),
        ),
        done(),
    ]))
    .await;
    let model = provider.model(Adapter::Openai);
    let all: Vec<ModelEvent> = events(model.as_ref(), request("hi"))
        .await
        .into_iter()
        .map(|event| event.expect("no fault"))
        .collect();
    assert_eq!(
        all,
        vec![
            ModelEvent::Reasoning("hm".into()),
            ModelEvent::Text("Снег ☃".into()),
            ModelEvent::Text(" идёт".into()),
            ModelEvent::End(ModelReply {
                text: "Снег ☃ идёт".into(),
                reasoning: Some("hm".into()),
                calls: Vec::new(),
                usage: Usage {
                    input: 100,
                    cached: 64,
                    output: 20
                },
                finish: FinishReason::Stop,
            }),
        ]
    );
    let (path, headers, body) = provider.seen.lock().expect("a lock")[0].clone();
    assert_eq!(path, "/v1/chat/completions");
    assert_eq!(headers["authorization"], format!("Bearer {KEY}"));
    assert_eq!(body["model"], "test-model");
    assert_eq!(body["stream_options"], json!({"include_usage": true}));
    assert_eq!(
        body["messages"],
        json!([{"role": "system", "content": "You are a test."}, {"role": "user", "content": "hi"}])
    );
    assert_eq!(
        (model.name().as_str(), model.window(), model.is_demo()),
        ("test-model", 8000, false)
    );
}

#[tokio::test]
async fn calls_in_pieces_keep_their_arguments_as_written() {
    let piece = |index: u32, arguments: &str| {
        delta(
            json!({"tool_calls": [{"index": index, "function": {"arguments": arguments}}]}),
            None,
        )
    };
    let provider = Provider::start(Script::Stream(vec![
        delta(json!({"content": "Looking."}), None),
        delta(
            json!({"tool_calls": [{"index": 0, "id": "c1", "type": "function",
            "function": {"name": "read_file", "arguments": ""}}]}),
            None,
        ),
        piece(0, "{\"b\": 1.50, "),
        piece(0, "\"a\":12345678901234567890123}"),
        delta(
            json!({"tool_calls": [{"index": 1, "id": "c2", "type": "function",
            "function": {"name": "plan", "arguments": ""}}]}),
            None,
        ),
        piece(1, "{\"broken\": "),
        delta(
            json!({"tool_calls": [{"index": 2,
            "function": {"name": "list_dir", "arguments": ""}}]}),
            None,
        ),
        delta(json!({}), Some("tool_calls")),
        done(),
    ]))
    .await;
    let got = reply(&provider, Adapter::Openai, request("hi")).await;
    assert_eq!(got.finish, FinishReason::ToolCalls);
    let shown: Vec<(&str, &str)> = got
        .calls
        .iter()
        .map(|call| (call.name.as_str(), call.arguments.as_str()))
        .collect();
    assert_eq!(
        shown,
        [
            ("read_file", "{\"b\": 1.50, \"a\":12345678901234567890123}"),
            ("plan", "{\"broken\": "),
            ("list_dir", "{}"),
        ]
    );
    assert_eq!(got.calls[0].id.as_str(), "c1");
    assert_eq!(got.calls[1].id.as_str(), "c2");
    assert!(got.calls[2].id.as_str().len() > 20, "an id of our own");
}

#[tokio::test]
async fn a_conversation_with_tools_and_a_picture_is_sent_whole() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("dot.png");
    std::fs::write(&path, b"png").expect("a file");
    let provider = Provider::start(Script::Stream(vec![
        delta(json!({"content": "ok"}), Some("stop")),
        done(),
    ]))
    .await;
    let call = |id: &str, arguments: &str| ToolCall {
        id: CallId::from(id),
        name: "read_file".into(),
        arguments: arguments.into(),
    };
    let result = |id: &str| ModelMessage::Tool {
        call: CallId::from(id),
        name: "read_file".into(),
        content: format!("content of {id}"),
    };
    let mut sent = request("first");
    sent.max_output_tokens = Some(512);
    sent.tools = vec![ToolSpec {
        name: "read_file".into(),
        description: "Reads.".into(),
        schema: json!({"type": "object", "properties": {"path": {"type": "string"}}}),
    }];
    sent.messages.extend([
        ModelMessage::System {
            text: "The plan.".into(),
        },
        ModelMessage::Assistant {
            text: "Reading.".into(),
            reasoning: Some("because".into()),
            calls: vec![call("c1", "{\"path\":\"a\"}"), call("c2", "{oops")],
        },
        result("c1"),
        result("c2"),
        ModelMessage::User {
            text: "see".into(),
            images: vec![ImageRef {
                path,
                mime: "image/png".into(),
            }],
        },
    ]);
    reply(&provider, Adapter::Openai, sent).await;
    let body = provider.body();
    assert_eq!(body["max_tokens"], 512);
    assert_eq!(body["tools"][0]["function"]["name"], "read_file");
    assert_eq!(body["tools"][0]["function"]["parameters"]["type"], "object");
    let messages = body["messages"].as_array().expect("messages");
    let roles: Vec<&str> = messages.iter().filter_map(|m| m["role"].as_str()).collect();
    assert_eq!(
        roles,
        [
            "system",
            "user",
            "system",
            "assistant",
            "tool",
            "tool",
            "user"
        ]
    );
    assert_eq!(messages[3]["reasoning_content"], "because");
    assert_eq!(
        messages[3]["tool_calls"][0]["function"]["arguments"],
        "{\"path\":\"a\"}"
    );
    assert_eq!(
        messages[3]["tool_calls"][1]["function"]["arguments"],
        "{\"malformed_arguments\":\"{oops\"}"
    );
    assert_eq!(messages[5]["tool_call_id"], "c2");
    assert_eq!(messages[5]["content"], "content of c2");
    assert_eq!(
        messages[6]["content"][1]["image_url"]["url"],
        "data:image/png;base64,cG5n"
    );
}

#[tokio::test]
async fn refusals_are_told_apart_by_what_mends_them() {
    let answer = |status, headers, body: Value| Script::Answer(status, headers, body.to_string());
    assert_eq!(
        fault(answer(
            429,
            vec![("retry-after", "7")],
            json!({"error": {"type": "rate_limit_error"}})
        ))
        .await,
        ModelFault::Retry {
            after: Some(Duration::from_secs(7)),
            reason: "429 rate_limit_error".into()
        }
    );
    assert_eq!(
        fault(answer(
            401,
            vec![],
            json!({"error": {"message": format!("bad key {KEY}")}})
        ))
        .await,
        ModelFault::Auth {
            setting: "model.api_key".into()
        }
    );
    assert_eq!(
        fault(answer(
            400,
            vec![],
            json!({"error": {"code": "context_length_exceeded"}})
        ))
        .await,
        ModelFault::ContextTooLong
    );
    assert_eq!(
        fault(Script::Answer(
            502,
            vec![("content-type", "text/html")],
            "<html>".into()
        ))
        .await,
        ModelFault::Retry {
            after: None,
            reason: "502".into()
        }
    );
    assert_eq!(
        fault(answer(
            404,
            vec![],
            json!({"error": {"code": "model_not_found"}})
        ))
        .await,
        ModelFault::Rejected {
            reason: "404 model_not_found".into()
        }
    );
    assert_eq!(
        fault(Script::Answer(
            302,
            vec![("location", "http://127.0.0.1:1/")],
            String::new()
        ))
        .await,
        ModelFault::Rejected {
            reason: "302".into()
        }
    );
}

#[tokio::test]
async fn a_cut_or_silent_stream_is_a_fault_after_what_arrived() {
    let first = || vec![delta(json!({"content": "The beginn"}), None)];
    for script in [
        Script::Cut(first()),
        Script::Stream(first()),
        Script::Silent(first()),
    ] {
        let provider = Provider::start(script).await;
        let all = events(provider.model(Adapter::Openai).as_ref(), request("hi")).await;
        assert_eq!(all.len(), 2, "{all:?}");
        assert_eq!(all[0], Ok(ModelEvent::Text("The beginn".into())));
        assert!(
            matches!(all[1], Err(ModelFault::Retry { after: None, .. })),
            "{all:?}"
        );
    }
    let never = fault(Script::Silent(Vec::new())).await;
    assert!(matches!(never, ModelFault::Retry { .. }), "{never:?}");
}

#[tokio::test]
async fn garbage_and_errors_inside_the_stream_are_faults() {
    assert!(matches!(
        fault(Script::Stream(vec!["data: {not json\n\n".into(), done()])).await,
        ModelFault::Garbage { .. }
    ));
    let inside = |error: Value| Script::Stream(vec![event(&json!({"error": error})), done()]);
    assert_eq!(
        fault(inside(json!({"type": "server_error", "message": "x"}))).await,
        ModelFault::Retry {
            after: None,
            reason: "server_error".into()
        }
    );
    assert_eq!(
        fault(inside(json!({"code": "context_length_exceeded"}))).await,
        ModelFault::ContextTooLong
    );
}

#[tokio::test]
async fn a_closed_port_is_worth_another_try() {
    let settings = ModelSettings {
        adapter: Adapter::Openai,
        name: "m".into(),
        base_url: Some("http://127.0.0.1:1/v1/".into()),
        api_key: None,
        context_tokens: 1,
    };
    let model = llm::connect(&settings).expect("a server of one's own needs no key");
    let all = events(model.as_ref(), request("hi")).await;
    assert!(matches!(all[0], Err(ModelFault::Retry { .. })), "{all:?}");
}

#[test]
fn every_fault_has_a_sentence_in_every_language() {
    let reason = || "429".to_owned();
    for fault in [
        ModelFault::Retry {
            after: None,
            reason: reason(),
        },
        ModelFault::ContextTooLong,
        ModelFault::Auth {
            setting: "model.api_key".into(),
        },
        ModelFault::Rejected { reason: reason() },
        ModelFault::Garbage { reason: reason() },
    ] {
        let told = llm::describe(&fault);
        for language in ["en", "ru", "ar"] {
            let arguments: Vec<(&str, &str)> = told
                .arguments
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_str()))
                .collect();
            let sentence = greenlight::i18n::tr(language, &told.key, &arguments);
            assert_ne!(sentence, told.key, "{language}");
            for (_, value) in &arguments {
                assert!(sentence.contains(value), "{sentence}");
            }
        }
    }
}

#[test]
fn settings_that_cannot_work_name_themselves() {
    let settings = |adapter, base_url: Option<&str>| ModelSettings {
        adapter,
        name: "m".into(),
        base_url: base_url.map(str::to_owned),
        api_key: None,
        context_tokens: 1,
    };
    let key = |settings: &ModelSettings| llm::connect(settings).err().expect("a fault").key;
    assert_eq!(key(&settings(Adapter::Openai, None)), "model-no-key");
    assert_eq!(
        key(&settings(Adapter::Gemini, Some("example.org"))),
        "model-base-url"
    );
    assert_eq!(key(&settings(Adapter::Demo, None)), "model-unsupported");
    assert!(llm::connect(&settings(Adapter::Ollama, None)).is_ok());
}

#[tokio::test]
async fn anthropic_streams_text_a_call_and_its_signed_reasoning() {
    let named = |name: &str, value: Value| format!("event: {name}\ndata: {value}\n\n");
    let provider = Provider::start(Script::Stream(vec![
        named("message_start", json!({"type": "message_start", "message": {"usage":
            {"input_tokens": 10, "cache_read_input_tokens": 30, "cache_creation_input_tokens": 0, "output_tokens": 1}}})),
        named("content_block_start", json!({"type": "content_block_start", "index": 0,
            "content_block": {"type": "thinking", "thinking": ""}})),
        named("content_block_delta", json!({"type": "content_block_delta", "index": 0,
            "delta": {"type": "thinking_delta", "thinking": "why"}})),
        named("content_block_delta", json!({"type": "content_block_delta", "index": 0,
            "delta": {"type": "signature_delta", "signature": "SIG"}})),
        named("content_block_stop", json!({"type": "content_block_stop", "index": 0})),
        named("content_block_start", json!({"type": "content_block_start", "index": 1,
            "content_block": {"type": "text", "text": ""}})),
        named("content_block_delta", json!({"type": "content_block_delta", "index": 1,
            "delta": {"type": "text_delta", "text": "Hello"}})),
        named("content_block_stop", json!({"type": "content_block_stop", "index": 1})),
        named("content_block_start", json!({"type": "content_block_start", "index": 2,
            "content_block": {"type": "tool_use", "id": "tu_1", "name": "plan", "input": {}}})),
        named("content_block_delta", json!({"type": "content_block_delta", "index": 2,
            "delta": {"type": "input_json_delta", "partial_json": "{\"n\": 1.0"}})),
        named("content_block_delta", json!({"type": "content_block_delta", "index": 2,
            "delta": {"type": "input_json_delta", "partial_json": "}"}})),
        named("content_block_stop", json!({"type": "content_block_stop", "index": 2})),
        named("message_delta", json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"},
            "usage": {"output_tokens": 9}})),
        named("message_stop", json!({"type": "message_stop"})),
    ]))
    .await;
    let got = reply(&provider, Adapter::Anthropic, request("hi")).await;
    assert_eq!(
        (got.text.as_str(), got.finish),
        ("Hello", FinishReason::ToolCalls)
    );
    assert_eq!(got.calls[0].id.as_str(), "tu_1");
    assert_eq!(got.calls[0].arguments, "{\"n\": 1.0}");
    assert_eq!(
        (got.usage.input, got.usage.cached, got.usage.output),
        (40, 30, 9)
    );

    let mut again = request("hi");
    again.messages.extend([
        ModelMessage::Assistant {
            text: got.text.clone(),
            reasoning: got.reasoning.clone(),
            calls: got.calls.clone(),
        },
        ModelMessage::Tool {
            call: got.calls[0].id.clone(),
            name: "plan".into(),
            content: "done".into(),
        },
    ]);
    reply(&provider, Adapter::Anthropic, again).await;
    let (path, headers, body) = provider.seen.lock().expect("a lock")[1].clone();
    assert_eq!(path, "/v1/messages");
    assert_eq!(headers["x-api-key"], KEY);
    let said = &body["messages"][1]["content"];
    assert_eq!(said[0]["signature"], "SIG");
    assert_eq!(said[0]["thinking"], "why");
    assert_eq!(body["messages"][2]["content"][0]["tool_use_id"], "tu_1");
}

#[tokio::test]
async fn gemini_and_ollama_answer_too() {
    let provider = Provider::start(Script::Stream(vec![event(&json!({
        "candidates": [{"content": {"role": "model", "parts": [
            {"text": "Hi"},
            {"functionCall": {"name": "plan", "args": {"a": 1}}},
        ]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 2, "totalTokenCount": 7},
    }))]))
    .await;
    let got = reply(&provider, Adapter::Gemini, request("hi")).await;
    assert_eq!(got.text, "Hi");
    assert_eq!(got.calls[0].arguments, "{\"a\":1}");
    assert_eq!(got.finish, FinishReason::ToolCalls);
    assert_eq!((got.usage.input, got.usage.output), (5, 2));

    let lines = [
        json!({"message": {"role": "assistant", "content": "Hel"}, "done": false}),
        json!({"message": {"role": "assistant", "content": "lo"}, "done": false}),
        json!({"message": {"role": "assistant", "content": ""}, "done": true, "done_reason": "stop",
            "prompt_eval_count": 3, "eval_count": 4}),
    ];
    let provider = Provider::start(Script::Stream(
        lines.iter().map(|line| format!("{line}\n")).collect(),
    ))
    .await;
    let got = reply(&provider, Adapter::Ollama, request("hi")).await;
    assert_eq!(
        (got.text.as_str(), got.finish),
        ("Hello", FinishReason::Stop)
    );
    assert_eq!((got.usage.input, got.usage.output), (3, 4));
}
