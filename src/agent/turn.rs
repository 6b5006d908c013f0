//! The machine itself: one user input worked to a typed end.

use std::time::Duration;

use crate::domain::{
    CallStatus, Effects, EndReason, Fault, ModelReply, Progress, ToolCall, ToolOutcome, TurnId,
    Usage,
};

use crate::plan::evidence::{MutationMemory, Tried};

use super::event::{Cancel, Event, Finished, PlanFacts, TimerId};
use super::judge::Counters;
use super::retry::notice;
use super::transcript::{Record, UserInput};
use super::{Effect, judge};

/// Identical consecutive calls at which the turn ends.
const STALL_END: u32 = 15;
/// Malformed calls in a row that are corrected.
const MALFORMED: u32 = 2;
/// Share of the window at which the conversation is summed up, in percent.
const COMPACT_AT: u64 = 70;

/// Bounds and surroundings of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Model requests.
    pub requests: u32,
    /// Tool calls.
    pub calls: u32,
    /// Wall time.
    pub wall_time: Duration,
    /// Tokens of the turn; 0 = unlimited.
    pub tokens: u64,
    /// Window of the model in tokens.
    pub window: u64,
    /// Models at hand, at least 1.
    pub models: usize,
    /// Names of the tools on offer.
    pub tools: Vec<String>,
}

/// One turn.
#[derive(Debug, Clone)]
pub struct Turn {
    pub(super) id: TurnId,
    pub(super) limits: Limits,
    pub(super) phase: Phase,
    requests: u32,
    calls: u32,
    usage: Usage,
    context: u64,
    pub(super) model: usize,
    pub(super) tries: u32,
    pub(super) text_shown: bool,
    pub(super) compacted: bool,
    last_call: Option<(String, String)>,
    identical: u32,
    malformed: u32,
    submissions_refused: u32,
    pub(super) counters: Counters,
    pub(super) mutations: MutationMemory,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Phase {
    Fresh,
    Asking,
    Waiting,
    Working { calls: Vec<ToolCall> },
    Compacting,
    Over,
}

impl Turn {
    /// A turn that has not begun.
    #[must_use]
    pub fn new(id: TurnId, limits: Limits) -> Self {
        Self {
            id,
            limits,
            phase: Phase::Fresh,
            requests: 0,
            calls: 0,
            usage: Usage::default(),
            context: 0,
            model: 0,
            tries: 0,
            text_shown: false,
            compacted: false,
            last_call: None,
            identical: 0,
            malformed: 0,
            submissions_refused: 0,
            counters: Counters::default(),
            mutations: MutationMemory::default(),
        }
    }

    /// Its epoch.
    #[must_use]
    pub fn id(&self) -> TurnId {
        self.id
    }

    /// Whether it has ended; then nothing changes it any more.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    /// Tokens so far.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// Adds what a sub-agent used to the turn's own count.
    pub fn charge(&mut self, usage: Usage) {
        self.usage.input += usage.input;
        self.usage.cached += usage.cached;
        self.usage.output += usage.output;
    }

    /// Model requests and tool calls so far.
    #[must_use]
    pub fn spent(&self) -> (u32, u32) {
        (self.requests, self.calls)
    }

    /// Takes one event and says what to do. An event that does not fit the phase changes nothing.
    pub fn step(&mut self, event: Event) -> Vec<Effect> {
        if self.is_over() {
            return Vec::new();
        }
        match event {
            Event::Begin(inputs) => self.begin(inputs),
            Event::Resume { rerun } => self.resume(rerun),
            Event::Text(delta) => self.text(delta),
            Event::Reply { reply, plan } => self.reply(reply, &plan),
            Event::ModelFailed(fault) => self.model_failed(fault),
            Event::Finished(finished) => self.finished(finished),
            Event::BatchDone { steer, hints } => self.batch_done(steer, hints),
            Event::Compacted(digest) => self.compacted(digest),
            Event::Timer(TimerId::WallTime) => self.cancel_with(EndReason::TimedOut),
            Event::Timer(TimerId::Retry) => {
                if self.phase == Phase::Waiting {
                    self.phase = Phase::Asking;
                    vec![self.call_model()]
                } else {
                    Vec::new()
                }
            }
            Event::Cancel(why) => self.cancel_with(match why {
                Cancel::Stopped | Cancel::ChatGone => EndReason::Stopped,
                Cancel::Shutdown => EndReason::Interrupted,
            }),
        }
    }

    fn begin(&mut self, inputs: Vec<UserInput>) -> Vec<Effect> {
        if self.phase != Phase::Fresh {
            return Vec::new();
        }
        // The words first: they leave the queue in the same commit that opens the turn.
        let mut effects = self.record_inputs(inputs);
        effects.extend(self.clock());
        effects.extend(self.ask());
        effects
    }

    fn resume(&mut self, rerun: Vec<ToolCall>) -> Vec<Effect> {
        if self.phase != Phase::Fresh {
            return Vec::new();
        }
        let mut effects = self.clock();
        if rerun.is_empty() {
            effects.extend(self.ask());
        } else {
            self.phase = Phase::Working {
                calls: rerun.clone(),
            };
            effects.push(Effect::RunTools(rerun));
        }
        effects
    }

    fn clock(&self) -> Vec<Effect> {
        vec![Effect::SetTimer {
            id: TimerId::WallTime,
            after: self.limits.wall_time,
        }]
    }

    fn record_inputs(&self, inputs: Vec<UserInput>) -> Vec<Effect> {
        inputs
            .into_iter()
            .map(|input| {
                Effect::Append(Record::User {
                    turn: self.id,
                    input,
                })
            })
            .collect()
    }

    /// The next request, or the end if a budget is used up.
    pub(super) fn ask(&mut self) -> Vec<Effect> {
        if let Some(budget) = self.used_up() {
            return self.finish_budget(budget);
        }
        if !self.compacted && self.context * 100 >= self.limits.window * COMPACT_AT {
            self.compacted = true;
            self.phase = Phase::Compacting;
            return vec![Effect::Compact];
        }
        self.phase = Phase::Asking;
        self.requests += 1;
        self.tries = 0;
        self.text_shown = false;
        vec![
            Effect::Progress(Progress::Thinking {
                request: self.requests,
            }),
            self.call_model(),
        ]
    }

    /// The budget that forbids another request, if one does.
    fn used_up(&self) -> Option<&'static str> {
        let total = self.usage.input.saturating_add(self.usage.output);
        if self.requests >= self.limits.requests {
            Some("budget-requests")
        } else if self.limits.tokens > 0 && total >= self.limits.tokens {
            Some("budget-tokens")
        } else {
            None
        }
    }

    pub(super) fn call_model(&self) -> Effect {
        Effect::CallModel {
            request: self.requests,
            model: self.model,
        }
    }

    fn text(&mut self, delta: String) -> Vec<Effect> {
        if self.phase != Phase::Asking || delta.is_empty() {
            return Vec::new();
        }
        self.text_shown |= !delta.trim().is_empty();
        vec![Effect::Progress(Progress::Text { delta })]
    }

    fn reply(&mut self, reply: ModelReply, plan: &PlanFacts) -> Vec<Effect> {
        if self.phase != Phase::Asking {
            return Vec::new();
        }
        self.context = reply.usage.input + reply.usage.output;
        self.usage.input += reply.usage.input;
        self.usage.cached += reply.usage.cached;
        self.usage.output += reply.usage.output;
        let mut effects = vec![
            Effect::Append(Record::Assistant {
                turn: self.id,
                text: reply.text.clone(),
                reasoning: reply.reasoning.clone(),
                calls: reply.calls.clone(),
                usage: reply.usage,
            }),
            Effect::Progress(Progress::Usage {
                context: self.context,
                window: self.limits.window,
                total: self.usage,
            }),
        ];
        if reply.calls.is_empty() {
            effects.extend(judge::judge(self, &reply, plan));
        } else {
            effects.extend(self.batch(reply));
        }
        effects
    }

    fn batch(&mut self, reply: ModelReply) -> Vec<Effect> {
        self.counters.reset_by_batch();
        let count = u32::try_from(reply.calls.len()).unwrap_or(u32::MAX);
        let mut effects = vec![Effect::Progress(Progress::Narration { text: reply.text })];
        if self.calls.saturating_add(count) > self.limits.calls {
            effects.extend(self.refuse_all(&reply.calls));
            effects.extend(self.finish_budget("budget-calls"));
            return effects;
        }
        self.calls += count;
        for call in &reply.calls {
            let same = (call.name.clone(), call.arguments.clone());
            if self.last_call.as_ref() == Some(&same) {
                self.identical += 1;
            } else {
                self.identical = 1;
                self.last_call = Some(same);
            }
        }
        if self.identical >= STALL_END {
            effects.extend(self.refuse_all(&reply.calls));
            effects.extend(self.finish_budget("budget-identical"));
            return effects;
        }
        self.phase = Phase::Working {
            calls: reply.calls.clone(),
        };
        effects.push(Effect::RunTools(reply.calls));
        effects
    }

    /// Every call of a reply gets an outcome even when none of them runs.
    fn refuse_all(&self, calls: &[ToolCall]) -> Vec<Effect> {
        calls
            .iter()
            .map(|call| {
                Effect::Append(Record::Outcome {
                    turn: self.id,
                    outcome: not_run(
                        call,
                        CallStatus::Refused,
                        "not run: the turn's budget is used up",
                    ),
                })
            })
            .collect()
    }

    fn finished(&mut self, finished: Finished) -> Vec<Effect> {
        let Phase::Working { calls } = &mut self.phase else {
            return Vec::new();
        };
        let Some(at) = calls
            .iter()
            .position(|call| call.id == finished.outcome.call)
        else {
            return Vec::new();
        };
        let call = calls.remove(at);
        self.remember(&call, &finished);
        vec![Effect::Append(Record::Outcome {
            turn: self.id,
            outcome: finished.outcome,
        })]
    }

    fn remember(&mut self, call: &ToolCall, finished: &Finished) {
        if finished.malformed {
            self.malformed += 1;
        } else {
            self.malformed = 0;
        }
        if finished.refused_submission.is_some() {
            self.submissions_refused += 1;
            self.counters
                .submission_error
                .clone_from(&finished.refused_submission);
        }
        // A call of a tool that does not exist changed nothing.
        if !finished.malformed || finished.effects == Effects::Write {
            self.mutations.observe(&Tried {
                tool: &call.name,
                arguments: &call.arguments,
                targets: &finished.targets,
                effects: finished.effects,
                status: finished.outcome.status,
                changed: finished.outcome.changed,
            });
        }
    }

    fn batch_done(&mut self, steer: Vec<UserInput>, hints: Vec<String>) -> Vec<Effect> {
        if !matches!(self.phase, Phase::Working { .. }) {
            return Vec::new();
        }
        if self.submissions_refused >= 2 {
            let why = self.counters.submission_error.clone().unwrap_or_default();
            return self.finish(
                EndReason::Failed(Fault::user("turn-submission-refused", &[("error", &why)])),
                String::new(),
            );
        }
        if self.malformed > MALFORMED {
            return self.finish_budget("budget-malformed");
        }
        // Words that nobody would answer are not taken in: they stay for the next turn.
        if let Some(budget) = self.used_up() {
            return self.finish_budget(budget);
        }
        let mut effects = self.record_inputs(steer);
        effects.extend(hints.into_iter().map(|hint| self.host(hint)));
        effects.extend(self.ask());
        effects
    }

    fn compacted(&mut self, digest: Option<String>) -> Vec<Effect> {
        if self.phase != Phase::Compacting {
            return Vec::new();
        }
        self.context = 0;
        let mut effects = Vec::new();
        if let Some(text) = digest {
            effects.push(Effect::Append(Record::Digest {
                turn: self.id,
                text,
                keep_from: self.id,
            }));
            effects.push(notice("turn-compacted", &[]));
        }
        effects.extend(self.ask());
        effects
    }

    pub(super) fn finish_budget(&mut self, budget: &str) -> Vec<Effect> {
        self.finish(
            EndReason::Budget {
                budget: budget.to_owned(),
            },
            String::new(),
        )
    }

    /// Ends the turn for a reason of the driver's.
    pub fn end(&mut self, reason: EndReason) -> Vec<Effect> {
        if self.is_over() {
            return Vec::new();
        }
        self.cancel_with(reason)
    }

    fn cancel_with(&mut self, reason: EndReason) -> Vec<Effect> {
        let mut effects = vec![Effect::CancelModel, Effect::CancelTools];
        if reason != EndReason::Interrupted
            && let Phase::Working { calls } = &self.phase
        {
            effects.extend(calls.iter().map(|call| {
                Effect::Append(Record::Outcome {
                    turn: self.id,
                    outcome: not_run(
                        call,
                        CallStatus::Cancelled,
                        "cut off when the turn was ended; its effect is unknown",
                    ),
                })
            }));
        }
        effects.extend(self.finish(reason, String::new()));
        effects
    }

    /// Ends the turn. An interrupted one is not closed in the transcript: it resumes later.
    pub(super) fn finish(&mut self, reason: EndReason, answer: String) -> Vec<Effect> {
        self.phase = Phase::Over;
        let mut effects = Vec::new();
        if reason != EndReason::Interrupted {
            effects.push(Effect::Append(Record::Ended {
                turn: self.id,
                reason: reason.clone(),
                answer: answer.clone(),
            }));
        }
        effects.push(Effect::Finish { reason, answer });
        effects
    }

    pub(super) fn host(&self, text: String) -> Effect {
        Effect::Append(Record::Host {
            turn: self.id,
            text,
        })
    }
}

fn not_run(call: &ToolCall, status: CallStatus, text: &str) -> ToolOutcome {
    ToolOutcome {
        call: call.id.clone(),
        status,
        content: text.to_owned(),
        summary: String::new(),
        changed: false,
        duration_ms: 0,
        exit: None,
    }
}

#[cfg(test)]
#[path = "turn_tests.rs"]
mod tests;
