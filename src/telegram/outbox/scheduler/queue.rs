//! What waits for one chat.

use std::collections::VecDeque;

use super::super::buckets::Budget;
use super::{Job, JobId, Millis};

#[derive(Debug)]
pub(super) struct Chat {
    pub(super) sends: VecDeque<Job>,
    pub(super) rest: Vec<Job>,
    pub(super) in_flight: bool,
    pub(super) gate: Millis,
    pub(super) budget: Budget,
    pub(super) served: u64,
    pub(super) typing_at: Option<Millis>,
}

impl Chat {
    /// What this chat would do next; nothing while a call is under way, so that order is kept.
    pub(super) fn head(&self) -> Option<Job> {
        if self.in_flight {
            return None;
        }
        // The first send inherits the best lane of those behind it, because sends keep their order.
        let send = self.sends.front().map(|front| Job {
            lane: self
                .sends
                .iter()
                .map(|job| job.lane)
                .min()
                .unwrap_or(front.lane),
            ..*front
        });
        let rest = self
            .rest
            .iter()
            .min_by_key(|job| (job.lane, job.id))
            .copied();
        match (send, rest) {
            (Some(send), Some(rest)) if (rest.lane, rest.id) < (send.lane, send.id) => Some(rest),
            (Some(send), _) => Some(send),
            (None, rest) => rest,
        }
    }

    pub(super) fn take(&mut self, id: JobId) {
        self.sends.retain(|job| job.id != id);
        self.rest.retain(|job| job.id != id);
    }
}
