//! The settings as they hold in this session's workspace, whose project file may only take away.

use std::sync::Arc;

use tracing::warn;

use crate::config::{self, Settings};
use crate::domain::{ApprovalLevel, Command};

use super::actor::Actor;
use super::plans;

/// Commands that mean nothing while planning is off.
const PLANNING: [&str; 6] = [
    "plan",
    "show_plan",
    "plan_status",
    "execute",
    "discard",
    "plans",
];

impl Actor {
    /// The settings in force here, as of the last turn boundary or command.
    pub(super) fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.bounds)
    }

    /// How much this session asks: what was chosen, or what its project makes stricter.
    pub(super) fn level(&self) -> ApprovalLevel {
        self.bounds.approvals
    }

    /// Reads the project file again. A malformed one is told once and takes nothing away, because it
    /// cannot be known what it was to take.
    pub(super) async fn narrow(&mut self) {
        let mut base = (*self.deps.settings()).clone();
        base.approvals = self.record.level;
        let workspace = self.record.workspace.clone();
        let read = tokio::task::spawn_blocking(move || {
            let narrowed = config::narrow(&base, &workspace);
            (base, narrowed)
        });
        let Ok((base, narrowed)) = read.await else {
            return;
        };
        let mut settings = match narrowed {
            Ok(settings) => {
                self.project_fault = None;
                settings
            }
            Err(fault) => {
                self.tell_of_project(&fault);
                base
            }
        };
        if settings
            .tools
            .disabled
            .iter()
            .any(|name| name == plans::TOOL)
        {
            settings.plan.enabled = false;
        }
        self.bounds = Arc::new(settings);
    }

    fn tell_of_project(&mut self, fault: &config::ConfigError) {
        let fault = fault.fault();
        let arguments: Vec<(&str, &str)> = fault
            .arguments
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        let text = self.tr(&fault.key, &arguments);
        if self.project_fault.as_ref() != Some(&text) {
            warn!(key = fault.key, "the project file is not usable");
            self.say_text(text.clone());
            self.project_fault = Some(text);
        }
    }

    /// Whether a tool is on offer here, by its settings.
    pub(super) fn offers(&self, tool: &str) -> bool {
        let settings = &self.bounds;
        if tool == plans::TOOL {
            return settings.plan.enabled;
        }
        !settings.tools.disabled.iter().any(|name| name == tool)
            && (tool != "web_fetch" || settings.tools.web_fetch)
    }

    /// Answers a command about plans while planning is off. True if it was one.
    pub(super) async fn planning_is_off(&mut self, command: &Command) -> bool {
        if !PLANNING.contains(&command.name.as_str()) {
            return false;
        }
        self.narrow().await;
        let off = !self.bounds.plan.enabled;
        if off {
            self.reply_key(command, "plan-off", &[]);
        }
        off
    }
}
