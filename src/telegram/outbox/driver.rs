//! The driver: takes commands, asks the scheduler, makes the calls, and judges their ends.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chrono::Utc;
use tokio::sync::{broadcast, mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::domain::{ChatId, ChatKey};
use crate::i18n::tr;

use super::OutboxParts;
use super::job::{Action, Answer, Attempt, Ended, Outcome, Ticket};
use super::journal::{Journal, LedgerKey, Parked};
use super::scheduler::{Job, JobId, Lane, Millis, Next, Scheduler};
use super::types::{Content, OutboxNotice, SendFault};
use super::wire::Wire;

/// A parked send that is older than this is never sent.
const TIME_TO_LIVE_S: i64 = 24 * 3600;
/// A wait longer than this is recorded durably.
pub(super) const LONG_WAIT_MS: Millis = 60_000;

/// One request of a handle.
pub(super) struct Command {
    pub(super) lane: Lane,
    pub(super) action: Action,
    pub(super) answer: Option<Answer>,
}

pub(super) struct Driver {
    pub(super) scheduler: Scheduler,
    pub(super) tickets: HashMap<JobId, Ticket>,
    pub(super) by_ledger: HashMap<LedgerKey, JobId>,
    pub(super) moved: HashMap<ChatId, ChatId>,
    pub(super) topics_gone: HashSet<ChatKey>,
    pub(super) waits: HashMap<ChatId, Millis>,
    pub(super) rich_refused: Arc<Mutex<HashSet<ChatId>>>,
    pub(super) notices: broadcast::Sender<OutboxNotice>,
    pub(super) halt: watch::Sender<bool>,
    pub(super) language: String,
    pub(super) journal: Arc<dyn Journal>,
    wire: Arc<dyn Wire>,
    link_previews: bool,
    inbox: mpsc::Receiver<Command>,
    calls: JoinSet<Ended>,
    running: HashMap<tokio::task::Id, Job>,
    next_id: JobId,
    start: Instant,
}

impl Driver {
    pub(super) fn new(
        parts: OutboxParts,
        inbox: mpsc::Receiver<Command>,
        notices: broadcast::Sender<OutboxNotice>,
        rich_refused: Arc<Mutex<HashSet<ChatId>>>,
        halt: watch::Sender<bool>,
    ) -> Self {
        Self {
            scheduler: Scheduler::new(parts.limits, parts.used_before),
            tickets: HashMap::new(),
            by_ledger: HashMap::new(),
            moved: HashMap::new(),
            topics_gone: HashSet::new(),
            waits: HashMap::new(),
            rich_refused,
            notices,
            halt,
            language: parts.language,
            journal: parts.journal,
            wire: parts.wire,
            link_previews: parts.link_previews,
            inbox,
            calls: JoinSet::new(),
            running: HashMap::new(),
            next_id: 1,
            start: Instant::now(),
        }
    }

    pub(super) fn now(&self) -> Millis {
        Millis::try_from(self.start.elapsed().as_millis()).unwrap_or(Millis::MAX)
    }

    /// Runs until every handle is gone and nothing waits.
    pub(super) async fn run(mut self) {
        self.recover().await;
        let mut open = true;
        loop {
            let wake = self.dispatch();
            let depth = u32::try_from(self.tickets.len().saturating_sub(self.running.len()))
                .unwrap_or(u32::MAX);
            metrics::gauge!("outbox_queue_depth").set(f64::from(depth));
            if !open && self.tickets.is_empty() {
                return;
            }
            let deadline = self.start + Duration::from_millis(wake.unwrap_or(0));
            tokio::select! {
                command = self.inbox.recv(), if open => match command {
                    Some(command) => self.accept(command).await,
                    None => open = false,
                },
                Some(ended) = self.calls.join_next_with_id(), if !self.calls.is_empty() => {
                    match ended {
                        Ok((task, ended)) => {
                            self.running.remove(&task);
                            self.judge(ended).await;
                        }
                        Err(error) => self.lost_call(&error),
                    }
                }
                () = tokio::time::sleep_until(deadline), if wake.is_some() => {}
            }
        }
    }

    /// A call that panicked: its callers are told, its chat goes on.
    fn lost_call(&mut self, error: &tokio::task::JoinError) {
        tracing::error!(%error, "an outgoing call broke");
        if let Some(job) = self.running.remove(&error.id()) {
            self.scheduler.done(job.chat);
            self.resolve(job.id, Err(SendFault::Unknown));
        }
    }

    /// Takes up the waits and sends that an earlier process recorded.
    async fn recover(&mut self) {
        let now_unix = Utc::now().timestamp();
        match self.journal.waits().await {
            Ok(waits) => {
                for (chat, until) in waits {
                    let left = u64::try_from(until - now_unix).unwrap_or(0) * 1_000;
                    let now = self.now();
                    self.scheduler.close(chat, now + left, now);
                    self.waits.insert(chat, now + left);
                }
            }
            Err(error) => tracing::error!(%error, "recorded waits could not be read"),
        }
        let parked = match self.journal.parked().await {
            Ok(parked) => parked,
            Err(error) => {
                tracing::error!(%error, "recorded sends could not be read");
                return;
            }
        };
        for Parked { send, born } in parked {
            if now_unix - born > TIME_TO_LIVE_S {
                if let Some(key) = &send.ledger {
                    self.unpark(key.clone()).await;
                }
                metrics::counter!("outbox_expired_total").increment(1);
                continue;
            }
            let lane = send.lane;
            self.enqueue(lane, Action::Send(Box::new(send)), None, born);
        }
    }

    async fn accept(&mut self, command: Command) {
        let Command {
            lane,
            mut action,
            answer,
        } = command;
        if *self.halt.borrow() {
            return reply(answer, Err(SendFault::Unauthorized));
        }
        if let Some(job) = action.ledger().and_then(|key| self.by_ledger.get(key))
            && let Some(ticket) = self.tickets.get_mut(job)
        {
            ticket.answers.extend(answer);
            return;
        }
        if blank(&mut action) {
            return reply(answer, Err(SendFault::Refused("empty text".into())));
        }
        let id = self.enqueue(lane, action, answer, Utc::now().timestamp());
        self.park_if_long(id).await;
    }

    fn enqueue(
        &mut self,
        lane: Lane,
        mut action: Action,
        answer: Option<Answer>,
        born: i64,
    ) -> JobId {
        let mut key = action.key();
        if let Some(new) = self.moved.get(&key.chat) {
            key = ChatKey::new(*new, key.thread);
        }
        if self.topics_gone.contains(&key) {
            key.thread = None;
        }
        action.set_key(key);
        self.use_classic(&mut action);
        let id = self.next_id;
        self.next_id += 1;
        let job = Job {
            id,
            chat: key.chat,
            lane,
            kind: action.kind(),
        };
        if let Some(ledger) = action.ledger() {
            self.by_ledger.insert(ledger.clone(), id);
        }
        self.tickets.insert(
            id,
            Ticket {
                action,
                answers: answer.into_iter().collect(),
                attempts: 0,
                unknown: false,
                plain: false,
                born,
            },
        );
        let now = self.now();
        for superseded in self.scheduler.push(job, now) {
            self.resolve(superseded, Ok(Outcome::Superseded));
        }
        id
    }

    fn use_classic(&self, action: &mut Action) {
        let chat = action.key().chat;
        let refused = self
            .rich_refused
            .lock()
            .is_ok_and(|chats| chats.contains(&chat));
        if refused && let Some(content) = action.content_mut() {
            super::job::classic(content);
        }
    }

    /// Starts every call that may go now; gives the time of the next one.
    fn dispatch(&mut self) -> Option<Millis> {
        loop {
            let now = self.now();
            match self.scheduler.next(now) {
                Next::Run(job) => self.start_call(job),
                Next::Wait(at) => return Some(at.max(now + 1)),
                Next::Idle => return None,
            }
        }
    }

    fn start_call(&mut self, job: Job) {
        let Some(ticket) = self.tickets.get_mut(&job.id) else {
            self.scheduler.done(job.chat);
            return;
        };
        let (call, upload) = ticket.action.call(self.link_previews);
        let attempt = Attempt {
            job,
            call,
            upload,
            ledger: ticket.action.ledger().cloned(),
            tried: ticket.attempts > 0 || ticket.unknown,
            unknown: ticket.unknown,
            mark: (job.lane == Lane::Final).then(|| tr(&self.language, "outbox-again", &[])),
        };
        let running = attempt.run(Arc::clone(&self.wire), Arc::clone(&self.journal));
        let task = self.calls.spawn(running);
        self.running.insert(task.id(), job);
    }

    /// Tells the callers of a job how it ended, and forgets it.
    pub(super) fn resolve(&mut self, id: JobId, result: Result<Outcome, SendFault>) {
        let Some(ticket) = self.tickets.remove(&id) else {
            return;
        };
        if let Some(key) = ticket.action.ledger() {
            self.by_ledger.remove(key);
        }
        for answer in ticket.answers {
            reply(Some(answer), result.clone());
        }
    }

    /// Records a send whose chat is closed for long, so that it survives a restart.
    pub(super) async fn park_if_long(&mut self, id: JobId) {
        let now = self.now();
        let Some(ticket) = self.tickets.get(&id) else {
            return;
        };
        let closed = self.scheduler.closed_until(ticket.action.key().chat);
        if closed.saturating_sub(now) <= LONG_WAIT_MS {
            return;
        }
        if let (Action::Send(send), Some(key)) = (&ticket.action, ticket.action.ledger()) {
            let row = Parked {
                send: (**send).clone(),
                born: ticket.born,
            };
            if let Err(error) = self.journal.set_parked(key, Some(row)).await {
                tracing::error!(%error, "a waiting send could not be recorded");
            }
        }
    }

    pub(super) async fn unpark(&self, key: LedgerKey) {
        if let Err(error) = self.journal.set_parked(&key, None).await {
            tracing::error!(%error, "a finished send could not be forgotten");
        }
    }
}

/// Text without a visible character is never sent.
fn blank(action: &mut Action) -> bool {
    match action.content_mut() {
        Some(Content::Text(text)) => text.text.chars().all(|sign| {
            sign.is_whitespace()
                || matches!(sign, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}')
        }),
        Some(
            Content::RichHtml { .. } | Content::RichMarkdown { .. } | Content::Document { .. },
        )
        | None => false,
    }
}

fn reply(answer: Option<Answer>, result: Result<Outcome, SendFault>) {
    if let Some(answer) = answer
        && answer.send(result).is_err()
    {
        tracing::trace!("nobody waits for this outcome any more");
    }
}
