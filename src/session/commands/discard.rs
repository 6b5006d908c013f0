//! `/discard`: ends the turn if one runs, waits for its end, then deletes the plan.

use crate::domain::Command;

use super::super::actor::Actor;

impl Actor {
    pub(super) async fn discard(&mut self, command: &Command) {
        match self.discard_plan().await {
            Ok(key) => self.reply_key(command, key, &[]),
            Err(refusal) => {
                let text = self.refusal_text(&refusal);
                self.reply(command, text);
            }
        }
    }
}
