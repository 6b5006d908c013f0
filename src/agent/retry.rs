//! What a turn does about a failed request: wait and try again, another model, a digest, or the end.

use std::time::Duration;

use crate::domain::{EndReason, Fault, ModelFault, Notice, Progress, Remedy};

use super::Effect;
use super::event::TimerId;
use super::turn::{Phase, Turn};

/// Tries of one request before the next model or the end.
const RETRIES: u32 = 5;
/// First wait between tries; doubled each time.
const FIRST_BACKOFF: Duration = Duration::from_secs(1);
/// Longest wait between tries that the host chooses itself.
const LONGEST_BACKOFF: Duration = Duration::from_secs(30);
/// Longest wait that a provider may ask for; beyond it the user is told instead.
const LONGEST_WAIT: Duration = Duration::from_secs(300);

impl Turn {
    pub(super) fn model_failed(&mut self, fault: ModelFault) -> Vec<Effect> {
        if self.phase != Phase::Asking {
            return Vec::new();
        }
        match fault {
            ModelFault::ContextTooLong if !self.compacted => {
                self.compacted = true;
                self.phase = Phase::Compacting;
                vec![Effect::Compact]
            }
            ModelFault::ContextTooLong => self.fail("model-context-too-long", &[]),
            ModelFault::Auth { setting } => self.fail("model-auth", &[("setting", &setting)]),
            ModelFault::Rejected { reason } => self.next_model("model-rejected", &reason),
            ModelFault::Retry { after, reason } => self.retry(after, &reason),
            ModelFault::Garbage { reason } => self.retry(None, &reason),
        }
    }

    fn retry(&mut self, after: Option<Duration>, reason: &str) -> Vec<Effect> {
        if self.text_shown {
            return self.fail("model-cut", &[("reason", reason)]);
        }
        self.tries += 1;
        if self.tries > RETRIES || after.is_some_and(|after| after > LONGEST_WAIT) {
            return self.next_model("model-unavailable", reason);
        }
        self.phase = Phase::Waiting;
        let backoff = FIRST_BACKOFF
            .saturating_mul(1 << (self.tries - 1).min(5))
            .min(LONGEST_BACKOFF);
        vec![
            notice(
                "turn-retry",
                &[
                    ("try", &self.tries.to_string()),
                    ("tries", &RETRIES.to_string()),
                    ("reason", reason),
                ],
            ),
            Effect::SetTimer {
                id: TimerId::Retry,
                after: after.unwrap_or(backoff),
            },
        ]
    }

    fn next_model(&mut self, key: &str, reason: &str) -> Vec<Effect> {
        if self.model + 1 < self.limits.models {
            self.model += 1;
            self.tries = 0;
            return vec![
                notice("turn-fallback", &[("reason", reason)]),
                self.call_model(),
            ];
        }
        self.fail(key, &[("reason", reason)])
    }

    fn fail(&mut self, key: &str, arguments: &[(&str, &str)]) -> Vec<Effect> {
        let mut fault = Fault::user(key, arguments);
        if key == "model-unavailable" || key == "model-cut" {
            fault.remedy = Remedy::RetryLater;
        }
        self.finish(EndReason::Failed(fault), String::new())
    }
}

pub(super) fn notice(key: &str, arguments: &[(&str, &str)]) -> Effect {
    Effect::Progress(Progress::Notice(Notice {
        key: key.to_owned(),
        arguments: arguments
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
    }))
}
