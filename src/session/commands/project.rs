//! `/project [directory]`: where the agent works. A live plan belongs to its project, so it must end first.

use std::path::PathBuf;

use crate::domain::Command;
use crate::plan::model::PlanState;

use super::super::actor::Actor;

impl Actor {
    pub(super) async fn project(&mut self, command: &Command) {
        let wanted = command.arguments.trim();
        if wanted.is_empty() {
            let path = self.record.workspace.display().to_string();
            self.reply_key(command, "project-shown", &[("path", &path)]);
            return;
        }
        if self.is_busy() {
            self.reply_key(command, "command-busy", &[]);
            return;
        }
        self.load_plan().await;
        if !matches!(self.plans.state, PlanState::NoPlan) {
            self.reply_key(command, "project-plan-live", &[]);
            return;
        }
        match tokio::fs::canonicalize(PathBuf::from(wanted)).await {
            Ok(path) if path.is_dir() && !path.starts_with(&self.deps.settings().home) => {
                self.record.workspace = path;
                self.narrow().await;
                self.plans = self.plans.of(&self.deps, &self.record);
                if self.save().await {
                    let path = self.record.workspace.display().to_string();
                    self.reply_key(command, "project-set", &[("path", &path)]);
                }
            }
            Ok(_) | Err(_) => self.reply_key(command, "project-bad", &[("path", wanted)]),
        }
    }
}
