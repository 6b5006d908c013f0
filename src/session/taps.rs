//! Taps on buttons: every one is answered exactly once, whatever it refers to.

use crate::agent::Cancel;
use crate::domain::{Role, Tap, UpdateId};

use super::actor::Actor;

impl Actor {
    /// A tap of an authorised person in this conversation.
    pub(super) async fn tap(&mut self, tap: Tap, updates: Vec<UpdateId>) {
        match tap.data.split(':').next().unwrap_or_default() {
            "approve" | "always" | "deny" | "ask" => self.card_tap(&tap, &updates).await,
            "plan" => self.plan_tap(&tap, &updates).await,
            "turn" => self.stop_tap(&tap, &updates).await,
            _ => {
                self.answer_tap(&tap, "tap-expired", false);
                self.strip_keyboard(&tap);
                self.close(&updates).await;
            }
        }
    }

    async fn stop_tap(&mut self, tap: &Tap, updates: &[UpdateId]) {
        let Some((user, _)) = self.turn_person() else {
            self.answer_tap(tap, "tap-nothing-runs", false);
            self.strip_keyboard(tap);
            self.close(updates).await;
            return;
        };
        if tap.sender.role != Role::Owner && tap.sender.id != user {
            self.answer_tap(tap, "tap-not-yours", true);
        } else {
            self.answer_tap(tap, "tap-stopped", false);
            self.closing.extend(updates);
            self.stop_jobs(false);
            self.cancel_turn(Cancel::Stopped).await;
        }
        self.close(updates).await;
    }
}
