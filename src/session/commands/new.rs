//! `/new`: a fresh session for this conversation; the old one is put aside.

use crate::agent::Cancel;
use crate::agent::transcript::Conversation;
use crate::domain::{Command, SessionId, TurnId};
use crate::plan::model::PlanState;
use crate::store::{Batch, Table};

use super::super::actor::Actor;
use super::super::record::session_key;

impl Actor {
    pub(super) async fn new_session(&mut self, command: &Command) {
        self.load_plan().await;
        if !matches!(
            self.plans.state,
            PlanState::NoPlan | PlanState::PreInit { .. }
        ) {
            self.reply_key(command, "new-plan-live", &[]);
            return;
        }
        self.cancel_turn(Cancel::Stopped).await;
        self.stop_jobs(true);
        self.forget_plan_mode().await;
        let old = self.record.clone();
        let mut batch = Batch::new();
        self.close_in(&mut batch, &[command.update]);
        for queued in &self.queue {
            batch.delete(
                Table::Queue,
                &session_key(&old.id, u64::from(queued.update.0)),
            );
        }
        self.record.id = SessionId(uuid::Uuid::new_v4().to_string());
        self.record.created_at = chrono::Utc::now();
        self.record.grants.clear();
        self.record.goal = None;
        // The epoch goes on, so that whatever belongs to the old session is stale.
        self.record.turn = TurnId(old.turn.0 + 1);
        let stored = batch
            .put(Table::Archived, old.id.as_str().as_bytes(), &old)
            .is_ok()
            && self.put_record(&mut batch).is_ok();
        if !stored || !self.commit(batch).await {
            self.record = old;
            return;
        }
        self.queue.clear();
        self.conversation = Conversation::default();
        self.plans = self.plans.of(&self.deps, &self.record);
        self.reply_key(command, "new-done", &[]);
    }
}
