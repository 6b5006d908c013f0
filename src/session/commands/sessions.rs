//! `/sessions`: the sessions of this conversation, the live one first.

use crate::domain::Command;
use crate::store::Table;

use super::super::actor::Actor;
use super::super::record::SessionRecord;

/// Most sessions listed.
const LISTED: usize = 20;

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
        let line = |record: &SessionRecord, mark: &str| {
            let short: String = record.id.as_str().chars().take(8).collect();
            format!("{mark} {short} · {}", record.used_at.format("%Y-%m-%d %H:%M"))
        };
        let mut lines = vec![line(&self.record, "●")];
        lines.extend(rows.iter().take(LISTED).map(|record| line(record, "○")));
        self.reply_key(command, "sessions-shown", &[("sessions", &lines.join("\n"))]);
    }
}
