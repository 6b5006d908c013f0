//! What survives a restart about flow messages: the newest one of a conversation, and what the buttons
//! of a message refer to.

use serde::{Deserialize, Serialize};

use crate::domain::{ChatId, ChatKey, Keyboard, MessageId, TurnId};
use crate::flow::{self, Body, Log};
use crate::plan::view::PlanView;
use crate::store::{Batch, Store, StoreError, Table};
use crate::telegram::outbox::{Content, Edit, EditKeyboard, Lane, LedgerKey, Outbox, SendFault};

/// The newest flow message of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FlowRecord {
    /// Turn that it belongs to.
    pub turn: TurnId,
    /// Its newest message; `None` while the first one is being sent.
    pub message: Option<MessageId>,
    /// Whether it is settled.
    pub settled: bool,
    /// Whether it carries buttons or plan sections, so that a newer one has to rewrite it.
    pub dressed: bool,
    /// Revision of the plan that it shows.
    pub shows_plan: Option<String>,
    /// What it becomes when it is rewritten.
    pub stripped: Option<Body>,
    /// Log of the newest block, to settle it after a crash.
    pub log: Log,
    /// Context tokens and window.
    pub usage: Option<(u64, u64)>,
    /// How long the turn had run, in milliseconds.
    pub elapsed_ms: u64,
    /// An older message that is still to be rewritten.
    pub previous: Option<(MessageId, Body)>,
    /// Ledger row of a message that is being sent; a crash may have kept its id from us.
    #[serde(default)]
    pub pending: Option<LedgerKey>,
    /// A buried copy that is to be deleted once its replacement is there.
    #[serde(default)]
    pub doomed: Option<MessageId>,
}

/// What the plan buttons of a message refer to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanBinding {
    /// Plan id.
    pub plan: String,
    /// Revision that the message shows.
    pub revision: String,
    /// Whether Approve (or Retry) is live.
    pub approvable: bool,
    /// Whether the buttons ask for confirmation of a discard.
    pub confirming: bool,
}

fn record_key(key: ChatKey) -> Vec<u8> {
    let thread = key.thread.map_or(0, |thread| thread.0);
    format!("flow:{}:{thread}", key.chat).into_bytes()
}

fn binding_key(chat: ChatId, message: MessageId) -> Vec<u8> {
    format!("{chat}:{message}").into_bytes()
}

/// The newest flow message of a conversation.
///
/// # Errors
/// If the store fails.
pub async fn load(store: &Store, key: ChatKey) -> Result<Option<FlowRecord>, StoreError> {
    store.get(Table::Turns, &record_key(key)).await
}

/// Stores the newest flow message; durable at once, or soon for what may be lost.
///
/// # Errors
/// If the store fails.
pub async fn save(
    store: &Store,
    key: ChatKey,
    record: &FlowRecord,
    durable: bool,
) -> Result<(), StoreError> {
    let mut batch = Batch::new();
    batch.put(Table::Turns, &record_key(key), record)?;
    if durable {
        store.commit(batch).await
    } else {
        store.write(batch).await
    }
}

/// What the plan buttons of a message refer to; `None` for a message without live plan buttons.
///
/// # Errors
/// If the store fails.
pub async fn binding(
    store: &Store,
    chat: ChatId,
    message: MessageId,
) -> Result<Option<PlanBinding>, StoreError> {
    store
        .get(Table::Keyboards, &binding_key(chat, message))
        .await
}

/// Sets, or with `None` ends, what the plan buttons of a message refer to.
///
/// # Errors
/// If the store fails.
pub async fn bind(
    store: &Store,
    chat: ChatId,
    message: MessageId,
    binding: Option<&PlanBinding>,
) -> Result<(), StoreError> {
    let key = binding_key(chat, message);
    let mut batch = Batch::new();
    match binding {
        Some(binding) => batch.put(Table::Keyboards, &key, binding)?,
        None => batch.delete(Table::Keyboards, &key),
    };
    store.commit(batch).await
}

/// Adds to `batch` that a group's flow messages and buttons are known under its new id.
///
/// # Errors
/// If the store fails.
pub(super) async fn migrate_in(
    store: &Store,
    batch: &mut Batch,
    old: ChatId,
    new: ChatId,
) -> Result<(), StoreError> {
    for (key, record) in store
        .scan::<FlowRecord>(Table::Turns, format!("flow:{old}:").as_bytes())
        .await?
    {
        let thread = key.rsplit(|byte| *byte == b':').next().unwrap_or_default();
        let mut moved = format!("flow:{new}:").into_bytes();
        moved.extend_from_slice(thread);
        batch.delete(Table::Turns, &key);
        batch.put(Table::Turns, &moved, &record)?;
    }
    for (key, binding) in store
        .scan::<PlanBinding>(Table::Keyboards, format!("{old}:").as_bytes())
        .await?
    {
        let message = key.rsplit(|byte| *byte == b':').next().unwrap_or_default();
        let mut moved = format!("{new}:").into_bytes();
        moved.extend_from_slice(message);
        batch.delete(Table::Keyboards, &key);
        batch.put(Table::Keyboards, &moved, &binding)?;
    }
    Ok(())
}

/// Why a change of a settled flow message failed.
#[derive(Debug, thiserror::Error)]
pub enum RecordFault {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Telegram did not take it.
    #[error(transparent)]
    Send(#[from] SendFault),
}

/// Takes buttons and plan sections off the newest flow message, as after a discard. Does nothing if it
/// has none.
///
/// # Errors
/// If the store or Telegram fails; the buttons refer to nothing any more even then.
pub async fn strip(outbox: &Outbox, store: &Store, key: ChatKey) -> Result<(), RecordFault> {
    let Some(mut record) = load(store, key).await? else {
        return Ok(());
    };
    let (Some(message), true) = (record.message, record.dressed) else {
        return Ok(());
    };
    bind(store, key.chat, message, None).await?;
    match record.stripped.clone() {
        Some(body) => gone_is_done(outbox.edit(rewrite(key, message, body)).await)?,
        None => strip_buttons(outbox, key, message).await?,
    }
    record.dressed = false;
    record.shows_plan = None;
    save(store, key, &record, true).await?;
    Ok(())
}

/// Takes the buttons off any message and ends what they refer to.
///
/// # Errors
/// If Telegram does not take it.
pub async fn strip_buttons(
    outbox: &Outbox,
    key: ChatKey,
    message: MessageId,
) -> Result<(), SendFault> {
    let edit = EditKeyboard {
        key,
        message,
        keyboard: None,
    };
    gone_is_done(outbox.edit_keyboard(edit).await)
}

/// Swaps the buttons for a question whether work that is done shall be thrown away.
///
/// # Errors
/// If the store or Telegram fails.
pub async fn confirm_discard(
    outbox: &Outbox,
    store: &Store,
    key: ChatKey,
    message: MessageId,
    language: &str,
    plan: &PlanView,
) -> Result<(), RecordFault> {
    let asked = PlanBinding {
        confirming: true,
        ..of(plan, false)
    };
    bind(store, key.chat, message, Some(&asked)).await?;
    let keyboard = flow::discard_confirmation(language, plan.done, plan.total);
    swap(outbox, key, message, keyboard).await?;
    Ok(())
}

/// Puts the buttons of an idle plan back after a discard was not confirmed.
///
/// # Errors
/// If the store or Telegram fails.
pub async fn keep(
    outbox: &Outbox,
    store: &Store,
    key: ChatKey,
    message: MessageId,
    language: &str,
    plan: &PlanView,
    running: bool,
) -> Result<(), RecordFault> {
    let keyboard = flow::keyboard(language, Some(plan), running, true);
    let approvable = has(&keyboard, flow::APPROVE) && !running;
    bind(store, key.chat, message, Some(&of(plan, approvable))).await?;
    swap(outbox, key, message, keyboard).await?;
    Ok(())
}

async fn swap(
    outbox: &Outbox,
    key: ChatKey,
    message: MessageId,
    keyboard: Keyboard,
) -> Result<(), SendFault> {
    let edit = EditKeyboard {
        key,
        message,
        keyboard: Some(keyboard),
    };
    outbox.edit_keyboard(edit).await.map(|_| ())
}

pub(super) fn of(plan: &PlanView, approvable: bool) -> PlanBinding {
    PlanBinding {
        plan: plan.id.clone(),
        revision: plan.revision.clone(),
        approvable,
        confirming: false,
    }
}

pub(super) fn has(keyboard: &Keyboard, data: &str) -> bool {
    keyboard
        .rows
        .iter()
        .flatten()
        .any(|button| button.data == data)
}

pub(super) fn rewrite(key: ChatKey, message: MessageId, body: Body) -> Edit {
    Edit {
        key,
        message,
        content: content(body),
        keyboard: None,
        lane: Lane::Keyboard,
    }
}

pub(super) fn content(body: Body) -> Content {
    match body {
        Body::Classic(text) => Content::Text(text),
        Body::RichHtml { html, fallback } => Content::RichHtml { html, fallback },
        Body::RichMarkdown { markdown, fallback } => Content::RichMarkdown { markdown, fallback },
    }
}

fn gone_is_done<T>(result: Result<T, SendFault>) -> Result<(), SendFault> {
    match result {
        Ok(_) | Err(SendFault::Gone) => Ok(()),
        Err(fault) => Err(fault),
    }
}
