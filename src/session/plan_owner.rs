//! What only the owner does with a plan: approve, retry the seed, discard, compare, edit.

use std::time::Duration;

use tokio::sync::oneshot;
use tracing::{debug, info, warn};

use crate::agent::Cancel;
use crate::agent::transcript::UserInput;
use crate::domain::{
    ChatKind, Command, MessageId, Role, Sender, Tap, TurnId, UpdateId, UserMessage,
};
use crate::plan::lifecycle::{self, Approval, Execute, Refusal};
use crate::plan::model::{Plan, PlanState};
use crate::plan::store::ArchivedPlan;
use crate::plan::{seed, template};
use crate::store::Batch;

use super::actor::Actor;
use super::flow_record::{self, PlanBinding};
use super::flow_task::{self, PlanDocument};
use super::mail::Mail;

/// How long a cancelled tool may take to end before its plan is deleted.
const TOOL_END: Duration = Duration::from_secs(3);
/// How long the card may take to lose its buttons before its plan is deleted all the same.
const STRIP_END: Duration = Duration::from_secs(2);

impl Actor {
    /// A tap on Approve, Discard or Keep.
    pub(super) async fn plan_tap(&mut self, tap: &Tap, updates: &[UpdateId]) {
        if tap.sender.role == Role::Owner {
            match tap.data.as_str() {
                "plan:ok" => {
                    self.closing.extend(updates);
                    self.approve_tap(tap).await;
                }
                "plan:no" => {
                    self.discard_tap(tap, updates).await;
                    return;
                }
                "plan:keep" => self.keep_tap(tap).await,
                _ => self.answer_tap(tap, "tap-expired", false),
            }
        } else {
            self.answer_tap(tap, "tap-owner-only", true);
        }
        self.close(updates).await;
    }

    async fn approve_tap(&mut self, tap: &Tap) {
        if self.is_taken() {
            self.answer_tap(tap, "tap-busy", true);
            return;
        }
        let bound = self.bound(tap).await;
        let known = bound.is_some();
        let Some(shown) = bound.filter(|bound| bound.approvable) else {
            self.answer_tap(tap, "tap-superseded", true);
            // The card of a plan that cannot be approved now keeps its other buttons.
            if !known {
                self.strip_keyboard(tap).await;
            }
            return;
        };
        self.load_plan().await;
        let done = match lifecycle::execute(&self.plans.state) {
            Ok(Execute::Approve) => {
                let shown = (shown.plan, shown.revision);
                self.approve(&tap.sender, tap.message, shown).await
            }
            Ok(Execute::RetrySeed) if self.plans.shown().0 == shown.plan => {
                self.retry_seed(&tap.sender, tap.message).await
            }
            Ok(Execute::RetrySeed) => Err(Refusal::Superseded),
            Err(refusal) => Err(refusal),
        };
        match done {
            Ok(()) => self.answer_tap(tap, "tap-approved-plan", false),
            Err(refusal) => {
                let text = self.refusal_text(&refusal);
                self.answer_tap_text(tap, text, true);
                if refusal == Refusal::Superseded {
                    self.strip_keyboard(tap).await;
                }
            }
        }
    }

    /// Approves what was shown. The slot is this task's; the approval is durable before the seed turn.
    pub(super) async fn approve(
        &mut self,
        by: &Sender,
        message: MessageId,
        shown: (String, String),
    ) -> Result<(), Refusal> {
        let md = self.read_md().await;
        let note = self
            .comment
            .take_if(|(revision, _)| *revision == shown.1)
            .map(|(_, text)| text);
        let plan = lifecycle::approve(
            &self.plans.state,
            &md,
            &Approval {
                plan_id: &shown.0,
                revision: &shown.1,
                by: by.id,
                at: chrono::Utc::now(),
                note: note.as_deref(),
                max_tasks: self.settings().plan.max_tasks,
            },
        )?;
        if let Err(fault) = self.plans.save(plan.clone(), None).await {
            warn!(error = %fault, "an approval was not saved; nothing runs");
            return Err(Refusal::Bound("the approval could not be saved".into()));
        }
        info!(
            plan.id = plan.id,
            user.id = by.id.0,
            "the owner approved the plan"
        );
        metrics::counter!("greenlight_plans_approved_total").increment(1);
        self.plan_becomes(PlanState::Active(Box::new(plan)));
        self.seed(by, message).await;
        Ok(())
    }

    /// Sends the seed prompt again for an approved plan without tasks.
    pub(super) async fn retry_seed(
        &mut self,
        by: &Sender,
        message: MessageId,
    ) -> Result<(), Refusal> {
        self.seed(by, message).await;
        Ok(())
    }

    /// Starts the seed turn, if the prose is still the approved one.
    async fn seed(&mut self, by: &Sender, message: MessageId) {
        let md = self.read_md().await;
        let Some(plan) = self.plans.active().cloned() else {
            return;
        };
        if !seed::is_approved_text(&plan, &md) {
            self.reopen(&plan, &md).await;
            return;
        }
        let Some(path) = self.plans.md_path(false) else {
            return;
        };
        let input = UserInput {
            text: seed::prompt(&plan, &path),
            words: String::new(),
            images: Vec::new(),
        };
        let from = UserMessage {
            key: self.record.key,
            chat_kind: ChatKind::Private,
            sender: by.clone(),
            message,
            updates: Vec::new(),
            text: String::new(),
            quote: None,
            origin: None,
            attachments: Vec::new(),
            observed: false,
            sent_at: 0,
        };
        let revision = plan.approved_revision.clone();
        self.begin_turn(&from, revision, vec![input], Batch::new())
            .await;
    }

    /// The prose was changed behind the approval: back to Editing, said aloud.
    async fn reopen(&mut self, plan: &Plan, md: &str) {
        let plan = lifecycle::reopen(plan, md, chrono::Utc::now());
        if let Err(fault) = self.plans.save(plan, None).await {
            warn!(error = %fault, "a changed plan was not reopened");
        }
        self.load_plan().await;
        self.say_key("plan-reopened", &[]);
        self.restick().await;
    }

    async fn read_md(&self) -> String {
        self.plans
            .with(|files| files.read_md().ok().flatten().unwrap_or_default())
            .await
            .unwrap_or_default()
    }

    async fn discard_tap(&mut self, tap: &Tap, updates: &[UpdateId]) {
        self.load_plan().await;
        let bound = self.bound(tap).await;
        let live = self.plans.shown().0;
        let Some(bound) = bound.filter(|bound| !live.is_empty() && bound.plan == live) else {
            self.answer_tap(tap, "tap-superseded", true);
            self.strip_keyboard(tap).await;
            self.close(updates).await;
            return;
        };
        let done = self.plans.active().map_or(0, |plan| plan.counts().done);
        if done > 0 && !bound.confirming {
            self.answer_tap(tap, "tap-confirm-discard", false);
            self.ask_discard(tap, true);
            self.close(updates).await;
            return;
        }
        self.answer_tap(tap, "tap-discarded", false);
        self.begin_discard(None, updates.to_vec()).await;
    }

    /// Takes the question back, if it was asked on this card.
    async fn keep_tap(&mut self, tap: &Tap) {
        self.load_plan().await;
        let live = self.plans.shown().0;
        let bound = self.bound(tap).await;
        let Some(bound) = bound.filter(|bound| bound.plan == live && !live.is_empty()) else {
            self.answer_tap(tap, "tap-superseded", true);
            self.strip_keyboard(tap).await;
            return;
        };
        self.answer_tap(tap, "tap-kept", false);
        // A second tap finds the usual buttons there already.
        if bound.confirming && !self.holding {
            self.ask_discard(tap, false);
        }
    }

    async fn bound(&self, tap: &Tap) -> Option<PlanBinding> {
        match flow_record::binding(&self.deps.store, tap.key.chat, tap.message).await {
            Ok(bound) => bound,
            Err(fault) => {
                warn!(error = %fault, "what a button refers to cannot be read");
                None
            }
        }
    }

    /// Swaps the buttons for the question whether work that is done shall go, or puts them back.
    fn ask_discard(&self, tap: &Tap, asked: bool) {
        if let Some(running) = &self.running {
            running.flow.confirm_discard(asked);
            return;
        }
        let Some(view) = self.plan_view(false) else {
            return;
        };
        let (outbox, store) = (self.deps.outbox.clone(), self.deps.store.clone());
        let (key, message, language) = (tap.key, tap.message, self.language());
        tokio::spawn(async move {
            let swapped = if asked {
                flow_record::confirm_discard(&outbox, &store, key, message, &language, &view).await
            } else {
                flow_record::keep(&outbox, &store, key, message, &language, &view, false).await
            };
            if let Err(fault) = swapped {
                warn!(error = %fault, "buttons were not swapped");
            }
        });
    }

    /// Shows the plan with its buttons at the bottom of the chat.
    pub(super) async fn restick(&mut self) {
        let turn = self.record.turn;
        let (parts, options) = (self.flow_parts(turn), self.flow_options(false, false));
        let document = self.plan_document().await;
        let before = self.delivery.take();
        self.delivery = Some(tokio::spawn(async move {
            if let Some(before) = before {
                before.await.ok();
            }
            flow_task::show_plan(parts, options, document).await;
        }));
    }

    /// The prose as a document, for a plan that may be too long for a message.
    pub(super) async fn plan_document(&mut self) -> Option<PlanDocument> {
        let PlanState::Editing(editing) = &self.plans.state else {
            return None;
        };
        let bytes = editing.prose.clone().into_bytes();
        let number = u32::try_from(self.keep_revision().await).unwrap_or(u32::MAX);
        Some(PlanDocument { number, bytes })
    }

    /// Begins a discard: the turn ends, nothing new starts, and the card loses its buttons. The plan is
    /// deleted when that is done, so that no button outlives its plan.
    pub(super) async fn begin_discard(&mut self, command: Option<Command>, updates: Vec<UpdateId>) {
        self.holding = true;
        let tools = self
            .running
            .as_mut()
            .map(|running| std::mem::take(&mut running.tools))
            .unwrap_or_default();
        self.cancel_turn(Cancel::Stopped).await;
        let (outbox, store) = (self.deps.outbox.clone(), self.deps.store.clone());
        let (key, me) = (self.record.key, self.me.clone());
        let before = self.delivery.take();
        let (stripped, wait) = oneshot::channel();
        // Behind whatever is being delivered, so that nothing dresses the card again.
        self.delivery = Some(tokio::spawn(async move {
            if let Some(before) = before {
                before.await.ok();
            }
            if let Err(fault) = flow_record::strip(&outbox, &store, key).await {
                warn!(error = %fault, "the card of a discarded plan was not stripped");
            }
            stripped.send(()).ok();
        }));
        tokio::spawn(async move {
            for mut tool in tools {
                if tokio::time::timeout(TOOL_END, &mut tool).await.is_err() {
                    tool.abort();
                }
            }
            if tokio::time::timeout(STRIP_END, wait).await.is_err() {
                debug!("the card is stripped later");
            }
            me.send(Mail::Discard { command, updates }).ok();
        });
    }

    /// Deletes the plan of a discard that has begun.
    pub(super) async fn end_discard(&mut self, command: Option<Command>, updates: Vec<UpdateId>) {
        let result = self.delete_plan().await;
        self.holding = false;
        let text = match &result {
            Ok(key) => self.tr(key, &[]),
            Err(refusal) => self.refusal_text(refusal),
        };
        match &command {
            Some(command) => self.reply(command, text),
            None if result.is_err() => self.say_text(text),
            None => {}
        }
        self.close(&updates).await;
        self.go_on().await;
    }

    async fn delete_plan(&mut self) -> Result<&'static str, Refusal> {
        self.load_plan().await;
        let how = lifecycle::discard(&self.plans.state)?;
        self.record.turn = TurnId(self.record.turn.0 + 1);
        let epoch = self.record.turn;
        let now = chrono::Utc::now();
        self.forget_plan_message().await;
        let discarded = self
            .plans
            .with(move |files| {
                files.fence(TurnId(epoch.0 - 1));
                files.discard(now)
            })
            .await;
        self.plans.set_epoch(epoch);
        self.record.goal = None;
        self.plans.cache.clear();
        self.load_plan().await;
        self.save().await;
        if let Some(Err(fault)) = discarded {
            warn!(error = %fault, "a plan was not discarded");
            return Err(Refusal::Corrupt);
        }
        info!("the plan was discarded");
        Ok(match how {
            lifecycle::Discard::Delete => "discard-done",
            lifecycle::Discard::SetAside => "discard-set-aside",
        })
    }

    /// The archived plans of this session, newest first.
    pub(super) async fn archived_plans(&self) -> Vec<(String, Plan)> {
        self.plans
            .with(|files| {
                let read = |archived: ArchivedPlan| {
                    let bytes = std::fs::read(&archived.json).ok()?;
                    let plan = serde_json::from_slice(&bytes).ok()?;
                    Some((archived.at.format("%Y-%m-%d %H:%M").to_string(), plan))
                };
                let archived = files.list().unwrap_or_default();
                archived.into_iter().filter_map(read).collect()
            })
            .await
            .unwrap_or_default()
    }

    /// `/plan edit`: the prose as a document; its answer comes back as a document.
    pub(super) async fn plan_edit(&mut self, command: &Command) {
        let PlanState::Editing(editing) = &self.plans.state else {
            self.reply_key(command, "plan-edit-only-editing", &[]);
            return;
        };
        let (name, bytes) = ("plan.md", editing.prose.clone().into_bytes());
        self.send_document(self.record.key, name, bytes, false);
        self.reply_key(command, "plan-edit-how", &[]);
    }

    /// A `.md` document of the owner as a reply to the bot while Editing is the next revision.
    pub(super) async fn takes_edited_plan(
        &mut self,
        message: &UserMessage,
        updates: &[UpdateId],
    ) -> bool {
        let quoted = message.quote.as_ref().is_some_and(|quote| quote.from_bot);
        if message.sender.role != Role::Owner || !quoted || self.is_taken() {
            return false;
        }
        let Some(path) = message
            .attachments
            .iter()
            .find(|file| file.name.to_lowercase().ends_with(".md"))
            .and_then(|file| file.path.clone())
        else {
            return false;
        };
        self.load_plan().await;
        let PlanState::Editing(editing) = &self.plans.state else {
            return false;
        };
        let mut plan = (*editing.plan).clone();
        let text = tokio::fs::read_to_string(&path).await.unwrap_or_default();
        let missing = template::missing(&text, self.settings().plan.max_tasks);
        if !missing.is_empty() {
            let text = self.refusal_text(&Refusal::Incomplete(missing));
            self.say_text(text);
            self.close(updates).await;
            return true;
        }
        plan.description.clone_from(&text);
        plan.revision = template::revision(&text);
        plan.updated_at = chrono::Utc::now();
        match self.plans.save(plan, Some(text)).await {
            Ok(()) => self.say_key("plan-edit-taken", &[]),
            Err(fault) => {
                warn!(error = %fault, "an edited plan was not saved");
                self.say_key("plan-save-failed", &[]);
            }
        }
        self.load_plan().await;
        self.keep_revision().await;
        self.restick().await;
        self.close(updates).await;
        true
    }
}
