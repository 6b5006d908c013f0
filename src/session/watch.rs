//! What is noticed about a plan and about calls: signals for the outside, hints for the model.

use chrono::{DateTime, Utc};
use tracing::info;

use crate::domain::{ActionClass, CallStatus, EndReason, SessionId, ToolCall, ToolOutcome, TurnId};
use crate::plan::model::{Plan, PlanState};
use crate::plan::reminder;
use crate::plan::signals::{
    BatchOutcome, DECOMPOSE_HINT, Reassessments, RejectionClass, Signal, Signals, StallCall,
    StallWatch,
};
use crate::plan::tool::Class;

use super::actor::Actor;

/// Name of the tool that polls background jobs.
const POLL: &str = "bg_output";
/// Titles of open tasks at the end of an exhausted turn.
const LEFT: usize = 20;

/// A signal about a session's plan, for those who watch from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanEvent {
    /// Session.
    pub session: SessionId,
    /// The running turn, if one runs.
    pub turn: Option<TurnId>,
    /// Model requests of that turn so far.
    pub request: u32,
    /// When.
    pub at: DateTime<Utc>,
    /// What: counts and versions only.
    pub signal: Signal,
}

/// Watches the calls of one turn or sub-agent.
#[derive(Debug, Default)]
pub(super) struct Watch {
    stalls: StallWatch,
    reassessments: Reassessments,
    batch: Vec<Ended>,
    hints: Vec<String>,
}

#[derive(Debug)]
struct Ended {
    call: ToolCall,
    status: CallStatus,
    error: Option<&'static str>,
}

impl Watch {
    /// Takes a finished call in.
    pub(super) fn finished(
        &mut self,
        plan: Option<&Plan>,
        call: &ToolCall,
        class: ActionClass,
        outcome: &ToolOutcome,
    ) {
        let stall = self.stalls.observe(&StallCall {
            tool: &call.name,
            arguments: &call.arguments,
            class,
            status: outcome.status,
            poll: (call.name == POLL).then_some(outcome.content.as_str()),
        });
        self.hints.extend(stall.map(|hint| hint.text(plan)));
        self.batch.push(Ended {
            call: call.clone(),
            status: outcome.status,
            error: error_class(class, outcome),
        });
    }

    pub(super) fn hint(&mut self, text: &str) {
        self.hints.push(text.to_owned());
    }

    /// The batch is over: hints for the next request, and a signal if the approach should change.
    pub(super) fn batch_over(&mut self, plan: Option<&Plan>) -> (Vec<String>, Option<Signal>) {
        let outcomes: Vec<BatchOutcome<'_>> = self
            .batch
            .iter()
            .map(|ended| BatchOutcome {
                tool: &ended.call.name,
                arguments: &ended.call.arguments,
                status: ended.status,
                error_class: ended.error,
                is_poll: ended.call.name == POLL,
            })
            .collect();
        let due = self.reassessments.batch(plan, &outcomes);
        self.batch.clear();
        self.hints.extend(due.map(|due| due.hint().to_owned()));
        (std::mem::take(&mut self.hints), due.map(|due| due.signal()))
    }
}

/// The host's own class of a failure, from how the call ended.
fn error_class(class: ActionClass, outcome: &ToolOutcome) -> Option<&'static str> {
    if outcome.status != CallStatus::Failed {
        return None;
    }
    Some(match (class, outcome.exit) {
        (_, Some(_)) => "exit",
        (ActionClass::Exec | ActionClass::Destructive, None) => "killed",
        (ActionClass::Network, None) => "network",
        (_, None) => "tool",
    })
}

/// The class of a refused plan call for its event.
fn rejection(class: Class) -> RejectionClass {
    match class {
        Class::ParseError => RejectionClass::ParseError,
        Class::UnknownOperation => RejectionClass::UnknownOperation,
        Class::AliasConflict => RejectionClass::AliasConflict,
        Class::AliasAmbiguous => RejectionClass::AliasAmbiguous,
        Class::UnknownTask => RejectionClass::UnknownTask,
        Class::MissingField => RejectionClass::MissingField,
        Class::WrongFieldName => RejectionClass::WrongFieldName,
        Class::Shape => RejectionClass::Shape,
        Class::Bound | Class::State | Class::Evidence => RejectionClass::Rule,
    }
}

impl Actor {
    /// The plan has a new state, already saved: its signals go out once, in the order of versions.
    pub(super) fn plan_becomes(&mut self, state: PlanState) {
        let before = std::mem::replace(&mut self.plans.state, state);
        let Some(after) = self.plans.state.plan() else {
            return;
        };
        for signal in self.record.signals.changed(before.plan(), after) {
            if matches!(signal, Signal::PlanBlocked { .. })
                && let Some(running) = &mut self.running
            {
                running.watch.hint(DECOMPOSE_HINT);
            }
            self.emit(&signal);
        }
    }

    /// A plan call was refused for its shape or content.
    pub(super) fn plan_call_refused(&self, operation: Option<&str>, class: Class) {
        let operation = operation.unwrap_or("unknown");
        self.emit(&Signals::rejected(operation, rejection(class)));
    }

    /// Tells the log and everybody who watches.
    pub(super) fn emit(&self, signal: &Signal) {
        info!(event = signal.name(), detail = ?signal, "plan signal");
        let running = self.running.as_ref();
        let event = PlanEvent {
            session: self.record.id.clone(),
            turn: running.map(|running| running.turn.id()),
            request: running.map_or(0, |running| running.turn.spent().0),
            at: chrono::Utc::now(),
            signal: signal.clone(),
        };
        // Nobody may be watching.
        self.deps.events.send(event).ok();
    }

    /// What a turn that used its budget up leaves for the model's next turn: ids and states only.
    pub(super) fn left_for_model(&self, reason: &EndReason) -> Option<String> {
        if !is_exhausted(reason) {
            return None;
        }
        let remaining = reminder::remaining(self.plans.active()?)?;
        Some(format!(
            "The turn ended before these tasks were done:\n{}",
            self.deps.untrusted("plan_remaining", &remaining)
        ))
    }

    /// The same for people, with titles.
    pub(super) fn left_for_people(&self, reason: &EndReason) -> Option<String> {
        if !is_exhausted(reason) {
            return None;
        }
        let open = self
            .plans
            .active()?
            .tasks
            .iter()
            .filter(|task| !task.is_resolved());
        let lines: Vec<String> = open
            .take(LEFT)
            .map(|task| format!("{} {}", task.id, task.title))
            .collect();
        (!lines.is_empty()).then(|| self.tr("end-left", &[("left", &lines.join("\n"))]))
    }
}

fn is_exhausted(reason: &EndReason) -> bool {
    matches!(reason, EndReason::Budget { .. } | EndReason::TimedOut)
}
