//! What a card says: its text, the buttons under it, and where it stands.

use crate::domain::{
    ActionClass, Button, ChatId, ChatKey, Entity, EntityKind, Formatted, Keyboard, Role,
};
use crate::text::units::{byte_at_utf16, truncate_utf16, utf16_len};
use crate::text::visible::show_controls;
use crate::tools::Inspection;

use super::actor::Actor;
use super::cards::APPROVAL_SECONDS;
use super::record::{CardKind, CardRow};

/// UTF-16 units of a command or diff on the card itself; a longer one comes as a document too.
const CARD_UNITS: usize = 3000;
/// Of those, how many show the end of a longer one.
const TAIL_UNITS: usize = 1000;
/// UTF-16 units of a directory on a card.
const CWD_UNITS: usize = 300;

impl Actor {
    /// The owner must be able to see the card: it stays in a group, and leaves a member's private chat.
    pub(super) fn card_place(&self) -> ChatKey {
        let owner = self.deps.settings().telegram.owner;
        match owner {
            Some(owner) if self.record.key.chat.0 > 0 && self.record.key.chat.0 != owner.0 => {
                ChatKey::new(ChatId(owner.0), None)
            }
            Some(_) | None => self.record.key,
        }
    }

    /// Whose request it is, if it is not the owner's own.
    pub(super) fn card_asker(&self) -> Option<String> {
        let record = &self.running.as_ref()?.record;
        if record.role == Role::Owner {
            return None;
        }
        let name = show_controls(&record.name);
        let key = if self.card_place() == self.record.key {
            "card-asker"
        } else {
            "card-asker-private"
        };
        Some(self.tr(key, &[("name", &name)]))
    }

    /// What a card says only while it is open.
    pub(super) fn card_hint(&self, row: &CardRow) -> String {
        match &row.kind {
            CardKind::Approval { .. } => {
                let minutes = (APPROVAL_SECONDS / 60).to_string();
                format!("\n{}", self.tr("card-expires", &[("minutes", &minutes)]))
            }
            CardKind::Question { options, .. } if options.is_empty() => {
                format!("\n\n{}", self.tr("question-hint-text", &[]))
            }
            CardKind::Question { .. } => format!("\n\n{}", self.tr("question-hint", &[])),
        }
    }

    pub(super) fn card_keyboard(&self, row: &CardRow) -> Keyboard {
        match &row.kind {
            CardKind::Approval { always, .. } => {
                let button = |key: &str, word: &str| {
                    Button::new(self.tr(key, &[]), format!("{word}:{}", row.id))
                };
                let mut rows = vec![vec![
                    button("button-approve", "approve"),
                    button("button-deny", "deny"),
                ]];
                if *always {
                    rows.insert(1, vec![button("button-always", "always")]);
                }
                Keyboard { rows }
            }
            CardKind::Question { options, .. } => Keyboard {
                rows: options
                    .iter()
                    .enumerate()
                    .map(|(index, option)| {
                        let label: String = option.chars().take(60).collect();
                        vec![Button::new(label, format!("ask:{}:{index}", row.id))]
                    })
                    .collect(),
            },
        }
    }

    /// The card's text, and the whole content as a document if it is too long for the card.
    pub(super) fn card_text(&self, found: &Inspection) -> (Formatted, Option<String>) {
        let class = self.tr(class_key(found.class), &[]);
        let mut head = self.tr(
            "card-title",
            &[("tool", &found.card.tool), ("class", &class)],
        );
        if let Some(asker) = self.card_asker() {
            head = format!("{head}\n{asker}");
        }
        let cwd = show_controls(&found.card.cwd.display().to_string());
        let foot = self.tr("card-foot", &[("cwd", truncate_utf16(&cwd, CWD_UNITS))]);
        let whole = show_controls(&self.deps.redactor.redact(&found.card.text));
        let (body, long) = card_body(&whole);
        let text = format!("{head}\n{body}\n{foot}");
        let mut entities = Vec::new();
        if !body.trim().is_empty() {
            entities.push(Entity {
                kind: EntityKind::Pre { language: None },
                offset: utf16_len(&head) + 1,
                length: utf16_len(&body),
            });
        }
        (Formatted { text, entities }, long.then_some(whole))
    }
}

/// What fits on a card, and whether that is not all: the beginning and the end, because a dangerous end
/// must not hide behind a harmless beginning.
fn card_body(whole: &str) -> (String, bool) {
    if utf16_len(whole) <= CARD_UNITS {
        return (whole.to_owned(), false);
    }
    let head = truncate_utf16(whole, CARD_UNITS - TAIL_UNITS);
    let total = utf16_len(whole);
    let from = byte_at_utf16(whole, total - TAIL_UNITS)
        .or_else(|| byte_at_utf16(whole, total - TAIL_UNITS + 1))
        .unwrap_or(whole.len());
    let tail = whole.get(from..).unwrap_or_default();
    (format!("{head}\n[…]\n{tail}"), true)
}

fn class_key(class: ActionClass) -> &'static str {
    use ActionClass as Class;
    match class {
        Class::Read => "class-read",
        Class::WorkspaceWrite => "class-write",
        Class::Exec => "class-exec",
        Class::Destructive => "class-destructive",
        Class::Network => "class-network",
        Class::Spawn => "class-spawn",
        Class::Channel => "class-channel",
        Class::Plan => "class-plan",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_command_shows_its_end_and_fits_a_message() {
        let command = format!("{} && rm -rf important", "😀".repeat(5000));
        let (body, long) = card_body(&command);
        assert!(long && body.ends_with("rm -rf important"));
        assert!(utf16_len(&body) < 3100);
        assert_eq!(card_body("ls"), ("ls".to_owned(), false));
    }
}
