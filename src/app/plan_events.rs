//! Signals about plans, as the event stream of the HTTP server words them.

use std::sync::Arc;

use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;
use tracing::warn;

use crate::http::{EventBody, Events};
use crate::plan::signals::Signal;
use crate::session::{Deps, PlanEvent};

/// Passes every signal on, in order, until `cancel`.
pub(super) async fn publish(deps: Arc<Deps>, events: Events, cancel: CancellationToken) {
    let mut signals = deps.events.subscribe();
    while let Some(next) = cancel.run_until_cancelled(signals.recv()).await {
        match next {
            Ok(event) => events.publish(event.at, &event.session, event.turn, body(&event)),
            Err(RecvError::Lagged(missed)) => warn!(missed, "signals about plans were missed"),
            Err(RecvError::Closed) => return,
        }
    }
}

fn body(event: &PlanEvent) -> EventBody {
    match event.signal.clone() {
        Signal::PlanCreated { tasks, version } => EventBody::PlanCreated {
            steps: tasks,
            version,
        },
        Signal::PlanUpdated {
            tasks,
            done,
            in_progress,
            blocked,
            pending,
            version,
        } => EventBody::PlanUpdated {
            steps: tasks,
            done,
            in_progress,
            blocked,
            pending,
            version,
        },
        Signal::PlanBlocked {
            tasks,
            blocked,
            version,
        } => EventBody::PlanBlocked {
            steps: tasks,
            blocked,
            version,
        },
        Signal::PlanReassessment {
            reason,
            failure_batches,
        } => EventBody::PlanReassessment {
            reason: word(&reason),
            iteration: event.request,
            failure_batches,
        },
        Signal::PlanValidationFailed { operation, class } => EventBody::PlanValidationFailed {
            operation,
            class: word(&class),
        },
    }
}

/// The word that a plain enum is written as.
fn word(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        Ok(_) | Err(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{SessionId, TurnId};
    use crate::plan::signals::{Reassessment, RejectionClass, Signals};

    #[test]
    fn signals_keep_their_words_and_counts() {
        let told = |signal| {
            let event = PlanEvent {
                session: SessionId("s".into()),
                turn: Some(TurnId(1)),
                request: 7,
                at: chrono::Utc::now(),
                signal,
            };
            serde_json::to_value(body(&event)).unwrap()
        };
        assert_eq!(
            told(Reassessment::RepeatedCheckFailure.signal()),
            serde_json::json!({"type": "plan_reassessment", "data":
                {"reason": "repeated_check_failure", "iteration": 7, "failure_batches": 3}})
        );
        assert_eq!(
            told(Signals::rejected("start", RejectionClass::WrongFieldName)),
            serde_json::json!({"type": "plan_validation_failed", "data":
                {"operation": "start", "class": "wrong_field_name"}})
        );
    }
}
