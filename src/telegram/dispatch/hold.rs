//! The task that holds albums, split pastes and forward bursts together, in order with the rest.

use tokio::sync::mpsc;
use tokio::time::{Duration, Instant, sleep_until};

use super::{Content, Delivery};
use crate::domain::{ChatKey, Inbound, UserId, UserMessage};
use crate::telegram::merge::Merge;

/// What the task takes.
#[derive(Debug)]
pub(super) enum Held {
    /// A message, with its `media_group_id`.
    Message(Box<UserMessage>, Option<String>),
    /// Whatever is held of a person in a conversation goes out now.
    Flush(ChatKey, UserId),
    /// Passes in its turn.
    Pass(Box<Delivery>),
}

/// Runs until nobody can feed it any more or nobody listens; what is held then stays open on disk.
pub(super) async fn run(mut held: mpsc::Receiver<Held>, work: mpsc::Sender<Delivery>) {
    let mut merge = Merge::new();
    let start = Instant::now();
    let now = || i64::try_from(start.elapsed().as_millis()).unwrap_or(i64::MAX);
    loop {
        let due = merge
            .deadline()
            .and_then(|at| u64::try_from(at).ok())
            .map(|at| start + Duration::from_millis(at));
        let next = tokio::select! {
            biased;
            next = held.recv() => match next {
                Some(next) => next,
                None => return,
            },
            () = sleep_until(due.unwrap_or_else(|| start + Duration::from_secs(86_400 * 365))), if due.is_some() => {
                if !send(&work, merge.due(now())).await {
                    return;
                }
                continue;
            }
        };
        let alive = match next {
            Held::Message(message, album) => {
                let ready = merge.message(*message, album, now());
                send(&work, ready).await
            }
            Held::Flush(key, who) => send(&work, merge.flush(key, Some(who))).await,
            Held::Pass(delivery) => work.send(*delivery).await.is_ok(),
        };
        if !alive {
            return;
        }
    }
}

async fn send(work: &mpsc::Sender<Delivery>, messages: Vec<UserMessage>) -> bool {
    for message in messages {
        let updates = message.updates.clone();
        let delivery = Delivery {
            content: Content::Input(Inbound::Message(message)),
            updates,
        };
        if work.send(delivery).await.is_err() {
            return false;
        }
    }
    true
}
