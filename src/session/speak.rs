//! The session's own words: replies, cards, documents. They leave in the order they were said, and the
//! session never waits for them.

use futures::future::BoxFuture;
use tokio::sync::{mpsc, oneshot};
use tracing::{debug, warn};

use crate::domain::{ApprovalId, ChatKey, Command, Formatted, Keyboard, MessageId, Tap};
use crate::store::{Batch, Table};
use crate::telegram::outbox::{
    Content, Edit, EditKeyboard, EditReport, Lane, LedgerKey, Send, SendFault,
};

use super::actor::Actor;
use super::cards::forget_card;
use super::mail::Mail;
use super::record::{CardKind, CardRow, Strip, session_key};

/// Things to say, one after the other.
pub(super) type Speaker = mpsc::UnboundedSender<BoxFuture<'static, ()>>;

/// Starts the task that says things; it ends with the last handle.
pub(super) fn speaker() -> Speaker {
    let (speaker, mut lines) = mpsc::unbounded_channel::<BoxFuture<'static, ()>>();
    tokio::spawn(async move {
        while let Some(line) = lines.recv().await {
            line.await;
        }
    });
    speaker
}

impl Actor {
    /// Says a localised sentence in the session's chat.
    pub(super) fn say_key(&self, key: &str, arguments: &[(&str, &str)]) {
        self.say(self.tr(key, arguments), None);
    }

    /// Answers a command with a localised sentence.
    pub(super) fn reply_key(&self, command: &Command, key: &str, arguments: &[(&str, &str)]) {
        self.reply(command, self.tr(key, arguments));
    }

    /// Answers a command; in a group as a reply to it.
    pub(super) fn reply(&self, command: &Command, text: String) {
        let anchor = (command.key.chat.0 < 0).then_some(command.message);
        self.say(text, anchor);
    }

    /// Says a text in the session's chat.
    pub(super) fn say_text(&self, text: String) {
        self.say(text, None);
    }

    /// Answers a command with a formatted text.
    pub(super) fn reply_formatted(&self, command: &Command, text: Formatted) {
        let mut send = Send::new(self.record.key, Content::Text(text), Lane::Final);
        send.reply_to = (command.key.chat.0 < 0).then_some(command.message);
        self.send(send);
    }

    /// Says a formatted text in the session's chat.
    pub(super) fn say_formatted(&self, text: Formatted) {
        self.send(Send::new(self.record.key, Content::Text(text), Lane::Final));
    }

    fn say(&self, text: String, reply_to: Option<MessageId>) {
        let text = self.deps.redactor.redact(&text);
        let mut send = Send::new(
            self.record.key,
            Content::Text(Formatted::plain(text)),
            Lane::Final,
        );
        send.reply_to = reply_to;
        self.send(send);
    }

    fn send(&self, send: Send) {
        let outbox = self.deps.outbox.clone();
        self.queue_line(Box::pin(async move {
            if let Err(fault) = outbox.send(send).await {
                warn!(error = %fault, "a message was not delivered");
            }
        }));
    }

    fn queue_line(&self, line: BoxFuture<'static, ()>) {
        if self.speaker.send(line).is_err() {
            warn!("the speaker has stopped");
        }
    }

    /// Waits until everything that was said so far is sent or given up.
    pub(super) async fn said_everything(&self) {
        let (told, said) = oneshot::channel();
        self.queue_line(Box::pin(async move {
            told.send(()).ok();
        }));
        said.await.ok();
    }

    pub(super) fn react(&self, message: MessageId, emoji: &str) {
        self.deps.outbox.react(self.record.key, message, emoji);
    }

    pub(super) fn send_document(&self, key: ChatKey, name: &str, bytes: Vec<u8>, silent: bool) {
        let mut send = Send::new(
            key,
            Content::Document {
                name: name.to_owned(),
                bytes,
                caption: Formatted::default(),
            },
            Lane::Final,
        );
        send.silent = silent;
        self.send(send);
    }

    /// Sends a card; its message comes back by mail.
    pub(super) fn send_card(&self, row: &CardRow, keyboard: Keyboard) {
        let outbox = self.deps.outbox.clone();
        let me = self.me.clone();
        let (id, key) = (row.id.clone(), row.key);
        let mut text = row.text.clone();
        text.text.push_str(&self.card_hint(row));
        let mut send = Send::new(row.key, Content::Text(text), Lane::Final);
        send.keyboard = Some(keyboard);
        send.ledger = Some(card_ledger(&row.id));
        self.queue_line(Box::pin(async move {
            let message = match outbox.send(send).await {
                Ok(message) => Some(message),
                Err(fault) => {
                    warn!(error = %fault, "a card was not delivered");
                    None
                }
            };
            me.send(Mail::CardSent { id, key, message }).ok();
        }));
    }

    /// Closes a card: its text stays, the result is added, the buttons go.
    pub(super) fn edit_card(&self, row: &CardRow, result: &str) {
        let Some(message) = row.message else {
            return;
        };
        let mut text = row.text.clone();
        let gap = match row.kind {
            CardKind::Approval { .. } => "\n",
            CardKind::Question { .. } => "\n\n",
        };
        text.text.push_str(gap);
        text.text.push_str(result);
        let edit = Edit {
            key: row.key,
            message,
            content: Content::Text(text),
            keyboard: None,
            lane: Lane::Keyboard,
        };
        let (outbox, store) = (self.deps.outbox.clone(), self.deps.store.clone());
        let id = row.id.clone();
        tokio::spawn(async move {
            match outbox.edit(edit).await {
                Ok(EditReport::Accepted)
                | Err(SendFault::Gone | SendFault::Refused(_) | SendFault::Blocked) => {
                    forget_card(&store, &id).await;
                }
                // A newer edit of the same card is on its way; the row is needed until that one is there.
                Ok(EditReport::Superseded) => {}
                Err(fault) => {
                    warn!(error = %fault, "a card was not closed; the next start tries again")
                }
            }
        });
    }

    /// Answers a tap; every tap gets exactly one answer.
    pub(super) fn answer_tap(&self, tap: &Tap, key: &str, alert: bool) {
        self.answer_tap_text(tap, self.tr(key, &[]), alert);
    }

    pub(super) fn answer_tap_text(&self, tap: &Tap, text: String, alert: bool) {
        if !self.deps.answered.first(&tap.query) {
            return;
        }
        let outbox = self.deps.outbox.clone();
        let query = tap.query.clone();
        tokio::spawn(async move { outbox.answer_callback(&query, &text, alert).await });
    }

    /// Takes the buttons off a message that has no use for them any more. What is to be done is on disk
    /// until it is: nothing else there knows of that message.
    pub(super) async fn strip_keyboard(&mut self, tap: &Tap) {
        let strip = Strip {
            key: tap.key,
            message: tap.message,
            update: tap.update,
        };
        let row = session_key(&self.record.id, u64::from(tap.update.0));
        let mut batch = Batch::new();
        match batch.put(Table::Strips, &row, &strip) {
            Ok(_) => {
                self.commit(batch).await;
            }
            Err(fault) => self.store_failed(&fault),
        }
        self.strip(strip);
    }

    pub(super) fn strip(&self, strip: Strip) {
        let (outbox, store) = (self.deps.outbox.clone(), self.deps.store.clone());
        let row = session_key(&self.record.id, u64::from(strip.update.0));
        let edit = EditKeyboard {
            key: strip.key,
            message: strip.message,
            keyboard: None,
        };
        tokio::spawn(async move {
            match outbox.edit_keyboard(edit).await {
                // Tried again after the next start.
                Err(SendFault::Closed) => return,
                Err(fault) => warn!(error = %fault, "a keyboard was not taken off"),
                Ok(_) => {}
            }
            let mut batch = Batch::new();
            batch.delete(Table::Strips, &row);
            if let Err(fault) = store.write(batch).await {
                debug!(error = %fault, "a keyboard that is off could not be forgotten");
            }
        });
    }

    pub(super) fn set_keyboard(
        &self,
        key: ChatKey,
        message: MessageId,
        keyboard: Option<Keyboard>,
    ) {
        let outbox = self.deps.outbox.clone();
        let edit = EditKeyboard {
            key,
            message,
            keyboard,
        };
        tokio::spawn(async move {
            if let Err(fault) = outbox.edit_keyboard(edit).await {
                warn!(error = %fault, "a keyboard was not changed");
            }
        });
    }
}

/// The ledger row of a card: its message is known even if the program died right after the send.
pub(super) fn card_ledger(id: &ApprovalId) -> LedgerKey {
    LedgerKey {
        scope: format!("card:{id}"),
        index: 0,
    }
}
