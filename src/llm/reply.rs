//! The provider library's stream → our events.

use std::collections::HashMap;

use futures::{Stream, StreamExt};
use genai::chat::{ChatStreamEvent, ContentPart, StopReason, StreamEnd};
use serde_json::Value;

use super::classify;
use super::wire::Replay;
use crate::domain::{CallId, FinishReason, ModelEvent, ModelFault, ModelReply, ToolCall, Usage};

/// Longest reply, in bytes of text, reasoning or arguments. No model writes so much in one go.
const MAX_REPLY: usize = 4 << 20;
/// Longest arguments of one call, in bytes. The library hands out all of them with every piece, so that
/// the cost grows with the square.
const MAX_ARGUMENTS: usize = 512 << 10;
/// Most calls in one reply.
const MAX_CALLS: usize = 256;

/// The fault of a connection that ended in mid-reply.
pub(super) fn cut() -> ModelFault {
    ModelFault::Retry {
        after: None,
        reason: "the connection was cut".to_owned(),
    }
}

/// Events of `stream` up to the first fault or the end. A stream without an end is a cut connection.
pub(super) fn pieces<S>(stream: S) -> impl Stream<Item = Result<ModelEvent, ModelFault>> + Send
where
    S: Stream<Item = genai::Result<ChatStreamEvent>> + Send + Unpin,
{
    let state = Some((stream, Collector::default()));
    futures::stream::unfold(state, |state| async move {
        let (mut stream, mut collector) = state?;
        loop {
            let step = match stream.next().await {
                Some(Ok(event)) => collector.take(event),
                Some(Err(error)) => Err(classify::fault(&error)),
                None => Err(cut()),
            };
            match step {
                Ok(None) => {}
                Ok(Some(event)) if matches!(event, ModelEvent::End(_)) => {
                    return Some((Ok(event), None));
                }
                Ok(Some(event)) => return Some((Ok(event), Some((stream, collector)))),
                Err(fault) => return Some((Err(fault), None)),
            }
        }
    })
}

#[derive(Default)]
struct Collector {
    text: String,
    reasoning: String,
    /// Arguments as written so far, by the call's id; the library accumulates them.
    raw: HashMap<String, String>,
}

impl Collector {
    fn take(&mut self, event: ChatStreamEvent) -> Result<Option<ModelEvent>, ModelFault> {
        match event {
            ChatStreamEvent::Chunk(chunk) => {
                self.text.push_str(&chunk.content);
                bounded(self.text.len())?;
                Ok((!chunk.content.is_empty()).then_some(ModelEvent::Text(chunk.content)))
            }
            ChatStreamEvent::ReasoningChunk(chunk) => {
                self.reasoning.push_str(&chunk.content);
                bounded(self.reasoning.len())?;
                Ok((!chunk.content.is_empty()).then_some(ModelEvent::Reasoning(chunk.content)))
            }
            ChatStreamEvent::ToolCallChunk(chunk) => {
                if let Value::String(raw) = chunk.tool_call.fn_arguments {
                    if raw.len() > MAX_ARGUMENTS {
                        return Err(garbage("the arguments of a call are too long"));
                    }
                    self.raw.insert(chunk.tool_call.call_id, raw);
                    if self.raw.len() > MAX_CALLS {
                        return Err(garbage("too many tool calls"));
                    }
                }
                Ok(None)
            }
            ChatStreamEvent::End(end) => self.end(end).map(|reply| Some(ModelEvent::End(reply))),
            ChatStreamEvent::Start
            | ChatStreamEvent::ThoughtSignatureChunk(_)
            | ChatStreamEvent::Heartbeat => Ok(None),
        }
    }

    fn end(&mut self, end: StreamEnd) -> Result<ModelReply, ModelFault> {
        let usage = end
            .captured_usage
            .as_ref()
            .map_or_else(Usage::default, usage);
        let parts = end
            .captured_content
            .map(genai::chat::MessageContent::into_parts)
            .unwrap_or_default();
        let mut replay = Replay::default();
        let mut calls: Vec<ToolCall> = Vec::new();
        for part in parts {
            match part {
                ContentPart::ToolCall(call) => {
                    let call = self.call(call, calls.len(), &mut replay);
                    merge(&mut calls, call);
                }
                ContentPart::ThoughtSignature(_)
                | ContentPart::ReasoningContent(_)
                | ContentPart::Custom(_) => replay.blocks.push(part),
                ContentPart::Text(text) => {
                    if self.text.is_empty() {
                        self.text = text;
                    }
                }
                ContentPart::Binary(_) | ContentPart::ToolResponse(_) => {}
            }
        }
        if calls.len() > MAX_CALLS {
            return Err(garbage("too many tool calls"));
        }
        let reasoning = replay
            .to_record()
            .or_else(|| (!self.reasoning.is_empty()).then(|| std::mem::take(&mut self.reasoning)));
        Ok(ModelReply {
            text: std::mem::take(&mut self.text),
            reasoning,
            finish: finish(end.captured_stop_reason.as_ref(), !calls.is_empty()),
            calls,
            usage,
        })
    }

    fn call(&self, call: genai::chat::ToolCall, index: usize, replay: &mut Replay) -> ToolCall {
        let arguments = self
            .raw
            .get(&call.call_id)
            .filter(|raw| same(raw, &call.fn_arguments))
            .cloned()
            .unwrap_or_else(|| {
                call.fn_arguments
                    .as_str()
                    .map_or_else(|| call.fn_arguments.to_string(), str::to_owned)
            });
        let arguments = if arguments.trim().is_empty() {
            "{}".to_owned()
        } else {
            arguments
        };
        // Where the model names none, the library counts from zero in every reply, which would make two
        // calls of one conversation share an id.
        let id = if call.call_id.is_empty() || call.call_id == format!("call_{index}") {
            format!("call_{}", uuid::Uuid::new_v4().simple())
        } else {
            call.call_id
        };
        if let Some(signatures) = call.thought_signatures {
            replay.calls.push((id.clone(), signatures));
        }
        ToolCall {
            id: CallId(id),
            name: call.fn_name,
            arguments,
        }
    }
}

/// Adds a call, resolving ids that came twice: the library repeats a call where a server's numbering has
/// gaps (then the later one is complete), and some servers give the same id to different calls.
fn merge(calls: &mut Vec<ToolCall>, mut call: ToolCall) {
    let same_id = calls.iter().position(|known| known.id == call.id);
    if let Some(known) = same_id.and_then(|at| calls.get_mut(at)) {
        if known.name == call.name
            && (known.arguments == "{}" || call.arguments.starts_with(&known.arguments))
        {
            *known = call;
            return;
        }
        call.id = CallId(format!("{}_{}", call.id, calls.len()));
    }
    calls.push(call);
}

/// Whether `raw` is what the library parsed into `parsed`.
fn same(raw: &str, parsed: &Value) -> bool {
    let nothing =
        raw.trim().is_empty() && parsed.as_object().is_some_and(serde_json::Map::is_empty);
    nothing
        || parsed.as_str() == Some(raw)
        || serde_json::from_str::<Value>(raw).is_ok_and(|value| value == *parsed)
}

fn usage(usage: &genai::chat::Usage) -> Usage {
    let count = |tokens: Option<i32>| u64::try_from(tokens.unwrap_or(0)).unwrap_or(0);
    Usage {
        input: count(usage.prompt_tokens),
        cached: count(
            usage
                .prompt_tokens_details
                .as_ref()
                .and_then(|details| details.cached_tokens),
        ),
        output: count(usage.completion_tokens),
    }
}

fn finish(reason: Option<&StopReason>, has_calls: bool) -> FinishReason {
    match reason {
        Some(StopReason::MaxTokens(_)) => FinishReason::Length,
        Some(StopReason::ContentFilter(_)) => FinishReason::Filtered,
        Some(StopReason::ToolCall(_)) => FinishReason::ToolCalls,
        // Several servers say "stop" although calls follow.
        Some(StopReason::Completed(_) | StopReason::StopSequence(_) | StopReason::Other(_))
        | None
            if has_calls =>
        {
            FinishReason::ToolCalls
        }
        Some(StopReason::Completed(_) | StopReason::StopSequence(_)) => FinishReason::Stop,
        Some(StopReason::Other(_)) | None => FinishReason::Unknown,
    }
}

fn bounded(bytes: usize) -> Result<(), ModelFault> {
    if bytes > MAX_REPLY {
        return Err(garbage("the reply is too long"));
    }
    Ok(())
}

fn garbage(reason: &str) -> ModelFault {
    ModelFault::Garbage {
        reason: reason.to_owned(),
    }
}
