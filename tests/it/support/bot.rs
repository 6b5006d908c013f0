//! A builder for a world with the strict Bot API inside the test's process.

use std::sync::Arc;

use greenlight::domain::{ChatId, MessageId, ThreadId, UserId};
use greenlight::playground::{
    Answer, Call, Draft, Fault, FaultKind, GROUP, OWNER, Options, Post, Running, World, start,
};

/// How the world is to be.
#[derive(Debug, Clone)]
pub(crate) struct Builder {
    limits: bool,
    cast: bool,
}

impl Builder {
    /// Enforces Telegram's flood limits.
    pub(crate) fn limits(mut self) -> Self {
        self.limits = true;
        self
    }

    /// Leaves out the people and chats that are there by default.
    pub(crate) fn empty(mut self) -> Self {
        self.cast = false;
        self
    }

    /// Starts the server.
    pub(crate) async fn start(self) -> TestBot {
        let mut options = Options::new(Arc::new(|language, key| {
            greenlight::i18n::tr(language, key, &[])
        }));
        options.limits = self.limits;
        options.cast = self.cast;
        TestBot {
            server: start(options).await.expect("a loopback port"),
        }
    }
}

/// A running world. Unless a test says otherwise the owner acts, in the private chat.
pub(crate) struct TestBot {
    /// The server.
    pub(crate) server: Running,
}

impl TestBot {
    /// A world without limits and with people.
    pub(crate) fn builder() -> Builder {
        Builder {
            limits: false,
            cast: true,
        }
    }

    /// The same, started.
    pub(crate) async fn new() -> Self {
        Self::builder().start().await
    }

    /// The world behind the server.
    pub(crate) fn world(&self) -> &World {
        &self.server.world
    }

    /// The owner's private chat.
    pub(crate) fn chat(&self) -> ChatId {
        ChatId(OWNER.0)
    }

    /// The owner writes in private.
    pub(crate) fn say(&self, text: &str) -> MessageId {
        self.world().say(OWNER, self.chat(), None, text)
    }

    /// Anybody writes anywhere.
    pub(crate) fn say_as(
        &self,
        user: UserId,
        chat: ChatId,
        thread: Option<ThreadId>,
        text: &str,
    ) -> MessageId {
        self.world().say(user, chat, thread, text)
    }

    /// The owner sends a message with more than text.
    pub(crate) fn send(&self, draft: Draft) -> MessageId {
        self.world().say_with(OWNER, self.chat(), draft)
    }

    /// The owner taps, and waits for the answer.
    pub(crate) async fn tap(&self, message: MessageId, data: &str) -> Answer {
        self.tap_as(OWNER, self.chat(), message, data).await
    }

    /// Anybody taps, and waits for the answer.
    pub(crate) async fn tap_as(
        &self,
        user: UserId,
        chat: ChatId,
        message: MessageId,
        data: &str,
    ) -> Answer {
        let tap = self.world().tap(user, chat, message, data);
        self.world().wait_for(|world| world.answer(&tap)).await
    }

    /// What the owner sees in private.
    pub(crate) fn messages(&self) -> Vec<Post> {
        self.world().messages(self.chat())
    }

    /// What the group sees.
    pub(crate) fn group_messages(&self) -> Vec<Post> {
        self.world().messages(GROUP)
    }

    /// Waits for a message of the bot in the owner's private chat.
    pub(crate) async fn wait_message(&self, mut fits: impl FnMut(&Post) -> bool) -> Post {
        let chat = self.chat();
        self.world()
            .wait_for(|world| {
                let posts = world.messages(chat);
                posts
                    .into_iter()
                    .rev()
                    .find(|post| post.from_bot && fits(post))
            })
            .await
    }

    /// The next `count` calls of `method` fail.
    pub(crate) fn fault(&self, method: &str, count: u32, kind: FaultKind) {
        self.world().fault(Fault::next(method, count, kind));
    }

    /// Every call so far, without the long polls.
    pub(crate) fn log(&self) -> Vec<Call> {
        let mut log = self.world().log();
        log.retain(|call| call.method != "getUpdates");
        log
    }

    /// Fails if the bot broke a rule.
    pub(crate) fn assert_clean(&self) {
        assert_eq!(self.world().verdict(), Vec::<String>::new());
    }
}
