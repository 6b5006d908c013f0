//! `/plans`: the archived plans of this session.

use crate::domain::Command;

use super::super::actor::Actor;

/// Most plans listed.
const LISTED: usize = 30;

impl Actor {
    pub(super) async fn list_plans(&mut self, command: &Command) {
        let archived = self.archived_plans().await;
        if archived.is_empty() {
            self.reply_key(command, "plans-none", &[]);
            return;
        }
        let lines: Vec<String> = archived
            .iter()
            .take(LISTED)
            .map(|(when, plan)| {
                let done = plan.tasks.iter().filter(|task| task.is_resolved()).count();
                format!("📋 {} · {} · {done}/{}", when, plan.title, plan.tasks.len())
            })
            .collect();
        self.reply_key(command, "plans-shown", &[("plans", &lines.join("\n"))]);
    }
}
