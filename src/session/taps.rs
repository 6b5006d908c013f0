//! Taps on buttons: every one is answered exactly once, whatever it refers to.

use crate::agent::Cancel;
use crate::domain::{Role, Tap, UpdateId};

use super::actor::Actor;
use super::flow_record;

impl Actor {
    /// A tap of an authorised person in this conversation.
    pub(super) async fn tap(&mut self, tap: Tap, updates: Vec<UpdateId>) {
        match tap.data.split(':').next().unwrap_or_default() {
            "approve" | "always" | "deny" | "ask" => self.card_tap(&tap, &updates).await,
            "plan" => self.plan_tap(&tap, &updates).await,
            "turn" => self.stop_tap(&tap, &updates).await,
            _ => {
                self.answer_tap(&tap, "tap-expired", false);
                // Anybody can send any data for any message: others must not take the owner's buttons.
                if tap.sender.role == Role::Owner {
                    self.strip_keyboard(&tap).await;
                }
                self.close(&updates).await;
            }
        }
    }

    /// Whether a tap is on the flow message of a turn that is over. The id of a message that is just being
    /// sent is not known yet, so a newer one counts as this turn's.
    async fn is_old_flow(&self, tap: &Tap) -> bool {
        let known = flow_record::load(&self.deps.store, tap.key).await;
        let Some(record) = known.ok().flatten() else {
            return false;
        };
        let Some(message) = record.message else {
            return false;
        };
        let current = self.is_current(record.turn);
        tap.message < message || (tap.message == message && !current)
    }

    async fn stop_tap(&mut self, tap: &Tap, updates: &[UpdateId]) {
        let Some((user, _)) = self.turn_person() else {
            self.answer_tap(tap, "tap-nothing-runs", false);
            self.strip_keyboard(tap).await;
            self.close(updates).await;
            return;
        };
        if tap.sender.role != Role::Owner && tap.sender.id != user {
            self.answer_tap(tap, "tap-not-yours", true);
        } else if self.is_old_flow(tap).await {
            self.answer_tap(tap, "tap-expired", false);
            self.strip_keyboard(tap).await;
        } else {
            self.answer_tap(tap, "tap-stopped", false);
            self.stop_jobs(false);
            self.closing.extend(updates);
            self.cancel_turn(Cancel::Stopped).await;
            self.stop_jobs(false);
        }
        self.close(updates).await;
    }
}
