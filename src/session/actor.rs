//! One task and one mailbox per session. Nothing here waits for a model, a tool or a send: each of
//! them answers by mail, so that `/stop` is never behind anything.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::task::{AbortHandle, JoinHandle};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use tracing::{Instrument, error, info_span};

use crate::agent::transcript::Conversation;
use crate::agent::{Event, TimerId, Turn};
use crate::config::Settings;
use crate::domain::{ApprovalId, CallId, Inbound, TurnId, UpdateId};
use crate::store::{Batch, StoreError, Table};

use super::batch::ToolBatch;
use super::children::Child;
use super::deps::Deps;
use super::flow_task::FlowHandle;
use super::mail::Mail;
use super::mailbox::{Mailbox, Post};
use super::plans::Plans;
use super::record::{CardRow, Queued, SessionRecord, TurnRecord, session_key};
use super::watch::Watch;

/// A session at work.
pub(super) struct Actor {
    pub(super) deps: Arc<Deps>,
    pub(super) me: Post<Mail>,
    pub(super) record: SessionRecord,
    pub(super) conversation: Conversation,
    pub(super) queue: VecDeque<Queued>,
    /// What was said in the group by others, newest last, for the next turn to know; bounded.
    pub(super) observed: VecDeque<String>,
    /// Commands that wait for the end of the turn; durable, their updates are closed.
    pub(super) later: VecDeque<crate::domain::Command>,
    /// Updates whose effect becomes durable with the next batch; they are closed in it.
    pub(super) closing: Vec<UpdateId>,
    /// The store refused a write; nothing new starts until it takes one again.
    pub(super) stalled: AtomicBool,
    /// Inputs that could not be made durable; their updates are open.
    pub(super) unsaved: Vec<(Inbound, Vec<UpdateId>)>,
    /// Order of the conversation's flow messages.
    pub(super) line: super::flow_line::FlowLine,
    pub(super) running: Option<Running>,
    pub(super) delivering: HashSet<TurnId>,
    pub(super) delivery: Option<JoinHandle<()>>,
    pub(super) cards: HashMap<ApprovalId, CardRow>,
    /// Timers of the open cards; each ends with its card.
    pub(super) deadlines: HashMap<ApprovalId, AbortOnDropHandle<()>>,
    pub(super) plans: Plans,
    pub(super) speaker: super::speak::Speaker,
    pub(super) over: bool,
    /// Nothing new may start: a discard is under way.
    pub(super) holding: bool,
    /// The owner's last comment on the plan and the revision it was about.
    pub(super) comment: Option<(String, String)>,
    /// The newest flow message, as far as it is known.
    pub(super) card: Option<crate::domain::MessageId>,
    /// Settings as they hold in the workspace, as of the last turn boundary.
    pub(super) bounds: Arc<Settings>,
    /// What was said about a project file that cannot be used.
    pub(super) project_fault: Option<String>,
}

/// A turn in flight.
pub(super) struct Running {
    pub(super) turn: Turn,
    pub(super) record: TurnRecord,
    pub(super) flow: FlowHandle,
    /// Ends everything that the turn started.
    pub(super) cancel: CancellationToken,
    /// Ends the model request in flight.
    pub(super) request: CancellationToken,
    pub(super) batch: Option<ToolBatch>,
    /// What is noticed about its calls.
    pub(super) watch: Watch,
    /// Sub-agents at work.
    pub(super) children: Vec<Child>,
    /// Tools in flight.
    pub(super) tools: Vec<JoinHandle<()>>,
    pub(super) timers: HashMap<TimerId, AbortHandle>,
    /// Streamed text that may still be the middle of a secret.
    pub(super) text_tail: String,
    pub(super) started: std::time::Instant,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.cancel.cancel();
        for timer in self.timers.values() {
            timer.abort();
        }
    }
}

impl Actor {
    /// Reads mail until the program ends. No `async fn`, which would keep the actor's room twice.
    pub(super) fn run(mut self, mut mailbox: Mailbox<Mail>) -> impl Future<Output = ()> + Send {
        let span =
            info_span!("session", session.id = %self.record.id, chat.id = self.record.key.chat.0);
        async move {
            // Boxed, so that a session that waits keeps no room for what it would do.
            Box::pin(self.wake()).await;
            self.set_down_if_stalled();
            while let Some(mail) = mailbox.recv().await {
                Box::pin(self.take(mail)).await;
                self.set_down_if_stalled();
                if self.over {
                    break;
                }
            }
        }
        .instrument(span)
    }

    async fn take(&mut self, mail: Mail) {
        match mail {
            Mail::Input { inbound, updates } => self.input(inbound, updates).await,
            Mail::Revive => self.revive().await,
            Mail::Buried(message) => {
                if let Some(running) = &self.running {
                    running.flow.buried(message);
                }
            }
            Mail::Model {
                turn,
                request,
                event,
            } => self.model_event(turn, request, event).await,
            Mail::Output { turn, call, text } => self.tool_output(turn, &call, &text),
            Mail::Tool { turn, outcome } => self.tool_done(turn, outcome).await,
            Mail::Timer { turn, id } => {
                if self.is_current(turn) {
                    self.drive(Event::Timer(id), Batch::new()).await;
                }
            }
            Mail::Child { turn, call, event } => self.child_event(turn, call, event).await,
            Mail::Digest {
                session,
                turn,
                text,
            } => self.digest(&session, turn, text).await,
            Mail::Discard { command, updates } => self.end_discard(command, updates).await,
            Mail::ChatGone => self.chat_gone().await,
            Mail::CardSent { id, key, message } => self.card_sent(&id, key, message).await,
            Mail::Deadline(id) => self.card_expired(&id).await,
            Mail::Delivered { session, turn } => self.delivered(&session, turn).await,
            Mail::Rest { done } => self.rest(done),
            Mail::Shutdown { done } => self.shutdown(done).await,
        }
    }

    /// Handles an input that was kept.
    pub(super) async fn again(&mut self, inbound: Inbound, updates: Vec<UpdateId>) {
        Box::pin(self.input(inbound, updates)).await;
    }

    /// An input is kept for later while the store takes no writes, and when its own write fails.
    async fn input(&mut self, inbound: Inbound, updates: Vec<UpdateId>) {
        let harmless = matches!(&inbound, Inbound::Command(command) if command.name == "status");
        if self.is_stalled() && !harmless {
            return self.keep_unsaved(inbound, updates);
        }
        let copy = (inbound.clone(), updates.clone());
        match inbound {
            Inbound::Message(message) => self.message(message, updates).await,
            Inbound::Edited(message) => self.edited(message, updates).await,
            Inbound::Command(command) => self.command(command, updates).await,
            Inbound::Tap(tap) => self.tap(tap, updates).await,
        }
        if self.is_stalled() && !harmless {
            self.keep_unsaved(copy.0, copy.1);
        }
    }

    /// Whether mail of this epoch still counts.
    pub(super) fn is_current(&self, turn: TurnId) -> bool {
        self.running
            .as_ref()
            .is_some_and(|running| running.turn.id() == turn)
    }

    pub(super) fn is_busy(&self) -> bool {
        self.running.is_some()
    }

    /// Whether nothing may be started or shown now: a turn runs, or its plan is about to go.
    pub(super) fn is_taken(&self) -> bool {
        self.is_busy() || self.holding
    }

    /// Ends if everything that the session knows is on disk; whoever asked must still be there to hear it.
    fn rest(&mut self, done: tokio::sync::oneshot::Sender<()>) {
        let delivered = self
            .delivery
            .as_ref()
            .is_none_or(tokio::task::JoinHandle::is_finished);
        let idle = self.running.is_none()
            && self.queue.is_empty()
            && self.later.is_empty()
            && self.closing.is_empty()
            && self.unsaved.is_empty()
            && self.delivering.is_empty()
            && self.cards.is_empty()
            && delivered
            && !self.holding
            && self.comment.is_none()
            && matches!(self.plans.state, crate::plan::model::PlanState::NoPlan);
        if idle && done.send(()).is_ok() {
            self.over = true;
        }
    }

    /// Marks updates as done: their effect is durable.
    pub(super) async fn close(&mut self, updates: &[UpdateId]) {
        let mut batch = Batch::new();
        self.closing.retain(|update| !updates.contains(update));
        self.close_in(&mut batch, updates);
        self.commit(batch).await;
    }

    /// Adds the closing of updates to a batch.
    pub(super) fn close_in(&self, batch: &mut Batch, updates: &[UpdateId]) {
        for update in updates {
            // A command that waited is over with its update.
            let key = session_key(&self.record.id, u64::from(update.0));
            batch.delete(Table::Later, &key);
        }
        let now = chrono::Utc::now().timestamp();
        if let Err(fault) = self.deps.inbox.close_in(batch, updates, now) {
            self.store_failed(&fault);
        }
    }

    /// Commits; a failure is logged once and told, and leaves the updates open for the next start.
    pub(super) async fn commit(&self, batch: Batch) -> bool {
        if batch.is_empty() {
            return true;
        }
        match self.deps.store.commit(batch).await {
            Ok(()) => true,
            Err(fault) => {
                self.store_failed(&fault);
                false
            }
        }
    }

    /// Notes that the store refused a write: said once, and tried again until it takes one.
    pub(super) fn store_failed(&self, fault: &StoreError) {
        if self.stalled.swap(true, Ordering::AcqRel) {
            return;
        }
        error!(error = %fault, "the store refused a write; the session waits for it");
        self.say_store_fault(fault);
        self.revive_later();
    }

    pub(super) fn is_stalled(&self) -> bool {
        self.stalled.load(Ordering::Acquire)
    }

    /// Saves the session's own record.
    pub(super) async fn save(&mut self) -> bool {
        self.record.used_at = chrono::Utc::now();
        let mut batch = Batch::new();
        match self.put_record(&mut batch) {
            Ok(()) => self.commit(batch).await,
            Err(fault) => {
                self.store_failed(&fault);
                false
            }
        }
    }

    pub(super) fn put_record(&self, batch: &mut Batch) -> Result<(), StoreError> {
        batch.put(
            Table::Sessions,
            &super::record::chat_key(self.record.key),
            &self.record,
        )?;
        Ok(())
    }

    /// The locale of this session.
    pub(super) fn language(&self) -> String {
        self.record
            .language
            .clone()
            .or_else(|| self.record.client_language.clone())
            .unwrap_or_else(|| self.deps.settings().language.clone())
    }

    pub(super) fn tr(&self, key: &str, arguments: &[(&str, &str)]) -> String {
        crate::i18n::tr(&self.language(), key, arguments)
    }

    fn tool_output(&mut self, turn: TurnId, call: &CallId, text: &str) {
        // Output that is late must not overwrite how the call ended.
        if !self.is_current(turn) || !self.runs(call) {
            return;
        }
        let text = self.deps.redactor.redact(text);
        if let Some(running) = &self.running {
            running.flow.progress(crate::domain::Progress::ToolOutput {
                call: call.clone(),
                text,
            });
        }
    }
}
