//! Drives one turn's flow message: a task that owns the machine, its timer and its calls.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::domain::{ChatId, ChatKey, EndReason, MessageId, Progress, TurnId};
use crate::flow::{Flow, FlowEvent, FlowOptions};
use crate::plan::view::PlanView;
use crate::store::{Store, StoreError};
use crate::telegram::outbox::{Journal, Outbox};

use super::flow_driver::Task;
use super::flow_line::FlowLine;
use super::flow_record::{self, FlowRecord};
use super::journal::StoreJournal;
use super::mailbox::{Post, mailbox};

/// Least distance of two reposts in a chat.
const REPOST_EVERY: Duration = Duration::from_secs(15);

/// When flow messages were last posted anew, by chat; shared by all conversations of a bot.
#[derive(Debug, Default)]
pub struct Reposts {
    last: Mutex<HashMap<ChatId, Instant>>,
}

impl Reposts {
    pub(super) fn allowed(&self, chat: ChatId) -> bool {
        self.last.lock().is_ok_and(|last| {
            last.get(&chat)
                .is_none_or(|at| at.elapsed() >= REPOST_EVERY)
        })
    }

    pub(super) fn note(&self, chat: ChatId) {
        if let Ok(mut last) = self.last.lock() {
            last.retain(|_, at| at.elapsed() < REPOST_EVERY);
            last.insert(chat, Instant::now());
        }
    }
}

/// What a flow message needs from its surroundings.
#[derive(Debug, Clone)]
pub struct FlowParts {
    /// The way out.
    pub outbox: Outbox,
    /// Durable records.
    pub store: Store,
    /// Conversation.
    pub key: ChatKey,
    /// Turn.
    pub turn: TurnId,
    /// Reposts of all conversations.
    pub reposts: Arc<Reposts>,
    /// Order of the conversation's flow messages.
    pub line: FlowLine,
}

/// The `.md` of a plan, for one too long to be shown in a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanDocument {
    /// Number of the revision, from 1.
    pub number: u32,
    /// The exact bytes.
    pub bytes: Vec<u8>,
}

/// The end of a flow message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settled {
    /// Its newest message; `None` if the turn needed none.
    pub message: Option<MessageId>,
}

pub(super) enum Input {
    Event(FlowEvent),
    Settle {
        reason: EndReason,
        plan: Option<PlanView>,
        document: Option<PlanDocument>,
        answer: oneshot::Sender<Settled>,
    },
}

/// The handle of a turn's flow message. Dropped before it is settled, the message settles as interrupted.
#[derive(Debug, Clone)]
pub struct FlowHandle {
    inputs: Post<Input>,
}

impl FlowHandle {
    /// Starts the flow message of a turn; "typing…" shows at once.
    #[must_use]
    pub fn start(parts: FlowParts, options: FlowOptions) -> Self {
        let options = FlowOptions {
            renderer: if parts.outbox.rich_refused(parts.key.chat) {
                crate::flow::Renderer::Classic
            } else {
                options.renderer
            },
            ..options
        };
        parts.outbox.typing_first(parts.key);
        let (inputs, inbox) = mailbox();
        let mut place = parts.line.place();
        let begun = Instant::now();
        tokio::spawn(async move {
            place.reached().await;
            let mut task = Box::pin(Task::new(parts, Flow::new(options))).await;
            task.start = begun;
            Box::pin(task.step(FlowEvent::Started)).await;
            Box::pin(task.run(inbox)).await;
            drop(place);
        });
        Self { inputs }
    }

    /// Tells what the turn does.
    pub fn progress(&self, progress: Progress) {
        self.input(Input::Event(FlowEvent::Progress(progress)));
    }

    /// Tells how the plan stands.
    pub fn plan(&self, plan: Option<PlanView>) {
        self.input(Input::Event(FlowEvent::Plan(plan)));
    }

    /// Tells that somebody else's message appeared in the conversation.
    pub fn buried(&self, message: MessageId) {
        self.input(Input::Event(FlowEvent::Buried { message }));
    }

    /// Tells the final answer, so that an equal narration is not shown twice.
    pub fn answered(&self, text: &str) {
        let text = text.to_owned();
        self.input(Input::Event(FlowEvent::Answer { text }));
    }

    /// Lets the buttons ask whether a plan with work done shall be discarded, or takes the question back.
    pub fn confirm_discard(&self, asked: bool) {
        self.input(Input::Event(FlowEvent::ConfirmDiscard { asked }));
    }

    /// Ends the flow message and waits until Telegram shows its end, or has refused it for good.
    /// `document` is needed when the plan may be too long for a message.
    pub async fn settle(
        self,
        reason: EndReason,
        plan: Option<PlanView>,
        document: Option<PlanDocument>,
    ) -> Settled {
        let (answer, settled) = oneshot::channel();
        self.input(Input::Settle {
            reason,
            plan,
            document,
            answer,
        });
        settled.await.unwrap_or(Settled { message: None })
    }

    fn input(&self, input: Input) {
        if self.inputs.send(input).is_err() {
            tracing::debug!("the flow message has ended already");
        }
    }
}

/// Posts the plan's chrome and buttons anew at the bottom, outside of any turn; the message before loses
/// its own.
pub async fn show_plan(
    parts: FlowParts,
    options: FlowOptions,
    document: Option<PlanDocument>,
) -> Settled {
    let mut place = parts.line.place();
    place.reached().await;
    let mut task = Task::new(parts, Flow::standing(options)).await;
    task.document = document;
    task.step(FlowEvent::Started).await;
    let settled = task.finish().await;
    drop(place);
    settled
}

/// Settles the flow message that a crash left behind; `None` if there is none of this turn. Its place in
/// the line is taken at once, the rest happens when the future is awaited.
///
/// # Errors
/// If the store fails.
pub fn settle_orphan(
    parts: FlowParts,
    options: FlowOptions,
    reason: EndReason,
    plan: Option<PlanView>,
    document: Option<PlanDocument>,
) -> impl Future<Output = Result<Option<Settled>, StoreError>> + Send {
    let mut place = parts.line.place();
    async move {
        place.reached().await;
        let settled = settle_left(parts, options, reason, plan, document).await;
        drop(place);
        settled
    }
}

async fn settle_left(
    parts: FlowParts,
    options: FlowOptions,
    reason: EndReason,
    plan: Option<PlanView>,
    document: Option<PlanDocument>,
) -> Result<Option<Settled>, StoreError> {
    let Some(mut record) = flow_record::load(&parts.store, parts.key).await? else {
        return Ok(None);
    };
    if record.turn != parts.turn || record.settled {
        return Ok(None);
    }
    let buried = find_pending(&parts.store, &mut record).await;
    let Some(message) = record.message else {
        return Ok(None);
    };
    let flow = Flow::resumed(
        options,
        record.log.clone(),
        record.usage,
        message,
        record.elapsed_ms,
        0,
    );
    let mut task = Task::new(parts, flow).await;
    task.record = record;
    task.rewrite_previous().await;
    if let Some(buried) = buried {
        task.delete_buried(buried).await;
    }
    task.document = document;
    task.step(FlowEvent::Settle { reason, plan }).await;
    task.timer = Some(Instant::now() + Duration::from_millis(crate::flow::TICK_MS));
    Ok(Some(task.finish().await))
}

/// A message whose sending the crash cut off is known by the ledger, if Telegram answered. Gives the
/// copy that it was to replace.
async fn find_pending(store: &Store, record: &mut FlowRecord) -> Option<MessageId> {
    let Some(pending) = record.pending.take() else {
        return record.doomed.take();
    };
    let journal = StoreJournal::new(store.clone());
    match journal.ledger(&pending).await {
        Ok(row) => {
            let sent = row.and_then(|row| row.message)?;
            record.message = Some(sent);
            record.doomed.take()
        }
        Err(error) => {
            tracing::error!(%error, "what became of a flow message cannot be read");
            None
        }
    }
}
