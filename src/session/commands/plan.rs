//! `/plan [text]`: durable plan mode, and with text a design turn on it. `/plan diff`, `/plan edit`.

use crate::domain::{Command, UpdateId, UserMessage};
use crate::plan::model::PreInitOrigin;

use super::super::actor::Actor;

impl Actor {
    pub(super) async fn plan(&mut self, command: &Command, updates: Vec<UpdateId>) {
        self.load_plan().await;
        if let Err(refusal) = self.pre_init(PreInitOrigin::Slash).await {
            let key = self.live_plan_key().unwrap_or(refusal);
            self.reply_key(command, key, &[]);
            self.close(&updates).await;
            return;
        }
        if command.arguments.trim().is_empty() && command.attachments.is_empty() {
            self.reply_key(command, "plan-mode-on", &[]);
            self.close(&updates).await;
            return;
        }
        let message = UserMessage {
            key: command.key,
            chat_kind: command.chat_kind,
            sender: command.sender.clone(),
            message: command.message,
            updates: updates.clone(),
            text: command.arguments.clone(),
            quote: command.quote.clone(),
            origin: None,
            attachments: command.attachments.clone(),
            observed: false,
            sent_at: chrono::Utc::now().timestamp(),
        };
        self.enqueue(message, updates, true).await;
    }

    pub(super) async fn plan_subcommand(&mut self, command: &Command) {
        self.load_plan().await;
        match command.arguments.trim() {
            "diff" => self.plan_diff(command).await,
            _ => self.plan_edit(command).await,
        }
    }
}
