//! The calls of one reply: inspected, gated at the moment they start, approved, run, observed.

use std::collections::BTreeSet;
use std::time::Instant;

use tokio::sync::mpsc;
use tracing::{debug, info};

use crate::agent::batch::{self, Item, ItemState};
use crate::agent::transcript::Record;
use crate::agent::{Effect, Event, Finished};
use crate::domain::{
    ActionClass, ApprovalLevel, CallId, CallStatus, Effects, Progress, Role, SandboxProfile,
    ToolCall, ToolOutcome, TurnId,
};
use crate::plan::evidence::{self, BatchCall};
use crate::plan::gate::{self, Ask, Decision, Grants, Permit, Verdict};
use crate::plan::model::PlanState;
use crate::store::Batch;
use crate::tools::{Inspection, Place, Unfit};

use super::actor::Actor;
use super::mail::Mail;
use super::plans;

/// One reply's calls on their way.
pub(super) struct ToolBatch {
    pub(super) calls: Vec<BatchEntry>,
    /// State of the plan's declarations before the batch: a check must be declared by then.
    epoch: u64,
}

/// One call on its way.
pub(super) struct BatchEntry {
    pub(super) call: ToolCall,
    pub(super) item: Item,
    pub(super) inspection: Option<Inspection>,
    started: Option<Instant>,
    profile: SandboxProfile,
}

/// What starting a call led to.
enum Start {
    /// It runs, or waits for a person.
    Running,
    /// It is over already.
    Over(ToolOutcome),
}

impl Actor {
    /// Takes the calls of a reply and starts those that may run.
    pub(super) async fn begin_batch(&mut self, calls: Vec<ToolCall>) -> Vec<Effect> {
        let place = self.place(false);
        let inspections: Vec<Result<Inspection, Unfit>> = calls
            .iter()
            .map(|call| self.inspect(call, &place))
            .collect();
        let barriers = self.barriers(&calls, &inspections);
        let mut entries = Vec::with_capacity(calls.len());
        let mut unfits = Vec::new();
        for ((call, inspection), barrier) in calls.into_iter().zip(inspections).zip(barriers) {
            let targets = inspection.as_ref().map_or_else(
                |_| Vec::new(),
                |found| {
                    found
                        .targets
                        .iter()
                        .map(|path| path.display().to_string())
                        .collect()
                },
            );
            let effects = inspection
                .as_ref()
                .map_or_else(|_| self.declared(&call.name), |found| found.effects);
            let inspection = match inspection {
                Ok(found) => Some(found),
                Err(unfit) => {
                    unfits.push((call.id.clone(), unfit));
                    None
                }
            };
            entries.push(BatchEntry {
                call,
                item: Item {
                    effects,
                    targets,
                    barrier,
                    state: ItemState::Waiting,
                },
                inspection,
                started: None,
                profile: SandboxProfile::ReadOnly,
            });
        }
        let epoch = self.plan_epoch();
        if let Some(running) = &mut self.running {
            running.batch = Some(ToolBatch {
                calls: entries,
                epoch,
            });
        }
        let mut effects = Vec::new();
        for (id, unfit) in unfits {
            let malformed = matches!(unfit, Unfit::Malformed(_));
            let status = match &unfit {
                Unfit::Malformed(_) | Unfit::Failed(_) => CallStatus::Failed,
                Unfit::Refused(_) => CallStatus::Refused,
            };
            effects.extend(
                self.over(outcome(&id, status, unfit.into()), malformed)
                    .await,
            );
        }
        effects.extend(self.pump().await);
        effects
    }

    fn inspect(&self, call: &ToolCall, place: &Place) -> Result<Inspection, Unfit> {
        if call.name == plans::TOOL && self.deps.settings().plan.enabled {
            return plans::inspect(call, place);
        }
        self.deps.toolbox.inspect(call, place)
    }

    fn barriers(&self, calls: &[ToolCall], found: &[Result<Inspection, Unfit>]) -> Vec<bool> {
        let paths: Vec<Option<String>> = found
            .iter()
            .map(|found| {
                let targets = &found.as_ref().ok()?.targets;
                let [one] = targets.as_slice() else {
                    return None;
                };
                Some(one.display().to_string())
            })
            .collect();
        let batch: Vec<BatchCall<'_>> = calls
            .iter()
            .zip(found)
            .zip(&paths)
            .map(|((call, found), path)| BatchCall {
                tool: &call.name,
                arguments: &call.arguments,
                effects: found
                    .as_ref()
                    .map_or(Effects::Unknown, |found| found.effects),
                path: path.as_deref(),
            })
            .collect();
        evidence::barriers(self.plans.active(), &batch)
    }

    fn plan_epoch(&self) -> u64 {
        self.plans.active().map_or(0, evidence::epoch)
    }

    /// Where calls run. The plan's `.md` is named only to a call that the gate let through to it.
    fn place(&self, may_write_plan: bool) -> Place {
        let settings = self.deps.settings();
        Place {
            workspace: self.record.workspace.clone(),
            session_dir: self.deps.session_dir(&self.record.id),
            nonce: self.deps.nonce.clone(),
            plan_md: self.plans.md_path(may_write_plan),
            network: !self.plans.phase().is_planning() || settings.tools.network_while_planning,
        }
    }

    /// Starts every call that may run now; over and over, because some are over at once.
    async fn pump(&mut self) -> Vec<Effect> {
        let mut effects = Vec::new();
        loop {
            let Some(batch) = self
                .running
                .as_ref()
                .and_then(|running| running.batch.as_ref())
            else {
                return effects;
            };
            let items: Vec<Item> = batch.calls.iter().map(|entry| entry.item.clone()).collect();
            if items.iter().all(|item| item.state == ItemState::Done) {
                effects.extend(self.batch_over().await);
                return effects;
            }
            let Some(index) = batch::ready(&items).first().copied() else {
                return effects;
            };
            match self.start(index).await {
                Start::Running => {}
                Start::Over(outcome) => effects.extend(self.over(outcome, false).await),
            }
        }
    }

    async fn batch_over(&mut self) -> Vec<Effect> {
        let words = self.steer();
        let steer = words.iter().map(|queued| self.user_input(queued)).collect();
        let Some(running) = &mut self.running else {
            return Vec::new();
        };
        running.batch = None;
        let effects = running.turn.step(Event::BatchDone { steer });
        // The words leave the queue with the records that hold them; a turn that ends here takes none.
        let mut batch = Batch::new();
        if matches!(effects.first(), Some(Effect::Append(Record::User { .. }))) {
            self.took(&words, &mut batch);
        }
        self.append_first(effects, batch).await
    }

    /// Commits leading records together with `batch`, so that words leave the queue exactly when they
    /// enter the transcript.
    async fn append_first(&mut self, effects: Vec<Effect>, mut batch: Batch) -> Vec<Effect> {
        let mut rest = Vec::new();
        for effect in effects {
            match effect {
                Effect::Append(record) if rest.is_empty() => {
                    if let Err(fault) = self.append(&mut batch, record) {
                        self.store_failed(&fault);
                    }
                }
                other => rest.push(other),
            }
        }
        if !batch.is_empty() {
            let closing = std::mem::take(&mut self.closing);
            self.close_in(&mut batch, &closing);
        }
        if self.commit(batch).await {
            rest
        } else {
            Vec::new()
        }
    }

    async fn start(&mut self, index: usize) -> Start {
        let Some(entry) = self.entry_mut(index) else {
            return Start::Running;
        };
        entry.item.state = ItemState::Running;
        let call = entry.call.clone();
        let Some(inspection) = entry.inspection.clone() else {
            return Start::Running;
        };
        self.announce(&call, &inspection);
        if call.name == plans::TOOL && self.batched_submission(&call) {
            return Start::Over(outcome(
                &call.id,
                CallStatus::Refused,
                plans::ALONE.to_owned(),
            ));
        }
        let operation = plans::operation(&call);
        let writes_md = self.writes_plan_md(&call, &inspection);
        let settings = self.deps.settings();
        let ask = Ask {
            call: &call.id,
            tool: &call.name,
            effects: inspection.effects,
            class: inspection.class,
            operation,
            writes_plan_md: writes_md,
            sandbox: self.deps.toolbox.sandbox().is_available(),
            unsandboxed_preinit: settings.plan.preinit_bash
                == crate::config::PreinitBash::Unsandboxed,
            read_only_role: false,
        };
        let verdict = gate::decide(&self.plans.phase(), &ask);
        let granted = match &verdict {
            Verdict::Deny(text) => {
                debug!(call.id = %call.id, tool = call.name, "the gate refused a call");
                return Start::Over(outcome(&call.id, CallStatus::Refused, (*text).to_owned()));
            }
            Verdict::Allow(_) => true,
            Verdict::Ask => self.record.level == ApprovalLevel::Yolo && !self.plans.is_preinit(),
            Verdict::Policy => self.policy(inspection.class) == Decision::Run,
        };
        let Some(permit) = gate::permit(&ask, &verdict, granted, self.usual_profile(&inspection))
        else {
            self.ask_owner(index, &call, &inspection).await;
            return Start::Running;
        };
        self.run_call(index, call, permit, writes_md).await
    }

    fn policy(&self, class: ActionClass) -> Decision {
        let granted = Grants::from(self.record.grants.iter().copied().collect::<BTreeSet<_>>());
        gate::approval(
            self.record.level,
            class,
            &granted,
            self.plans.phase().is_planning(),
        )
    }

    fn usual_profile(&self, inspection: &Inspection) -> SandboxProfile {
        if inspection.effects == Effects::Read {
            return SandboxProfile::ReadOnly;
        }
        match self.deps.settings().tools.sandbox {
            crate::config::SandboxMode::Workspace => SandboxProfile::Workspace,
            crate::config::SandboxMode::Off => SandboxProfile::Off,
        }
    }

    /// Runs a call that the owner has just granted. The gate is asked again: the plan may have moved.
    pub(super) async fn run_granted(&mut self, id: &CallId) {
        let Some((index, call, inspection)) = self.entry_of(id) else {
            return;
        };
        let writes_md = self.writes_plan_md(&call, &inspection);
        let ask = Ask {
            call: &call.id,
            tool: &call.name,
            effects: inspection.effects,
            class: inspection.class,
            operation: plans::operation(&call),
            writes_plan_md: writes_md,
            sandbox: self.deps.toolbox.sandbox().is_available(),
            unsandboxed_preinit: false,
            read_only_role: false,
        };
        let verdict = gate::decide(&self.plans.phase(), &ask);
        let usual = self.usual_profile(&inspection);
        let started = match gate::permit(&ask, &verdict, true, usual) {
            Some(permit) => self.run_call(index, call, permit, writes_md).await,
            None => Start::Over(outcome(
                &call.id,
                CallStatus::Refused,
                match verdict {
                    Verdict::Deny(text) => text.to_owned(),
                    Verdict::Allow(_) | Verdict::Policy | Verdict::Ask => String::new(),
                },
            )),
        };
        if let Start::Over(outcome) = started {
            self.settle_call(outcome).await;
        }
    }

    async fn run_call(
        &mut self,
        index: usize,
        call: ToolCall,
        permit: Permit,
        writes_md: bool,
    ) -> Start {
        let profile = permit.profile();
        let Some(entry) = self.entry_mut(index) else {
            return Start::Running;
        };
        entry.started = Some(Instant::now());
        entry.profile = profile;
        let effects = entry.item.effects;
        if call.name == plans::TOOL {
            let reads = plans::operation(&call) == Some(gate::PlanOperation::Get);
            if !reads && !self.record_start(&call.id).await {
                let text = "not run: the host could not record its start".to_owned();
                return Start::Over(outcome(&call.id, CallStatus::Refused, text));
            }
            return Start::Over(self.run_plan(&call, permit).await);
        }
        if call.name == "ask_user" {
            self.ask_user(&call).await;
            return Start::Running;
        }
        if effects != Effects::Read && !self.record_start(&call.id).await {
            let text = "not run: the host could not record its start".to_owned();
            return Start::Over(outcome(&call.id, CallStatus::Refused, text));
        }
        self.spawn_tool(call, permit, writes_md);
        Start::Running
    }

    /// A call with effects is recorded before it starts: after a crash it is never repeated blindly.
    async fn record_start(&mut self, call: &CallId) -> bool {
        let Some(turn) = self.running.as_ref().map(|running| running.turn.id()) else {
            return false;
        };
        let mut batch = Batch::new();
        let record = Record::Started {
            turn,
            call: call.clone(),
        };
        match self.append(&mut batch, record) {
            Ok(()) => self.commit(batch).await,
            Err(fault) => {
                self.store_failed(&fault);
                false
            }
        }
    }

    fn spawn_tool(&mut self, call: ToolCall, permit: Permit, writes_md: bool) {
        let place = self.place(writes_md);
        let Some(running) = &self.running else {
            return;
        };
        let turn = running.turn.id();
        let cancel = running.cancel.clone();
        let toolbox = self.deps.toolbox.clone();
        let me = self.me.clone();
        let (output, mut lines) = mpsc::channel::<String>(16);
        let id = call.id.clone();
        let (to, printing) = (me.clone(), call.id.clone());
        tokio::spawn(async move {
            while let Some(text) = lines.recv().await {
                let call = printing.clone();
                to.send(Mail::Output { turn, call, text }).ok();
            }
        });
        let task = tokio::spawn(async move {
            let work =
                tokio::spawn(
                    async move { toolbox.run(permit, &call, &place, output, cancel).await },
                );
            // A panic inside a tool is that call's failure, not the program's.
            let outcome = work.await.unwrap_or_else(|_| {
                outcome(
                    &id,
                    CallStatus::Failed,
                    "the tool failed inside the host".into(),
                )
            });
            me.send(Mail::Tool { turn, outcome }).ok();
        });
        if let Some(running) = &mut self.running {
            running.tools.retain(|tool| !tool.is_finished());
            running.tools.push(task);
        }
    }

    pub(super) async fn tool_done(&mut self, turn: TurnId, outcome: ToolOutcome) {
        if self.is_current(turn) {
            self.settle_call(outcome).await;
        }
    }

    /// Takes an outcome that came by mail or by a tap, and goes on with the batch.
    pub(super) async fn settle_call(&mut self, outcome: ToolOutcome) {
        let mut effects = self.over(outcome, false).await;
        effects.extend(self.pump().await);
        self.follow(effects).await;
    }

    /// One call is over: evidence first, then the record, then what people see.
    async fn over(&mut self, outcome: ToolOutcome, malformed: bool) -> Vec<Effect> {
        let Some((index, call, _)) = self.entry_any(&outcome.call) else {
            return Vec::new();
        };
        let Some(entry) = self.entry_mut(index) else {
            return Vec::new();
        };
        if entry.item.state == ItemState::Done {
            return Vec::new();
        }
        entry.item.state = ItemState::Done;
        let effects = entry.item.effects;
        let target = entry.item.targets.first().cloned();
        let mut outcome = outcome;
        if outcome.duration_ms == 0
            && let Some(started) = entry.started
        {
            outcome.duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        }
        let epoch = self
            .running
            .as_ref()
            .and_then(|running| running.batch.as_ref())
            .map_or(0, |batch| batch.epoch);
        self.observe(&call, effects, &outcome, epoch).await;
        info!(call.id = %call.id, tool = call.name, status = ?outcome.status, duration_ms = outcome.duration_ms, "call ended");
        self.deps.usage.call();
        let known = self.known_tool(&call.name);
        metrics::counter!("greenlight_tool_calls_total", "tool" => known).increment(1);
        let refused_submission = self.refused_submission(&call, &outcome, malformed);
        let Some(running) = &mut self.running else {
            return Vec::new();
        };
        running.flow.progress(Progress::ToolFinished {
            call: outcome.call.clone(),
            status: outcome.status,
            summary: outcome.summary.clone(),
            duration_ms: outcome.duration_ms,
        });
        let finished = Finished {
            outcome,
            effects,
            target,
            malformed,
            refused_submission,
        };
        let effects = running.turn.step(Event::Finished(finished));
        self.append_first(effects, Batch::new()).await
    }

    fn announce(&self, call: &ToolCall, inspection: &Inspection) {
        let Some(running) = &self.running else {
            return;
        };
        running.flow.progress(Progress::ToolStarted {
            call: call.id.clone(),
            tool: call.name.clone(),
            label: self.label(&call.name),
            argument: self.shown_argument(inspection),
        });
    }

    /// The main argument as people see it: no path of the data directory.
    fn shown_argument(&self, inspection: &Inspection) -> String {
        let argument = self.deps.redactor.redact(&inspection.argument);
        if inspection
            .targets
            .iter()
            .any(|target| self.plans.is_md(target))
        {
            return self.tr("tool-plan-file", &[]);
        }
        argument
    }

    /// What a tool can do at most, for a call that was not understood.
    fn declared(&self, name: &str) -> Effects {
        self.deps
            .toolbox
            .descriptors()
            .into_iter()
            .find(|tool| tool.name == name)
            .map_or(Effects::Unknown, |tool| tool.effects)
    }

    /// The tool's name for a metric: one of a fixed set, whatever a model makes up.
    fn known_tool(&self, name: &str) -> &'static str {
        if name == plans::TOOL {
            return plans::TOOL;
        }
        self.deps
            .toolbox
            .descriptors()
            .into_iter()
            .find(|tool| tool.name == name)
            .map_or("unknown", |tool| tool.name)
    }

    fn label(&self, name: &str) -> String {
        if name == plans::TOOL {
            return "tool-plan".to_owned();
        }
        self.deps
            .toolbox
            .descriptors()
            .into_iter()
            .find(|tool| tool.name == name)
            .map_or_else(|| "tool-other".to_owned(), |tool| tool.label.to_owned())
    }

    fn batched_submission(&self, call: &ToolCall) -> bool {
        let alone = self
            .running
            .as_ref()
            .and_then(|running| running.batch.as_ref())
            .is_none_or(|batch| batch.calls.len() == 1);
        !alone && plans::operation(call) == Some(gate::PlanOperation::Submit)
    }

    fn writes_plan_md(&self, call: &ToolCall, inspection: &Inspection) -> bool {
        matches!(call.name.as_str(), "write_file" | "edit_file")
            && matches!(
                self.plans.state,
                PlanState::Editing(_) | PlanState::Active(_)
            )
            && inspection
                .targets
                .iter()
                .any(|target| self.plans.is_md(target))
    }

    fn entry_mut(&mut self, index: usize) -> Option<&mut BatchEntry> {
        self.running.as_mut()?.batch.as_mut()?.calls.get_mut(index)
    }

    fn entry_of(&self, id: &CallId) -> Option<(usize, ToolCall, Inspection)> {
        let (index, call, inspection) = self.entry_any(id)?;
        Some((index, call, inspection?))
    }

    fn entry_any(&self, id: &CallId) -> Option<(usize, ToolCall, Option<Inspection>)> {
        let batch = self.running.as_ref()?.batch.as_ref()?;
        batch
            .calls
            .iter()
            .enumerate()
            .find(|(_, entry)| entry.call.id == *id)
            .map(|(index, entry)| (index, entry.call.clone(), entry.inspection.clone()))
    }

    /// The person a turn belongs to, and whether that is the owner.
    pub(super) fn turn_person(&self) -> Option<(crate::domain::UserId, Role)> {
        let record = &self.running.as_ref()?.record;
        Some((record.user, record.role))
    }
}

/// An outcome that the host itself words.
pub(super) fn outcome(call: &CallId, status: CallStatus, content: String) -> ToolOutcome {
    ToolOutcome {
        call: call.clone(),
        status,
        content,
        summary: String::new(),
        changed: false,
        duration_ms: 0,
        exit: None,
    }
}
