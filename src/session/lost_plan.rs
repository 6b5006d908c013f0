//! A live plan whose file was lost comes back from the last message that the model saw of it.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use tracing::{info, warn};

use crate::domain::UserId;
use crate::plan::context::{self, Origin};
use crate::plan::context_parse;
use crate::plan::model::{Plan, PlanState};
use crate::store::{Batch, Table};

use super::actor::Actor;

/// The last plan message, and what it does not say. Kept while the plan is live: its archiving or
/// discarding deletes it first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Kept {
    id: String,
    title: String,
    message: String,
    revision: String,
    approved_at: Option<DateTime<Utc>>,
    approved_by: Option<UserId>,
    approved_revision: Option<String>,
}

impl Actor {
    /// Keeps the message that the model is about to see, if it says something new.
    pub(super) async fn keep_plan_message(&mut self, message: &str) {
        let Some(plan) = self.plans.active() else {
            return;
        };
        if self.plans.kept.as_deref() == Some(message) {
            return;
        }
        let kept = Kept {
            id: plan.id.clone(),
            title: plan.title.clone(),
            message: message.to_owned(),
            revision: plan.revision.clone(),
            approved_at: plan.approved_at,
            approved_by: plan.approved_by,
            approved_revision: plan.approved_revision.clone(),
        };
        let mut batch = Batch::new();
        let key = self.record.id.as_str().as_bytes();
        match batch.put(Table::PlanMessages, key, &kept) {
            Ok(_) => {
                if self.commit(batch).await {
                    self.plans.kept = Some(kept.message);
                }
            }
            Err(fault) => self.store_failed(&fault),
        }
    }

    /// The plan is about to leave on purpose: from here on a missing file is no loss.
    pub(super) async fn forget_plan_message(&mut self) {
        self.plans.kept = None;
        let mut batch = Batch::new();
        batch.delete(Table::PlanMessages, self.record.id.as_str().as_bytes());
        self.commit(batch).await;
    }

    /// Brings a plan back whose file is gone although it was neither archived nor discarded.
    pub(super) async fn restore_lost_plan(&mut self) {
        if !matches!(self.plans.state, PlanState::NoPlan) {
            return;
        }
        let key = self.record.id.as_str().as_bytes();
        let kept: Kept = match self.deps.store.get(Table::PlanMessages, key).await {
            Ok(Some(kept)) => kept,
            Ok(None) => return,
            Err(fault) => {
                warn!(error = %fault, "the last plan message cannot be read");
                return;
            }
        };
        let archived = self.archived_plans().await;
        if archived.iter().any(|(_, plan)| plan.id == kept.id) {
            self.forget_plan_message().await;
            return;
        }
        match self.plan_of(&kept).await {
            Some(plan) => {
                info!(
                    plan.id = plan.id,
                    "a lost plan is restored from its last message"
                );
                match self.plans.save(plan.clone(), None).await {
                    Ok(()) => {
                        self.plans.state = PlanState::Active(Box::new(plan));
                        self.say_key("plan-restored", &[]);
                    }
                    Err(fault) => warn!(error = %fault, "a restored plan was not saved"),
                }
            }
            None => {
                warn!(plan.id = kept.id, "a lost plan cannot be restored");
                self.forget_plan_message().await;
                self.say_key("plan-lost", &[]);
            }
        }
    }

    /// The plan that the message speaks of; `None` if it was cut or cannot be read.
    async fn plan_of(&self, kept: &Kept) -> Option<Plan> {
        let parsed = context_parse::parse(&kept.message, self.settings().plan.max_tasks).ok()?;
        let origin = Origin {
            id: kept.id.clone(),
            session: self.record.id.clone(),
            title: kept.title.clone(),
            now: Utc::now(),
        };
        let mut plan = context::restore(&parsed, origin);
        plan.working_directory = Some(self.record.workspace.clone());
        let prose = self
            .plans
            .with(|files| files.read_md().ok().flatten())
            .await;
        if let Some(prose) = prose.flatten() {
            plan.description = prose;
            plan.revision.clone_from(&kept.revision);
            plan.approved_at = kept.approved_at;
            plan.approved_by = kept.approved_by;
            plan.approved_revision.clone_from(&kept.approved_revision);
        }
        Some(plan)
    }
}
