//! `/sessions`: the sessions of this conversation, the live one first.

use crate::agent::transcript::Record;
use crate::domain::Command;
use crate::store::Table;

use super::super::actor::Actor;
use super::super::record::{SessionRecord, session_key};

/// Most sessions listed.
const LISTED: usize = 20;
/// Characters of the words that a session began with.
const WORDS: usize = 40;

impl Actor {
    pub(super) async fn sessions(&mut self, command: &Command) {
        let archived: Vec<(Vec<u8>, SessionRecord)> = self
            .deps
            .store
            .scan(Table::Archived, b"")
            .await
            .unwrap_or_default();
        let mut rows: Vec<SessionRecord> = archived
            .into_iter()
            .map(|(_, record)| record)
            .filter(|record| record.key == self.record.key)
            .collect();
        rows.sort_by_key(|record| std::cmp::Reverse(record.used_at));
        let mut lines = vec![self.session_line(&self.record, "●").await];
        for record in rows.iter().take(LISTED) {
            lines.push(self.session_line(record, "○").await);
        }
        self.reply_key(
            command,
            "sessions-shown",
            &[("sessions", &lines.join("\n"))],
        );
    }

    /// When a session was used last, and the words it began with.
    async fn session_line(&self, record: &SessionRecord, mark: &str) -> String {
        let first: Option<Record> = self
            .deps
            .store
            .get(Table::Transcript, &session_key(&record.id, 0))
            .await
            .unwrap_or_default();
        let words = match first {
            Some(Record::User { input, .. }) => one_line(&input.words, WORDS),
            Some(_) | None => String::new(),
        };
        let used = record.used_at.format("%Y-%m-%d %H:%M");
        if words.is_empty() {
            format!("{mark} {used}")
        } else {
            format!("{mark} {used} · {words}")
        }
    }
}

/// The first characters of a text, on one line.
fn one_line(text: &str, most: usize) -> String {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut: String = flat.chars().take(most).collect();
    if cut.len() < flat.len() {
        format!("{cut}…")
    } else {
        cut
    }
}
