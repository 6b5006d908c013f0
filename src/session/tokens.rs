//! Token counts by day, and the budget of a day.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;

use crate::agent::Event;
use crate::agent::transcript::Record;
use crate::agent::{Cancel, context};
use crate::domain::{EndReason, ModelEvent, ModelReply, ModelRequest, SessionId, TurnId};
use crate::llm::Model;
use crate::store::Batch;

use super::actor::Actor;

/// How long the side call of `/compact` may take.
const COMPACT_END: Duration = Duration::from_secs(300);

impl Actor {
    /// Adds a reply's tokens to the book.
    pub(super) async fn count_tokens(&mut self, reply: &ModelReply) {
        for (kind, tokens) in [
            ("input", reply.usage.input),
            ("cached", reply.usage.cached),
            ("output", reply.usage.output),
        ] {
            metrics::counter!("greenlight_model_tokens_total", "kind" => kind).increment(tokens);
        }
        metrics::counter!("greenlight_model_requests_total", "outcome" => "ok").increment(1);
        self.deps.usage.request(&self.model_name(), reply.usage);
        if let Err(fault) = self.deps.usage.save(&self.deps.store).await {
            tracing::warn!(error = %fault, "the usage book was not written");
        }
    }

    pub(super) fn model_name(&self) -> String {
        self.deps
            .models
            .get(self.record.model)
            .or_else(|| self.deps.models.first())
            .map_or_else(String::new, |model| model.name())
    }

    pub(super) fn day_budget_is_used_up(&self) -> bool {
        let budget = self.settings().budgets.day_tokens;
        budget > 0 && self.deps.usage.tokens_today() >= budget
    }

    /// Ends a turn before its first request, because the day's tokens are used up.
    pub(super) async fn end_for_day_budget(&mut self) {
        if let Some(running) = &mut self.running {
            let effects = running.turn.end(EndReason::Budget {
                budget: "budget-day-tokens".into(),
            });
            self.follow(effects).await;
        }
    }

    /// Sums an idle session up; the digest is in force from the next turn on.
    pub(super) async fn compact_idle(&mut self) {
        let Some(model) = self.deps.models.get(self.record.model).cloned() else {
            return;
        };
        let plan = self.digest_plan().await;
        let request = context::digest_request(&self.conversation, &plan, model.window());
        let me = self.me.clone();
        let session = self.record.id.clone();
        tokio::spawn(async move {
            let told = tokio::time::timeout(COMPACT_END, summary(model, request)).await;
            let text = told.ok().flatten().map(|text| format!("{text}\n\n{plan}"));
            let mail = super::mail::Mail::Digest {
                session,
                turn: TurnId(0),
                text,
            };
            me.send(mail).ok();
        });
    }

    /// A digest arrived: for the running turn, or (turn 0) for the idle session.
    pub(super) async fn digest(&mut self, session: &SessionId, turn: TurnId, text: Option<String>) {
        if *session != self.record.id {
            return;
        }
        let text = match text {
            Some(text) => Some(self.whole_digest(&text).await),
            None => None,
        };
        if self.is_current(turn) {
            self.drive(Event::Compacted(text), Batch::new()).await;
            return;
        }
        if turn != TurnId(0) {
            return;
        }
        let Some(text) = text.filter(|_| !self.is_busy()) else {
            self.say_key("compact-failed", &[]);
            return;
        };
        let mut batch = Batch::new();
        let record = Record::Digest {
            turn: self.record.turn,
            text,
            keep_from: TurnId(self.record.turn.0 + 1),
        };
        if self.append(&mut batch, record).is_ok() && self.commit(batch).await {
            self.say_key("compact-done", &[]);
        }
    }

    /// Ends the turn because its chat takes no messages any more.
    pub(super) async fn chat_gone(&mut self) {
        // Nobody would read the answers to what waits.
        let mut batch = Batch::new();
        let waiting: Vec<_> = self.queue.iter().cloned().collect();
        self.took(&waiting, &mut batch);
        self.commit(batch).await;
        self.cancel_turn(Cancel::ChatGone).await;
    }
}

/// The text of a side call, if the model gave one.
async fn summary(model: Arc<dyn Model>, request: ModelRequest) -> Option<String> {
    let mut events = model.stream(request).await.ok()?;
    while let Some(event) = events.next().await {
        if let ModelEvent::End(reply) = event.ok()? {
            return Some(reply.text).filter(|text| !text.trim().is_empty());
        }
    }
    None
}
