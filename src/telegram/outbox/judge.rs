//! What an ended call means: done, once more, in another form, or given up on.

use chrono::Utc;

use crate::domain::{ChatId, ChatKey};
use crate::i18n::tr;

use super::driver::{Driver, LONG_WAIT_MS};
use super::job::{Action, Ended, Outcome, classic, plain, prepend};
use super::scheduler::{Job, Kind, Lane, Millis};
use super::types::{OutboxNotice, SendFault};
use super::wire::Fault;

/// First wait after a broken call; it doubles up to the longest.
const FIRST_WAIT_MS: Millis = 500;
/// Longest wait between attempts.
const LONGEST_WAIT_MS: Millis = 15_000;
/// Wait before a send whose outcome is unknown is tried once more.
const UNKNOWN_WAIT_MS: Millis = 2_000;

impl Driver {
    pub(super) async fn judge(&mut self, ended: Ended) {
        let Ended { job, result } = ended;
        match result {
            Ok(outcome) => self.finish(job, Ok(outcome)).await,
            Err(fault) => self.judge_fault(job, fault).await,
        }
    }

    async fn judge_fault(&mut self, job: Job, fault: Fault) {
        match fault {
            Fault::NotModified => self.finish(job, Ok(Outcome::Done)).await,
            Fault::RetryAfter { seconds, bot_wide } => {
                self.refused(job, seconds, bot_wide).await;
            }
            Fault::Migrated(to) => self.migrated(job, to).await,
            Fault::MessageGone | Fault::CantEdit => {
                let result = match job.kind {
                    Kind::EditText(_) | Kind::EditMarkup(_) => Err(SendFault::Gone),
                    Kind::Send => Err(SendFault::Refused(fault.to_string())),
                    Kind::Delete(_) | Kind::Typing | Kind::Other => Ok(Outcome::Done),
                };
                self.finish(job, result).await;
            }
            Fault::ThreadGone => self.topic_gone(job).await,
            Fault::Blocked => self.blocked(job).await,
            Fault::Unauthorized => self.stop(job),
            Fault::Conflict => self.finish(job, Err(SendFault::Unavailable)).await,
            Fault::BadRequest(why) => self.bad_request(job, why).await,
            Fault::Server(_) | Fault::Unreachable => self.broken(job).await,
            Fault::Unknown => self.unknown(job).await,
        }
    }

    async fn finish(&mut self, job: Job, result: Result<Outcome, SendFault>) {
        self.scheduler.done(job.chat);
        if self.waits.remove(&job.chat).is_some()
            && let Err(error) = self.journal.set_wait(job.chat, None).await
        {
            tracing::error!(%error, "a wait that is over could not be forgotten");
        }
        let parked = self
            .tickets
            .get(&job.id)
            .and_then(|ticket| ticket.action.ledger().cloned());
        if let Some(key) = parked {
            self.unpark(key).await;
        }
        self.resolve(job.id, result);
    }

    /// Puts a call back, not before `at`.
    fn again(&mut self, job: Job, at: Millis) {
        metrics::counter!("outbox_retries_total").increment(1);
        let now = self.now();
        let chat = self
            .tickets
            .get(&job.id)
            .map_or(job.chat, |ticket| ticket.action.key().chat);
        // After a migration the call goes on in the new chat, still before those behind it.
        if !self.scheduler.again(Job { chat, ..job }, at, now) {
            self.resolve(job.id, Ok(Outcome::Superseded));
        }
    }

    async fn refused(&mut self, job: Job, seconds: u64, bot_wide: bool) {
        metrics::counter!("outbox_refusals_total").increment(1);
        let now = self.now();
        let until = self.scheduler.refused(job.chat, seconds, bot_wide, now);
        tracing::warn!(chat.id = %job.chat, seconds, bot_wide, "telegram asks to wait");
        if let Some(ticket) = self.tickets.get_mut(&job.id) {
            ticket.attempts += 1;
        }
        self.again(job, until);
        if until - now <= LONG_WAIT_MS {
            return;
        }
        self.waits.insert(job.chat, until);
        let unix = Utc::now().timestamp() + i64::try_from((until - now) / 1_000).unwrap_or(0) + 1;
        if let Err(error) = self.journal.set_wait(job.chat, Some(unix)).await {
            tracing::error!(%error, "a long wait could not be recorded");
        }
        let waiting: Vec<_> = self.tickets.keys().copied().collect();
        for id in waiting {
            self.park_if_long(id).await;
        }
    }

    async fn migrated(&mut self, job: Job, to: ChatId) {
        let from = job.chat;
        if from == to {
            return self.broken(job).await;
        }
        self.moved.insert(from, to);
        let now = self.now();
        self.scheduler.migrate(from, to, now);
        for ticket in self.tickets.values_mut() {
            let key = ticket.action.key();
            if key.chat == from {
                ticket.action.set_key(ChatKey::new(to, key.thread));
            }
        }
        self.tell(OutboxNotice::Migrated { from, to });
        self.again(job, now);
    }

    async fn topic_gone(&mut self, job: Job) {
        let now = self.now();
        let Some(ticket) = self.tickets.get_mut(&job.id) else {
            return self.finish(job, Err(SendFault::Gone)).await;
        };
        let key = ticket.action.key();
        if key.thread.is_none() || job.kind != Kind::Send {
            let result = match job.kind {
                Kind::EditText(_) | Kind::EditMarkup(_) => Err(SendFault::Gone),
                Kind::Send => Err(SendFault::Refused("topic closed".into())),
                Kind::Delete(_) | Kind::Typing | Kind::Other => Ok(Outcome::Done),
            };
            return self.finish(job, result).await;
        }
        let root = ChatKey::new(key.chat, None);
        ticket.action.set_key(root);
        let anchored = matches!(&ticket.action, Action::Send(send) if send.reply_to.is_some());
        let first = self.topics_gone.insert(key);
        // A reply shows by itself where it belongs; anything else says so once.
        if first
            && !anchored
            && let Some(content) = ticket.action.content_mut()
        {
            prepend(content, &tr(&self.language, "flow-topic-gone", &[]));
        }
        if first {
            self.tell(OutboxNotice::TopicGone { key });
        }
        self.again(job, now);
    }

    async fn blocked(&mut self, job: Job) {
        for id in self.scheduler.drop_chat(job.chat) {
            self.resolve(id, Err(SendFault::Blocked));
        }
        self.tell(OutboxNotice::Blocked { chat: job.chat });
        self.finish(job, Err(SendFault::Blocked)).await;
    }

    fn stop(&mut self, job: Job) {
        tracing::error!("telegram refuses the bot token; nothing is sent any more");
        self.halt.send_replace(true);
        self.tell(OutboxNotice::Halted);
        self.scheduler.done(job.chat);
        let chats: std::collections::HashSet<_> = self
            .tickets
            .values()
            .map(|ticket| ticket.action.key().chat)
            .collect();
        for chat in chats {
            self.scheduler.drop_chat(chat);
        }
        let all: Vec<_> = self.tickets.keys().copied().collect();
        for id in all {
            self.resolve(id, Err(SendFault::Unauthorized));
        }
    }

    async fn bad_request(&mut self, job: Job, why: String) {
        let now = self.now();
        let Some(ticket) = self.tickets.get_mut(&job.id) else {
            return self.finish(job, Err(SendFault::Refused(why))).await;
        };
        let plain_already = ticket.plain;
        let Some(content) = ticket.action.content_mut() else {
            let result = match job.kind {
                Kind::EditMarkup(_) => Err(SendFault::Refused(why)),
                Kind::Send | Kind::EditText(_) | Kind::Delete(_) | Kind::Typing | Kind::Other => {
                    Ok(Outcome::Done)
                }
            };
            return self.finish(job, result).await;
        };
        if classic(content) {
            tracing::warn!(chat.id = %job.chat, %why, "rich messages are refused; classic from now on");
            if let Ok(mut chats) = self.rich_refused.lock() {
                chats.insert(job.chat);
            }
            return self.again(job, now);
        }
        metrics::counter!("outbox_bad_request_total").increment(1);
        tracing::error!(chat.id = %job.chat, %why, "telegram refuses a message's content");
        if plain_already {
            return self.finish(job, Err(SendFault::Refused(why))).await;
        }
        plain(content);
        ticket.plain = true;
        self.again(job, now);
    }

    /// Nothing was done: again after a growing wait, a bounded number of times.
    async fn broken(&mut self, job: Job) {
        let now = self.now();
        let Some(ticket) = self.tickets.get_mut(&job.id) else {
            return self.finish(job, Err(SendFault::Unavailable)).await;
        };
        ticket.attempts += 1;
        let attempts = ticket.attempts;
        let most = match job.lane {
            Lane::Final | Lane::Keyboard => 60,
            Lane::Content => 12,
            Lane::Clock => 3,
            Lane::Typing => 0,
        };
        if attempts > most {
            return self.finish(job, Err(SendFault::Unavailable)).await;
        }
        self.again(job, now + wait(job, attempts));
    }

    /// The reply was lost. An edit can be repeated; a send once, marked, and never a third time.
    async fn unknown(&mut self, job: Job) {
        if job.kind != Kind::Send {
            return self.broken(job).await;
        }
        let now = self.now();
        match self.tickets.get_mut(&job.id) {
            Some(ticket) if !ticket.unknown => {
                ticket.unknown = true;
                metrics::counter!("outbox_unknown_sends_total").increment(1);
                tracing::warn!(chat.id = %job.chat, "the outcome of a send is unknown; it is tried once more");
                self.again(job, now + UNKNOWN_WAIT_MS);
            }
            Some(_) | None => self.finish(job, Err(SendFault::Unknown)).await,
        }
    }

    fn tell(&self, notice: OutboxNotice) {
        if self.notices.send(notice).is_err() {
            tracing::trace!("nobody listens to the outbox");
        }
    }
}

/// The wait before attempt number `attempts`, with some jitter that needs no randomness.
fn wait(job: Job, attempts: u32) -> Millis {
    let base = FIRST_WAIT_MS
        .saturating_mul(1 << attempts.saturating_sub(1).min(10))
        .min(LONGEST_WAIT_MS);
    let jitter = (job.id * 7_919 + u64::from(attempts) * 104_729) % (base / 4).max(1);
    base + jitter
}
