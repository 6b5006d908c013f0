//! One call on its way: asked about at the gate the moment it starts, approved, run.

use std::collections::BTreeSet;
use std::time::Instant;

use tokio::sync::mpsc;
use tracing::debug;

use crate::agent::batch::ItemState;
use crate::agent::transcript::Record;
use crate::config::PreinitBash;
use crate::domain::{
    ActionClass, ApprovalLevel, CallId, CallStatus, Effects, SandboxProfile, ToolCall,
};
use crate::plan::gate::{self, Ask, Decision, Grants, Permit, Verdict};
use crate::plan::model::PlanState;
use crate::store::Batch;
use crate::tools::Inspection;

use super::actor::Actor;
use super::batch::{Start, Whose, outcome};
use super::mail::Mail;
use super::{children, plans};

impl Actor {
    /// Starts one call, if the gate and the approval policy let it.
    pub(super) async fn start(&mut self, whose: &Whose, index: usize) -> Start {
        let Some(entry) = self.entry_mut(whose, index) else {
            return Start::Running;
        };
        entry.item.state = ItemState::Running;
        let call = entry.call.clone();
        let Some(inspection) = entry.inspection.clone() else {
            return Start::Running;
        };
        self.announce(whose, &call, &inspection);
        if call.name == plans::TOOL && self.batched_submission(whose, &call) {
            return Start::Over(outcome(
                &call.id,
                CallStatus::Refused,
                plans::ALONE.to_owned(),
            ));
        }
        let writes_md = *whose == Whose::Turn && self.writes_plan_md(&call, &inspection);
        let ask = self.ask(&call, &inspection, writes_md);
        let verdict = gate::decide(&self.plans.phase(), &ask);
        let granted = match &verdict {
            Verdict::Deny(text) => {
                debug!(call.id = %call.id, tool = call.name, "the gate refused a call");
                return Start::Over(outcome(&call.id, CallStatus::Refused, (*text).to_owned()));
            }
            Verdict::Allow(_) => true,
            Verdict::Ask => self.level() == ApprovalLevel::Yolo && !self.plans.is_preinit(),
            Verdict::Policy => self.policy(inspection.class) == Decision::Run,
        };
        let Some(permit) = gate::permit(&ask, &verdict, granted, self.usual_profile(&inspection))
        else {
            self.ask_owner(index, &call, &inspection).await;
            return Start::Running;
        };
        self.run_call(whose, index, call, permit, writes_md).await
    }

    /// What the gate is asked about a call, the same for every agent.
    fn ask<'a>(&self, call: &'a ToolCall, found: &Inspection, writes_plan_md: bool) -> Ask<'a> {
        Ask {
            call: &call.id,
            tool: &call.name,
            effects: found.effects,
            class: found.class,
            operation: plans::operation(call),
            writes_plan_md,
            sandbox: self.deps.toolbox.sandbox().is_available(),
            unsandboxed_preinit: self.settings().plan.preinit_bash == PreinitBash::Unsandboxed,
            read_only_role: self.spawns_reader(call),
        }
    }

    fn policy(&self, class: ActionClass) -> Decision {
        let granted = Grants::from(self.record.grants.iter().copied().collect::<BTreeSet<_>>());
        gate::approval(
            self.level(),
            class,
            &granted,
            self.plans.phase().is_planning(),
        )
    }

    fn usual_profile(&self, inspection: &Inspection) -> SandboxProfile {
        if inspection.effects == Effects::Read {
            return SandboxProfile::ReadOnly;
        }
        match self.settings().tools.sandbox {
            crate::config::SandboxMode::Workspace => SandboxProfile::Workspace,
            crate::config::SandboxMode::Off => SandboxProfile::Off,
        }
    }

    /// Runs a call that the owner has just granted. The gate is asked again: the plan may have moved.
    pub(super) async fn run_granted(&mut self, id: &CallId) {
        let Some((whose, index)) = self.find_call(id) else {
            return;
        };
        let found = self
            .entry_mut(&whose, index)
            .map(|entry| (entry.call.clone(), entry.inspection.clone()));
        let Some((call, Some(inspection))) = found else {
            return;
        };
        let writes_md = whose == Whose::Turn && self.writes_plan_md(&call, &inspection);
        let ask = self.ask(&call, &inspection, writes_md);
        let verdict = gate::decide(&self.plans.phase(), &ask);
        let usual = self.usual_profile(&inspection);
        let started = match gate::permit(&ask, &verdict, true, usual) {
            Some(permit) => self.run_call(&whose, index, call, permit, writes_md).await,
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
        whose: &Whose,
        index: usize,
        call: ToolCall,
        permit: Permit,
        writes_md: bool,
    ) -> Start {
        let profile = permit.profile();
        let Some(entry) = self.entry_mut(whose, index) else {
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
        // A sub-agent is told by the record of the call that started it.
        let told = effects == Effects::Read || *whose != Whose::Turn;
        if !told && !self.record_start(&call.id).await {
            let text = "not run: the host could not record its start".to_owned();
            return Start::Over(outcome(&call.id, CallStatus::Refused, text));
        }
        match call.name.as_str() {
            "send_file" => self.send_file(whose, call),
            children::TOOL => self.open_child(&call),
            _ => self.spawn_tool(whose, call, permit, writes_md),
        }
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

    fn spawn_tool(&mut self, whose: &Whose, call: ToolCall, permit: Permit, writes_md: bool) {
        let place = self.place(whose, writes_md);
        let Some(running) = &self.running else {
            return;
        };
        let turn = running.turn.id();
        let cancel = self
            .whose_cancel(whose)
            .unwrap_or_else(|| running.cancel.clone());
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

    fn batched_submission(&self, whose: &Whose, call: &ToolCall) -> bool {
        let alone = self.batch(whose).is_none_or(|batch| batch.calls.len() == 1);
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
}
