//! Approval cards and questions: stored before they are sent, answered once, gone with a restart.

use std::time::Duration;

use tokio_util::task::AbortOnDropHandle;
use tracing::{debug, info};

use crate::domain::{
    ApprovalId, CallId, CallStatus, ChatKey, Formatted, MessageId, Role, Tap, ToolCall, UpdateId,
    UserMessage,
};
use crate::plan::gate::Grants;
use crate::store::{Batch, Store, Table};
use crate::telegram::outbox::Journal;
use crate::tools::Inspection;

use super::actor::Actor;
use super::batch::outcome;
use super::journal::StoreJournal;
use super::mail::Mail;
use super::record::{CardKind, CardRow};
use super::speak::card_ledger;

/// Seconds until an unanswered approval counts as denied.
pub(super) const APPROVAL_SECONDS: i64 = 600;
/// Seconds until an unanswered question is given up.
const QUESTION_SECONDS: i64 = 1800;
/// Seconds after its deadline at which a card that cannot be edited is forgotten.
const GIVE_UP_SECONDS: i64 = 2 * 24 * 3600;
/// Characters of a typed answer that its question shows.
const SHOWN_ANSWER: usize = 200;

/// What a tap or a deadline says about a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Approve,
    Always,
    Deny,
}

impl Actor {
    /// Sends an approval card for a call that waits.
    pub(super) async fn ask_owner(&mut self, _index: usize, call: &ToolCall, found: &Inspection) {
        let planning = self.plans.phase().is_planning();
        let kind = CardKind::Approval {
            class: found.class,
            always: Grants::is_grantable(found.class) && !planning,
        };
        let (text, document) = self.card_text(found);
        if let Some(document) = document {
            self.send_document(self.card_place(), "call.txt", document.into_bytes(), true);
        }
        self.show_waiting(&call.id, true);
        self.put_card(call, kind, self.card_place(), text, APPROVAL_SECONDS)
            .await;
    }

    /// Sends a question of the model.
    pub(super) async fn ask_user(&mut self, call: &ToolCall) {
        let question = match self.deps.toolbox.question(call) {
            Ok(question) => question,
            Err(text) => {
                self.me
                    .send(Mail::Tool {
                        turn: self.record.turn,
                        outcome: outcome(&call.id, CallStatus::Failed, text.into()),
                    })
                    .ok();
                return;
            }
        };
        let Some((user, _)) = self.turn_person() else {
            return;
        };
        let kind = CardKind::Question {
            options: question.options.clone(),
            user,
        };
        let text = format!("❓ {}", self.deps.redactor.redact(&question.text));
        let key = self.record.key;
        self.put_card(call, kind, key, Formatted::plain(text), QUESTION_SECONDS)
            .await;
    }

    async fn put_card(
        &mut self,
        call: &ToolCall,
        kind: CardKind,
        key: ChatKey,
        text: Formatted,
        seconds: i64,
    ) {
        let id = new_id();
        let row = CardRow {
            id: id.clone(),
            session: self.record.id.clone(),
            home: self.record.key,
            turn: self.record.turn,
            call: call.id.clone(),
            kind,
            key,
            message: None,
            text,
            deadline: chrono::Utc::now().timestamp() + seconds,
            closed: None,
        };
        let mut batch = Batch::new();
        let stored = match batch.put(Table::Approvals, id.as_str().as_bytes(), &row) {
            Ok(_) => self.commit(batch).await,
            Err(fault) => {
                self.store_failed(&fault);
                false
            }
        };
        if !stored {
            let text = "not run: the host could not store the question to the owner";
            let turn = self.record.turn;
            let outcome = outcome(&row.call, CallStatus::Refused, text.into());
            self.me.send(Mail::Tool { turn, outcome }).ok();
            return;
        }
        let keyboard = self.card_keyboard(&row);
        self.send_card(&row, keyboard);
        self.cards.insert(id.clone(), row);
        let me = self.me.clone();
        let wanted = id.clone();
        let deadline = tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(seconds.unsigned_abs())).await;
            me.send(Mail::Deadline(wanted)).ok();
        });
        self.deadlines.insert(id, AbortOnDropHandle::new(deadline));
    }

    pub(super) async fn card_sent(
        &mut self,
        id: &ApprovalId,
        key: ChatKey,
        message: Option<MessageId>,
    ) {
        let Some(row) = self.cards.get_mut(id) else {
            // It was answered or cancelled while it was on its way.
            self.close_late(id, key, message).await;
            return;
        };
        let Some(message) = message else {
            let call = self.close_card(id, "card-undelivered").await;
            let text = "not run: the owner could not be asked";
            self.settle_card(call, CallStatus::Refused, text).await;
            return;
        };
        row.message = Some(message);
        let row = row.clone();
        let mut batch = Batch::new();
        if batch
            .put(Table::Approvals, id.as_str().as_bytes(), &row)
            .is_ok()
        {
            self.commit(batch).await;
        }
    }

    pub(super) async fn card_expired(&mut self, id: &ApprovalId) {
        if self.cards.contains_key(id) {
            let text = "not run: nobody answered in time, which counts as denied";
            let call = self.close_card(id, "card-expired").await;
            self.settle_card(call, CallStatus::Refused, text).await;
        }
    }

    /// A tap on a card: `approve:`, `always:`, `deny:` or `ask:`.
    pub(super) async fn card_tap(&mut self, tap: &Tap, updates: &[UpdateId]) {
        let (word, rest) = tap.data.split_once(':').unwrap_or_default();
        let (id, option) = rest.split_once(':').unwrap_or((rest, ""));
        let id = ApprovalId(id.to_owned());
        let Some(row) = self.cards.get(&id).filter(|row| is_on(row, tap)).cloned() else {
            self.answer_tap(tap, "tap-expired", false);
            // Anybody can send any data for any message: others must not take the owner's buttons.
            if tap.sender.role == Role::Owner {
                self.strip_keyboard(tap).await;
            }
            self.close(updates).await;
            return;
        };
        if tap.sender.role == Role::Owner
            && let Some(row) = self.cards.get_mut(&id)
        {
            // The tap may be here before the report of the send.
            row.message = Some(tap.message);
        }
        match &row.kind {
            CardKind::Approval { .. } if tap.sender.role != Role::Owner => {
                self.answer_tap(tap, "tap-owner-only", true);
            }
            CardKind::Approval { class, always } => {
                let planning = self.plans.phase().is_planning();
                let answer = match word {
                    "approve" => Answer::Approve,
                    // What began as a card of a free session may be answered while planning.
                    "always" if *always && planning => Answer::Approve,
                    "always" if *always => Answer::Always,
                    _ => Answer::Deny,
                };
                if answer == Answer::Always && !self.record.grants.contains(class) {
                    self.record.grants.push(*class);
                    self.save().await;
                }
                self.decide(tap, &id, answer).await;
            }
            CardKind::Question { options, user } => {
                if tap.sender.id != *user && tap.sender.role != Role::Owner {
                    self.answer_tap(tap, "tap-not-yours", true);
                } else if let Some(text) = option.parse().ok().and_then(|n: usize| options.get(n)) {
                    self.answer_tap(tap, "tap-taken", false);
                    let said = self.tr("card-answered", &[("answer", text)]);
                    let text = format!("The user chose: {text}");
                    let call = self.close_card_with(&id, &said).await;
                    self.settle_card(call, CallStatus::Ok, &text).await;
                } else {
                    self.answer_tap(tap, "tap-expired", false);
                }
            }
        }
        self.close(updates).await;
    }

    async fn decide(&mut self, tap: &Tap, id: &ApprovalId, answer: Answer) {
        info!(approval.id = %id, answer = ?answer, "an approval was answered");
        let (toast, result) = match answer {
            Answer::Approve => ("tap-approved", "card-approved"),
            Answer::Always => ("tap-always", "card-always"),
            Answer::Deny => ("tap-denied", "card-denied"),
        };
        self.answer_tap(tap, toast, false);
        let Some(call) = self.close_card(id, result).await else {
            return;
        };
        if answer == Answer::Deny {
            let text =
                "not run: the owner denied it. Do not try to get the same effect another way.";
            self.settle_card(Some(call), CallStatus::Refused, text)
                .await;
        } else {
            self.show_waiting(&call, false);
            self.run_granted(&call).await;
        }
        if answer == Answer::Always {
            self.grant_waiting().await;
        }
    }

    /// Cards that "always" answers too.
    async fn grant_waiting(&mut self) {
        let covered: Vec<ApprovalId> = self
            .cards
            .values()
            .filter(|row| {
                matches!(&row.kind, CardKind::Approval { class, always }
                    if *always && self.record.grants.contains(class))
            })
            .map(|row| row.id.clone())
            .collect();
        for id in covered {
            if let Some(call) = self.close_card(&id, "card-always").await {
                self.show_waiting(&call, false);
                self.run_granted(&call).await;
            }
        }
    }

    /// Typed text answers an open question of the same person, or the owner's does.
    pub(super) async fn answers_question(
        &mut self,
        message: &UserMessage,
        updates: &[UpdateId],
    ) -> bool {
        // Somebody else's words are no answer, whoever passes them on.
        if message.origin.is_some() || message.observed {
            return false;
        }
        let open = self.cards.values().find(|row| {
            matches!(&row.kind, CardKind::Question { user, .. }
                if *user == message.sender.id || message.sender.role == Role::Owner)
        });
        let Some(id) = open.map(|row| row.id.clone()) else {
            return false;
        };
        let mut text = format!("The user answered: {}", message.text);
        for attachment in &message.attachments {
            text.push_str(&super::inputs::describe(attachment, &mut Vec::new()));
        }
        let text = self.deps.redactor.redact(&text);
        self.closing.extend(updates);
        let answer: String = message.text.chars().take(SHOWN_ANSWER).collect();
        let said = self.tr("card-answered", &[("answer", answer.trim())]);
        let call = self.close_card_with(&id, &said).await;
        self.settle_card(call, CallStatus::Ok, &text).await;
        self.close(updates).await;
        true
    }

    async fn settle_card(&mut self, call: Option<CallId>, status: CallStatus, text: &str) {
        if let Some(call) = call {
            self.settle_call(outcome(&call, status, text.to_owned()))
                .await;
        }
    }

    /// Ends a card and closes its message with a sentence; its row stays until the message says so. Gives
    /// the call that waited.
    pub(super) async fn close_card(&mut self, id: &ApprovalId, key: &str) -> Option<CallId> {
        let result = self.tr(key, &[]);
        self.close_card_with(id, &result).await
    }

    async fn close_card_with(&mut self, id: &ApprovalId, result: &str) -> Option<CallId> {
        let mut row = self.cards.remove(id)?;
        self.deadlines.remove(id);
        row.closed = Some(result.to_owned());
        let mut batch = Batch::new();
        match batch.put(Table::Approvals, id.as_str().as_bytes(), &row) {
            Ok(_) => {
                self.commit(batch).await;
            }
            Err(fault) => self.store_failed(&fault),
        }
        self.edit_card(&row, result);
        Some(row.call)
    }

    /// A card that ended before its message was known.
    async fn close_late(&self, id: &ApprovalId, key: ChatKey, message: Option<MessageId>) {
        let row: Option<CardRow> = match self
            .deps
            .store
            .get(Table::Approvals, id.as_str().as_bytes())
            .await
        {
            Ok(row) => row,
            Err(fault) => return self.store_failed(&fault),
        };
        match (row, message) {
            (Some(mut row), Some(message)) => {
                row.message = Some(message);
                let cancelled = self.tr("card-cancelled", &[]);
                let result = row.closed.clone().unwrap_or(cancelled);
                self.edit_card(&row, &result);
            }
            (None, Some(message)) => self.set_keyboard(key, message, None),
            (Some(row), None) => forget_card(&self.deps.store, &row.id).await,
            (None, None) => {}
        }
    }

    /// Closes every open card, without an answer to its call.
    pub(super) async fn cancel_cards(&mut self, result: &str) {
        let ids: Vec<ApprovalId> = self.cards.keys().cloned().collect();
        for id in ids {
            self.close_card(&id, result).await;
        }
    }

    /// After a restart every card is expired: its turn's calls have been told. A row goes when its
    /// message shows the end, or when that is hopeless.
    pub(super) async fn expire_old_cards(&mut self, rows: Vec<CardRow>) {
        let journal = StoreJournal::new(self.deps.store.clone());
        let now = chrono::Utc::now().timestamp();
        for mut row in rows {
            if row.message.is_none()
                && let Ok(Some(sent)) = journal.ledger(&card_ledger(&row.id)).await
            {
                row.message = sent.message;
            }
            if row.message.is_none() || now - row.deadline > GIVE_UP_SECONDS {
                forget_card(&self.deps.store, &row.id).await;
            } else {
                let restarted = self.tr("card-restarted", &[]);
                let result = row.closed.clone().unwrap_or(restarted);
                self.edit_card(&row, &result);
            }
        }
    }
}

/// Takes a card's row out of the store: its message shows the end.
pub(super) async fn forget_card(store: &Store, id: &ApprovalId) {
    let mut batch = Batch::new();
    batch.delete(Table::Approvals, id.as_str().as_bytes());
    if let Err(fault) = store.write(batch).await {
        debug!(error = %fault, "a closed card could not be forgotten");
    }
}

/// Whether a tap is on this very card, as far as its message is known.
fn is_on(row: &CardRow, tap: &Tap) -> bool {
    row.key.chat == tap.key.chat && row.message.is_none_or(|message| message == tap.message)
}

fn new_id() -> ApprovalId {
    let id = uuid::Uuid::new_v4().simple().to_string();
    ApprovalId(id.chars().take(16).collect())
}
