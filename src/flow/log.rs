//! The folded log of one block: narration, tool calls and host lines, in order.

use serde::{Deserialize, Serialize};

use crate::domain::{CallId, CallStatus, Notice, Progress};

use super::units::tail;

/// Characters of one narration that are kept.
const NARRATION_LIMIT: usize = 16_000;
/// Characters of a tool's output that are kept.
const OUTPUT_LIMIT: usize = 600;
/// Characters of streamed text that are kept; people see the end of it.
const LIVE_LIMIT: usize = 2_000;
/// Entries kept; the oldest finished ones go first. Far above what a block shows.
const ENTRY_LIMIT: usize = 2_000;

/// One entry of the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub enum Entry {
    /// Text that the model wrote before tool calls.
    Narration {
        /// As written.
        text: String,
    },
    /// A tool call.
    Tool {
        /// Which call.
        call: CallId,
        /// Locale key of its label.
        label: String,
        /// Main argument; may be empty.
        argument: String,
        /// Where it stands.
        state: ToolState,
        /// Last output while it runs, or its summary once it ended; may be empty.
        detail: String,
    },
    /// A host line.
    Notice(Notice),
}

/// Where a tool call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ToolState {
    /// It runs.
    Running,
    /// It ended.
    Ended {
        /// How.
        status: CallStatus,
        /// How long it ran, in milliseconds.
        duration_ms: u64,
    },
}

/// The entries of the newest block, and what the header needs of the older ones.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Log {
    entries: Vec<Entry>,
    tools: u32,
    narration: Option<String>,
    live: String,
}

/// What a step of progress did to the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// Nothing that is shown.
    None,
    /// Something shown was altered.
    Altered,
    /// Something was added.
    Added,
    /// Something was added that is reason enough to open the flow message.
    Activity,
}

impl Log {
    /// Entries of the newest block, oldest first.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Tool calls of the whole turn.
    #[must_use]
    pub fn tools(&self) -> u32 {
        self.tools
    }

    /// The newest narration that reads like a sentence.
    #[must_use]
    pub fn narration(&self) -> Option<&str> {
        self.narration.as_deref()
    }

    /// The end of the text that is streaming now.
    #[must_use]
    pub fn live(&self) -> &str {
        &self.live
    }

    /// Takes one step of progress in.
    pub(crate) fn fold(&mut self, progress: Progress) -> Change {
        match progress {
            Progress::Text { delta } => {
                self.live.push_str(&delta);
                if self.live.len() > LIVE_LIMIT * 8 {
                    self.live = tail(&self.live, LIVE_LIMIT);
                }
                Change::Altered
            }
            Progress::TextDropped => {
                self.live.clear();
                Change::Altered
            }
            Progress::Narration { text } => self.narrate(&text),
            Progress::ToolStarted {
                call,
                tool: _,
                label,
                argument,
            } => {
                self.live.clear();
                self.tools = self.tools.saturating_add(1);
                self.push(Entry::Tool {
                    call,
                    label,
                    argument,
                    state: ToolState::Running,
                    detail: String::new(),
                });
                Change::Activity
            }
            Progress::ToolOutput { call, text } => {
                self.update(&call, |_, detail| *detail = tail(text.trim(), OUTPUT_LIMIT))
            }
            Progress::ToolFinished {
                call,
                status,
                summary,
                duration_ms,
            } => {
                let change = self.update(&call, |state, detail| {
                    *state = ToolState::Ended {
                        status,
                        duration_ms,
                    };
                    *detail = tail(summary.trim(), OUTPUT_LIMIT);
                });
                match change {
                    Change::Altered => Change::Added,
                    Change::None | Change::Added | Change::Activity => change,
                }
            }
            Progress::Notice(notice) => self.notice(notice),
            Progress::Thinking { .. } | Progress::Usage { .. } | Progress::Ended { .. } => {
                Change::None
            }
        }
    }

    fn narrate(&mut self, text: &str) -> Change {
        self.live.clear();
        let text = text.trim();
        if text.is_empty() {
            return Change::Altered;
        }
        if let Some(sentence) = super::activity::sentence(text) {
            self.narration = Some(sentence);
        }
        self.push(Entry::Narration {
            text: text.chars().take(NARRATION_LIMIT).collect(),
        });
        Change::Activity
    }

    fn notice(&mut self, notice: Notice) -> Change {
        let same = self.entries.iter_mut().rev().find_map(|entry| match entry {
            Entry::Notice(old) if old.key == notice.key => Some(old),
            Entry::Notice(_) | Entry::Narration { .. } | Entry::Tool { .. } => None,
        });
        match same {
            Some(old) if *old == notice => Change::None,
            Some(old) => {
                *old = notice;
                Change::Altered
            }
            None => {
                self.push(Entry::Notice(notice));
                Change::Added
            }
        }
    }

    fn update(
        &mut self,
        wanted: &CallId,
        change: impl FnOnce(&mut ToolState, &mut String),
    ) -> Change {
        for entry in self.entries.iter_mut().rev() {
            if let Entry::Tool {
                call,
                state,
                detail,
                ..
            } = entry
                && call == wanted
            {
                change(state, detail);
                return Change::Altered;
            }
        }
        Change::None
    }

    fn push(&mut self, entry: Entry) {
        if self.entries.len() >= ENTRY_LIMIT {
            self.entries.remove(0);
        }
        self.entries.push(entry);
    }

    /// Forgets the narrations that say what the final answer says.
    pub(crate) fn forget_answer(&mut self, answer: &str) -> Change {
        let answer = normal(answer);
        if answer.is_empty() {
            return Change::None;
        }
        let before = self.entries.len();
        self.entries.retain(|entry| match entry {
            Entry::Narration { text } => normal(text) != answer,
            Entry::Tool { .. } | Entry::Notice(_) => true,
        });
        if before == self.entries.len() {
            Change::None
        } else {
            Change::Altered
        }
    }

    /// Ends everything that still streams or runs.
    pub(crate) fn close(&mut self, status: CallStatus) {
        self.live.clear();
        for entry in &mut self.entries {
            if let Entry::Tool { state, .. } = entry
                && *state == ToolState::Running
            {
                *state = ToolState::Ended {
                    status,
                    duration_ms: 0,
                };
            }
        }
    }

    /// How many of the oldest entries can change no more.
    pub(crate) fn final_prefix(&self) -> usize {
        self.entries
            .iter()
            .position(|entry| match entry {
                Entry::Tool { state, .. } => *state == ToolState::Running,
                Entry::Narration { .. } | Entry::Notice(_) => false,
            })
            .unwrap_or(self.entries.len())
    }

    /// The oldest `count` entries as a log of their own.
    pub(crate) fn prefix(&self, count: usize) -> Self {
        Self {
            entries: self.entries.iter().take(count).cloned().collect(),
            tools: self.tools,
            narration: None,
            live: String::new(),
        }
    }

    /// Drops the oldest `count` entries, which a frozen block shows.
    pub(crate) fn drop_prefix(&mut self, count: usize) {
        self.entries.drain(..count.min(self.entries.len()));
    }
}

/// Words without regard to white space.
fn normal(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
