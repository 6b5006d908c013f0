//! The task behind a flow message: performs what the machine asks for and reports back.

use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::domain::{EndReason, Keyboard, MessageId};
use crate::flow::{Flow, FlowEffect, FlowEvent, Millis};
use crate::telegram::outbox::{Edit, EditReport, Lane, LedgerKey, SendFault};

use super::flow_record::{self, FlowRecord};
use super::flow_task::{FlowParts, Input, PlanDocument, Settled};
use super::flow_wires::{self, Report, document_name, refusal};
use super::mailbox::Mailbox;

pub(super) struct Task {
    parts: FlowParts,
    flow: Flow,
    pub(super) record: FlowRecord,
    calls: JoinSet<Report>,
    pub(super) timer: Option<Instant>,
    pub(super) start: Instant,
    pub(super) document: Option<PlanDocument>,
    /// Buttons of the message that is being sent.
    opening: Keyboard,
    /// A message of which the store is known to hold no plan buttons; only this task gives it any.
    unbound: Option<MessageId>,
    ended: bool,
}

impl Task {
    pub(super) async fn new(parts: FlowParts, flow: Flow) -> Self {
        let old = match flow_record::load(&parts.store, parts.key).await {
            Ok(old) => old,
            Err(error) => {
                tracing::error!(%error, "the record of the last flow message cannot be read");
                None
            }
        };
        let previous = old.and_then(|old| {
            let dressed = old.dressed;
            old.previous
                .or_else(|| old.message.zip(old.stripped).filter(|_| dressed))
        });
        Self {
            record: FlowRecord {
                turn: parts.turn,
                message: None,
                settled: false,
                dressed: false,
                shows_plan: None,
                stripped: None,
                log: flow.log().clone(),
                usage: None,
                elapsed_ms: 0,
                previous,
                pending: None,
                doomed: None,
            },
            parts,
            flow,
            calls: JoinSet::new(),
            timer: None,
            start: Instant::now(),
            document: None,
            opening: Keyboard::none(),
            unbound: None,
            ended: false,
        }
    }

    fn now(&self) -> Millis {
        Millis::try_from(self.start.elapsed().as_millis()).unwrap_or(Millis::MAX)
    }

    /// Serves the turn until it settles, then sees the message to its end. What it does is boxed, so that
    /// a flow message that waits keeps no room for it.
    pub(super) async fn run(mut self, mut inbox: Mailbox<Input>) {
        let answer = loop {
            let timer = self.timer;
            tokio::select! {
                input = inbox.recv() => match input {
                    Some(Input::Event(event)) => Box::pin(self.step(event)).await,
                    Some(Input::Settle { reason, plan, document, answer }) => {
                        self.document = document;
                        Box::pin(self.step(FlowEvent::Settle { reason, plan })).await;
                        break Some(answer);
                    }
                    None => {
                        let plan = self.flow.plan().cloned();
                        let reason = EndReason::Interrupted;
                        Box::pin(self.step(FlowEvent::Settle { reason, plan })).await;
                        break None;
                    }
                },
                Some(report) = self.calls.join_next(), if !self.calls.is_empty() => {
                    Box::pin(self.report(report)).await;
                }
                () = sleep(timer), if timer.is_some() => Box::pin(self.tick()).await,
            }
        };
        let settled = self.finish().await;
        if let Some(answer) = answer
            && answer.send(settled).is_err()
        {
            tracing::debug!("nobody waits for the flow message to settle");
        }
    }

    /// Sees the message to its end.
    pub(super) async fn finish(&mut self) -> Settled {
        while !self.ended || !self.calls.is_empty() {
            let timer = self.timer.filter(|_| !self.ended);
            tokio::select! {
                Some(report) = self.calls.join_next(), if !self.calls.is_empty() => {
                    Box::pin(self.report(report)).await;
                }
                () = sleep(timer), if timer.is_some() => Box::pin(self.tick()).await,
                else => break,
            }
        }
        Settled {
            message: self.flow.message(),
        }
    }

    async fn tick(&mut self) {
        self.timer = None;
        let may_repost = self.parts.reposts.allowed(self.parts.key.chat);
        if !self.flow.is_settled() {
            self.parts.outbox.typing(self.parts.key);
        }
        self.step(FlowEvent::Tick { may_repost }).await;
    }

    pub(super) async fn step(&mut self, event: FlowEvent) {
        let now = self.now();
        for effect in self.flow.handle(event, now) {
            self.perform(effect).await;
        }
    }

    async fn perform(&mut self, effect: FlowEffect) {
        let (outbox, key) = (self.parts.outbox.clone(), self.parts.key);
        match effect {
            FlowEffect::StartTimer { after_ms } => {
                self.timer = Some(Instant::now() + Duration::from_millis(after_ms));
            }
            FlowEffect::Open { body, keyboard } => {
                let ledger = self.before_open(None).await;
                self.opening = keyboard.clone();
                let urgent = self.flow.is_settled();
                let send = flow_wires::opening(key, body, keyboard, urgent, ledger);
                self.calls.spawn(flow_wires::open(outbox, send));
            }
            FlowEffect::Repost {
                old,
                body,
                keyboard,
            } => {
                self.parts.reposts.note(key.chat);
                let ledger = self.before_open(Some(old)).await;
                self.opening = keyboard.clone();
                let send = flow_wires::opening(key, body, keyboard, false, ledger);
                self.calls.spawn(flow_wires::open(outbox, send));
            }
            FlowEffect::Edit {
                edit,
                message,
                body,
                keyboard,
                clock_only,
                keyboard_changed,
            } => {
                let settled = self.flow.is_settled();
                let lane = match (clock_only, keyboard_changed || settled) {
                    (_, true) => Lane::Keyboard,
                    (true, false) => Lane::Clock,
                    (false, false) => Lane::Content,
                };
                self.bind(message, &keyboard).await;
                let content = flow_record::content(body);
                let change = Edit {
                    key,
                    message,
                    content,
                    keyboard: Some(keyboard),
                    lane,
                };
                self.calls.spawn(flow_wires::edit(outbox, edit, change));
            }
            FlowEffect::DeleteOld { message } => self.delete_buried(message).await,
            FlowEffect::SendDocument { revision } => self.send_document(revision).await,
            FlowEffect::Finished { .. } => {
                self.ended = true;
                self.timer = None;
                if self.flow.message().is_some() {
                    self.remember(true).await;
                }
            }
        }
    }

    /// The older message loses buttons and plan before the new one shows its own. What is about to be
    /// sent is durable first, so that a crash does not leave a message that nobody knows.
    async fn before_open(&mut self, doomed: Option<MessageId>) -> LedgerKey {
        if self.flow.message().is_none() {
            self.rewrite_previous().await;
        }
        let ledger = LedgerKey {
            scope: format!("flow:{}", uuid::Uuid::new_v4().simple()),
            index: 0,
        };
        self.record.pending = Some(ledger.clone());
        self.record.doomed = doomed;
        self.remember(true).await;
        ledger
    }

    /// Deletes a copy that a newer one has replaced.
    pub(super) async fn delete_buried(&mut self, message: MessageId) {
        self.unbind(message).await;
        let (outbox, key) = (self.parts.outbox.clone(), self.parts.key);
        self.calls.spawn(flow_wires::delete(outbox, key, message));
    }

    pub(super) async fn rewrite_previous(&mut self) {
        if let Some((message, body)) = self.record.previous.clone() {
            self.unbind(message).await;
            self.calls.spawn(flow_wires::rewrite_previous(
                self.parts.outbox.clone(),
                self.parts.key,
                message,
                body,
            ));
        }
    }

    async fn send_document(&mut self, revision: String) {
        let (Some(document), Some(plan)) = (&self.document, self.flow.plan()) else {
            tracing::warn!("a long plan has no document; Approve does not go live");
            return Box::pin(self.step(FlowEvent::DocumentFailed)).await;
        };
        let name = document_name(&plan.title, document.number);
        let scope = format!("plan:{}:{revision}", plan.id);
        let bytes = document.bytes.clone();
        self.calls.spawn(flow_wires::document(
            self.parts.outbox.clone(),
            self.parts.key,
            revision,
            scope,
            name,
            bytes,
        ));
    }

    async fn report(&mut self, report: Result<Report, tokio::task::JoinError>) {
        match report {
            Ok(Report::Opened(Ok(message))) => self.opened(message).await,
            Ok(Report::Opened(Err(fault))) => {
                tracing::warn!(%fault, "a flow message could not be sent");
                if closed(&fault) {
                    self.ended = true;
                }
                self.record.doomed = None;
                self.step(FlowEvent::OpenFailed).await;
            }
            Ok(Report::Edited {
                edit,
                result,
                clock_only,
            }) => self.edited(edit, result, clock_only).await,
            Ok(Report::Document { revision, result }) => {
                let event = match result {
                    Ok(_) => FlowEvent::DocumentSent { revision },
                    Err(fault) => {
                        tracing::warn!(%fault, "a plan document could not be sent");
                        FlowEvent::DocumentFailed
                    }
                };
                self.step(event).await;
            }
            Ok(Report::Rewritten(result)) => {
                if let Err(fault) = &result {
                    tracing::warn!(%fault, "the previous flow message could not be rewritten");
                }
                if matches!(result, Ok(_) | Err(SendFault::Gone)) {
                    self.record.previous = None;
                    self.remember(false).await;
                }
            }
            Ok(Report::Deleted(result)) => {
                if let Err(fault) = result {
                    tracing::warn!(%fault, "a buried copy could not be deleted");
                } else if self.record.pending.is_none() {
                    self.record.doomed = None;
                    self.remember(false).await;
                }
            }
            Err(error) => {
                tracing::error!(%error, "a call of the flow message broke");
                self.step(FlowEvent::OpenFailed).await;
            }
        }
    }

    async fn opened(&mut self, message: MessageId) {
        self.record.message = Some(message);
        self.record.pending = None;
        // The id is durable before the old copy goes.
        self.remember(true).await;
        let keyboard = std::mem::take(&mut self.opening);
        self.bind(message, &keyboard).await;
        self.step(FlowEvent::Opened { message }).await;
        self.classic_if_refused().await;
    }

    async fn edited(&mut self, edit: u64, result: Result<EditReport, SendFault>, clock_only: bool) {
        let shown = matches!(result, Ok(EditReport::Accepted));
        let event = match result {
            Ok(EditReport::Accepted) => FlowEvent::EditAccepted { edit },
            Ok(EditReport::Superseded) => FlowEvent::EditRejected {
                edit,
                why: crate::flow::EditRefusal::Superseded,
            },
            Err(fault) => {
                tracing::warn!(%fault, "an edit of the flow message failed");
                if closed(&fault) {
                    self.ended = self.flow.is_settled();
                }
                FlowEvent::EditRejected {
                    edit,
                    why: refusal(&fault),
                }
            }
        };
        self.step(event).await;
        self.classic_if_refused().await;
        if shown && !clock_only {
            self.remember(false).await;
        }
    }

    async fn classic_if_refused(&mut self) {
        if self.parts.outbox.rich_refused(self.parts.key.chat) {
            self.step(FlowEvent::UseClassic).await;
        }
    }

    /// Stores what a restart needs; durable at once where an order of steps depends on it.
    async fn remember(&mut self, durable: bool) {
        let now = self.now();
        let settled = self.flow.is_settled();
        let plan = self.flow.plan();
        // Settled is what Telegram shows as settled, not what was decided.
        self.record.settled = self.ended && self.flow.message().is_some();
        self.record.dressed = plan.is_some() || !settled;
        self.record.shows_plan = plan.map(|plan| plan.revision.clone());
        self.record.stripped = Some(self.flow.stripped(now));
        self.record.log = self.flow.log().clone();
        self.record.usage = self.flow.usage();
        self.record.elapsed_ms = self.flow.elapsed(now);
        let (store, key) = (&self.parts.store, self.parts.key);
        if let Err(error) = flow_record::save(store, key, &self.record, durable).await {
            tracing::error!(%error, "the record of a flow message cannot be written");
        }
    }

    /// Stores what the buttons refer to, if there are plan buttons; before they can be tapped.
    async fn bind(&mut self, message: MessageId, keyboard: &Keyboard) {
        let settled = self.flow.is_settled();
        let buttons = flow_record::has(keyboard, crate::flow::DISCARD);
        let binding = self.flow.plan().filter(|_| buttons).map(|plan| {
            let approvable = settled && flow_record::has(keyboard, crate::flow::APPROVE);
            let mut binding = flow_record::of(plan, approvable);
            binding.confirming = self.flow.confirming();
            binding
        });
        if let Some(binding) = binding {
            self.unbound = None;
            let (store, chat) = (&self.parts.store, self.parts.key.chat);
            match flow_record::binding(store, chat, message).await {
                Ok(Some(known)) if known == binding => {}
                Ok(_) | Err(_) => {
                    if let Err(error) =
                        flow_record::bind(store, chat, message, Some(&binding)).await
                    {
                        tracing::error!(%error, "what buttons refer to cannot be written");
                    }
                }
            }
        } else {
            self.unbind(message).await;
        }
    }

    async fn unbind(&mut self, message: MessageId) {
        if self.unbound == Some(message) {
            return;
        }
        let (store, chat) = (&self.parts.store, self.parts.key.chat);
        let known = flow_record::binding(store, chat, message).await;
        if !matches!(known, Ok(None))
            && let Err(error) = flow_record::bind(store, chat, message, None).await
        {
            tracing::error!(%error, "what buttons refer to cannot be ended");
            return;
        }
        self.unbound = Some(message);
    }
}

/// Whether nothing can be sent to the chat any more.
fn closed(fault: &SendFault) -> bool {
    matches!(
        fault,
        SendFault::Blocked | SendFault::Unauthorized | SendFault::Closed
    )
}

async fn sleep(until: Option<Instant>) {
    match until {
        Some(until) => tokio::time::sleep_until(until).await,
        None => std::future::pending().await,
    }
}
