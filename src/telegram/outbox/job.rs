//! One call with its callers, and how it is made.

use std::sync::Arc;

use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio::sync::oneshot;

use crate::domain::{ChatId, ChatKey, Entity, Formatted, MessageId};

use super::encode::{self, Call, Target};
use super::journal::{Journal, LedgerKey, LedgerRow};
use super::scheduler::{Job, Kind};
use super::types::{Content, Edit, EditKeyboard, Send, SendFault};
use super::wire::{Fault, Upload, Wire};

/// What is asked for.
pub(super) enum Action {
    Send(Box<Send>),
    Edit(Box<Edit>),
    EditKeyboard(EditKeyboard),
    Delete {
        key: ChatKey,
        message: MessageId,
    },
    Typing {
        key: ChatKey,
    },
    React {
        key: ChatKey,
        message: MessageId,
        emoji: String,
    },
    Leave {
        chat: ChatId,
    },
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Message(MessageId),
    Done,
    Superseded,
}

pub(super) type Answer = oneshot::Sender<Result<Outcome, SendFault>>;

/// A job's action, its callers and its history.
pub(super) struct Ticket {
    pub(super) action: Action,
    pub(super) answers: Vec<Answer>,
    pub(super) attempts: u32,
    /// An attempt of this send may have arrived.
    pub(super) unknown: bool,
    /// Content goes as plain text.
    pub(super) plain: bool,
    /// Unix seconds when it was asked for.
    pub(super) born: i64,
}

impl Action {
    pub(super) fn key(&self) -> ChatKey {
        match self {
            Self::Send(send) => send.key,
            Self::Edit(edit) => edit.key,
            Self::EditKeyboard(edit) => edit.key,
            Self::Delete { key, .. } | Self::Typing { key } | Self::React { key, .. } => *key,
            Self::Leave { chat } => ChatKey::new(*chat, None),
        }
    }

    pub(super) fn set_key(&mut self, new: ChatKey) {
        match self {
            Self::Send(send) => send.key = new,
            Self::Edit(edit) => edit.key = new,
            Self::EditKeyboard(edit) => edit.key = new,
            Self::Delete { key, .. } | Self::Typing { key } | Self::React { key, .. } => *key = new,
            Self::Leave { chat } => *chat = new.chat,
        }
    }

    pub(super) fn kind(&self) -> Kind {
        match self {
            Self::Send(_) => Kind::Send,
            Self::Edit(edit) => Kind::EditText(edit.message),
            Self::EditKeyboard(edit) => Kind::EditMarkup(edit.message),
            Self::Delete { message, .. } => Kind::Delete(*message),
            Self::Typing { .. } => Kind::Typing,
            Self::React { .. } | Self::Leave { .. } => Kind::Other,
        }
    }

    pub(super) fn content_mut(&mut self) -> Option<&mut Content> {
        match self {
            Self::Send(send) => Some(&mut send.content),
            Self::Edit(edit) => Some(&mut edit.content),
            Self::EditKeyboard(_)
            | Self::Delete { .. }
            | Self::Typing { .. }
            | Self::React { .. }
            | Self::Leave { .. } => None,
        }
    }

    pub(super) fn ledger(&self) -> Option<&LedgerKey> {
        match self {
            Self::Send(send) => send.ledger.as_ref(),
            Self::Edit(_)
            | Self::EditKeyboard(_)
            | Self::Delete { .. }
            | Self::Typing { .. }
            | Self::React { .. }
            | Self::Leave { .. } => None,
        }
    }

    pub(super) fn call(&self, previews: bool) -> (Call, Option<Upload>) {
        match self {
            Self::Send(send) => {
                let target = Target {
                    key: send.key,
                    reply_to: send.reply_to,
                    silent: send.silent,
                    previews,
                };
                let call = encode::send(&target, &send.content, send.keyboard.as_ref());
                (call, upload(&send.content))
            }
            Self::Edit(edit) => {
                let keyboard = edit.keyboard.as_ref();
                let chat = edit.key.chat;
                let call = encode::edit(chat, edit.message, &edit.content, keyboard, previews);
                (call, None)
            }
            Self::EditKeyboard(edit) => {
                let keyboard = edit.keyboard.as_ref();
                (
                    encode::edit_keyboard(edit.key.chat, edit.message, keyboard),
                    None,
                )
            }
            Self::Delete { key, message } => (
                Call {
                    method: "deleteMessage",
                    body: serde_json::json!({ "chat_id": key.chat, "message_id": message }),
                },
                None,
            ),
            Self::Typing { key } => (encode::typing(*key), None),
            Self::React {
                key,
                message,
                emoji,
            } => (encode::react(key.chat, *message, emoji), None),
            Self::Leave { chat } => (
                Call {
                    method: "leaveChat",
                    body: serde_json::json!({ "chat_id": chat }),
                },
                None,
            ),
        }
    }
}

fn upload(content: &Content) -> Option<Upload> {
    match content {
        Content::Document { name, bytes, .. } => Some(Upload {
            field: "document",
            name: name.clone(),
            bytes: bytes.clone(),
        }),
        Content::Text(_) | Content::RichHtml { .. } | Content::RichMarkdown { .. } => None,
    }
}

/// Puts a line in front of a message's text or caption.
pub(super) fn prepend(content: &mut Content, notice: &str) {
    match content {
        Content::Text(text) | Content::Document { caption: text, .. } => {
            let prefix = if text.text.is_empty() {
                notice.to_owned()
            } else {
                format!("{notice}\n\n")
            };
            let shift: usize = prefix.chars().map(char::len_utf16).sum();
            text.text.insert_str(0, &prefix);
            for Entity { offset, .. } in &mut text.entities {
                *offset += shift;
            }
        }
        Content::RichHtml { .. } | Content::RichMarkdown { .. } => {}
    }
}

/// The content without anything that Telegram could refuse but the words themselves.
pub(super) fn plain(content: &mut Content) {
    match content {
        Content::Text(text) | Content::Document { caption: text, .. } => text.entities.clear(),
        Content::RichHtml { fallback, .. } | Content::RichMarkdown { fallback, .. } => {
            *content = Content::Text(Formatted::plain(std::mem::take(&mut fallback.text)));
        }
    }
}

/// Rich content in its classic form; `false` if it is not rich.
pub(super) fn classic(content: &mut Content) -> bool {
    match content {
        Content::RichHtml { fallback, .. } | Content::RichMarkdown { fallback, .. } => {
            *content = Content::Text(std::mem::take(fallback));
            true
        }
        Content::Text(_) | Content::Document { .. } => false,
    }
}

/// How a call ended.
pub(super) struct Ended {
    pub(super) job: Job,
    pub(super) result: Result<Outcome, Fault>,
}

/// Everything a call needs, so that it can run on its own.
pub(super) struct Attempt {
    pub(super) job: Job,
    pub(super) call: Call,
    pub(super) upload: Option<Upload>,
    pub(super) ledger: Option<LedgerKey>,
    /// Whether this process has tried this send before.
    pub(super) tried: bool,
    pub(super) unknown: bool,
    /// What an answer or a card begins with if it may be a repeat; people must be able to tell.
    pub(super) mark: Option<String>,
}

impl Attempt {
    /// Makes the call; a send with a ledger leaves its rows before and after.
    pub(super) async fn run(self, wire: Arc<dyn Wire>, journal: Arc<dyn Journal>) -> Ended {
        let result = match &self.ledger {
            Some(key) => self.once(key, &*wire, &*journal).await,
            None => self.perform(&*wire).await,
        };
        Ended {
            job: self.job,
            result,
        }
    }

    async fn once(
        &self,
        key: &LedgerKey,
        wire: &dyn Wire,
        journal: &dyn Journal,
    ) -> Result<Outcome, Fault> {
        let before = journal.ledger(key).await.map_err(|error| lost(&error))?;
        let mut retried = self.unknown;
        match before.clone() {
            Some(LedgerRow {
                message: Some(message),
                ..
            }) => return Ok(Outcome::Message(message)),
            // A crash cut the earlier attempt off; once more, and never a third time.
            Some(row) if !self.tried && row.retried => return Err(Fault::Unknown),
            Some(_) if !self.tried => retried = true,
            Some(_) | None => {}
        }
        let mut row = LedgerRow {
            hash: hash(&self.call.body),
            message: None,
            retried,
            at: chrono::Utc::now().timestamp(),
        };
        self.note(journal, key, Some(row.clone())).await?;
        let result = self.perform_marked(wire, retried).await;
        match &result {
            Ok(Outcome::Message(message)) => {
                row.message = Some(*message);
                // The message is out: failing now would send it again.
                if let Err(error) = journal.set_ledger(key, Some(row)).await {
                    tracing::error!(%error, "a sent message could not be recorded");
                }
            }
            Err(Fault::Unknown) | Ok(_) => {}
            // This attempt did nothing, so the row says again what it said before.
            Err(_) => self.note(journal, key, before.filter(|_| retried)).await?,
        }
        result
    }

    async fn note(
        &self,
        journal: &dyn Journal,
        key: &LedgerKey,
        row: Option<LedgerRow>,
    ) -> Result<(), Fault> {
        journal
            .set_ledger(key, row)
            .await
            .map_err(|error| lost(&error))
    }

    async fn perform_marked(&self, wire: &dyn Wire, repeat: bool) -> Result<Outcome, Fault> {
        let marked = self
            .mark
            .as_deref()
            .filter(|_| repeat)
            .and_then(|mark| encode::marked(&self.call.body, mark));
        self.perform_body(wire, marked.as_ref().unwrap_or(&self.call.body))
            .await
    }

    async fn perform(&self, wire: &dyn Wire) -> Result<Outcome, Fault> {
        self.perform_marked(wire, self.unknown).await
    }

    async fn perform_body(&self, wire: &dyn Wire, body: &Value) -> Result<Outcome, Fault> {
        let method = self.call.method;
        metrics::counter!("outbox_calls_total", "method" => method).increment(1);
        let value = match &self.upload {
            Some(file) => wire.upload(method, body, file).await?,
            None => wire.call(method, body).await?,
        };
        if self.job.kind == Kind::Send {
            message_id(&value)
                .map(Outcome::Message)
                .ok_or(Fault::Unknown)
        } else {
            Ok(Outcome::Done)
        }
    }
}

fn message_id(value: &Value) -> Option<MessageId> {
    let id = value.get("message_id")?.as_i64()?;
    i32::try_from(id).ok().map(MessageId)
}

fn lost(error: &super::journal::JournalError) -> Fault {
    tracing::error!(%error, "the outbox journal failed; the send is tried again");
    Fault::Unreachable
}

fn hash(body: &Value) -> String {
    Sha256::digest(body.to_string())
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
