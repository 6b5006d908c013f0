//! `/language [tag|auto]`: the locale of this session.

use crate::domain::Command;

use super::super::actor::Actor;

impl Actor {
    pub(super) async fn choose_language(&mut self, command: &Command) {
        let wanted = command.arguments.trim();
        let known = crate::i18n::languages();
        if wanted.is_empty() {
            let language = name(&self.language());
            self.reply_key(
                command,
                "language-shown",
                &[("language", &language), ("known", &list(&known))],
            );
            return;
        }
        if wanted == "auto" {
            self.record.language = None;
        } else if let Some(tag) = known.iter().find(|tag| tag.eq_ignore_ascii_case(wanted)) {
            self.record.language = Some(tag.clone());
        } else {
            self.reply_key(
                command,
                "language-unknown",
                &[("language", wanted), ("known", &list(&known))],
            );
            return;
        }
        if self.save().await {
            let language = name(&self.language());
            self.reply_key(command, "language-set", &[("language", &language)]);
        }
    }
}

/// A language by its own name.
fn name(tag: &str) -> String {
    crate::i18n::tr(tag, "language-name", &[])
}

/// One line for each language: what to send, and its own name.
fn list(known: &[String]) -> String {
    known
        .iter()
        .map(|tag| format!("/language {tag} · {}", name(tag)))
        .collect::<Vec<_>>()
        .join("\n")
}
