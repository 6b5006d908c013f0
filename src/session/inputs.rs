//! What people write: queued durably, handed to the next turn or to the running one.

use tracing::{debug, warn};

use crate::agent::Event;
use crate::agent::hints;
use crate::agent::transcript::UserInput;
use crate::config::Busy;
use crate::domain::{
    Attachment, AttachmentKind, ImageRef, Inbound, Role, TurnId, UpdateId, UserMessage,
};
use crate::plan::model::PlanState;
use crate::store::{Batch, StoreError, Table};
use crate::telegram::media;

use super::actor::Actor;
use super::mail::Mail;
use super::record::{Queued, TurnRecord, TurnStage, session_key};

/// Messages that may wait.
const QUEUE: usize = 20;
/// Bytes of one attachment's text that are told; the file itself is at its path.
const QUOTE_CHARS: usize = 4000;

impl Actor {
    /// A message of a person: an answer to an open question, or input of a turn.
    pub(super) async fn message(&mut self, message: UserMessage, updates: Vec<UpdateId>) {
        if self.fetches(&message, &updates)
            || self.answers_question(&message, &updates).await
            || self.takes_edited_plan(&message, &updates).await
        {
            return;
        }
        if let Some(running) = &self.running {
            running.flow.buried(message.message);
        }
        self.enqueue(message, updates, false).await;
    }

    /// Queues a message durably and closes its updates with it.
    pub(super) async fn enqueue(
        &mut self,
        message: UserMessage,
        updates: Vec<UpdateId>,
        design: bool,
    ) {
        if self.queue.len() >= QUEUE {
            self.say_key("queue-full", &[("count", &QUEUE.to_string())]);
            self.close(&updates).await;
            return;
        }
        let Some(first) = updates.first().copied() else {
            return;
        };
        if self.queue.iter().any(|queued| queued.update == first) {
            self.close(&updates).await;
            return;
        }
        if message.sender.role == Role::Owner {
            self.record
                .client_language
                .clone_from(&message.sender.language);
        }
        let queued = Queued {
            update: first,
            message,
            design,
        };
        let mut batch = Batch::new();
        let key = session_key(&self.record.id, u64::from(first.0));
        if let Err(fault) = batch.put(Table::Queue, &key, &queued) {
            self.store_failed(&fault);
            return;
        }
        self.close_in(&mut batch, &updates);
        if !self.commit(batch).await {
            return;
        }
        self.tell_of_voice(&queued.message);
        let busy = self.is_busy();
        let message = queued.message.message;
        self.queue.push_back(queued);
        if busy {
            self.react(message, "👀");
        } else {
            self.go_on().await;
        }
    }

    /// A voice note is not listened to: it is kept, and its sender is told so.
    fn tell_of_voice(&self, message: &UserMessage) {
        let kept = message
            .attachments
            .iter()
            .any(|file| file.kind == AttachmentKind::Voice && file.path.is_some());
        if kept {
            self.say_key("voice-kept", &[]);
        }
    }

    /// An edit replaces the queued text as long as nothing has read it.
    pub(super) async fn edited(&mut self, message: UserMessage, updates: Vec<UpdateId>) {
        let session = self.record.id.clone();
        let waiting = self.queue.iter_mut().find(|queued| {
            queued.message.message == message.message
                && queued.message.sender.id == message.sender.id
        });
        let mut batch = Batch::new();
        if let Some(queued) = waiting {
            queued.message.text = message.text;
            let key = session_key(&session, u64::from(queued.update.0));
            if let Err(fault) = batch.put(Table::Queue, &key, queued) {
                self.store_failed(&fault);
                return;
            }
        } else {
            debug!("an edit came after its message was read");
        }
        self.close_in(&mut batch, &updates);
        self.commit(batch).await;
    }

    /// Starts what waits, if nothing runs: commands first, then queued words.
    pub(super) async fn go_on(&mut self) {
        while !self.is_busy() && !self.over && !self.holding && !self.is_stalled() {
            if let Some(command) = self.later.pop_front() {
                let updates = vec![command.update];
                Box::pin(self.command(command, updates)).await;
            } else if self.queue.is_empty() {
                return;
            } else {
                Box::pin(self.next_turn()).await;
            }
        }
    }

    /// A turn on the queued words of one person.
    async fn next_turn(&mut self) {
        let mut taken: Vec<Queued> = Vec::new();
        while let Some(next) = self.queue.front() {
            let fits = taken.first().is_none_or(|first| {
                first.message.sender.id == next.message.sender.id && !first.design && !next.design
            });
            if !fits {
                break;
            }
            taken.extend(self.queue.pop_front());
        }
        let Some(first) = taken.first().cloned() else {
            return;
        };
        self.load_plan().await;
        self.nudge(&taken).await;
        self.card = super::flow_record::load(&self.deps.store, self.record.key)
            .await
            .ok()
            .flatten()
            .and_then(|record| record.message);
        self.remember_comment(&first.message);
        let inputs = taken.iter().map(|queued| self.user_input(queued)).collect();
        let mut batch = Batch::new();
        for queued in &taken {
            let key = session_key(&self.record.id, u64::from(queued.update.0));
            batch.delete(Table::Queue, &key);
        }
        self.begin_turn(&first.message, None, inputs, batch).await;
    }

    /// Opens a turn durably and lets it begin.
    pub(super) async fn begin_turn(
        &mut self,
        message: &UserMessage,
        seed: Option<String>,
        inputs: Vec<UserInput>,
        mut batch: Batch,
    ) {
        self.record.turn = TurnId(self.record.turn.0 + 1);
        self.plans.set_epoch(self.record.turn);
        let record = TurnRecord {
            turn: self.record.turn,
            user: message.sender.id,
            role: message.sender.role,
            name: message.sender.name.chars().take(64).collect(),
            message: message.message,
            seed,
            stage: TurnStage::Running {
                step: self.conversation.len() + inputs.len(),
                crashes: 0,
                total: 0,
            },
        };
        self.record.used_at = chrono::Utc::now();
        if let Err(fault) = self.put_turn(&mut batch, &record) {
            self.store_failed(&fault);
            return;
        }
        self.open_turn(record, false);
        let used_up = self.day_budget_is_used_up();
        self.drive(Event::Begin(inputs), batch).await;
        if used_up {
            self.end_for_day_budget().await;
        }
    }

    pub(super) fn put_turn(
        &self,
        batch: &mut Batch,
        record: &TurnRecord,
    ) -> Result<(), StoreError> {
        self.put_record(batch)?;
        let key = session_key(&self.record.id, record.turn.0);
        batch.put(Table::Running, &key, record)?;
        Ok(())
    }

    /// Words that arrived while the turn ran, to be handed over between tool rounds. They leave the queue
    /// with [`Self::took`].
    pub(super) fn steer(&self) -> Vec<Queued> {
        let Some(running) = &self.running else {
            return Vec::new();
        };
        if self.deps.settings().telegram.busy == Busy::Queue {
            return Vec::new();
        }
        let (user, role) = (running.record.user, running.record.role);
        let fits = |queued: &&Queued| {
            let sender = &queued.message.sender;
            let may = sender.id == user || sender.role == Role::Owner || role == Role::Member;
            may && !queued.design
        };
        self.queue.iter().filter(fits).cloned().collect()
    }

    /// Takes words off the queue that enter the transcript with `batch`.
    pub(super) fn took(&mut self, words: &[Queued], batch: &mut Batch) {
        for queued in words {
            let key = session_key(&self.record.id, u64::from(queued.update.0));
            batch.delete(Table::Queue, &key);
        }
        self.queue
            .retain(|waiting| words.iter().all(|taken| taken.update != waiting.update));
    }

    /// A plan phrase of the owner sets plan mode; the model gets hints, the words stay as they are.
    async fn nudge(&mut self, taken: &[Queued]) {
        let natural = taken
            .iter()
            .filter(|queued| queued.message.origin.is_none() && !queued.message.observed)
            .filter(|queued| queued.message.sender.role == Role::Owner);
        let asked = natural
            .map(|queued| hints::analyze(&queued.message.text, Some(&self.language())))
            .any(|found| found.plan_phrase);
        if asked && matches!(self.plans.state, PlanState::NoPlan) {
            self.pre_init_by_nudge().await;
        }
    }

    /// What the model reads of a message: the words, marked quotes and files, hints at the end.
    pub(super) fn user_input(&self, queued: &Queued) -> UserInput {
        let message = &queued.message;
        let mut text = String::new();
        if message.key.chat.0 < 0 {
            text.push_str(&format!("[from {}]\n", one_line(&message.sender.name)));
        }
        if let Some(comment) = self.comment_on_plan(message) {
            text.push_str(&comment);
        } else {
            if let Some(quote) = &message.quote {
                let source = if quote.from_bot {
                    "your earlier message"
                } else {
                    "quoted message"
                };
                let body: String = quote.text.chars().take(QUOTE_CHARS).collect();
                text.push_str(&self.deps.untrusted(source, &body));
                text.push('\n');
            }
            match &message.origin {
                Some(origin) => {
                    let source = format!("forwarded from {}", one_line(&origin.name));
                    text.push_str(&self.deps.untrusted(&source, &message.text));
                }
                None if message.observed => {
                    text.push_str(&self.deps.untrusted("observed in the group", &message.text));
                }
                None => text.push_str(&message.text),
            }
        }
        let mut images = Vec::new();
        for attachment in &message.attachments {
            text.push_str(&describe(attachment, &mut images));
        }
        let natural = message.origin.is_none() && !message.observed;
        if natural && self.settings().plan.enabled {
            let found = hints::analyze(&message.text, Some(&self.language()));
            if !found.is_empty() {
                text.push_str("\n\n");
                text.push_str(&hints::hint_text(&found));
            }
        }
        UserInput {
            text,
            words: message.text.clone(),
            images,
        }
    }

    /// Downloads files first; the message comes back by mail when they are here.
    fn fetches(&self, message: &UserMessage, updates: &[UpdateId]) -> bool {
        let missing = message
            .attachments
            .iter()
            .any(|attachment| attachment.path.is_none() && !attachment.file_id.is_empty());
        if !missing {
            return false;
        }
        let mut message = message.clone();
        let updates = updates.to_vec();
        let api = self.deps.api.clone();
        let folder = self.deps.session_dir(&self.record.id).join("inbox");
        let me = self.me.clone();
        tokio::spawn(async move {
            for attachment in &mut message.attachments {
                match media::fetch(&api, attachment, message.message, &folder).await {
                    Ok(fetched) => *attachment = fetched,
                    Err(fault) => warn!(key = fault.key, "a file was not downloaded"),
                }
                // Emptied either way, so that the message is not fetched again.
                attachment.file_id.clear();
            }
            let inbound = Inbound::Message(message);
            me.send(Mail::Input { inbound, updates }).ok();
        });
        true
    }
}

fn describe(attachment: &Attachment, images: &mut Vec<ImageRef>) -> String {
    let name = one_line(&attachment.name);
    let Some(path) = &attachment.path else {
        return format!("\n[file {name}: could not be downloaded]");
    };
    match attachment.kind {
        AttachmentKind::Photo => {
            images.push(ImageRef {
                path: path.clone(),
                mime: attachment
                    .mime
                    .clone()
                    .unwrap_or_else(|| "image/jpeg".into()),
            });
            format!("\n[picture {name}]")
        }
        AttachmentKind::Document => format!("\n[file {name} at {}]", path.display()),
        AttachmentKind::Voice => {
            format!(
                "\n[voice note at {}; no transcription is configured]",
                path.display()
            )
        }
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .take(100)
        .collect()
}
