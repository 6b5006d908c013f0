//! What goes next: lanes, budgets and gates as a pure machine over a virtual clock.

mod queue;

use std::collections::{HashMap, VecDeque};

use serde::{Deserialize, Serialize};

use crate::config::TelegramLimits;
use crate::domain::{ChatId, MessageId};

use super::buckets::{Budget, Thrift, Window};
use queue::Chat;

/// Milliseconds on the scheduler's own clock.
pub type Millis = u64;
/// Number of a job, ascending in order of arrival.
pub type JobId = u64;

/// Calls under way at once, over all chats.
const IN_FLIGHT: usize = 64;
/// Least distance of two typing actions in a chat.
const TYPING_MS: Millis = 4_000;
/// Two refusals of different chats within this time close the whole bot.
const TOGETHER_MS: Millis = 1_000;
/// Added to what Telegram asks to wait.
const MARGIN_MS: Millis = 1_000;
/// Chats whose budgets are remembered before idle ones are forgotten.
const CHATS: usize = 4_096;

/// Priority, highest first. Callback answers go outside of the scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lane {
    /// Final answers, approval cards and questions.
    Final,
    /// A change of buttons.
    Keyboard,
    /// A change of content, and the opening of a flow message.
    Content,
    /// Only the clock moved.
    Clock,
    /// "typing…"
    Typing,
}

/// What a job does, as far as order and merging go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A new message: never merged, dropped or reordered within its chat.
    Send,
    /// Text and keyboard of a message: the newest wins.
    EditText(MessageId),
    /// The keyboard alone: the newest wins, and never goes before a waiting text of the message.
    EditMarkup(MessageId),
    /// A deletion: waiting edits of the message are void.
    Delete(MessageId),
    /// A typing action: goes at once or not at all.
    Typing,
    /// Anything else.
    Other,
}

/// One waiting call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Job {
    /// Number.
    pub id: JobId,
    /// Chat.
    pub chat: ChatId,
    /// Priority.
    pub lane: Lane,
    /// Kind.
    pub kind: Kind,
}

/// What the driver should do now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Make this call; report its end with `done` or `again`.
    Run(Job),
    /// Nothing before this time.
    Wait(Millis),
    /// Nothing until something changes.
    Idle,
}

/// The scheduler of one bot.
#[derive(Debug)]
pub struct Scheduler {
    limits: TelegramLimits,
    used_before: bool,
    chats: HashMap<ChatId, Chat>,
    bot: Window,
    bot_gate: Millis,
    last_refusal: Option<(ChatId, Millis)>,
    in_flight: usize,
    served: u64,
    /// Until then nothing can go, unless something changes: with many chats at work the search over all
    /// of them is made only when the bot's budget has room again.
    quiet: Millis,
}

impl Scheduler {
    /// A scheduler with these rates and nothing to do.
    #[must_use]
    pub fn new(limits: TelegramLimits, used_before: bool) -> Self {
        Self {
            chats: HashMap::new(),
            bot: Window::new(limits.bot_per_second as usize, 1_000),
            limits,
            used_before,
            bot_gate: 0,
            last_refusal: None,
            in_flight: 0,
            served: 0,
            quiet: 0,
        }
    }

    /// Takes a job in; gives the jobs (perhaps this one) whose place was taken.
    pub fn push(&mut self, job: Job, now: Millis) -> Vec<JobId> {
        self.forget_idle(now);
        let superseded = self.place(job, now);
        let ready = self.chat_ready(job.chat, now);
        self.quiet = self.quiet.min(ready);
        superseded
    }

    /// When the next call of a chat could go, if the bot's budget is spent on nothing else.
    fn chat_ready(&mut self, chat: ChatId, now: Millis) -> Millis {
        let Some(chat) = self.chats.get_mut(&chat) else {
            return Millis::MAX;
        };
        let Some(job) = chat.head() else {
            return Millis::MAX;
        };
        let own = chat.gate.max(chat.budget.ready_at(thrift(job.lane), now));
        let reserve = self.bot_reserve(job.lane);
        own.max(self.bot_gate).max(self.bot.free_at(reserve, now))
    }

    fn place(&mut self, job: Job, now: Millis) -> Vec<JobId> {
        let bot_ready = self.bot_gate <= now && self.bot.free(now) > self.bot_reserve(job.lane);
        let chat = self.chat(job.chat, now);
        let mut job = job;
        let mut superseded = Vec::new();
        match job.kind {
            Kind::Send => {
                chat.sends.push_back(job);
                return superseded;
            }
            Kind::EditText(message) => {
                chat.rest.retain(|waiting| {
                    let same = matches!(waiting.kind, Kind::EditText(m) | Kind::EditMarkup(m) if m == message);
                    if same {
                        job.lane = job.lane.min(waiting.lane);
                        superseded.push(waiting.id);
                    }
                    !same
                });
            }
            Kind::EditMarkup(message) => {
                chat.rest.retain_mut(|waiting| {
                    if waiting.kind == Kind::EditText(message) {
                        waiting.lane = waiting.lane.min(job.lane);
                    }
                    let same = waiting.kind == Kind::EditMarkup(message);
                    if same {
                        superseded.push(waiting.id);
                    }
                    !same
                });
            }
            Kind::Delete(message) => {
                chat.rest.retain(|waiting| {
                    let same = matches!(waiting.kind, Kind::EditText(m) | Kind::EditMarkup(m) if m == message);
                    if same {
                        superseded.push(waiting.id);
                    }
                    !same
                });
            }
            Kind::Typing => {
                let idle = !chat.in_flight && chat.sends.is_empty() && chat.rest.is_empty();
                let fresh = chat.typing_at.is_none_or(|at| at + TYPING_MS <= now);
                let room = chat.gate <= now && chat.budget.ready_at(thrift(job.lane), now) <= now;
                if !(idle && fresh && room && bot_ready) {
                    return vec![job.id];
                }
                chat.typing_at = Some(now);
            }
            Kind::Other => {}
        }
        chat.rest.push(job);
        superseded
    }

    /// The next call: best lane over all chats, then the chat that was served longest ago.
    pub fn next(&mut self, now: Millis) -> Next {
        if self.in_flight >= IN_FLIGHT {
            return Next::Idle;
        }
        if now < self.quiet {
            return wait(self.quiet);
        }
        let next = self.search(now);
        self.quiet = match next {
            Next::Run(_) => 0,
            Next::Wait(until) => until,
            Next::Idle => Millis::MAX,
        };
        next
    }

    fn search(&mut self, now: Millis) -> Next {
        let mut best: Option<(Lane, u64, Job)> = None;
        let mut soonest: Option<Millis> = None;
        for chat in self.chats.values_mut() {
            let Some(job) = chat.head() else { continue };
            let ready = chat
                .gate
                .max(self.bot_gate)
                .max(chat.budget.ready_at(thrift(job.lane), now));
            if ready > now {
                soonest = Some(soonest.map_or(ready, |other| other.min(ready)));
            } else if best
                .as_ref()
                .is_none_or(|(lane, served, _)| (job.lane, chat.served) < (*lane, *served))
            {
                best = Some((job.lane, chat.served, job));
            }
        }
        let Some((lane, _, job)) = best else {
            return soonest.map_or(Next::Idle, Next::Wait);
        };
        let reserve = self.bot_reserve(lane);
        let ready = self.bot.free_at(reserve, now);
        if ready > now {
            return Next::Wait(soonest.map_or(ready, |other| other.min(ready)));
        }
        self.start(job, now);
        Next::Run(job)
    }

    fn start(&mut self, job: Job, now: Millis) {
        self.bot.take(now);
        self.in_flight += 1;
        self.served += 1;
        let served = self.served;
        if let Some(chat) = self.chats.get_mut(&job.chat) {
            chat.take(job.id);
            chat.in_flight = true;
            chat.served = served;
            chat.budget.take(now);
        }
    }

    /// A call ended for good.
    pub fn done(&mut self, chat: ChatId) {
        self.quiet = 0;
        self.in_flight = self.in_flight.saturating_sub(1);
        if let Some(chat) = self.chats.get_mut(&chat) {
            chat.in_flight = false;
        }
    }

    /// A call under way is to be made again, not before `at`, and nothing else of its chat before that.
    /// False if a newer edit waits already: then this one is superseded.
    #[must_use]
    pub fn again(&mut self, job: Job, at: Millis, now: Millis) -> bool {
        self.done(job.chat);
        let chat = self.chat(job.chat, now);
        chat.gate = chat.gate.max(at);
        let newer = match job.kind {
            Kind::EditText(message) => chat
                .rest
                .iter()
                .any(|waiting| waiting.kind == Kind::EditText(message)),
            Kind::EditMarkup(message) => chat.rest.iter().any(|waiting| {
                matches!(waiting.kind, Kind::EditText(m) | Kind::EditMarkup(m) if m == message)
            }),
            Kind::Typing => true,
            Kind::Send | Kind::Delete(_) | Kind::Other => false,
        };
        if newer {
            return false;
        }
        if job.kind == Kind::Send {
            chat.sends.push_front(job);
        } else {
            chat.rest.insert(0, job);
        }
        true
    }

    /// A 429: nothing of the chat goes out for so long, or nothing at all if the whole bot is meant or
    /// two chats are refused together. Gives the time until which the chat is closed.
    pub fn refused(&mut self, chat: ChatId, seconds: u64, bot_wide: bool, now: Millis) -> Millis {
        let until = now + seconds.saturating_mul(1_000) + MARGIN_MS;
        self.close(chat, until, now);
        let together = self
            .last_refusal
            .is_some_and(|(other, at)| other != chat && now.saturating_sub(at) <= TOGETHER_MS);
        if bot_wide || together {
            self.bot_gate = self.bot_gate.max(until);
        }
        self.last_refusal = Some((chat, now));
        until
    }

    /// Closes a chat until a time.
    pub fn close(&mut self, chat: ChatId, until: Millis, now: Millis) {
        let chat = self.chat(chat, now);
        chat.gate = chat.gate.max(until);
    }

    /// When the chat opens again; in the past if it is open.
    #[must_use]
    pub fn closed_until(&self, chat: ChatId) -> Millis {
        self.chats
            .get(&chat)
            .map_or(0, |chat| chat.gate)
            .max(self.bot_gate)
    }

    /// Forgets everything that waits for a chat and gives the numbers.
    pub fn drop_chat(&mut self, chat: ChatId) -> Vec<JobId> {
        self.quiet = 0;
        self.chats.get_mut(&chat).map_or_else(Vec::new, |chat| {
            let sends = chat.sends.drain(..).map(|job| job.id);
            let rest = chat.rest.drain(..).map(|job| job.id);
            sends.chain(rest).collect()
        })
    }

    /// Moves everything that waits for a group to the supergroup it became.
    pub fn migrate(&mut self, from: ChatId, to: ChatId, now: Millis) {
        self.quiet = 0;
        let Some(old) = self.chats.get_mut(&from) else {
            return;
        };
        let sends: Vec<Job> = old.sends.drain(..).collect();
        let rest: Vec<Job> = old.rest.drain(..).collect();
        old.in_flight = false;
        let chat = self.chat(to, now);
        chat.sends
            .extend(sends.into_iter().map(|job| Job { chat: to, ..job }));
        chat.rest
            .extend(rest.into_iter().map(|job| Job { chat: to, ..job }));
    }

    /// How many calls wait. Counts over all chats.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.chats
            .values()
            .map(|chat| chat.sends.len() + chat.rest.len())
            .sum()
    }

    /// How many calls are under way.
    #[must_use]
    pub fn under_way(&self) -> usize {
        self.in_flight
    }

    fn chat(&mut self, id: ChatId, now: Millis) -> &mut Chat {
        let (limits, used_before) = (self.limits, self.used_before);
        self.chats.entry(id).or_insert_with(|| Chat {
            sends: VecDeque::new(),
            rest: Vec::new(),
            in_flight: false,
            gate: 0,
            budget: if id.0 > 0 {
                Budget::private(
                    limits.private_per_second,
                    limits.private_burst,
                    used_before.then_some(now),
                    now,
                )
            } else {
                Budget::group(limits.group_per_minute)
            },
            served: 0,
            typing_at: None,
        })
    }

    /// Calls of the bot's window that a lane leaves to better ones.
    fn bot_reserve(&self, lane: Lane) -> usize {
        let most = self.limits.bot_per_second as usize;
        match lane {
            Lane::Final | Lane::Keyboard => 0,
            Lane::Content => most / 5,
            Lane::Clock => most * 2 / 5,
            Lane::Typing => most * 3 / 5,
        }
    }

    fn forget_idle(&mut self, now: Millis) {
        if self.chats.len() > CHATS {
            self.chats.retain(|_, chat| {
                chat.in_flight
                    || !chat.sends.is_empty()
                    || !chat.rest.is_empty()
                    || chat.gate > now
                    || chat.budget.ready_at(Thrift::Most, now) > now
            });
        }
    }
}

fn wait(until: Millis) -> Next {
    if until == Millis::MAX {
        Next::Idle
    } else {
        Next::Wait(until)
    }
}

fn thrift(lane: Lane) -> Thrift {
    match lane {
        Lane::Final | Lane::Keyboard => Thrift::None,
        Lane::Content => Thrift::Some,
        Lane::Clock => Thrift::Half,
        Lane::Typing => Thrift::Most,
    }
}

#[cfg(test)]
mod tests;
