//! Token counts by day, and the budget of a day.

use crate::agent::Event;
use crate::agent::transcript::Record;
use crate::agent::{Cancel, context};
use crate::domain::{EndReason, ModelEvent, ModelReply, TurnId};
use crate::store::Batch;

use super::actor::Actor;

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
        tokio::spawn(async move {
            use futures::StreamExt;
            let Ok(mut events) = model.stream(request).await else {
                return;
            };
            while let Some(event) = events.next().await {
                if let Ok(ModelEvent::End(reply)) = event {
                    let text = Some(reply.text);
                    let turn = TurnId(0);
                    me.send(super::mail::Mail::Digest { turn, text }).ok();
                }
            }
        });
    }

    /// A digest arrived: for the running turn, or (turn 0) for the idle session.
    pub(super) async fn digest(&mut self, turn: TurnId, text: Option<String>) {
        let text = match text {
            Some(text) => Some(self.whole_digest(&text).await),
            None => None,
        };
        if self.is_current(turn) {
            self.drive(Event::Compacted(text), Batch::new()).await;
            return;
        }
        let Some(text) = text.filter(|_| turn == TurnId(0) && !self.is_busy()) else {
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
