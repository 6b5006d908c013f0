//! The demo model: a fixed script that plays a model's part, so that everything can be tried without
//! a provider. It knows the sample project and nothing else, and says so.
//!
//! It keeps no state: what comes next is read from the request alone, so a turn goes on after a
//! restart and the same conversation gives the same replies.

mod read;
mod script;

use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::{self, StreamExt};

use crate::domain::{
    FinishReason, ModelEvent, ModelFault, ModelMessage, ModelReply, ModelRequest, Usage,
};
use crate::llm::Model;
use script::Line;

type Stream = stream::BoxStream<'static, Result<ModelEvent, ModelFault>>;

/// Window in tokens.
const WINDOW: u64 = 128_000;
/// Bytes that count as one token.
const TOKEN_BYTES: usize = 4;

/// The demo model. It streams word by word.
#[derive(Debug, Clone)]
pub struct Demo {
    pace: Duration,
}

impl Demo {
    /// A model that pauses for `pace` between words; sixteen times as long when asked to be slow.
    #[must_use]
    pub fn new(pace: Duration) -> Self {
        Self { pace }
    }
}

impl Default for Demo {
    fn default() -> Self {
        Self::new(Duration::from_millis(14))
    }
}

impl Model for Demo {
    fn name(&self) -> String {
        "demo".to_owned()
    }

    fn window(&self) -> u64 {
        WINDOW
    }

    fn is_demo(&self) -> bool {
        true
    }

    fn stream(&self, request: ModelRequest) -> BoxFuture<'static, Result<Stream, ModelFault>> {
        let pace = self.pace;
        Box::pin(async move {
            let scene = read::scene(&request);
            let line = script::next(&scene);
            Ok(speak(line, read_tokens(&request), pace))
        })
    }
}

/// Streams the words, then the whole reply.
fn speak(line: Line, input: u64, pace: Duration) -> Stream {
    let pace = pace * if line.slow { 16 } else { 1 };
    let words: Vec<String> = line.text.split_inclusive(' ').map(str::to_owned).collect();
    let reply = ModelReply {
        usage: Usage {
            input,
            cached: input / 2,
            output: tokens(
                line.text.len()
                    + line
                        .calls
                        .iter()
                        .map(|call| call.arguments.len())
                        .sum::<usize>(),
            ),
        },
        finish: if line.calls.is_empty() {
            FinishReason::Stop
        } else {
            FinishReason::ToolCalls
        },
        text: line.text,
        reasoning: None,
        calls: line.calls,
    };
    stream::iter(words)
        .then(move |word| async move {
            if !pace.is_zero() {
                tokio::time::sleep(pace).await;
            }
            Ok(ModelEvent::Text(word))
        })
        .chain(stream::once(async { Ok(ModelEvent::End(reply)) }))
        .boxed()
}

fn tokens(bytes: usize) -> u64 {
    u64::try_from(bytes / TOKEN_BYTES + 1).unwrap_or(u64::MAX)
}

fn read_tokens(request: &ModelRequest) -> u64 {
    let messages: usize = request
        .messages
        .iter()
        .map(|message| match message {
            ModelMessage::System { text } | ModelMessage::User { text, .. } => text.len(),
            ModelMessage::Assistant { text, calls, .. } => {
                text.len() + calls.iter().map(|call| call.arguments.len()).sum::<usize>()
            }
            ModelMessage::Tool { content, .. } => content.len(),
        })
        .sum();
    tokens(request.system.len() + messages)
}

#[cfg(test)]
mod tests;
