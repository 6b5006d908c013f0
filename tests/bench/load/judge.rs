//! Reads the server's record of calls and says how the bot did.

use std::collections::{BTreeMap, HashMap};

use greenlight::playground::{Call, World};
use serde_json::Value;

use super::model::{DONE, number_after};

/// What one chat saw.
#[derive(Debug, Clone, Default)]
pub(crate) struct Chat {
    /// When its person wrote, on the server's clock in milliseconds.
    pub(crate) said: u64,
    /// When the bot gave its first sign.
    pub(crate) first: Option<u64>,
    /// When the flow message opened.
    pub(crate) opened: Option<u64>,
    /// When the shown state changed last.
    pub(crate) shown: Option<u64>,
    /// Whether the flow message shows an end.
    pub(crate) settled: bool,
    /// When each final answer came.
    pub(crate) finals: Vec<u64>,
}

/// Everything seen so far.
#[derive(Debug, Default)]
pub(crate) struct Judge {
    from: u64,
    /// Calls by method, without the long polls.
    pub(crate) methods: BTreeMap<String, u64>,
    /// Refusals for calling too often.
    pub(crate) floods: u64,
    /// Refusals of any other kind, as "method: description".
    pub(crate) refusals: BTreeMap<String, u64>,
    /// By chat id.
    pub(crate) chats: HashMap<i64, Chat>,
    /// Ages of shown states in milliseconds, sampled over all running turns.
    pub(crate) ages: Vec<u64>,
}

impl Judge {
    /// Notes that a person wrote.
    pub(crate) fn said(&mut self, chat: i64, at: u64) {
        self.chats.insert(
            chat,
            Chat {
                said: at,
                ..Chat::default()
            },
        );
    }

    /// Reads the calls that ended since the last time.
    pub(crate) fn read(&mut self, world: &World) {
        for call in world.calls_from(self.from.max(1)) {
            if call.status == 0 && call.method != "getUpdates" {
                break;
            }
            self.from = call.number + 1;
            self.take(&call);
        }
    }

    /// Notes how old the shown states of running turns are.
    pub(crate) fn sample(&mut self, now: u64) {
        let ages = self
            .chats
            .values()
            .filter(|chat| chat.finals.is_empty() && chat.opened.is_some())
            .filter_map(|chat| chat.shown)
            .map(|shown| now.saturating_sub(shown));
        self.ages.extend(ages);
    }

    fn take(&mut self, call: &Call) {
        if call.method == "getUpdates" {
            return;
        }
        *self.methods.entry(call.method.clone()).or_default() += 1;
        if call.status == 429 {
            self.floods += 1;
            return;
        }
        if call.status != 200 {
            let why = call.description.clone().unwrap_or_default();
            *self
                .refusals
                .entry(format!("{}: {why}", call.method))
                .or_default() += 1;
            return;
        }
        let Some(chat) = call.chat.and_then(|id| self.chats.get_mut(&id)) else {
            return;
        };
        if chat.first.is_none() && call.at_ms >= chat.said {
            chat.first = Some(call.at_ms);
        }
        let text = call.params.get("text").and_then(Value::as_str);
        let text = text.unwrap_or_default();
        match call.method.as_str() {
            "sendMessage" if text.contains(DONE) => {
                let right =
                    number_after(text, DONE) == call.chat.unwrap_or_default().unsigned_abs();
                if right {
                    chat.finals.push(call.at_ms);
                }
            }
            "sendMessage" => {
                chat.opened.get_or_insert(call.at_ms);
                chat.shown = Some(call.at_ms);
                chat.settled = ended(text);
            }
            "editMessageText" => {
                chat.shown = Some(call.at_ms);
                chat.settled = ended(text);
            }
            _ => {}
        }
    }
}

fn ended(text: &str) -> bool {
    ["✅", "❌", "⏱", "⏹", "⏸"]
        .iter()
        .any(|sign| text.starts_with(sign))
}

/// The value below which so many percent of the values are.
pub(crate) fn percentile(values: &mut [u64], percent: usize) -> u64 {
    values.sort_unstable();
    let last = values.len().saturating_sub(1);
    values
        .get((values.len() * percent / 100).min(last))
        .copied()
        .unwrap_or_default()
}
