//! From the two lanes to sessions and the outbox. The control lane is always served first.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;
use tracing::{error, info, warn};

use crate::domain::{ChatId, Formatted, UpdateId};
use crate::i18n::tr;
use crate::session::{Deps, Sessions};
use crate::store::Batch;
use crate::telegram::dispatch::{Content, Context, Delivery, Lanes, Reply};
use crate::telegram::outbox::{self, Lane, OutboxNotice};

/// A session that nobody spoke to for so long is put aside until the next word.
const QUIET: Duration = Duration::from_secs(15 * 60);
/// Time between two looks for such sessions.
const LOOK_EVERY: Duration = Duration::from_secs(60);

/// Takes deliveries to where they belong.
pub(super) struct Router {
    sessions: Sessions,
    deps: Arc<Deps>,
    context: Arc<Context>,
}

impl Router {
    pub(super) fn new(sessions: Sessions, deps: Arc<Deps>, context: Arc<Context>) -> Self {
        Self {
            sessions,
            deps,
            context,
        }
    }

    /// Runs until `cancel`, then lets sessions put their turns down. Gives the number of those that were
    /// not ready within `drain`.
    pub(super) async fn run(
        mut self,
        mut lanes: Lanes,
        cancel: CancellationToken,
        drain: Duration,
    ) -> usize {
        let mut notices = self.deps.outbox.notices();
        let mut looks = tokio::time::interval(LOOK_EVERY);
        loop {
            tokio::select! {
                biased;
                () = cancel.cancelled() => break,
                Some(delivery) = lanes.control.recv() => self.take(delivery).await,
                notice = notices.recv() => match notice {
                    Ok(OutboxNotice::Halted) => {
                        error!("the token is refused; nothing can be sent");
                        cancel.cancel();
                    }
                    Ok(notice) => self.notice(notice).await,
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => break,
                },
                Some(delivery) = lanes.work.recv() => self.take(delivery).await,
                _ = looks.tick() => self.sessions.rest(QUIET).await,
                else => break,
            }
        }
        self.sessions.shutdown(drain).await
    }

    async fn take(&mut self, delivery: Delivery) {
        let Delivery { content, updates } = delivery;
        match content {
            Content::Input(inbound) => {
                // An owner by claim is unknown to the settings.
                self.sessions.set_owner(self.context.owner());
                if let Err(fault) = self.sessions.deliver(inbound, updates).await {
                    error!(error = %fault, "an input could not reach its session; it stays open");
                }
                return;
            }
            Content::Reply(reply) => self.reply(reply),
            Content::Migrated { from, to } => self.migrate(from, to).await,
            Content::OwnerClaimed(user) => {
                info!(user.id = user.0, "the bot has an owner now");
                self.sessions.set_owner(Some(user));
            }
            Content::Removed(chat) => self.sessions.chat_gone(chat),
        }
        self.close(&updates).await;
    }

    async fn close(&self, updates: &[UpdateId]) {
        if updates.is_empty() {
            return;
        }
        let mut batch = Batch::new();
        let now = chrono::Utc::now().timestamp();
        let closed = match self.deps.inbox.close_in(&mut batch, updates, now) {
            Ok(()) => self.deps.store.commit(batch).await,
            Err(fault) => Err(fault),
        };
        if let Err(fault) = closed {
            error!(error = %fault, "updates could not be closed");
        }
    }

    fn reply(&self, reply: Reply) {
        let outbox = self.deps.outbox.clone();
        match reply {
            Reply::Say {
                key,
                to,
                language,
                text,
                arguments,
            } => {
                let arguments: Vec<(&str, &str)> = arguments
                    .iter()
                    .map(|(name, value)| (name.as_str(), value.as_str()))
                    .collect();
                let text = Formatted::plain(tr(&language, text, &arguments));
                let mut send = outbox::Send::new(key, outbox::Content::Text(text), Lane::Final);
                send.reply_to = to.filter(|_| key.chat.0 < 0);
                tokio::spawn(async move {
                    if let Err(fault) = outbox.send(send).await {
                        warn!(error = %fault, "a reply was not delivered");
                    }
                });
            }
            Reply::Alert {
                query,
                language,
                text,
            } => {
                let text = tr(&language, text, &[]);
                tokio::spawn(async move { outbox.answer_callback(&query, &text, true).await });
            }
            Reply::Leave { chat } => {
                tokio::spawn(async move {
                    if let Err(fault) = outbox.leave(chat).await {
                        warn!(error = %fault, "a group could not be left");
                    }
                });
            }
        }
    }

    async fn notice(&mut self, notice: OutboxNotice) {
        match notice {
            OutboxNotice::Migrated { from, to } => {
                if let Err(fault) = self.context.moved(from, to).await {
                    error!(error = %fault, "a group's settings could not be moved");
                }
                self.migrate(from, to).await;
            }
            OutboxNotice::Blocked { chat } => self.sessions.chat_gone(chat),
            OutboxNotice::TopicGone { key } => {
                warn!(
                    chat.id = key.chat.0,
                    "a topic is gone; its messages go to the chat's root"
                );
            }
            OutboxNotice::Halted => {}
        }
    }

    async fn migrate(&mut self, from: ChatId, to: ChatId) {
        info!(
            chat.id = from.0,
            new.id = to.0,
            "a group became a supergroup"
        );
        if let Err(fault) = self.sessions.migrate(from, to).await {
            error!(error = %fault, "a group's sessions could not be moved");
        }
    }
}
