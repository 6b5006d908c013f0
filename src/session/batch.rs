//! The calls of one reply: inspected, gated at the moment they start, approved, run, observed.

use std::time::Instant;

use tracing::info;

use crate::agent::transcript::Record;
use crate::agent::batch::{self, Item, ItemState};
use crate::agent::{Effect, Event, Finished};
use crate::domain::{
    ActionClass, CallId, CallStatus, Effects, Progress, Role, SandboxProfile, ToolCall,
    ToolOutcome, TurnId,
};
use crate::plan::evidence::{self, BatchCall};
use crate::plan::tool;
use crate::store::Batch;
use crate::tools::{Inspection, Place, Unfit};

use super::actor::Actor;
use super::plans;

/// Whose calls they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Whose {
    /// The turn's own.
    Turn,
    /// Of the sub-agent that this call started.
    Child(CallId),
}

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
    pub(super) started: Option<Instant>,
    pub(super) profile: SandboxProfile,
}

/// What starting a call led to.
pub(super) enum Start {
    /// It runs, or waits for a person.
    Running,
    /// It is over already.
    Over(ToolOutcome),
}

impl Actor {
    /// Takes the calls of a reply and starts those that may run.
    pub(super) async fn begin_batch(&mut self, whose: Whose, calls: Vec<ToolCall>) -> Vec<Effect> {
        let place = self.place(&whose, false);
        let inspections: Vec<Result<Inspection, Unfit>> = calls
            .iter()
            .map(|call| self.inspect(&whose, call, &place))
            .collect();
        let barriers = self.barriers(&calls, &inspections);
        let mut entries = Vec::with_capacity(calls.len());
        let mut unfits = Vec::new();
        for ((call, inspection), barrier) in calls.into_iter().zip(inspections).zip(barriers) {
            let (entry, unfit) = self.batch_entry(call, inspection, barrier);
            unfits.extend(unfit.map(|unfit| (entry.call.id.clone(), unfit)));
            entries.push(entry);
        }
        // What a sub-agent sees is never evidence for the plan of the agent that started it.
        let epoch = if whose == Whose::Turn {
            self.plan_epoch()
        } else {
            0
        };
        let batch = ToolBatch {
            calls: entries,
            epoch,
        };
        self.put_batch(&whose, Some(batch));
        let mut effects = Vec::new();
        for (id, unfit) in unfits {
            let malformed = matches!(unfit, Unfit::Malformed(_));
            self.note_rejection(&id);
            self.announce_unfit(&id);
            let status = match &unfit {
                Unfit::Malformed(_) | Unfit::Failed(_) => CallStatus::Failed,
                Unfit::Refused(_) => CallStatus::Refused,
            };
            effects.extend(
                self.over(&whose, outcome(&id, status, unfit.into()), malformed)
                    .await,
            );
        }
        effects.extend(self.pump(&whose).await);
        effects
    }

    /// A plan call that could not be understood is an event.
    fn note_rejection(&self, id: &CallId) {
        let Some((whose, index)) = self.find_call(id) else {
            return;
        };
        let call = self
            .batch(&whose)
            .and_then(|batch| batch.calls.get(index))
            .map(|entry| &entry.call)
            .filter(|call| call.name == plans::TOOL);
        if let Some(Err(rejection)) = call.map(|call| tool::parse(&call.arguments)) {
            self.plan_call_refused(rejection.operation, rejection.class);
        }
    }

    fn batch_entry(
        &self,
        call: ToolCall,
        inspection: Result<Inspection, Unfit>,
        barrier: bool,
    ) -> (BatchEntry, Option<Unfit>) {
        let (effects, targets) = match &inspection {
            Ok(found) => (
                found.effects,
                found
                    .targets
                    .iter()
                    .map(|path| path.display().to_string())
                    .collect(),
            ),
            Err(_) => (self.declared(&call.name), Vec::new()),
        };
        let (inspection, unfit) = match inspection {
            Ok(found) => (Some(found), None),
            Err(unfit) => (None, Some(unfit)),
        };
        let entry = BatchEntry {
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
        };
        (entry, unfit)
    }

    fn inspect(&self, whose: &Whose, call: &ToolCall, place: &Place) -> Result<Inspection, Unfit> {
        if let Whose::Child(id) = whose
            && self
                .child(id)
                .is_none_or(|child| !child.tools.contains(&call.name))
        {
            return Err(Unfit::Malformed(format!(
                "A sub-agent of this role has no tool `{}`.",
                call.name
            )));
        }
        if !self.offers(&call.name) {
            return Err(Unfit::Malformed(format!(
                "There is no tool `{}` in this project.",
                call.name
            )));
        }
        if call.name == plans::TOOL {
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
                // Sub-agents that only read may look around side by side.
                effects: if self.spawns_reader(call) {
                    Effects::Read
                } else {
                    found
                        .as_ref()
                        .map_or(Effects::Unknown, |found| found.effects)
                },
                path: path.as_deref(),
            })
            .collect();
        evidence::barriers(self.plans.active(), &batch)
    }

    fn plan_epoch(&self) -> u64 {
        self.plans.active().map_or(0, evidence::epoch)
    }

    /// Where calls run. The plan's `.md` is named only to a call that the gate let through to it, and
    /// never to a sub-agent.
    pub(super) fn place(&self, whose: &Whose, may_write_plan: bool) -> Place {
        let settings = self.settings();
        Place {
            workspace: self.record.workspace.clone(),
            session_dir: self.deps.session_dir(&self.record.id),
            nonce: self.deps.nonce.clone(),
            plan_md: match whose {
                Whose::Turn => self.plans.md_path(may_write_plan),
                Whose::Child(_) => None,
            },
            network: !self.plans.phase().is_planning() || settings.tools.network_while_planning,
        }
    }

    /// Starts every call that may run now; over and over, because some are over at once.
    async fn pump(&mut self, whose: &Whose) -> Vec<Effect> {
        let mut effects = Vec::new();
        loop {
            let Some(batch) = self.batch(whose) else {
                return effects;
            };
            let items: Vec<Item> = batch.calls.iter().map(|entry| entry.item.clone()).collect();
            if items.iter().all(|item| item.state == ItemState::Done) {
                effects.extend(self.batch_over(whose).await);
                return effects;
            }
            let Some(index) = batch::ready(&items).first().copied() else {
                return effects;
            };
            match self.start(whose, index).await {
                Start::Running => {}
                Start::Over(outcome) => effects.extend(self.over(whose, outcome, false).await),
            }
        }
    }

    async fn batch_over(&mut self, whose: &Whose) -> Vec<Effect> {
        self.put_batch(whose, None);
        if let Whose::Child(call) = whose {
            return self.child_mut(call).map_or_else(Vec::new, |child| {
                // It knows no plan, so there is none to think over.
                let (hints, _) = child.watch.batch_over(None);
                let steer = Vec::new();
                child.turn.step(Event::BatchDone { steer, hints })
            });
        }
        let words = self.steer();
        let steer = words.iter().map(|queued| self.user_input(queued)).collect();
        let Some(running) = &mut self.running else {
            return Vec::new();
        };
        let (hints, signal) = running.watch.batch_over(self.plans.active());
        let effects = running.turn.step(Event::BatchDone { steer, hints });
        if let Some(signal) = signal {
            self.emit(&signal);
        }
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
            if !rest.is_empty() {
                rest.push(effect);
            } else if let Effect::Append(record) = effect {
                if let Err(fault) = self.append(&mut batch, record) {
                    self.store_failed(&fault);
                }
            } else {
                rest.push(effect);
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

    pub(super) async fn tool_done(&mut self, turn: TurnId, outcome: ToolOutcome) {
        if self.is_current(turn) {
            self.settle_call(outcome).await;
        }
    }

    /// Takes an outcome that came by mail or by a tap, and goes on with the batch.
    pub(super) async fn settle_call(&mut self, outcome: ToolOutcome) {
        let Some((whose, _)) = self.find_call(&outcome.call) else {
            return;
        };
        let mut effects = self.over(&whose, outcome, false).await;
        effects.extend(self.pump(&whose).await);
        match whose {
            Whose::Turn => self.follow(effects).await,
            Whose::Child(call) => self.carry_child(call, effects).await,
        }
    }

    /// One call is over: evidence first, then the record, then what people see.
    async fn over(
        &mut self,
        whose: &Whose,
        mut outcome: ToolOutcome,
        malformed: bool,
    ) -> Vec<Effect> {
        let Some((found, index)) = self.find_call(&outcome.call) else {
            return Vec::new();
        };
        let epoch = self.batch(whose).map_or(0, |batch| batch.epoch);
        let Some(entry) = self.entry_mut(whose, index).filter(|_| found == *whose) else {
            return Vec::new();
        };
        if entry.item.state == ItemState::Done {
            return Vec::new();
        }
        entry.item.state = ItemState::Done;
        let call = entry.call.clone();
        let effects = entry.item.effects;
        let targets = entry.item.targets.clone();
        let class = entry
            .inspection
            .as_ref()
            .map_or(ActionClass::Read, |found| found.class);
        if outcome.duration_ms == 0
            && let Some(started) = entry.started
        {
            outcome.duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        }
        self.observe(&call, effects, &outcome, epoch).await;
        info!(call.id = %call.id, tool = call.name, status = ?outcome.status, duration_ms = outcome.duration_ms, "call ended");
        self.deps.usage.call();
        let known = self.known_tool(&call.name);
        metrics::counter!("greenlight_tool_calls_total", "tool" => known).increment(1);
        let refused_submission = self.refused_submission(&call, &outcome, malformed);
        let changed = outcome.changed && evidence::mutates(effects, true);
        let shown = Progress::ToolFinished {
            call: outcome.call.clone(),
            status: outcome.status,
            summary: outcome.summary.clone(),
            duration_ms: outcome.duration_ms,
        };
        let noticed = outcome.clone();
        let finished = Event::Finished(Finished {
            outcome,
            effects,
            targets,
            malformed,
            refused_submission,
        });
        if let Whose::Child(id) = whose {
            return self.child_mut(id).map_or_else(Vec::new, |child| {
                child.watch.finished(None, &call, class, &noticed);
                child.changed |= changed;
                child.turn.step(finished)
            });
        }
        let Some(running) = &mut self.running else {
            return Vec::new();
        };
        running
            .watch
            .finished(self.plans.active(), &call, class, &noticed);
        running.flow.progress(shown);
        let effects = running.turn.step(finished);
        self.append_first(effects, Batch::new()).await
    }

    /// What a tool can do at most, for a call that was not understood.
    pub(super) fn declared(&self, name: &str) -> Effects {
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

    pub(super) fn batch(&self, whose: &Whose) -> Option<&ToolBatch> {
        match whose {
            Whose::Turn => self.running.as_ref()?.batch.as_ref(),
            Whose::Child(call) => self.child(call)?.batch.as_ref(),
        }
    }

    fn put_batch(&mut self, whose: &Whose, batch: Option<ToolBatch>) {
        match whose {
            Whose::Turn => {
                if let Some(running) = &mut self.running {
                    running.batch = batch;
                }
            }
            Whose::Child(call) => {
                if let Some(child) = self.child_mut(call) {
                    child.batch = batch;
                }
            }
        }
    }

    pub(super) fn entry_mut(&mut self, whose: &Whose, index: usize) -> Option<&mut BatchEntry> {
        let batch = match whose {
            Whose::Turn => self.running.as_mut()?.batch.as_mut()?,
            Whose::Child(call) => self.child_mut(call)?.batch.as_mut()?,
        };
        batch.calls.get_mut(index)
    }

    /// Where a call of the running turn is.
    pub(super) fn find_call(&self, id: &CallId) -> Option<(Whose, usize)> {
        let running = self.running.as_ref()?;
        let children = running
            .children
            .iter()
            .map(|child| (Whose::Child(child.call.clone()), child.batch.as_ref()));
        std::iter::once((Whose::Turn, running.batch.as_ref()))
            .chain(children)
            .find_map(|(whose, batch)| {
                let calls = &batch?.calls;
                let index = calls.iter().position(|entry| entry.call.id == *id)?;
                Some((whose, index))
            })
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
