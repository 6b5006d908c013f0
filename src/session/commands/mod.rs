//! Slash commands, one file each. `/stop`, `/status` and `/discard` act at once; `/plan` and
//! `/show_plan` wait for the end of a running turn; the rest neither waits nor disturbs.

mod approvals;
mod compact;
mod execute;
mod goal;
mod help;
mod language;
mod model;
mod new;
mod plan;
mod plan_status;
mod plans;
mod project;
mod sessions;
mod show_plan;
mod status;
mod stop;
mod usage;

use crate::domain::{Command, Role, UpdateId};

use crate::store::{Batch, Table};

use super::actor::Actor;
use super::record::session_key;

/// Commands that only the owner may use.
const OWNER_ONLY: [&str; 11] = [
    "plan",
    "execute",
    "discard",
    "plans",
    "approvals",
    "project",
    "model",
    "new",
    "language",
    "compact",
    "goal",
];

impl Actor {
    /// A command of an authorised person.
    pub(super) async fn command(&mut self, command: Command, updates: Vec<UpdateId>) {
        if command.sender.role == Role::Owner {
            self.record
                .client_language
                .clone_from(&command.sender.language);
        } else if OWNER_ONLY.contains(&command.name.as_str()) {
            self.reply_key(&command, "command-owner-only", &[]);
            self.close(&updates).await;
            return;
        }
        if let Some(running) = &self.running {
            running.flow.buried(command.message);
        }
        if self.planning_is_off(&command).await {
            self.close(&updates).await;
            return;
        }
        let waits =
            matches!(command.name.as_str(), "plan" | "show_plan") && !is_subcommand(&command);
        if waits && self.is_taken() {
            self.wait_for_turn(command, &updates).await;
            return;
        }
        if command.name == "discard" {
            // It answers and closes when the plan is gone.
            self.begin_discard(Some(command), updates).await;
            return;
        }
        if command.name == "plan" && !is_subcommand(&command) {
            // With text it becomes a queued input, which closes the updates itself.
            self.plan(&command, updates).await;
            return;
        }
        if matches!(command.name.as_str(), "stop" | "execute") {
            // Closed in the very batch that holds the effect: a second run would hit something else.
            self.closing.extend(&updates);
        }
        self.at_once(&command).await;
        self.close(&updates).await;
    }

    /// Keeps a command durably until nothing runs.
    async fn wait_for_turn(&mut self, command: Command, updates: &[UpdateId]) {
        if self
            .later
            .iter()
            .any(|known| known.update == command.update)
        {
            return;
        }
        let mut batch = Batch::new();
        self.close_in(&mut batch, updates);
        let key = session_key(&self.record.id, u64::from(command.update.0));
        if let Err(fault) = batch.put(Table::Later, &key, &command) {
            self.store_failed(&fault);
            return;
        }
        if self.commit(batch).await {
            self.react(command.message, "👀");
            self.later.push_back(command);
        }
    }

    async fn at_once(&mut self, command: &Command) {
        match command.name.as_str() {
            "plan" => self.plan_subcommand(command).await,
            "show_plan" => self.show_plan(command).await,
            "plan_status" => self.plan_status(command).await,
            "execute" => self.execute(command).await,
            "plans" => self.list_plans(command).await,
            "stop" => self.stop(command).await,
            "status" => self.status(command).await,
            "new" => self.new_session(command).await,
            "sessions" => self.sessions(command).await,
            "usage" => self.usage(command).await,
            "compact" => self.compact_now(command).await,
            "model" => self.choose_model(command).await,
            "approvals" => self.approvals(command).await,
            "project" => self.project(command).await,
            "language" => self.choose_language(command).await,
            "goal" => self.goal(command).await,
            "help" | "start" => self.help(command),
            _ => self.reply_key(command, "command-unknown", &[("command", &command.name)]),
        }
    }
}

/// `/plan diff` and `/plan edit` look at a plan; they ask for none.
fn is_subcommand(command: &Command) -> bool {
    command.name == "plan" && matches!(command.arguments.trim(), "diff" | "edit")
}
