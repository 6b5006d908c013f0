//! Requests to the model and what it says to them.

use std::sync::Arc;

use futures::StreamExt;
use tracing::warn;

use crate::agent::Event;
use crate::agent::context::{self, Surroundings};
use crate::agent::transcript::Record;
use crate::domain::{ModelEvent, ModelFault, ModelReply, ModelRequest, TurnId};
use crate::llm::Model;
use crate::store::Batch;

use super::actor::Actor;
use super::mail::Mail;

impl Actor {
    /// Sends one request; what the model says comes back as mail.
    pub(super) async fn call_model(&mut self, request: u32, index: usize) {
        let plan = self.plan_message().await;
        let Some(model) = self.model(index) else {
            return;
        };
        let tools = self.tool_specs();
        let system = self.system_prompt();
        let body = context::build(
            &self.conversation,
            &Surroundings {
                system: &system,
                plan: plan.as_deref(),
                tools: &tools,
                window: model.window(),
            },
        );
        let Some(running) = &mut self.running else {
            return;
        };
        running.request = running.cancel.child_token();
        let turn = running.turn.id();
        let cancel = running.request.clone();
        let me = self.me.clone();
        tokio::spawn(async move {
            let send = |event| {
                me.send(Mail::Model {
                    turn,
                    request,
                    event,
                })
                .ok();
            };
            tokio::select! {
                () = cancel.cancelled() => {}
                () = stream(model, body, send) => {}
            }
        });
    }

    /// Hears the model; what belongs to another turn or request is dropped.
    pub(super) async fn model_event(
        &mut self,
        turn: TurnId,
        request: u32,
        event: Result<ModelEvent, ModelFault>,
    ) {
        let fits = self
            .running
            .as_ref()
            .is_some_and(|running| running.turn.id() == turn && running.turn.spent().0 == request);
        if !fits {
            return;
        }
        let event = match event {
            Ok(ModelEvent::Text(delta)) => Event::Text(delta),
            Ok(ModelEvent::Reasoning(_)) => return,
            Ok(ModelEvent::End(reply)) => {
                self.deps.board.model_answered(true);
                self.count_tokens(&reply).await;
                Event::Reply {
                    plan: self.plan_facts().await,
                    reply: self.named_calls(reply),
                }
            }
            Err(fault) => {
                metrics::counter!("greenlight_model_requests_total", "outcome" => "failed")
                    .increment(1);
                self.deps.board.model_answered(false);
                warn!(turn.id = turn.0, request, fault = %fault, "model request failed");
                Event::ModelFailed(fault)
            }
        };
        self.drive(event, Batch::new()).await;
    }

    /// Gives calls without an id, or with one that was used before, an id of their own.
    fn named_calls(&self, mut reply: ModelReply) -> ModelReply {
        let mut seen: std::collections::HashSet<String> = self
            .conversation
            .records()
            .iter()
            .filter_map(|record| {
                let Record::Assistant { calls, .. } = record else {
                    return None;
                };
                Some(calls)
            })
            .flatten()
            .map(|call| call.id.0.clone())
            .collect();
        for (index, call) in reply.calls.iter_mut().enumerate() {
            if call.id.0.is_empty() || !seen.insert(call.id.0.clone()) {
                call.id.0 = format!("call_{}_{index}", self.conversation.len());
                seen.insert(call.id.0.clone());
            }
        }
        reply
    }
}

/// Streams one reply into `send`. A stream that ends without an end is a fault.
pub(super) async fn stream(
    model: Arc<dyn Model>,
    request: ModelRequest,
    mut send: impl FnMut(Result<ModelEvent, ModelFault>),
) {
    let mut events = match model.stream(request).await {
        Ok(events) => events,
        Err(fault) => return send(Err(fault)),
    };
    while let Some(event) = events.next().await {
        let last = matches!(event, Ok(ModelEvent::End(_)) | Err(_));
        send(event);
        if last {
            return;
        }
    }
    send(Err(ModelFault::Retry {
        after: None,
        reason: "the stream ended early".into(),
    }));
}
