//! `/status`: what runs, with which model, where, and what the host can enforce.

use crate::config::SandboxMode;
use crate::domain::Command;
use crate::flow::duration;

use super::super::actor::Actor;
use super::approvals::word;

impl Actor {
    pub(super) async fn status(&mut self, command: &Command) {
        let model = self
            .deps
            .models
            .get(self.record.model)
            .or_else(|| self.deps.models.first())
            .map_or_else(
                || self.tr("status-no-model", &[]),
                |model| match model.is_demo() {
                    true => format!("{} · {}", model.name(), self.tr("status-demo", &[])),
                    false => model.name(),
                },
            );
        let confined = self.deps.toolbox.sandbox().is_available();
        let sandbox = match self.settings().tools.sandbox {
            SandboxMode::Off => "status-sandbox-off",
            SandboxMode::Workspace if confined => "status-sandbox-on",
            SandboxMode::Workspace => "status-sandbox-missing",
        };
        let sandbox = self.tr(sandbox, &[]);
        let state = match &self.running {
            Some(running) => {
                let (requests, calls) = running.turn.spent();
                let millis = u64::try_from(running.started.elapsed().as_millis());
                let time = duration(&self.language(), millis.unwrap_or(u64::MAX));
                self.tr(
                    "status-running",
                    &[
                        ("time", &time),
                        ("requests", &requests.to_string()),
                        ("calls", &calls.to_string()),
                    ],
                )
            }
            None if self.holding => self.tr("status-discarding", &[]),
            None => self.tr("status-idle", &[]),
        };
        let plan = self.plan_words();
        let lines = [
            state,
            self.tr("status-plan", &[("plan", &plan)]),
            self.tr("status-model", &[("model", &model)]),
            self.tr("status-approvals", &[("level", word(self.level()))]),
            self.tr(
                "status-project",
                &[("path", &self.record.workspace.display().to_string())],
            ),
            sandbox,
            self.tr("status-queue", &[("count", &self.queue.len().to_string())]),
        ];
        self.reply(command, lines.join("\n"));
    }
}
