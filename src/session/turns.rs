//! A turn's effects carried out: records, timers, the end.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::agent::context;
use crate::agent::transcript::Record;
use crate::agent::{Cancel, Effect, Event, Limits, TimerId, Turn, prompt};
use crate::config::Render;
use crate::domain::{
    ApprovalLevel, EndReason, ModelEvent, ModelFault, Progress, SessionId, ToolSpec, TurnId,
};
use crate::flow::{FlowOptions, Renderer};
use crate::llm::Model;
use crate::plan::view::PlanView;
use crate::store::{Batch, StoreError, Table};
use crate::telegram::outbox::{Outbox, SendFault};

use super::actor::{Actor, Running};
use super::answer::{self, Answer};
use super::batch::Whose;
use super::flow_task::{FlowHandle, FlowParts, PlanDocument};
use super::mail::Mail;
use super::record::{TurnRecord, TurnStage, session_key};
use super::requests::stream;
use super::watch::Watch;

/// How long an answer waits for its flow message to settle.
const SETTLE_FIRST: std::time::Duration = std::time::Duration::from_secs(1);
/// Wait before an answer is sent again that Telegram could not be reached for.
const DELIVER_AGAIN: std::time::Duration = std::time::Duration::from_secs(30);

impl Actor {
    /// Takes one event of the running turn and carries out what follows from it.
    pub(super) async fn drive(&mut self, event: Event, batch: Batch) {
        let ends = match event {
            Event::Cancel(why) => why != Cancel::Shutdown,
            Event::Timer(id) => id == TimerId::WallTime,
            Event::Begin(_)
            | Event::Resume { .. }
            | Event::Text(_)
            | Event::Reply { .. }
            | Event::ModelFailed(_)
            | Event::Finished(_)
            | Event::BatchDone { .. }
            | Event::Compacted(_) => false,
        };
        let mut effects = VecDeque::new();
        if ends {
            effects.extend(self.settle_cut_calls().await);
        }
        let Some(running) = &mut self.running else {
            return;
        };
        effects.extend(running.turn.step(event));
        if let Err(fault) = self.carry_out(effects, batch).await {
            self.store_failed(&fault);
        }
    }

    /// Carries out effects that came up outside `drive`.
    pub(super) async fn follow(&mut self, effects: Vec<Effect>) {
        if let Err(fault) = self.carry_out(effects.into(), Batch::new()).await {
            self.store_failed(&fault);
        }
    }

    async fn carry_out(
        &mut self,
        mut effects: VecDeque<Effect>,
        mut batch: Batch,
    ) -> Result<(), StoreError> {
        while let Some(effect) = effects.pop_front() {
            if let Effect::Append(record) = effect {
                self.append(&mut batch, record)?;
                continue;
            }
            if let Effect::Finish { reason, answer } = &effect {
                if let Some(text) = self.left_for_model(reason) {
                    let turn = self.record.turn;
                    self.append(&mut batch, Record::Host { turn, text })?;
                }
                self.put_delivering(&mut batch, reason, answer)?;
            }
            // What is only shown waits for nothing, so that records of one step land together or not at all.
            if !matches!(effect, Effect::Progress(_) | Effect::SetTimer { .. }) {
                self.land(&mut batch).await?;
            }
            effects.extend(self.perform(effect).await);
        }
        self.land(&mut batch).await
    }

    /// Makes a batch durable, together with the closing of the updates that asked for it.
    async fn land(&mut self, batch: &mut Batch) -> Result<(), StoreError> {
        if batch.is_empty() {
            return Ok(());
        }
        let closing = std::mem::take(&mut self.closing);
        self.close_in(batch, &closing);
        self.deps.store.commit(std::mem::take(batch)).await
    }

    /// Adds a record to the conversation and to the batch, without its secrets.
    pub(super) fn append(&mut self, batch: &mut Batch, record: Record) -> Result<(), StoreError> {
        let record = self.redacted(record);
        let number = self.conversation.len() as u64;
        batch.put(
            Table::Transcript,
            &session_key(&self.record.id, number),
            &record,
        )?;
        self.conversation.push(record);
        Ok(())
    }

    async fn perform(&mut self, effect: Effect) -> Vec<Effect> {
        match effect {
            Effect::Append(_) => Vec::new(),
            Effect::CallModel { request, model } => {
                self.call_model(request, model).await;
                Vec::new()
            }
            Effect::CancelModel => {
                if let Some(running) = &self.running {
                    running.request.cancel();
                }
                Vec::new()
            }
            Effect::RunTools(calls) => self.begin_batch(Whose::Turn, calls).await,
            Effect::CancelTools => {
                if let Some(running) = &self.running {
                    running.cancel.cancel();
                }
                // At the end of the process there is no time to close cards; the next start expires them.
                if !self.over {
                    self.cancel_cards("card-cancelled").await;
                }
                Vec::new()
            }
            Effect::Compact => {
                self.compact().await;
                Vec::new()
            }
            Effect::Progress(progress) => {
                self.show(progress);
                Vec::new()
            }
            Effect::SetTimer { id, after } => {
                self.set_timer(id, after);
                Vec::new()
            }
            Effect::Finish { reason, answer } => {
                self.finish(reason, answer).await;
                Vec::new()
            }
        }
    }

    /// Shows progress. Streamed text is held back to the last blank, so that no half of a secret shows.
    fn show(&mut self, progress: Progress) {
        let redactor = Arc::clone(&self.deps.redactor);
        let Some(running) = &mut self.running else {
            return;
        };
        let progress = match progress {
            Progress::Text { delta } => {
                match super::words::held_back(&mut running.text_tail, &delta) {
                    Some(whole) => Progress::Text {
                        delta: redactor.redact(&whole),
                    },
                    None => return,
                }
            }
            Progress::Narration { text } => {
                running.text_tail.clear();
                Progress::Narration {
                    text: redactor.redact(&text),
                }
            }
            Progress::TextDropped => {
                running.text_tail.clear();
                Progress::TextDropped
            }
            other @ (Progress::Thinking { .. }
            | Progress::ToolStarted { .. }
            | Progress::ToolOutput { .. }
            | Progress::ToolFinished { .. }
            | Progress::Notice(_)
            | Progress::Usage { .. }
            | Progress::Ended { .. }) => other,
        };
        running.flow.progress(progress);
    }

    fn set_timer(&mut self, id: TimerId, after: std::time::Duration) {
        let Some(running) = &mut self.running else {
            return;
        };
        let turn = running.turn.id();
        let me = self.me.clone();
        let task = tokio::spawn(async move {
            tokio::time::sleep(after).await;
            me.send(Mail::Timer { turn, id }).ok();
        });
        if let Some(old) = running.timers.insert(id, task.abort_handle()) {
            old.abort();
        }
    }

    /// The model that this session chose, then the others in order.
    pub(super) fn model(&self, index: usize) -> Option<Arc<dyn Model>> {
        let models = &self.deps.models;
        let first = self.record.model.min(models.len().saturating_sub(1));
        let place = if index == 0 {
            first
        } else {
            (0..models.len())
                .filter(|place| *place != first)
                .nth(index - 1)?
        };
        models.get(place).cloned()
    }

    pub(super) fn tool_specs(&self) -> Vec<ToolSpec> {
        let mut specs: Vec<ToolSpec> = self
            .deps
            .toolbox
            .descriptors()
            .into_iter()
            .filter(|tool| self.offers(tool.name))
            .map(|tool| ToolSpec {
                name: tool.name.to_owned(),
                description: tool.description.to_owned(),
                schema: (tool.schema)(),
            })
            .collect();
        if self.offers(super::plans::TOOL) {
            specs.push(super::plans::spec());
        }
        specs
    }

    pub(super) fn system_prompt(&self) -> String {
        let settings = self.settings();
        prompt::system(&prompt::Head {
            workspace: &self.record.workspace.display().to_string(),
            planning: settings.plan.enabled,
            yolo: self.level() == ApprovalLevel::Yolo,
            language: &self.language(),
            sandbox: self.deps.toolbox.sandbox().is_available(),
        })
    }

    async fn compact(&mut self) {
        let plan = self.digest_plan().await;
        let (Some(model), Some(running)) = (self.model(0), &self.running) else {
            return;
        };
        let body = context::digest_request(&self.conversation, &plan, model.window());
        let turn = running.turn.id();
        let session = self.record.id.clone();
        let cancel = running.cancel.clone();
        let me = self.me.clone();
        let (tell, told) = oneshot::channel();
        tokio::spawn(async move {
            let mut tell = Some(tell);
            let send = |event: Result<ModelEvent, ModelFault>| {
                if let Ok(ModelEvent::End(reply)) = event
                    && let Some(tell) = tell.take()
                {
                    tell.send(reply.text).ok();
                }
            };
            tokio::select! {
                () = cancel.cancelled() => {}
                () = stream(model, body, send) => {}
            }
        });
        tokio::spawn(async move {
            let text = told.await.ok().filter(|text| !text.trim().is_empty());
            me.send(Mail::Digest {
                session,
                turn,
                text,
            })
            .ok();
        });
    }

    /// Makes the machine and the flow of a new turn.
    pub(super) fn open_turn(&mut self, record: TurnRecord, resumed: bool) {
        let settings = self.settings();
        let window = self.model(0).map_or(0, |model| model.window());
        let mut tools: Vec<String> = self
            .tool_specs()
            .into_iter()
            .map(|tool| tool.name)
            .collect();
        tools.sort();
        let limits = Limits {
            requests: settings.budgets.requests,
            calls: settings.budgets.calls,
            wall_time: std::time::Duration::from_secs(settings.budgets.seconds),
            tokens: settings.budgets.turn_tokens,
            window,
            models: self.deps.models.len().max(1),
            tools,
        };
        // A resumed turn shows at once that it goes on.
        let eager = record.seed.is_some() || resumed;
        let flow = FlowHandle::start(self.flow_parts(record.turn), self.flow_options(true, eager));
        info!(turn.id = record.turn.0, "turn begins");
        self.deps.board.running(&self.record.id, record.turn);
        self.running = Some(Running {
            turn: Turn::new(record.turn, limits),
            record,
            flow,
            cancel: CancellationToken::new(),
            request: CancellationToken::new(),
            batch: None,
            watch: Watch::default(),
            children: Vec::new(),
            tools: Vec::new(),
            timers: std::collections::HashMap::new(),
            text_tail: String::new(),
            started: Instant::now(),
        });
    }

    fn put_delivering(
        &self,
        batch: &mut Batch,
        reason: &EndReason,
        answer: &str,
    ) -> Result<(), StoreError> {
        let Some(running) = &self.running else {
            return Ok(());
        };
        if *reason == EndReason::Interrupted {
            return Ok(());
        }
        let record = TurnRecord {
            stage: TurnStage::Delivering {
                reason: reason.clone(),
                answer: self.deps.redactor.redact(answer),
                ended_at: chrono::Utc::now().timestamp(),
            },
            ..running.record.clone()
        };
        let key = session_key(&self.record.id, running.record.turn.0);
        batch.put(Table::Running, &key, &record)?;
        Ok(())
    }

    /// Ends the turn: the slot is free at once, the flow settles and the answer goes out behind it.
    async fn finish(&mut self, reason: EndReason, text: String) {
        let Some(running) = self.running.take() else {
            return;
        };
        self.turn_over(&running, &reason).await;
        self.deps.board.idle(&self.record.id);
        self.deps.usage.turn();
        let (requests, calls) = running.turn.spent();
        info!(
            turn.id = running.record.turn.0,
            requests,
            calls,
            duration_ms = u64::try_from(running.started.elapsed().as_millis()).unwrap_or(u64::MAX),
            end = ?std::mem::discriminant(&reason),
            "turn ends"
        );
        metrics::histogram!("greenlight_turn_seconds")
            .record(running.started.elapsed().as_secs_f64());
        let text = self.deps.redactor.redact(&text);
        let view = self.turn_view(false);
        let document = self.plan_document().await;
        let flow = running.flow.clone();
        let answer = self.answer_of(&running.record, &reason, text);
        drop(running);
        self.deliver(flow, reason, (view, document), answer);
        if !self.over {
            self.go_on().await;
        }
    }

    fn deliver(
        &mut self,
        flow: FlowHandle,
        reason: EndReason,
        (view, document): (Option<PlanView>, Option<PlanDocument>),
        (turn, answer): (TurnId, Option<Answer>),
    ) {
        let before = self.delivery.take();
        let me = self.me.clone();
        let interrupted = reason == EndReason::Interrupted;
        if !interrupted {
            self.delivering.insert(turn);
        }
        let outbox = self.deps.outbox.clone();
        let session = self.record.id.clone();
        self.delivery = Some(tokio::spawn(async move {
            if let Some(answer) = &answer {
                flow.answered(&answer.markdown);
            }
            let settling = flow.settle(reason, view, document);
            if interrupted {
                settling.await;
            } else {
                hand_over(settling, before, &outbox, answer, (session, turn), &me).await;
            }
        }));
    }

    /// What a turn's final message says and where; `None` if the flow message says it all.
    pub(super) fn answer_of(
        &self,
        record: &TurnRecord,
        reason: &EndReason,
        text: String,
    ) -> (TurnId, Option<Answer>) {
        let mut said = super::words::ending(&self.language(), reason)
            .map(|said| self.deps.redactor.redact(&said));
        if let (Some(said), Some(left)) = (&mut said, self.left_for_people(reason)) {
            said.push_str(&format!("\n\n{left}"));
        }
        if text.trim().is_empty() && said.is_none() {
            return (record.turn, None);
        }
        let answer = Answer {
            key: self.record.key,
            scope: format!("{}:{}", self.record.id, record.turn),
            parts: crate::text::split::answer(&text),
            markdown: text,
            reply_to: (self.record.key.chat.0 < 0).then_some(record.message),
            language: self.language(),
            reason: said,
        };
        (record.turn, Some(answer))
    }

    /// What a flow message of this conversation needs.
    pub(super) fn flow_parts(&self, turn: TurnId) -> FlowParts {
        FlowParts {
            outbox: self.deps.outbox.clone(),
            store: self.deps.store.clone(),
            key: self.record.key,
            turn,
            reposts: Arc::clone(&self.deps.reposts),
            line: self.line.clone(),
        }
    }

    pub(super) fn flow_options(&self, running: bool, eager: bool) -> FlowOptions {
        let settings = self.deps.settings();
        FlowOptions {
            language: self.language(),
            renderer: match settings.telegram.render {
                Render::Classic => Renderer::Classic,
                Render::RichDetails => Renderer::RichDetails,
                Render::RichMarkdown => Renderer::RichMarkdown,
            },
            group: self.record.key.chat.0 < 0,
            group_detail: settings.telegram.group_detail,
            eager,
            plan: self.plan_view(running),
        }
    }

    pub(super) async fn delivered(&mut self, session: &SessionId, turn: TurnId) {
        self.delivering.remove(&turn);
        let mut batch = Batch::new();
        // The turn may be of the session before `/new`.
        batch.delete(Table::Running, &session_key(session, turn.0));
        self.commit(batch).await;
    }

    /// Ends the running turn on somebody's word. True if there was one.
    pub(super) async fn cancel_turn(&mut self, why: Cancel) -> bool {
        if !self.is_busy() {
            return false;
        }
        self.drive(Event::Cancel(why), Batch::new()).await;
        true
    }

    pub(super) async fn shutdown(&mut self, done: oneshot::Sender<()>) {
        self.over = true;
        if let Some(running) = &self.running {
            let turn = running.turn.id();
            info!(
                turn.id = turn.0,
                "a running turn is put down; the next start takes it up"
            );
        }
        self.stop_jobs(true);
        self.cancel_turn(Cancel::Shutdown).await;
        if let Some(delivery) = self.delivery.take() {
            delivery.await.ok();
        }
        self.said_everything().await;
        done.send(()).ok();
    }
}

/// Sends the answer once the flow message is settled, or at once when that takes long: where a thousand
/// turns end together, answers do not wait behind edits. Answers of one session keep their order. The turn
/// is delivered after both, unless only the next start can send the answer.
pub(super) async fn hand_over<T>(
    settling: impl Future<Output = T>,
    before: Option<JoinHandle<()>>,
    outbox: &Outbox,
    answer: Option<Answer>,
    (session, turn): (SessionId, TurnId),
    me: &mpsc::UnboundedSender<Mail>,
) {
    let mut settling = std::pin::pin!(settling);
    let settled = tokio::time::timeout(SETTLE_FIRST, &mut settling)
        .await
        .is_ok();
    if let Some(before) = before {
        before.await.ok();
    }
    let answering = send_answer(outbox, answer, turn);
    let sent = if settled {
        answering.await
    } else {
        tokio::join!(answering, settling).0
    };
    if sent {
        me.send(Mail::Delivered { session, turn }).ok();
    }
}

/// Sends an answer; while Telegram cannot be reached, again and again. True once every part is sent or
/// refused for good, false if the next start has to send it.
async fn send_answer(outbox: &Outbox, answer: Option<Answer>, turn: TurnId) -> bool {
    let Some(answer) = answer else {
        return true;
    };
    while let Err(fault) = answer::deliver(outbox, answer.clone()).await {
        warn!(turn.id = turn.0, error = %fault, "an answer was not delivered whole");
        if matches!(fault, SendFault::Closed | SendFault::Unauthorized) {
            return false;
        }
        if fault != SendFault::Unavailable {
            break;
        }
        tokio::time::sleep(DELIVER_AGAIN).await;
    }
    true
}
