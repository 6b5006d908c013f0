//! The one way out: every call of a bot that a chat can notice passes through here, under one budget
//! for each chat and one for the bot.
//!
//! [`Outbox`] is the handle; [`scheduler`] decides what goes next, purely; the driver awaits.

mod api_wire;
mod buckets;
mod driver;
mod encode;
mod job;
mod journal;
mod judge;
pub mod scheduler;
mod types;
mod wire;

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use tokio::sync::{broadcast, mpsc, oneshot, watch};

use crate::config::TelegramLimits;
use crate::domain::{ChatId, ChatKey, MessageId};

pub use journal::{Journal, JournalError, LedgerKey, LedgerRow, MemoryJournal, Parked};
pub use scheduler::Lane;
pub use types::{Content, Edit, EditKeyboard, EditReport, OutboxNotice, Send, SendFault};
pub use wire::{Fault, Upload, Wire};

use driver::{Command, Driver};
use job::{Action, Outcome};

/// Commands that may wait for the driver before callers wait too.
const MAILBOX: usize = 4_096;

/// What an outbox is made of.
pub struct OutboxParts {
    /// The Bot API.
    pub wire: Arc<dyn Wire>,
    /// Durable rows.
    pub journal: Arc<dyn Journal>,
    /// Rates.
    pub limits: TelegramLimits,
    /// Whether links show previews.
    pub link_previews: bool,
    /// Locale tag of the outbox's own few words.
    pub language: String,
    /// Whether an earlier process may have used the budgets within the last seconds.
    pub used_before: bool,
}

/// The handle of one bot's outbox. Cheap to clone; the driver stops when the last one is dropped.
#[derive(Clone)]
pub struct Outbox {
    commands: mpsc::Sender<Command>,
    notices: broadcast::Sender<OutboxNotice>,
    rich_refused: Arc<Mutex<HashSet<ChatId>>>,
    halted: watch::Receiver<bool>,
    wire: Arc<dyn Wire>,
}

impl std::fmt::Debug for Outbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outbox").finish_non_exhaustive()
    }
}

impl Outbox {
    /// Starts the driver on the current runtime and takes up what an earlier process left.
    #[must_use]
    pub fn start(parts: OutboxParts) -> Self {
        let (commands, inbox) = mpsc::channel(MAILBOX);
        let (notices, _) = broadcast::channel(64);
        let (halt, halted) = watch::channel(false);
        let rich_refused = Arc::new(Mutex::new(HashSet::new()));
        let wire = Arc::clone(&parts.wire);
        let driver = Driver::new(
            parts,
            inbox,
            notices.clone(),
            Arc::clone(&rich_refused),
            halt,
        );
        tokio::spawn(driver.run());
        Self {
            commands,
            notices,
            rich_refused,
            halted,
            wire,
        }
    }

    /// Sends one message and waits until Telegram has accepted it. Sends of one chat keep their order.
    ///
    /// # Errors
    /// When the message was given up on; see [`SendFault`].
    pub async fn send(&self, send: Send) -> Result<MessageId, SendFault> {
        let lane = send.lane;
        match self.submit(lane, Action::Send(Box::new(send))).await? {
            Outcome::Message(message) => Ok(message),
            Outcome::Done | Outcome::Superseded => Err(SendFault::Closed),
        }
    }

    /// Edits text and keyboard of a message; a newer edit of the same message takes its place.
    ///
    /// # Errors
    /// When the edit was given up on; see [`SendFault`].
    pub async fn edit(&self, edit: Edit) -> Result<EditReport, SendFault> {
        let lane = edit.lane;
        self.report(lane, Action::Edit(Box::new(edit))).await
    }

    /// Changes nothing but the keyboard of a message.
    ///
    /// # Errors
    /// When the edit was given up on; see [`SendFault`].
    pub async fn edit_keyboard(&self, edit: EditKeyboard) -> Result<EditReport, SendFault> {
        self.report(Lane::Keyboard, Action::EditKeyboard(edit))
            .await
    }

    /// Deletes a message; one that is gone already, or cannot be deleted, counts as done.
    ///
    /// # Errors
    /// When the deletion was given up on; see [`SendFault`].
    pub async fn delete(&self, key: ChatKey, message: MessageId) -> Result<(), SendFault> {
        self.submit(Lane::Content, Action::Delete { key, message })
            .await
            .map(|_| ())
    }

    /// Shows "typing…" if the budget has room; at most once in 4 seconds for a chat.
    pub fn typing(&self, key: ChatKey) {
        self.forget(Lane::Typing, Action::Typing { key });
    }

    /// Shows "typing…" at the begin of a turn, also where the budget is spent on edits: it is the first
    /// sign that a person sees. Dropped all the same if nothing may go right now.
    pub fn typing_first(&self, key: ChatKey) {
        self.forget(Lane::Keyboard, Action::Typing { key });
    }

    /// Puts a reaction on a message; refusals are of no consequence.
    pub fn react(&self, key: ChatKey, message: MessageId, emoji: &str) {
        let emoji = emoji.to_owned();
        self.forget(
            Lane::Content,
            Action::React {
                key,
                message,
                emoji,
            },
        );
    }

    /// Leaves a chat.
    ///
    /// # Errors
    /// When it was given up on; see [`SendFault`].
    pub async fn leave(&self, chat: ChatId) -> Result<(), SendFault> {
        self.submit(Lane::Keyboard, Action::Leave { chat })
            .await
            .map(|_| ())
    }

    /// Answers a callback query at once, outside of every budget. Failures are of no consequence: the
    /// query may be too old by then.
    pub async fn answer_callback(&self, query: &str, text: &str, alert: bool) {
        let text: String = text.chars().take(200).collect();
        let body = encode::callback(query, &text, alert);
        metrics::counter!("outbox_calls_total", "method" => "answerCallbackQuery").increment(1);
        if let Err(fault) = self.wire.call("answerCallbackQuery", &body).await {
            tracing::debug!(fault = %fault, "a callback answer was not accepted");
        }
    }

    /// Whether rich messages were refused in this chat since the process began.
    #[must_use]
    pub fn rich_refused(&self, chat: ChatId) -> bool {
        self.rich_refused
            .lock()
            .is_ok_and(|chats| chats.contains(&chat))
    }

    /// What happens to chats: migrations, blocks, vanished topics, the end of the bot.
    #[must_use]
    pub fn notices(&self) -> broadcast::Receiver<OutboxNotice> {
        self.notices.subscribe()
    }

    /// Whether Telegram refused the bot's token; nothing is sent any more.
    #[must_use]
    pub fn halted(&self) -> bool {
        *self.halted.borrow()
    }

    async fn report(&self, lane: Lane, action: Action) -> Result<EditReport, SendFault> {
        match self.submit(lane, action).await? {
            Outcome::Superseded => Ok(EditReport::Superseded),
            Outcome::Done | Outcome::Message(_) => Ok(EditReport::Accepted),
        }
    }

    async fn submit(&self, lane: Lane, action: Action) -> Result<Outcome, SendFault> {
        let (answer, outcome) = oneshot::channel();
        let command = Command {
            lane,
            action,
            answer: Some(answer),
        };
        self.commands
            .send(command)
            .await
            .map_err(|_| SendFault::Closed)?;
        outcome.await.map_err(|_| SendFault::Closed)?
    }

    fn forget(&self, lane: Lane, action: Action) {
        let command = Command {
            lane,
            action,
            answer: None,
        };
        if self.commands.try_send(command).is_err() {
            tracing::debug!("the outbox is full; a signal was dropped");
        }
    }
}

#[cfg(test)]
mod tests;
