//! Repeated identical calls.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::domain::{ActionClass, CallStatus};

use super::super::evidence::is_done;
use super::super::model::{Plan, Task, TaskStatus};

/// Identical calls before the first hint.
const FIRST: u32 = 3;
/// Identical polls of a background job before the first hint.
const FIRST_POLL: u32 = 9;
/// Fingerprints that are remembered.
const MAX_FINGERPRINTS: usize = 64;

/// One finished call.
#[derive(Debug, Clone, Copy)]
pub struct StallCall<'a> {
    /// Tool name.
    pub tool: &'a str,
    /// Arguments as the model wrote them.
    pub arguments: &'a str,
    /// Class of the call.
    pub class: ActionClass,
    /// How it ended.
    pub status: CallStatus,
    /// For a poll of a background job, what it answered: a changed answer begins anew.
    pub poll: Option<&'a str>,
}

/// A hint that is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StallHint {
    /// Tool name.
    pub tool: String,
    /// How often the call was made.
    pub count: u32,
    /// Whether an earlier hint about it was not heeded.
    pub again: bool,
    /// Whether to stop with this kind of call: it changes things, or it was refused.
    pub stop: bool,
    /// Whether it polls a background job.
    pub poll: bool,
}

/// Counts calls by fingerprint within a turn, not only consecutive ones. The time between hints
/// doubles: 3, 6, 12, …
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StallWatch {
    calls: Vec<Counted>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Counted {
    tool: String,
    fingerprint: String,
    answer: Option<String>,
    count: u32,
    next: u32,
}

impl StallWatch {
    /// Counts a call; a hint if one is due.
    pub fn observe(&mut self, call: &StallCall<'_>) -> Option<StallHint> {
        let fingerprint = digest(&[call.tool, call.arguments]);
        let answer = call.poll.map(|answer| digest(&[answer]));
        let first = if call.poll.is_some() {
            FIRST_POLL
        } else {
            FIRST
        };
        let index = self
            .calls
            .iter()
            .position(|known| known.fingerprint == fingerprint);
        let index = index.unwrap_or_else(|| {
            self.make_room();
            self.calls.push(Counted {
                tool: call.tool.to_owned(),
                fingerprint,
                answer: answer.clone(),
                count: 0,
                next: first,
            });
            self.calls.len() - 1
        });
        let counted = self.calls.get_mut(index)?;
        if counted.answer != answer {
            counted.answer = answer;
            counted.count = 0;
            counted.next = first;
        }
        counted.count = counted.count.saturating_add(1);
        if counted.count < counted.next {
            return None;
        }
        let again = counted.next > first;
        counted.next = counted.next.saturating_mul(2);
        Some(StallHint {
            tool: call.tool.to_owned(),
            count: counted.count,
            again,
            stop: call.status == CallStatus::Refused || changes_things(call.class),
            poll: call.poll.is_some(),
        })
    }

    /// Forgets the calls of a tool, when another hint about it takes over.
    pub fn forget(&mut self, tool: &str) {
        self.calls.retain(|known| known.tool != tool);
    }

    fn make_room(&mut self) {
        while self.calls.len() >= MAX_FINGERPRINTS {
            let least = self
                .calls
                .iter()
                .enumerate()
                .min_by_key(|(_, known)| known.count)
                .map_or(0, |(index, _)| index);
            self.calls.remove(least);
        }
    }
}

impl StallHint {
    /// The hint for the model, in English, with ids of the plan but no titles.
    #[must_use]
    pub fn text(&self, plan: Option<&Plan>) -> String {
        let again = if self.again { ", again" } else { "" };
        let mut text = format!(
            "[Host] Repeated identical call ({}x {}{again}). ",
            self.count, self.tool
        );
        text.push_str(if self.poll {
            "The job answers the same every time: it may be stuck or its id dead. Look at it once more \
             at most, then stop it or go on without it."
        } else if self.stop {
            "Stop calls of this kind: repeating it changes nothing. Do something else or report what \
             blocks you."
        } else {
            "The result will not differ. Use what you have, or try another way."
        });
        let Some(plan) = plan else { return text };
        let id = |wanted: fn(&Task) -> bool| {
            plan.tasks
                .iter()
                .find(|task| wanted(task))
                .map(|task| &task.id)
        };
        let running = id(|task| {
            !is_done(task) && matches!(task.status, TaskStatus::InProgress | TaskStatus::Completed)
        });
        let pending = id(|task| task.status == TaskStatus::Pending);
        let mut parts = Vec::new();
        if let Some(id) = running {
            parts.push(format!("in_progress={id}"));
        }
        if let Some(id) = pending {
            let name = if self.stop {
                "next_non_mutating"
            } else {
                "next_pending"
            };
            parts.push(format!("{name}={id}"));
        }
        if !parts.is_empty() {
            text.push_str(&format!(" Plan: {}.", parts.join(", ")));
        }
        text
    }
}

fn changes_things(class: ActionClass) -> bool {
    match class {
        ActionClass::Read | ActionClass::Plan => false,
        ActionClass::WorkspaceWrite
        | ActionClass::Exec
        | ActionClass::Destructive
        | ActionClass::Network
        | ActionClass::Spawn
        | ActionClass::Channel => true,
    }
}

pub(super) fn digest(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize()
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
