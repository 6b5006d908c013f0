//! `/help` and `/start`: what the bot does and the commands.

use crate::domain::Command;
use crate::telegram::command::help;
use crate::text::markdown::to_formatted;

use super::super::actor::Actor;

impl Actor {
    pub(super) fn help(&mut self, command: &Command) {
        let text = help(&self.language());
        self.reply_formatted(command, to_formatted(&text));
    }
}
