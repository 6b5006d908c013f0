//! teloxide's dispatcher over the inbox. Handlers decide and forward; no turn runs in one.
//!
//! Conversation goes through one ordered worker, so that albums and pastes meet in order. Taps and
//! `/stop`, `/status`, `/discard` go through workers of their own into the control lane, which waits for
//! nothing. A panic in a handler is contained: the update is tried again and ends among the dead letters.

mod hold;
mod memory;
mod route;

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt;
use futures::StreamExt;
use futures::stream::BoxStream;
use serde_json::Value;
use teloxide::dispatching::{Dispatcher, UpdateHandler};
use teloxide::dptree;
use teloxide::error_handlers::LoggingErrorHandler;
use teloxide::stop::{StopFlag, StopToken, mk_stop_token};
use teloxide::types::{Update, UpdateKind};
use teloxide::update_listeners::{AsUpdateStream, UpdateListener};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::access::{ClaimCode, Rules};
use super::api::ApiClient;
use super::command::{self, Parsed};
use super::decode::{Me, ToMarkdown, decode};
use super::inbox::Inbox;
use super::listener::{Fed, unix_now};
use super::repair::{Repaired, repair};
use crate::config::TelegramSettings;
use crate::domain::{ChatId, ChatKey, Inbound, MessageId, UpdateId, UserId};

use hold::Held;
pub use memory::{Known, Memory};

/// Updates that wait in one teloxide worker.
const WORKER_QUEUE: usize = 256;
/// The wait before the dispatcher is built anew after the server did not answer it.
const RESTART_PAUSE: std::time::Duration = std::time::Duration::from_secs(2);

/// One decided thing for the consumer, who closes `updates` once its effect is durable.
#[derive(Debug, Clone, PartialEq)]
pub struct Delivery {
    /// What it is.
    pub content: Content,
    /// The updates it came from, ascending; empty for what came from none.
    pub updates: Vec<UpdateId>,
}

/// Content of a delivery.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Authorised input for a session.
    Input(Inbound),
    /// Something to send that belongs to no session.
    Reply(Reply),
    /// A group has a new id: keys, settings and keyboards move.
    Migrated {
        /// Old chat.
        from: ChatId,
        /// New chat.
        to: ChatId,
    },
    /// A user became the owner by code.
    OwnerClaimed(UserId),
    /// The bot is not in the chat any more, or the user blocked it.
    Removed(ChatId),
}

/// What the outbox must do outside any session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Send one sentence.
    Say {
        /// Where.
        key: ChatKey,
        /// The message it answers.
        to: Option<MessageId>,
        /// Locale of the reader.
        language: String,
        /// Locale key.
        text: &'static str,
        /// Arguments by name.
        arguments: Vec<(String, String)>,
    },
    /// Answer a callback query with an alert.
    Alert {
        /// Callback query id.
        query: String,
        /// Locale of the reader.
        language: String,
        /// Locale key.
        text: &'static str,
    },
    /// Leave a chat without a word.
    Leave {
        /// Which.
        chat: ChatId,
    },
}

/// The receiving ends of the two lanes.
#[derive(Debug)]
pub struct Lanes {
    /// Taps, `/stop`, `/status`, `/discard`: to be served first, always.
    pub control: mpsc::Receiver<Delivery>,
    /// Everything else, in order.
    pub work: mpsc::Receiver<Delivery>,
}

/// Everything handlers need.
#[derive(Debug)]
pub struct Context {
    me: Me,
    language: String,
    inbox: Arc<dyn Inbox>,
    memory: Arc<dyn Memory>,
    rules: Mutex<Rules>,
    claim: Mutex<Option<ClaimCode>>,
    to_markdown: ToMarkdown,
    feed: mpsc::Sender<Fed>,
    control: mpsc::Sender<Delivery>,
    hold: mpsc::Sender<Held>,
}

/// The parts of a [`Context`] that the caller chooses.
#[derive(Debug)]
pub struct Setup {
    /// This bot.
    pub me: Me,
    /// Settings of the front-end.
    pub settings: TelegramSettings,
    /// Default locale.
    pub language: String,
    /// Claimed rights and refusals told, durably.
    pub memory: Arc<dyn Memory>,
    /// What that memory holds from former processes.
    pub known: Known,
    /// The inbox.
    pub inbox: Arc<dyn Inbox>,
    /// Where the dispatcher is fed; failed updates are fed again.
    pub feed: mpsc::Sender<Fed>,
    /// Text with entities to Markdown.
    pub to_markdown: ToMarkdown,
    /// Deliveries that may wait in each lane.
    pub capacity: usize,
}

impl Context {
    /// Starts the task that holds albums and pastes together, which ends with the context. Must be called
    /// within the runtime.
    #[must_use]
    pub fn start(setup: Setup) -> (Arc<Self>, Lanes) {
        let rules = Rules::new(setup.settings, setup.known.owner, setup.known.moved);
        let (control, control_lane) = mpsc::channel(setup.capacity);
        let (work, work_lane) = mpsc::channel(setup.capacity);
        let (hold, held) = mpsc::channel(setup.capacity);
        tokio::spawn(hold::run(held, work));
        let context = Self {
            me: setup.me,
            language: setup.language,
            inbox: setup.inbox,
            memory: setup.memory,
            rules: Mutex::new(rules),
            claim: Mutex::new(None),
            to_markdown: setup.to_markdown,
            feed: setup.feed,
            control,
            hold,
        };
        (
            Arc::new(context),
            Lanes {
                control: control_lane,
                work: work_lane,
            },
        )
    }

    /// The owner, by settings or by claim.
    #[must_use]
    pub fn owner(&self) -> Option<UserId> {
        self.rules
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .owner()
    }

    /// Makes a one-time code while there is no owner; the caller prints it on the terminal.
    #[must_use]
    pub fn offer_claim(&self) -> Option<String> {
        if self.owner().is_some() {
            return None;
        }
        let code = ClaimCode::new(uuid::Uuid::new_v4().into_bytes(), unix_now());
        let text = code.code().to_owned();
        *self.claim.lock().unwrap_or_else(PoisonError::into_inner) = Some(code);
        Some(text)
    }

    /// Replaces the settings, as after SIGHUP; claimed rights stay.
    pub fn reload(&self, settings: TelegramSettings) {
        let mut rules = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
        *rules = rules.clone().with_settings(settings);
    }

    async fn handle(self: Arc<Self>, update: Update) {
        let id = UpdateId(update.id.0);
        let work = async { self.route(id, decode(&update, &self.me)).await };
        match AssertUnwindSafe(work).catch_unwind().await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => self.try_again(id, &error.to_string()).await,
            Err(_) => self.try_again(id, "the handler panicked").await,
        }
    }

    /// Counts the failure; the update goes to the back of the queue or to the dead letters.
    async fn try_again(&self, id: UpdateId, reason: &str) {
        tracing::error!(update.id = id.0, reason, "an update could not be handled");
        match self.inbox.failed(id, reason, unix_now()).await {
            // Waiting for room here would wait for this very worker.
            Ok(Some(raw)) => {
                if self.feed.try_send(Fed::Update(id, raw)).is_err() {
                    tracing::warn!(
                        update.id = id.0,
                        "the update stays open until the next start"
                    );
                }
            }
            Ok(None) => {}
            Err(error) => {
                tracing::error!(update.id = id.0, %error, "the failure could not be counted")
            }
        }
    }

    /// What a former process left open, once it is counted as tried again.
    async fn left_open(&self, update: UpdateId, cut: &[UpdateId]) -> Option<Value> {
        let counted = match cut {
            [] => Ok(()),
            cut => self.inbox.cut(cut, unix_now()).await,
        };
        let raw = match counted {
            Ok(()) => self.inbox.still_open(update).await,
            Err(error) => Err(error),
        };
        raw.unwrap_or_else(|error| {
            tracing::error!(update.id = update.0, %error, "the update stays open until the next start");
            None
        })
    }

    /// Reads one fed thing; what no handler needs to see is settled here.
    async fn read(&self, fed: Fed) -> Option<Update> {
        let (id, raw): (UpdateId, Value) = match fed {
            Fed::Update(id, raw) => (id, raw),
            Fed::Again { update, cut } => (update, self.left_open(update, &cut).await?),
            Fed::Skipped(count) => {
                self.report_skipped(count).await;
                return None;
            }
        };
        let repaired = std::panic::catch_unwind(|| repair(&raw)).unwrap_or(Repaired::Hopeless);
        let outcome = match repaired {
            Repaired::Update(update) => return Some(*update),
            Repaired::Irrelevant => self.inbox.close(&[id], unix_now()).await,
            Repaired::Hopeless => {
                tracing::warn!(
                    update.id = id.0,
                    "an update cannot be read and is kept as a dead letter"
                );
                self.inbox
                    .bury(id, raw, "it cannot be read", unix_now())
                    .await
            }
        };
        if let Err(error) = outcome {
            tracing::error!(update.id = id.0, %error, "an update could not be closed");
        }
        None
    }
}

/// Runs the dispatcher until `cancel`, fed from `fed`.
pub async fn run(
    api: ApiClient,
    context: Arc<Context>,
    fed: mpsc::Receiver<Fed>,
    cancel: CancellationToken,
) {
    let fed = Arc::new(tokio::sync::Mutex::new(fed));
    while !cancel.is_cancelled() {
        let source = Source::new(Arc::clone(&fed), Arc::clone(&context), cancel.clone());
        let mut dispatcher = Dispatcher::builder(api.bot(), handlers())
            .dependencies(dptree::deps![Arc::clone(&context)])
            .distribution_function(lane)
            .default_handler(|_| async {})
            .worker_queue_size(WORKER_QUEUE)
            .build();
        // It asks getMe first and gives up when that fails; what is fed meanwhile waits on disk.
        let errors = LoggingErrorHandler::with_custom_text("update source");
        let run = cancel
            .run_until_cancelled(dispatcher.try_dispatch_with_listener(source, errors))
            .await;
        match run {
            None => return,
            Some(Ok(())) if fed.lock().await.is_closed() => return,
            Some(Ok(())) => {}
            // The error's text holds the address but teloxide has taken the token out.
            Some(Err(_)) => tracing::warn!("the dispatcher could not start; trying again"),
        }
        if cancel
            .run_until_cancelled(tokio::time::sleep(RESTART_PAUSE))
            .await
            .is_none()
        {
            return;
        }
    }
}

fn handlers() -> UpdateHandler<Infallible> {
    dptree::endpoint(|update: Update, context: Arc<Context>| async move {
        context.handle(update).await;
        Ok(())
    })
}

/// `None` is the concurrent lane of what must never wait.
fn lane(update: &Update) -> Option<()> {
    let control = if let UpdateKind::Message(message) = &update.kind {
        // Whether a command names this bot is decided by the handler; here only its word counts.
        let text = message.text().unwrap_or_default();
        let me = text
            .split_whitespace()
            .next()
            .and_then(|word| word.split_once('@'))
            .map_or("", |(_, bot)| bot);
        matches!(command::parse(text, me), Parsed::Ours { spec, .. } if spec.control)
    } else {
        matches!(update.kind, UpdateKind::CallbackQuery(_))
    };
    (!control).then_some(())
}

/// teloxide's view of the inbox.
struct Source {
    fed: Arc<tokio::sync::Mutex<mpsc::Receiver<Fed>>>,
    context: Arc<Context>,
    cancel: CancellationToken,
    token: StopToken,
    flag: StopFlag,
}

impl Source {
    fn new(
        fed: Arc<tokio::sync::Mutex<mpsc::Receiver<Fed>>>,
        context: Arc<Context>,
        cancel: CancellationToken,
    ) -> Self {
        let (token, flag) = mk_stop_token();
        Self {
            fed,
            context,
            cancel,
            token,
            flag,
        }
    }
}

impl UpdateListener for Source {
    type Err = Infallible;

    fn stop_token(&mut self) -> StopToken {
        self.token.clone()
    }
}

impl<'a> AsUpdateStream<'a> for Source {
    type StreamErr = Infallible;
    type Stream = BoxStream<'a, Result<Update, Infallible>>;

    fn as_stream(&'a mut self) -> Self::Stream {
        let (fed, context) = (Arc::clone(&self.fed), Arc::clone(&self.context));
        futures::stream::unfold((fed, context), |(fed, context)| async move {
            loop {
                let next = fed.lock().await.recv().await?;
                if let Some(update) = context.read(next).await {
                    return Some((Ok(update), (fed, context)));
                }
            }
        })
        .take_until(self.flag.clone())
        .take_until(self.cancel.clone().cancelled_owned())
        .boxed()
    }
}

#[cfg(test)]
mod tests;
