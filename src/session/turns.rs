//! A turn's effects carried out: records, model requests, timers, the end.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use futures::StreamExt;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::agent::context::{self, Surroundings};
use crate::agent::transcript::Record;
use crate::agent::{Cancel, Effect, Event, Limits, TimerId, Turn, prompt};
use crate::config::Render;
use crate::domain::{
    ApprovalLevel, EndReason, ModelEvent, ModelFault, ModelReply, ModelRequest, Progress,
    SessionId, ToolSpec, TurnId,
};
use crate::flow::{FlowOptions, Renderer};
use crate::llm::Model;
use crate::plan::view::PlanView;
use crate::store::{Batch, StoreError, Table};
use crate::telegram::outbox::{Outbox, SendFault};

use super::actor::{Actor, Running};
use super::answer::{self, Answer};
use super::flow_task::{FlowHandle, FlowParts, PlanDocument};
use super::mail::Mail;
use super::record::{TurnRecord, TurnStage, session_key};

/// Wait before an answer is sent again that Telegram could not be reached for.
const DELIVER_AGAIN: std::time::Duration = std::time::Duration::from_secs(30);

impl Actor {
    /// Takes one event of the running turn and carries out what follows from it.
    pub(super) async fn drive(&mut self, event: Event, batch: Batch) {
        let Some(running) = &mut self.running else {
            return;
        };
        let effects: VecDeque<Effect> = running.turn.step(event).into();
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

    fn redacted(&self, record: Record) -> Record {
        let clean = |text: String| self.deps.redactor.redact(&text);
        match record {
            Record::User { turn, mut input } => {
                input.text = clean(input.text);
                input.words = clean(input.words);
                Record::User { turn, input }
            }
            Record::Assistant {
                turn,
                text,
                reasoning,
                mut calls,
                usage,
            } => {
                for call in &mut calls {
                    call.arguments = clean(std::mem::take(&mut call.arguments));
                }
                Record::Assistant {
                    turn,
                    text: clean(text),
                    reasoning,
                    calls,
                    usage,
                }
            }
            Record::Ended {
                turn,
                reason,
                answer,
            } => Record::Ended {
                turn,
                reason,
                answer: clean(answer),
            },
            Record::Host { .. }
            | Record::Started { .. }
            | Record::Outcome { .. }
            | Record::Digest { .. } => record,
        }
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
            Effect::RunTools(calls) => self.begin_batch(calls).await,
            Effect::CancelTools => {
                if let Some(running) = &self.running {
                    running.cancel.cancel();
                }
                self.cancel_cards("card-cancelled").await;
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
                running.text_tail.push_str(&delta);
                let Some(at) = running.text_tail.rfind(char::is_whitespace) else {
                    return;
                };
                let rest = running.text_tail.split_off(at);
                let whole = std::mem::replace(&mut running.text_tail, rest);
                Progress::Text {
                    delta: redactor.redact(&whole),
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

    async fn call_model(&mut self, request: u32, index: usize) {
        let plan = self.plan_message().await;
        let Some(model) = self.model(index) else {
            return;
        };
        let tools = self.tool_specs();
        let system = self.system_prompt();
        let body = context::build(
            &self.conversation,
            &Surroundings {
                system: &system,
                plan: plan.as_deref(),
                tools: &tools,
                window: model.window(),
            },
        );
        let Some(running) = &mut self.running else {
            return;
        };
        running.request = running.cancel.child_token();
        let turn = running.turn.id();
        let cancel = running.request.clone();
        let me = self.me.clone();
        tokio::spawn(async move {
            let send = |event| {
                me.send(Mail::Model {
                    turn,
                    request,
                    event,
                })
                .ok();
            };
            tokio::select! {
                () = cancel.cancelled() => {}
                () = stream(model, body, send) => {}
            }
        });
    }

    /// The model that this session chose, then the others in order.
    fn model(&self, index: usize) -> Option<Arc<dyn Model>> {
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

    fn tool_specs(&self) -> Vec<ToolSpec> {
        let settings = self.deps.settings();
        let mut specs: Vec<ToolSpec> = self
            .deps
            .toolbox
            .descriptors()
            .into_iter()
            .map(|tool| ToolSpec {
                name: tool.name.to_owned(),
                description: tool.description.to_owned(),
                schema: (tool.schema)(),
            })
            .collect();
        if settings.plan.enabled {
            specs.push(super::plans::spec());
        }
        specs
    }

    fn system_prompt(&self) -> String {
        let settings = self.deps.settings();
        prompt::system(&prompt::Head {
            workspace: &self.record.workspace.display().to_string(),
            planning: settings.plan.enabled,
            yolo: self.record.level == ApprovalLevel::Yolo,
            language: &self.language(),
            sandbox: self.deps.toolbox.sandbox().is_available(),
        })
    }

    pub(super) async fn model_event(
        &mut self,
        turn: TurnId,
        request: u32,
        event: Result<ModelEvent, ModelFault>,
    ) {
        let fits = self
            .running
            .as_ref()
            .is_some_and(|running| running.turn.id() == turn && running.turn.spent().0 == request);
        if !fits {
            return;
        }
        let event = match event {
            Ok(ModelEvent::Text(delta)) => Event::Text(delta),
            Ok(ModelEvent::Reasoning(_)) => return,
            Ok(ModelEvent::End(reply)) => {
                self.deps.board.model_answered(true);
                self.count_tokens(&reply).await;
                Event::Reply {
                    plan: self.plan_facts().await,
                    reply: self.named_calls(reply),
                }
            }
            Err(fault) => {
                metrics::counter!("greenlight_model_requests_total", "outcome" => "failed")
                    .increment(1);
                self.deps.board.model_answered(false);
                warn!(turn.id = turn.0, request, fault = %fault, "model request failed");
                Event::ModelFailed(fault)
            }
        };
        self.drive(event, Batch::new()).await;
    }

    /// Gives calls without an id, or with one that was used before, an id of their own.
    fn named_calls(&self, mut reply: ModelReply) -> ModelReply {
        let mut seen: std::collections::HashSet<String> = self
            .conversation
            .records()
            .iter()
            .filter_map(|record| match record {
                Record::Assistant { calls, .. } => Some(calls),
                _ => None,
            })
            .flatten()
            .map(|call| call.id.0.clone())
            .collect();
        for (index, call) in reply.calls.iter_mut().enumerate() {
            if call.id.0.is_empty() || !seen.insert(call.id.0.clone()) {
                call.id.0 = format!("call_{}_{index}", self.conversation.len());
                seen.insert(call.id.0.clone());
            }
        }
        reply
    }

    async fn compact(&mut self) {
        let plan = self.digest_plan().await;
        let (Some(model), Some(running)) = (self.model(0), &self.running) else {
            return;
        };
        let body = context::digest_request(&self.conversation, &plan, model.window());
        let turn = running.turn.id();
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
            let text = text.map(|text| format!("{text}\n\n{plan}"));
            me.send(Mail::Digest { turn, text }).ok();
        });
    }

    /// Makes the machine and the flow of a new turn.
    pub(super) fn open_turn(&mut self, record: TurnRecord, resumed: bool) {
        let settings = self.deps.settings();
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
        let view = self.plan_view(false);
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
            flow.settle(reason, view, document).await;
            if let Some(before) = before {
                before.await.ok();
            }
            if !interrupted {
                hand_over(&outbox, answer, (session, turn), &me).await;
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
        let said = super::words::ending(&self.language(), reason);
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
        self.cancel_turn(Cancel::Shutdown).await;
        if let Some(delivery) = self.delivery.take() {
            delivery.await.ok();
        }
        self.said_everything().await;
        done.send(()).ok();
    }
}

/// Sends the answer. While Telegram cannot be reached it is tried again and again; the turn counts as
/// delivered once every part is sent or refused for good.
pub(super) async fn hand_over(
    outbox: &Outbox,
    answer: Option<Answer>,
    (session, turn): (SessionId, TurnId),
    me: &mpsc::UnboundedSender<Mail>,
) {
    if let Some(answer) = answer {
        while let Err(fault) = answer::deliver(outbox, answer.clone()).await {
            warn!(turn.id = turn.0, error = %fault, "an answer was not delivered whole");
            if matches!(fault, SendFault::Closed | SendFault::Unauthorized) {
                // The next start delivers it.
                return;
            }
            if fault != SendFault::Unavailable {
                break;
            }
            tokio::time::sleep(DELIVER_AGAIN).await;
        }
    }
    me.send(Mail::Delivered { session, turn }).ok();
}

/// Streams one reply into `send`. A stream that ends without an end is a fault.
async fn stream(
    model: Arc<dyn Model>,
    request: ModelRequest,
    mut send: impl FnMut(Result<ModelEvent, ModelFault>),
) {
    let mut events = match model.stream(request).await {
        Ok(events) => events,
        Err(fault) => return send(Err(fault)),
    };
    while let Some(event) = events.next().await {
        let last = matches!(event, Ok(ModelEvent::End(_)) | Err(_));
        send(event);
        if last {
            return;
        }
    }
    send(Err(ModelFault::Retry {
        after: None,
        reason: "the stream ended early".into(),
    }));
}
