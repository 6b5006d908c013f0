//! `/approvals [ask|auto|yolo]`: how much the session asks.

use crate::domain::{ApprovalLevel, Command};

use super::super::actor::Actor;

impl Actor {
    pub(super) async fn approvals(&mut self, command: &Command) {
        let level = match command.arguments.trim().to_lowercase().as_str() {
            "" => {
                self.narrow().await;
                let level = word(self.level());
                self.reply_key(command, "approvals-shown", &[("level", level)]);
                return;
            }
            "ask" => ApprovalLevel::Ask,
            "auto" => ApprovalLevel::Auto,
            "yolo" => ApprovalLevel::Yolo,
            other => {
                self.reply_key(command, "approvals-unknown", &[("level", other)]);
                return;
            }
        };
        self.record.level = level;
        if level == ApprovalLevel::Ask {
            self.record.grants.clear();
        }
        self.narrow().await;
        if self.save().await {
            self.reply_key(command, "approvals-set", &[("level", word(level))]);
        }
    }
}

pub(super) fn word(level: ApprovalLevel) -> &'static str {
    match level {
        ApprovalLevel::Ask => "ask",
        ApprovalLevel::Auto => "auto",
        ApprovalLevel::Yolo => "yolo",
    }
}
