//! `/goal [text|clear]`: shows or sets the session's goal by hand.

use crate::domain::Command;

use super::super::actor::Actor;

/// Longest goal in characters.
const LONGEST: usize = 500;

impl Actor {
    pub(super) async fn goal(&mut self, command: &Command) {
        let text = command.arguments.trim();
        if text.is_empty() {
            match self.record.goal.clone() {
                Some(goal) => self.reply_key(command, "goal-shown", &[("goal", &goal)]),
                None => self.reply_key(command, "goal-none", &[]),
            }
            return;
        }
        self.record.goal = if text == "clear" {
            None
        } else {
            Some(text.chars().take(LONGEST).collect())
        };
        if self.save().await {
            let key = if self.record.goal.is_some() { "goal-set" } else { "goal-cleared" };
            self.reply_key(command, key, &[]);
        }
    }
}
