//! `/help` and `/start`: what the bot does and the commands.

use crate::domain::{Command, Role};

use super::super::actor::Actor;

impl Actor {
    pub(super) fn help(&mut self, command: &Command) {
        let language = self.language();
        let owner = command.sender.role == Role::Owner;
        let mut text = self.tr("help-head", &[]);
        for entry in crate::telegram::command::listed(owner) {
            let what = crate::i18n::tr(&language, entry.description, &[]);
            text.push_str(&format!("\n/{} — {what}", entry.name));
        }
        self.reply(command, text);
    }
}
