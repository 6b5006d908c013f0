//! `/usage`: tokens of this session and of today.

use crate::agent::transcript::Record;
use crate::domain::{Command, Usage};
use crate::flow::tokens;

use super::super::actor::Actor;

impl Actor {
    pub(super) async fn usage(&mut self, command: &Command) {
        let mut total = Usage::default();
        for record in self.conversation.records() {
            if let Record::Assistant { usage, .. } = record {
                total.input += usage.input;
                total.cached += usage.cached;
                total.output += usage.output;
            }
        }
        let today = self.deps.usage.tokens_today();
        self.reply_key(
            command,
            "usage-shown",
            &[
                ("input", &tokens(total.input)),
                ("cached", &tokens(total.cached)),
                ("output", &tokens(total.output)),
                ("today", &tokens(today)),
            ],
        );
    }
}
