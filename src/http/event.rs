//! The event stream `greenlight.event/v1`: what happens, in counts and ids. Never titles, notes,
//! arguments, output, paths or text of plans, so that a reader of events learns no content.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, Utc};
use serde::Serialize;
use tokio::sync::broadcast;

use crate::domain::{ActionClass, CallId, CallStatus, SessionId, TurnId};

/// Name of the event schema.
pub const SCHEMA: &str = "greenlight.event/v1";
/// Events that are kept for readers who come back.
const KEPT: usize = 1000;
/// Events that a slow reader may fall behind before it is told to start anew.
const BEHIND: usize = 256;
/// Ids begin at the start's Unix seconds times this, so that they also grow over restarts and stay
/// exact in a double.
const IDS_PER_SECOND: u64 = 1 << 20;

/// One event.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Event {
    /// Always [`SCHEMA`].
    pub schema: &'static str,
    /// Grows by one with every event, and over restarts.
    pub id: u64,
    /// When.
    pub at: DateTime<Utc>,
    /// Session.
    pub session_id: SessionId,
    /// Turn; left out for what happens between turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnId>,
    /// What: `type` and `data`.
    #[serde(flatten)]
    pub body: EventBody,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", content = "data", rename_all = "snake_case")]
pub enum EventBody {
    /// A turn began.
    TurnStarted {},
    /// A turn ended.
    TurnEnded {
        /// Why: `done`, `stopped`, `failed`, ….
        reason: String,
        /// How long it ran, in milliseconds.
        duration_ms: u64,
    },
    /// A model request was sent.
    ModelRequestStarted {
        /// Number within the turn, from 1.
        iteration: u32,
    },
    /// A model request was answered.
    ModelRequestCompleted {
        /// Number within the turn, from 1.
        iteration: u32,
        /// Tokens read, cached ones included.
        input_tokens: u64,
        /// Of those, read from the provider's cache.
        cached_tokens: u64,
        /// Tokens written.
        output_tokens: u64,
    },
    /// A tool call began.
    ToolCallStarted {
        /// Call.
        call_id: CallId,
        /// Tool.
        tool: String,
    },
    /// A tool call ended.
    ToolCallCompleted {
        /// Call.
        call_id: CallId,
        /// Tool.
        tool: String,
        /// How.
        status: CallStatus,
        /// How long it ran, in milliseconds.
        duration_ms: u64,
    },
    /// The owner is asked to allow a call.
    ApprovalRequested {
        /// Class of the call.
        class: ActionClass,
    },
    /// The owner, or the deadline, decided.
    ApprovalDecided {
        /// Class of the call.
        class: ActionClass,
        /// Whether the call may run.
        allowed: bool,
    },
    /// A checklist was created, also in place of another one.
    PlanCreated {
        /// Steps.
        steps: usize,
        /// Version.
        version: u64,
    },
    /// The checklist changed in any other way.
    PlanUpdated {
        /// Steps.
        steps: usize,
        /// Done.
        done: usize,
        /// In progress.
        in_progress: usize,
        /// Blocked.
        blocked: usize,
        /// Pending.
        pending: usize,
        /// Version; no version is left out.
        version: u64,
    },
    /// Three steps in a row became blocked.
    PlanBlocked {
        /// Steps.
        steps: usize,
        /// Blocked.
        blocked: usize,
        /// Version.
        version: u64,
    },
    /// The plan should be thought over.
    PlanReassessment {
        /// `repeated_check_failure` or `varied_tool_failures`.
        reason: String,
        /// Number of the model request in the turn.
        iteration: u32,
        /// Failed batches that led here.
        failure_batches: u32,
    },
    /// A plan call was refused for its shape or content.
    PlanValidationFailed {
        /// A known operation, or `unknown`.
        operation: String,
        /// Kind of mistake.
        class: String,
    },
    /// Planning began, the prose changed, or the plan went to another state.
    PlanStateChanged {
        /// State word.
        face: super::Face,
    },
    /// The owner approved the prose.
    PlanApproved {},
    /// The plan was thrown away or archived.
    PlanClosed {},
}

/// The stream's sending side and its memory. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Events {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    ring: Mutex<Ring>,
    sender: broadcast::Sender<Arc<Event>>,
}

#[derive(Debug)]
struct Ring {
    next: u64,
    kept: VecDeque<Arc<Event>>,
}

/// A reader's view of the stream.
#[derive(Debug)]
pub struct Subscription {
    /// Whether events between the reader's last one and `backlog` are gone.
    pub gap: bool,
    /// Kept events after the reader's last one, oldest first.
    pub backlog: Vec<Arc<Event>>,
    /// What follows.
    pub live: broadcast::Receiver<Arc<Event>>,
}

impl Events {
    /// A stream that starts at `now`.
    #[must_use]
    pub fn new(now: DateTime<Utc>) -> Self {
        let seconds = u64::try_from(now.timestamp()).unwrap_or_default();
        Self {
            shared: Arc::new(Shared {
                ring: Mutex::new(Ring {
                    next: seconds.saturating_mul(IDS_PER_SECOND),
                    kept: VecDeque::new(),
                }),
                sender: broadcast::Sender::new(BEHIND),
            }),
        }
    }

    /// Tells every reader; readers see events in the order of these calls.
    pub fn publish(
        &self,
        at: DateTime<Utc>,
        session: &SessionId,
        turn: Option<TurnId>,
        body: EventBody,
    ) {
        let mut ring = self.lock();
        let event = Arc::new(Event {
            schema: SCHEMA,
            id: ring.next,
            at,
            session_id: session.clone(),
            turn,
            body,
        });
        ring.next += 1;
        if ring.kept.len() >= KEPT {
            ring.kept.pop_front();
        }
        ring.kept.push_back(Arc::clone(&event));
        // Under the lock, so that a new reader gets an event either from the memory or live. Without any
        // reader there is nobody to tell, which is no fault.
        self.shared.sender.send(event).ok();
    }

    /// Begins to read: from now on, or after the event `after` that the reader saw last.
    #[must_use]
    pub fn subscribe(&self, after: Option<u64>) -> Subscription {
        let ring = self.lock();
        let live = self.shared.sender.subscribe();
        let Some(after) = after else {
            return Subscription {
                gap: false,
                backlog: Vec::new(),
                live,
            };
        };
        let oldest = ring.kept.front().map_or(ring.next, |event| event.id);
        Subscription {
            gap: after.saturating_add(1) < oldest || after >= ring.next,
            backlog: ring
                .kept
                .iter()
                .filter(|event| event.id > after)
                .cloned()
                .collect(),
            live,
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Ring> {
        self.shared
            .ring
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events() -> (Events, u64) {
        let start = DateTime::from_timestamp(1_800_000_000, 0).unwrap();
        (Events::new(start), 1_800_000_000 * IDS_PER_SECOND)
    }

    fn publish(events: &Events, times: usize) {
        for _ in 0..times {
            events.publish(
                DateTime::from_timestamp(1_800_000_001, 0).unwrap(),
                &SessionId::from("s"),
                Some(TurnId(4)),
                EventBody::TurnStarted {},
            );
        }
    }

    fn ids(subscription: &Subscription) -> Vec<u64> {
        subscription.backlog.iter().map(|event| event.id).collect()
    }

    #[test]
    fn an_event_is_flat_with_type_and_data() {
        let (events, first) = events();
        let mut reader = events.subscribe(None);
        events.publish(
            DateTime::from_timestamp(1_800_000_001, 0).unwrap(),
            &SessionId::from("s"),
            None,
            EventBody::PlanUpdated {
                steps: 4,
                done: 1,
                in_progress: 1,
                blocked: 0,
                pending: 2,
                version: 7,
            },
        );
        publish(&events, 1);
        let mut next = || serde_json::to_value(&*reader.live.try_recv().unwrap()).unwrap();
        assert_eq!(
            next(),
            serde_json::json!({
                "schema": "greenlight.event/v1", "id": first, "at": "2027-01-15T08:00:01Z",
                "session_id": "s", "type": "plan_updated",
                "data": { "steps": 4, "done": 1, "in_progress": 1, "blocked": 0, "pending": 2, "version": 7 },
            })
        );
        let started = next();
        assert_eq!(
            (&started["turn"], &started["data"]),
            (&4.into(), &serde_json::json!({}))
        );
    }

    #[test]
    fn a_reader_who_comes_back_gets_what_it_missed() {
        let (events, first) = events();
        publish(&events, 3);
        let back = events.subscribe(Some(first));
        assert_eq!((back.gap, ids(&back)), (false, vec![first + 1, first + 2]));
        let current = events.subscribe(Some(first + 2));
        assert_eq!((current.gap, ids(&current)), (false, vec![]));
    }

    #[test]
    fn a_reader_who_missed_too_much_or_comes_from_elsewhere_is_told_so() {
        let (events, first) = events();
        publish(&events, KEPT + 10);
        let late = events.subscribe(Some(first + 3));
        assert_eq!((late.gap, late.backlog.len()), (true, KEPT));
        let foreign = events.subscribe(Some(first + 1_000_000));
        assert_eq!((foreign.gap, foreign.backlog.len()), (true, 0));
    }
}
