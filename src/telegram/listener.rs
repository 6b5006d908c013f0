//! Updates from the server into the inbox, by long polling or webhook, and the health of that.

mod setup;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use subtle::ConstantTimeEq;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::api::{ApiClient, ApiFault, POLL_SECONDS};
use super::durable::DurableError;
use super::inbox::{BACKLOG_SECONDS, Inbox};
use super::repair::ALLOWED;
use crate::domain::{Fault, UpdateId};

pub use setup::{register_commands, set_webhook, who_am_i};

/// Most updates a poll asks for.
const POLL_LIMIT: usize = 100;
/// The first wait after a failure, a conflict included.
const BACKOFF_FLOOR: Duration = Duration::from_secs(1);
/// No wait after a failure is longer, but for what the server asks.
const BACKOFF_CEILING: Duration = Duration::from_secs(30);
/// A server that answers empty at once is asked no more often than this.
const EMPTY_PAUSE: Duration = Duration::from_millis(500);
/// An empty answer faster than this did not wait.
const EMPTY_FAST: Duration = Duration::from_millis(250);
/// A conflict is shown for this many seconds after the last one.
const CONFLICT_SECONDS: i64 = 60;
/// Tries to confirm the offset at a stop.
const LAST_WORDS: usize = 3;
/// Left-over updates that are counted as tried again in one write.
const CUT_TOGETHER: usize = 16;
/// Refusals of the token in a row after which polling stops for good.
const UNAUTHORIZED_LIMIT: u32 = 3;

/// How polling fares.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PollState {
    /// No poll has completed yet.
    #[default]
    Starting,
    /// The last poll completed.
    Polling,
    /// Another process polls with the same token, now or within the last minute.
    Conflict,
    /// The server or the way to it fails.
    Failing,
    /// Updates cannot be written to disk.
    StoreFailing,
    /// The token is refused; polling has stopped.
    Unauthorized,
    /// Updates come by webhook.
    Webhook,
    /// Stopped on request.
    Stopped,
}

/// Health of the intake; only completed polls and accepted webhook calls feed it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Health {
    /// State.
    pub state: PollState,
    /// Unix seconds of the last completed poll or accepted webhook call.
    pub last_ok: Option<i64>,
    /// Unix seconds of the last conflict.
    pub last_conflict: Option<i64>,
    /// Failures in a row.
    pub failures: u32,
    /// Messages skipped because they were older than a day.
    pub skipped: u64,
}

/// What the dispatcher is fed.
#[derive(Debug, Clone, PartialEq)]
pub enum Fed {
    /// An open update.
    Update(UpdateId, Value),
    /// An update that a former process left open.
    Again {
        /// Which.
        update: UpdateId,
        /// Updates that count as tried once more now: it and those behind it, or none.
        cut: Vec<UpdateId>,
    },
    /// So many messages were too old to be answered.
    Skipped(u64),
}

/// Where updates enter, whichever way they come. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Intake {
    inbox: Arc<dyn Inbox>,
    feed: mpsc::Sender<Fed>,
    health: watch::Sender<Health>,
    secret: Option<SecretString>,
    skipped: Arc<AtomicU64>,
}

impl Intake {
    /// An intake that feeds `feed`. `secret` is the webhook's; without one every webhook call is refused.
    #[must_use]
    pub fn new(
        inbox: Arc<dyn Inbox>,
        feed: mpsc::Sender<Fed>,
        secret: Option<SecretString>,
    ) -> Self {
        let (health, _) = watch::channel(Health::default());
        Self {
            inbox,
            feed,
            health,
            secret,
            skipped: Arc::default(),
        }
    }

    /// A view of the health.
    #[must_use]
    pub fn health(&self) -> watch::Receiver<Health> {
        self.health.subscribe()
    }

    /// Whether `header` is the webhook's secret; the comparison takes the same time wherever they differ.
    #[must_use]
    pub fn secret_matches(&self, header: &[u8]) -> bool {
        self.secret
            .as_ref()
            .is_some_and(|secret| bool::from(secret.expose_secret().as_bytes().ct_eq(header)))
    }

    /// Takes the body of a webhook call. When this returns, the update is durable and the call may be
    /// answered with success; a body that is no update is accepted and dropped, because the server would
    /// send it for ever.
    ///
    /// # Errors
    /// If the store fails; then the call must be answered with an error, so that it comes again.
    pub async fn accept(&self, body: &[u8]) -> Result<(), DurableError> {
        let Ok(raw) = serde_json::from_slice::<Value>(body) else {
            tracing::warn!(bytes = body.len(), "a webhook call was not JSON");
            return Ok(());
        };
        self.take(vec![raw]).await?;
        self.report_skipped().await;
        self.succeeded(PollState::Webhook);
        Ok(())
    }

    /// Feeds the updates that a former process left open, in order. Each counts as tried once more when
    /// its turn comes, so that one that kills the process ends among the dead letters.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn reopen(&self) -> Result<usize, DurableError> {
        let rows = self.inbox.open_rows().await?;
        let mut open = Vec::new();
        for (update, row) in rows {
            if unix_now().saturating_sub(row.received_at) > BACKLOG_SECONDS {
                self.inbox.close(&[update], unix_now()).await?;
                self.skipped.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            open.push(update);
        }
        // Counted a few at a time, so that a long list does not wait for the disk once for each.
        for few in open.chunks(CUT_TOGETHER) {
            let mut cut = few.to_vec();
            for update in few {
                self.push(Fed::Again {
                    update: *update,
                    cut: std::mem::take(&mut cut),
                })
                .await;
            }
        }
        Ok(open.len())
    }

    async fn take(&self, updates: Vec<Value>) -> Result<(), DurableError> {
        let accepted = self.inbox.accept(updates, unix_now()).await?;
        self.skipped.fetch_add(accepted.stale, Ordering::Relaxed);
        for (update, raw) in accepted.fresh {
            self.push(Fed::Update(update, raw)).await;
        }
        Ok(())
    }

    async fn report_skipped(&self) {
        let skipped = self.skipped.swap(0, Ordering::Relaxed);
        if skipped > 0 {
            self.health.send_modify(|health| health.skipped += skipped);
            self.push(Fed::Skipped(skipped)).await;
        }
    }

    async fn push(&self, fed: Fed) {
        if self.feed.send(fed).await.is_err() {
            tracing::debug!("the dispatcher has stopped; the update stays open on disk");
        }
    }

    fn succeeded(&self, state: PollState) {
        let now = unix_now();
        self.health.send_modify(|health| {
            let fresh = health
                .last_conflict
                .is_some_and(|at| now - at < CONFLICT_SECONDS);
            // A poll between two conflicts does not end the conflict.
            health.state = if fresh { PollState::Conflict } else { state };
            health.last_ok = Some(now);
            health.failures = 0;
        });
    }

    fn failing(&self, state: PollState) {
        let now = unix_now();
        self.health.send_modify(|health| {
            health.state = state;
            health.failures = health.failures.saturating_add(1);
            if state == PollState::Conflict {
                health.last_conflict = Some(now);
            }
        });
    }
}

/// Polls until `cancel`. The offset moves only after a batch is on disk.
///
/// # Errors
/// If the token is refused several times in a row.
pub async fn poll(api: ApiClient, intake: Intake, cancel: CancellationToken) -> Result<(), Fault> {
    let mut waits = backoff();
    let mut refused = 0;
    let mut told = false;
    while !cancel.is_cancelled() {
        let started = Instant::now();
        let Some(outcome) = cancel.run_until_cancelled(poll_once(&api, &intake)).await else {
            // The call in flight has told the offset; another one would only collide with it.
            told = true;
            break;
        };
        let wait = match outcome {
            Ok(count) => {
                (waits, refused) = (backoff(), 0);
                if count < POLL_LIMIT {
                    intake.report_skipped().await;
                }
                if count == 0 && started.elapsed() < EMPTY_FAST {
                    EMPTY_PAUSE
                } else {
                    Duration::ZERO
                }
            }
            Err(PollFault::Store(error)) => {
                tracing::error!(%error, "updates cannot be written to disk; they stay with the server");
                intake.failing(PollState::StoreFailing);
                waits.next().unwrap_or(BACKOFF_CEILING)
            }
            Err(PollFault::Api(fault)) => {
                refused = if fault == ApiFault::Unauthorized {
                    refused + 1
                } else {
                    0
                };
                if refused >= UNAUTHORIZED_LIMIT {
                    intake.failing(PollState::Unauthorized);
                    return Err(Fault::user("access-token-refused", &[]));
                }
                note(&api, &intake, &fault).await;
                wait_for(&fault, &mut waits)
            }
        };
        if !wait.is_zero()
            && cancel
                .run_until_cancelled(tokio::time::sleep(wait))
                .await
                .is_none()
        {
            break;
        }
    }
    intake
        .health
        .send_modify(|health| health.state = PollState::Stopped);
    if !told {
        acknowledge(&api, &intake).await;
    }
    Ok(())
}

/// Tells the server at a clean stop what is on disk, so that it is not delivered again at the next start.
/// It takes no update: what the answer holds stays unconfirmed.
async fn acknowledge(api: &ApiClient, intake: &Intake) {
    let offset = intake.inbox.offset().await;
    if offset == 0 {
        return;
    }
    let body = json!({"offset": offset, "timeout": 0, "limit": 1, "allowed_updates": ALLOWED});
    for _ in 0..LAST_WORDS {
        match api.call("getUpdates", &body).await {
            Ok(_) => return,
            Err(fault) => tracing::debug!(error = %fault, "the last offset was not confirmed"),
        }
    }
}

enum PollFault {
    Api(ApiFault),
    Store(DurableError),
}

async fn poll_once(api: &ApiClient, intake: &Intake) -> Result<usize, PollFault> {
    let mut body =
        json!({"timeout": POLL_SECONDS, "limit": POLL_LIMIT, "allowed_updates": ALLOWED});
    let offset = intake.inbox.offset().await;
    if let (1.., Some(body)) = (offset, body.as_object_mut()) {
        body.insert("offset".into(), offset.into());
    }
    let updates = match api
        .call("getUpdates", &body)
        .await
        .map_err(PollFault::Api)?
    {
        Value::Array(updates) => updates,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            return Err(PollFault::Api(ApiFault::Server(200)));
        }
    };
    let count = updates.len();
    intake.take(updates).await.map_err(PollFault::Store)?;
    intake.succeeded(PollState::Polling);
    Ok(count)
}

async fn note(api: &ApiClient, intake: &Intake, fault: &ApiFault) {
    let conflict = matches!(fault, ApiFault::Conflict | ApiFault::WebhookActive);
    let state = if conflict {
        PollState::Conflict
    } else {
        PollState::Failing
    };
    if intake.health.borrow().state != state {
        tracing::warn!(error = %fault, "getUpdates failed");
    }
    intake.failing(state);
    if *fault == ApiFault::WebhookActive {
        // Polling is configured, so a webhook is left over; what is pending stays pending.
        if let Err(fault) = api
            .call("deleteWebhook", &json!({"drop_pending_updates": false}))
            .await
        {
            tracing::warn!(error = %fault, "the webhook could not be removed");
        }
    }
}

fn wait_for(fault: &ApiFault, waits: &mut impl Iterator<Item = Duration>) -> Duration {
    if let ApiFault::RetryAfter(seconds) = fault {
        Duration::from_secs(*seconds)
    } else {
        waits.next().unwrap_or(BACKOFF_CEILING)
    }
}

fn backoff() -> backon::ExponentialBackoff {
    ExponentialBuilder::default()
        .with_min_delay(BACKOFF_FLOOR)
        .with_max_delay(BACKOFF_CEILING)
        .with_jitter()
        .without_max_times()
        .build()
}

/// Unix seconds by the system's clock.
pub(super) fn unix_now() -> i64 {
    chrono::Utc::now().timestamp()
}
