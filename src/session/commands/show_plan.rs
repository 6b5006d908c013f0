//! `/show_plan`: the plan at the bottom of the chat again, with its buttons.

use crate::domain::Command;
use crate::plan::model::PlanState;

use super::super::actor::Actor;

impl Actor {
    pub(super) async fn show_plan(&mut self, command: &Command) {
        self.load_plan().await;
        match &self.plans.state {
            PlanState::NoPlan => self.reply_key(command, "show-plan-none", &[]),
            PlanState::PreInit { .. } => self.reply_key(command, "show-plan-preinit", &[]),
            PlanState::Corrupt { .. } => self.reply_key(command, "plan-corrupt", &[]),
            PlanState::Editing(_) | PlanState::Active(_) => self.restick().await,
        }
    }
}
