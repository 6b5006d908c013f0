//! Our request → the provider library's, in one place.

use base64::Engine;
use genai::chat::{
    Binary, ChatMessage, ChatRequest, ContentPart, MessageContent, Tool, ToolCall, ToolResponse,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::domain::{self, ImageRef, ModelMessage, ModelRequest};

/// Largest picture that is sent, in bytes.
const MAX_IMAGE: u64 = 20 << 20;
/// Start of a replay record, so that it is never taken for plain reasoning text.
const RECORD: &str = "replay/1:";

/// What a provider wants back with a reply: signed reasoning blocks and the signatures of calls.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Replay {
    /// Blocks in the order given, as the library serialises them.
    pub(super) blocks: Vec<ContentPart>,
    /// Call id and its signatures.
    pub(super) calls: Vec<(String, Vec<String>)>,
}

impl Replay {
    /// The record as text, or `None` if there is nothing to keep.
    pub(super) fn to_record(&self) -> Option<String> {
        if self.blocks.is_empty() && self.calls.is_empty() {
            return None;
        }
        serde_json::to_string(self)
            .ok()
            .map(|json| format!("{RECORD}{json}"))
    }

    fn read(reasoning: &str, has_calls: bool) -> Self {
        if let Some(json) = reasoning.strip_prefix(RECORD) {
            return serde_json::from_str(json).unwrap_or_default();
        }
        // Providers that send reasoning as text want it back only inside a tool round.
        let blocks = if has_calls && !reasoning.is_empty() {
            vec![ContentPart::ReasoningContent(reasoning.to_owned())]
        } else {
            Vec::new()
        };
        Self {
            blocks,
            calls: Vec::new(),
        }
    }
}

/// The whole request. Pictures are read here; one that cannot be read becomes a line of text.
pub(super) async fn request(request: ModelRequest) -> ChatRequest {
    let mut messages: Vec<ChatMessage> = Vec::with_capacity(request.messages.len());
    let mut results: Vec<ContentPart> = Vec::new();
    for message in request.messages {
        if let ModelMessage::Tool {
            call,
            name,
            content,
        } = message
        {
            // The results of one batch belong together.
            results.push(ContentPart::ToolResponse(
                ToolResponse::new(call.0, content).with_fn_name(name),
            ));
            continue;
        }
        close_results(&mut results, &mut messages);
        messages.extend(plain(message).await);
    }
    close_results(&mut results, &mut messages);
    let mut chat = ChatRequest::new(messages);
    if !request.system.is_empty() {
        chat = chat.with_system(request.system);
    }
    if !request.tools.is_empty() {
        chat = chat.with_tools(request.tools.into_iter().map(|tool| {
            Tool::new(tool.name)
                .with_description(tool.description)
                .with_schema(tool.schema)
        }));
    }
    chat
}

fn close_results(results: &mut Vec<ContentPart>, messages: &mut Vec<ChatMessage>) {
    if !results.is_empty() {
        messages.push(ChatMessage::tool(MessageContent::from_parts(
            std::mem::take(results),
        )));
    }
}

async fn plain(message: ModelMessage) -> Option<ChatMessage> {
    match message {
        ModelMessage::System { text } => (!text.is_empty()).then(|| ChatMessage::system(text)),
        ModelMessage::User { text, images } => {
            let mut parts = vec![ContentPart::Text(text)];
            for image in &images {
                parts.push(picture(image).await);
            }
            Some(ChatMessage::user(MessageContent::from_parts(parts)))
        }
        ModelMessage::Assistant {
            text,
            reasoning,
            calls,
        } => assistant(text, reasoning.as_deref(), calls),
        ModelMessage::Tool { .. } => None,
    }
}

/// Empty replies are left out: providers refuse them.
fn assistant(
    text: String,
    reasoning: Option<&str>,
    calls: Vec<domain::ToolCall>,
) -> Option<ChatMessage> {
    if text.trim().is_empty() && calls.is_empty() {
        return None;
    }
    let replay = reasoning.map_or_else(Replay::default, |reasoning| {
        Replay::read(reasoning, !calls.is_empty())
    });
    let mut parts = replay.blocks;
    if !text.is_empty() {
        parts.push(ContentPart::Text(text));
    }
    for call in calls {
        let signatures = replay
            .calls
            .iter()
            .find(|(id, _)| *id == call.id.0)
            .map(|(_, signatures)| signatures.clone());
        parts.push(ContentPart::ToolCall(ToolCall {
            fn_arguments: arguments(&call.arguments),
            call_id: call.id.0,
            fn_name: call.name,
            thought_signatures: signatures,
        }));
    }
    Some(ChatMessage::assistant(MessageContent::from_parts(parts)))
}

/// Arguments as an object. Malformed ones are shown to the model as what it wrote, inside an object,
/// because providers refuse a history with broken arguments.
fn arguments(raw: &str) -> Value {
    match serde_json::from_str(raw) {
        Ok(Value::Object(object)) => Value::Object(object),
        Ok(_) | Err(_) if raw.trim().is_empty() => json!({}),
        Ok(_) | Err(_) => json!({ "malformed_arguments": raw }),
    }
}

async fn picture(image: &ImageRef) -> ContentPart {
    let small = tokio::fs::metadata(&image.path)
        .await
        .is_ok_and(|found| found.is_file() && found.len() <= MAX_IMAGE);
    let bytes = if small {
        tokio::fs::read(&image.path).await.ok()
    } else {
        None
    };
    match bytes {
        Some(bytes) => ContentPart::Binary(Binary::from_base64(
            image.mime.clone(),
            base64::engine::general_purpose::STANDARD.encode(bytes),
            None,
        )),
        None => {
            ContentPart::Text("[a picture was attached, but it is no longer available]".to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::CallId;

    #[test]
    fn arguments_are_always_an_object() {
        assert_eq!(arguments("{\"a\":1}"), json!({"a": 1}));
        assert_eq!(arguments(" "), json!({}));
        assert_eq!(
            arguments("{\"a\":"),
            json!({"malformed_arguments": "{\"a\":"})
        );
        assert_eq!(arguments("[1]"), json!({"malformed_arguments": "[1]"}));
    }

    #[tokio::test]
    async fn results_of_one_batch_are_one_message_and_empty_replies_vanish() {
        let call = |id: &str| domain::ToolCall {
            id: id.into(),
            name: "read_file".into(),
            arguments: "{}".into(),
        };
        let result = |id: &str| ModelMessage::Tool {
            call: CallId::from(id),
            name: "read_file".into(),
            content: "x".into(),
        };
        let chat = request(ModelRequest {
            system: "head".into(),
            messages: vec![
                ModelMessage::User {
                    text: "go".into(),
                    images: vec![ImageRef {
                        path: "/nowhere/x.png".into(),
                        mime: "image/png".into(),
                    }],
                },
                ModelMessage::Assistant {
                    text: String::new(),
                    reasoning: Some("why".into()),
                    calls: vec![call("a"), call("b")],
                },
                result("a"),
                result("b"),
                ModelMessage::Assistant {
                    text: " ".into(),
                    reasoning: None,
                    calls: Vec::new(),
                },
                ModelMessage::System {
                    text: "plan".into(),
                },
            ],
            tools: Vec::new(),
            max_output_tokens: None,
        })
        .await;
        let lengths: Vec<usize> = chat.messages.iter().map(|m| m.content.len()).collect();
        assert_eq!(lengths, [2, 3, 2, 1]);
        assert_eq!(chat.system.as_deref(), Some("head"));
    }

    #[test]
    fn signed_blocks_survive_a_replay_record() {
        let record = Replay {
            blocks: vec![
                ContentPart::ThoughtSignature("sig".into()),
                ContentPart::ReasoningContent("why".into()),
            ],
            calls: vec![("a".into(), vec!["s".into()])],
        }
        .to_record()
        .expect("a record");
        let replay = Replay::read(&record, false);
        assert_eq!(replay.blocks.len(), 2);
        assert_eq!(replay.calls, [("a".to_owned(), vec!["s".to_owned()])]);
        assert!(Replay::read("plain", false).blocks.is_empty());
        assert_eq!(Replay::read("plain", true).blocks.len(), 1);
    }
}
