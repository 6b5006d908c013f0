//! `/stop`: ends the running turn at once. A member may stop only a turn of their own.

use crate::agent::Cancel;
use crate::domain::{Command, Role};

use super::super::actor::Actor;

impl Actor {
    pub(super) async fn stop(&mut self, command: &Command) {
        let Some((user, _)) = self.turn_person() else {
            let ended = command.sender.role == Role::Owner && self.stop_jobs(false) > 0;
            let key = if ended { "stop-done" } else { "stop-nothing" };
            self.reply_key(command, key, &[]);
            return;
        };
        if command.sender.role != Role::Owner && command.sender.id != user {
            self.reply_key(command, "stop-not-yours", &[]);
            return;
        }
        self.stop_jobs(false);
        self.cancel_turn(Cancel::Stopped).await;
        self.reply_key(command, "stop-done", &[]);
    }
}
