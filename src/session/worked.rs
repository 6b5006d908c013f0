//! What was done since the work on the plan began, read from the transcript.

use std::collections::HashMap;

use crate::agent::transcript::Record;
use crate::domain::{CallId, CallStatus, ToolCall, ToolOutcome};
use crate::plan::evidence::{self, Worked};
use crate::plan::gate::PlanOperation;
use crate::plan::model::Plan;

use super::actor::Actor;
use super::plans;

impl Actor {
    /// Planned targets that nothing has changed or read since the plan was made.
    pub(super) fn unfinished_targets(&self, plan: &Plan) -> Vec<String> {
        if plan.tasks.iter().all(|task| task.targets.is_empty()) {
            return Vec::new();
        }
        let records = self.conversation.records();
        let outcomes: HashMap<&CallId, &ToolOutcome> = records
            .iter()
            .filter_map(|record| {
                let Record::Outcome { outcome, .. } = record else {
                    return None;
                };
                Some((&outcome.call, outcome))
            })
            .collect();
        let ended = |call: &ToolCall| outcomes.get(&call.id).copied();
        let calls: Vec<&ToolCall> = records
            .iter()
            .filter_map(|record| {
                let Record::Assistant { calls, .. } = record else {
                    return None;
                };
                Some(calls)
            })
            .flatten()
            .collect();
        let begun = calls
            .iter()
            .rposition(|call| {
                begins_plan(call) && ended(call).is_some_and(|end| end.status == CallStatus::Ok)
            })
            .map_or(0, |at| at + 1);
        let work: Vec<Worked<'_>> = calls
            .iter()
            .skip(begun)
            .filter_map(|call| {
                let end = ended(call)?;
                Some(Worked {
                    arguments: &call.arguments,
                    effects: self.declared(&call.name),
                    status: end.status,
                    changed: end.changed,
                })
            })
            .collect();
        let workspace = self.record.workspace.display().to_string();
        evidence::unfinished_targets(plan, &work, &workspace)
    }
}

/// Reading before the plan was made is no work on it.
fn begins_plan(call: &ToolCall) -> bool {
    matches!(
        plans::operation(call),
        Some(PlanOperation::InitDesign | PlanOperation::InitChecklist | PlanOperation::Submit)
    )
}
