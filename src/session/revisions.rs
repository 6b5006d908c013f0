//! Revisions of the prose that the owner was shown: kept readable, compared by `/plan diff`.

use serde::{Deserialize, Serialize};
use similar::TextDiff;

use crate::domain::{Command, Entity, EntityKind, Formatted};
use crate::plan::model::PlanState;
use crate::plan::template;
use crate::store::{Batch, Table};
use crate::text::units::utf16_len;

use super::actor::Actor;
use super::record::{session_key, session_prefix};

/// Characters of a diff on screen; a longer one comes as a document.
const DIFF_CHARS: usize = 3500;

/// One revision that was shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ShownRevision {
    /// Plan.
    pub(super) plan_id: String,
    /// Counted from 1 within the plan.
    pub(super) number: u64,
    /// Its hash.
    pub(super) revision: String,
    /// The prose.
    pub(super) prose: String,
}

impl Actor {
    async fn shown_revisions(&self, plan_id: &str) -> Vec<ShownRevision> {
        let rows: Vec<(Vec<u8>, ShownRevision)> = self
            .deps
            .store
            .scan(Table::Revisions, &session_prefix(&self.record.id))
            .await
            .unwrap_or_default();
        rows.into_iter()
            .map(|(_, row)| row)
            .filter(|row| row.plan_id == plan_id)
            .collect()
    }

    /// Keeps the prose that is shown now, if it is new. Gives its number.
    pub(super) async fn keep_revision(&mut self) -> u64 {
        let PlanState::Editing(editing) = &self.plans.state else {
            return 0;
        };
        let revision = template::revision(&editing.prose);
        let (plan_id, prose) = (editing.plan.id.clone(), editing.prose.clone());
        let known = self.shown_revisions(&plan_id).await;
        if let Some(last) = known.last().filter(|last| last.revision == revision) {
            return last.number;
        }
        let number = known.last().map_or(1, |last| last.number + 1);
        let row = ShownRevision {
            plan_id,
            number,
            revision,
            prose,
        };
        let mut batch = Batch::new();
        // A document that was sent back makes a revision without a turn of its own.
        let key = session_key(&self.record.id, (self.record.turn.0 << 20) | number);
        if batch.put(Table::Revisions, &key, &row).is_ok() {
            self.commit(batch).await;
        }
        number
    }

    /// `/plan diff`: what changed between the last two revisions that were shown.
    pub(super) async fn plan_diff(&mut self, command: &Command) {
        let PlanState::Editing(editing) = &self.plans.state else {
            self.reply_key(command, "plan-edit-only-editing", &[]);
            return;
        };
        let now = editing.prose.clone();
        let known = self.shown_revisions(&editing.plan.id).await;
        let revision = template::revision(&now);
        let Some(before) = known.iter().rev().find(|row| row.revision != revision) else {
            self.reply_key(command, "plan-diff-none", &[]);
            return;
        };
        let diff = TextDiff::from_lines(&before.prose, &now)
            .unified_diff()
            .context_radius(1)
            .header(&format!("r{}", before.number), "now")
            .to_string();
        if diff.chars().count() > DIFF_CHARS {
            self.send_document(self.record.key, "plan.diff", diff.into_bytes(), false);
            return;
        }
        let entities = vec![Entity {
            kind: EntityKind::Pre {
                language: Some("diff".into()),
            },
            offset: 0,
            length: utf16_len(diff.trim_end()),
        }];
        self.say_formatted(Formatted {
            text: diff.trim_end().to_owned(),
            entities,
        });
    }
}
