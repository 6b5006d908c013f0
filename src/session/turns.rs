//! A turn's effects carried out: records, timers, the end.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use tracing::info;

use crate::agent::context;
use crate::agent::transcript::Record;
use crate::agent::{Cancel, Effect, Event, Limits, TimerId, Turn, prompt};
use crate::config::SandboxMode;
use crate::domain::{ApprovalLevel, EndReason, ModelEvent, ModelFault, Progress, ToolSpec};
use crate::llm::Model;
use crate::store::{Batch, StoreError, Table};

use super::actor::{Actor, Running};
use super::batch::Whose;
use super::flow_task::FlowHandle;
use super::mail::Mail;
use super::record::{TurnRecord, TurnStage, session_key};
use super::requests::stream;
use super::watch::Watch;

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
            sandbox: self.settings().tools.sandbox != SandboxMode::Off,
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
