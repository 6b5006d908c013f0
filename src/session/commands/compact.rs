//! `/compact`: sums the conversation up before the next request.

use crate::domain::Command;

use super::super::actor::Actor;

impl Actor {
    pub(super) async fn compact_now(&mut self, command: &Command) {
        if self.conversation.is_empty() {
            self.reply_key(command, "compact-nothing", &[]);
            return;
        }
        if self.is_busy() {
            self.reply_key(command, "command-busy", &[]);
            return;
        }
        self.compact_idle().await;
        self.reply_key(command, "compact-begun", &[]);
    }
}
