//! What guards a turn beside the gate: secrets leave records, cut calls are told honestly, members never
//! work without being asked.

use crate::agent::Effect;
use crate::agent::batch::ItemState;
use crate::agent::transcript::Record;
use crate::domain::{ApprovalLevel, CallId, CallStatus, Effects, Role};

use super::actor::Actor;
use super::batch::{Whose, outcome};

impl Actor {
    /// A record without the secrets that are known or look like some.
    pub(super) fn redacted(&self, record: Record) -> Record {
        let clean = |text: String| self.deps.redactor.redact(&text);
        match record {
            Record::User { turn, mut input } => {
                input.text = clean(input.text);
                input.words = clean(input.words);
                Record::User { turn, input }
            }
            Record::Assistant {
                turn,
                text,
                reasoning,
                mut calls,
                usage,
            } => {
                for call in &mut calls {
                    call.arguments = clean(std::mem::take(&mut call.arguments));
                }
                Record::Assistant {
                    turn,
                    text: clean(text),
                    // A signed block that held a secret is worth less than the secret.
                    reasoning: reasoning.map(clean),
                    calls,
                    usage,
                }
            }
            Record::Ended {
                turn,
                reason,
                answer,
            } => Record::Ended {
                turn,
                reason,
                answer: clean(answer),
            },
            Record::Host { turn, text } => Record::Host {
                turn,
                text: clean(text),
            },
            Record::Digest {
                turn,
                text,
                keep_from,
            } => Record::Digest {
                turn,
                text: clean(text),
                keep_from,
            },
            // Tools redact what they say before it is bounded and wrapped.
            Record::Started { .. } | Record::Outcome { .. } => record,
        }
    }

    /// How much the running turn asks: what was chosen, or what its project makes stricter; nobody but the
    /// owner works without being asked.
    pub(super) fn level(&self) -> ApprovalLevel {
        let members = self
            .turn_person()
            .is_some_and(|(_, role)| role == Role::Member);
        match self.bounds.approvals {
            ApprovalLevel::Yolo if members => ApprovalLevel::Ask,
            level @ (ApprovalLevel::Ask | ApprovalLevel::Auto | ApprovalLevel::Yolo) => level,
        }
    }

    /// Whether a call has begun and not ended.
    pub(super) fn runs(&self, id: &CallId) -> bool {
        self.running
            .as_ref()
            .and_then(|running| running.batch.as_ref())
            .is_some_and(|batch| {
                batch
                    .calls
                    .iter()
                    .any(|entry| entry.call.id == *id && entry.item.state == ItemState::Running)
            })
    }

    /// A turn is about to be cancelled. Calls that have not begun are told so; those that run may have
    /// changed something, which makes evidence stale whatever they would have reported.
    pub(super) async fn settle_cut_calls(&mut self) -> Vec<Effect> {
        let Some(batch) = self
            .running
            .as_ref()
            .and_then(|running| running.batch.as_ref())
        else {
            return Vec::new();
        };
        let epoch = batch.epoch;
        let mut idle = Vec::new();
        let mut cut = Vec::new();
        for entry in &batch.calls {
            match (entry.item.state, entry.started) {
                (ItemState::Done, _) => {}
                (ItemState::Running, Some(_)) => {
                    cut.push((entry.call.clone(), entry.item.effects));
                }
                (ItemState::Waiting | ItemState::Running, _) => idle.push(entry.call.id.clone()),
            }
        }
        for (call, effects) in cut {
            let mut result = outcome(&call.id, CallStatus::Cancelled, String::new());
            result.changed = true;
            self.observe(&call, effects, &result, epoch).await;
        }
        let mut effects = Vec::new();
        for id in idle {
            if let Some((whose, index)) = self.find_call(&id)
                && let Some(entry) = self.entry_mut(&whose, index)
            {
                // What never began spoils no evidence.
                entry.item.effects = Effects::Read;
            }
            let text = "not run: the turn was ended before this call began".to_owned();
            effects.extend(
                self.over(
                    &Whose::Turn,
                    outcome(&id, CallStatus::Cancelled, text),
                    false,
                )
                .await,
            );
        }
        effects
    }
}
