//! `/execute`: what Approve does, or the seed turn once more. Refused, never queued, while a turn runs.

use crate::domain::Command;
use crate::plan::lifecycle::{self, Execute};

use super::super::actor::Actor;

impl Actor {
    pub(super) async fn execute(&mut self, command: &Command) {
        if self.is_taken() {
            self.reply_key(command, "execute-busy", &[]);
            return;
        }
        self.load_plan().await;
        let refused = match lifecycle::execute(&self.plans.state) {
            Ok(Execute::Approve) => {
                let shown = self.plans.shown();
                self.approve(&command.sender, command.message, shown)
                    .await
                    .err()
            }
            Ok(Execute::RetrySeed) => self
                .retry_seed(&command.sender, command.message)
                .await
                .err(),
            Err(refusal) => Some(refusal),
        };
        if let Some(refusal) = refused {
            let text = self.refusal_text(&refusal);
            self.reply(command, text);
        }
    }
}
