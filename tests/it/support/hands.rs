//! What people do, and waiting for what comes of it.

use greenlight::domain::{ChatId, MessageId, ThreadId, UserId};
use greenlight::playground::{Answer, Draft, Post};
use serde_json::json;

use super::rig::{PLAN, Rig, designer, is_flow, is_settled};
use super::script::Step;

impl Rig {
    pub(crate) fn say(&self, text: &str) -> MessageId {
        self.bot.say(text)
    }

    /// Says a command and waits for the answer that holds `text`.
    pub(crate) async fn command(&self, command: &str, text: &str) -> Post {
        let mark = self.mark();
        self.say(command);
        self.reply(mark, text).await
    }

    /// Says something and waits for the answer.
    pub(crate) async fn turn(&self, text: &str, steps: Vec<Step>) -> Post {
        let draft = Draft::text(text);
        self.turn_with(draft, steps).await
    }

    pub(crate) async fn turn_with(&self, draft: Draft, steps: Vec<Step>) -> Post {
        let words = steps.last().and_then(Step::words);
        let answer = words.expect("the last step is an answer").to_owned();
        let mark = self.mark();
        self.script.then(steps);
        self.bot.send(draft);
        let post = self.reply(mark, &answer).await;
        self.settled(mark).await;
        post
    }

    /// Waits until no flow message after `mark` runs.
    pub(crate) async fn settled(&self, mark: i32) {
        let chat = self.bot.chat();
        self.settled_in(chat, mark).await;
    }

    pub(crate) async fn settled_in(&self, chat: ChatId, mark: i32) {
        self.wait("a settled flow message", |rig| {
            let posts = rig.world().messages_after(chat, MessageId(mark));
            let mut flows = posts.iter().filter(|post| is_flow(post));
            flows.all(is_settled).then_some(())
        })
        .await;
    }

    /// Waits until the newest flow message is settled and carries `data`.
    pub(crate) async fn card(&self, data: &str) -> Post {
        self.card_in(self.bot.chat(), data).await
    }

    pub(crate) async fn card_in(&self, chat: ChatId, data: &str) -> Post {
        self.wait(&format!("a settled card with {data}"), |rig| {
            rig.flow_in(chat)
                .filter(|post| is_settled(post) && post.data().iter().any(|known| known == data))
        })
        .await
    }

    /// Waits for an approval card after `mark`; gives it with the id on its buttons.
    pub(crate) async fn approval(&self, mark: i32) -> (Post, String) {
        self.approval_in(self.bot.chat(), mark).await
    }

    pub(crate) async fn approval_in(&self, chat: ChatId, mark: i32) -> (Post, String) {
        self.wait("an approval card", |rig| {
            let posts = rig.world().messages_after(chat, MessageId(mark));
            posts.into_iter().find_map(|post| {
                let data = post.data();
                let id = data.iter().find_map(|data| data.strip_prefix("approve:"))?;
                Some((post.clone(), id.to_owned()))
            })
        })
        .await
    }

    pub(crate) async fn tap(&self, message: MessageId, data: &str) -> Answer {
        self.within(data, self.bot.tap(message, data)).await
    }

    pub(crate) async fn tap_as(
        &self,
        user: UserId,
        chat: ChatId,
        message: MessageId,
        data: &str,
    ) -> Answer {
        self.within(data, self.bot.tap_as(user, chat, message, data))
            .await
    }

    pub(crate) fn say_in(
        &self,
        user: UserId,
        chat: ChatId,
        thread: Option<ThreadId>,
        text: &str,
    ) -> MessageId {
        self.bot.say_as(user, chat, thread, text)
    }

    /// `/plan` without a text.
    pub(crate) async fn plan_mode(&self) {
        self.command("/plan", "Plan mode is on").await;
        let side = self.sidecar().expect("a sidecar");
        assert_eq!(side["pre_init_editing"], json!(true));
    }

    /// From `/plan` to a plan that waits for approval; gives its card.
    pub(crate) async fn design(&self) -> Post {
        self.turn("/plan Fix the adder", designer(PLAN)).await;
        self.card("plan:ok").await
    }

    /// Taps Approve and works the seed turn to its answer.
    pub(crate) async fn approve(&self, card: &Post, steps: Vec<Step>) -> Post {
        let mark = self.mark();
        let words = steps.last().and_then(Step::words);
        let text = words.expect("the last step is an answer").to_owned();
        self.script.then(steps);
        let last = text.clone();
        self.script.brain(move |_| Step::Say(last.clone()));
        let answer = self.tap(card.id, "plan:ok").await;
        assert!(!answer.alert, "{answer:?}");
        let post = self.reply(mark, &text).await;
        self.settled(mark).await;
        post
    }

    pub(crate) async fn discard(&self) {
        self.command("/discard", "Discarded").await;
        assert!(self.no_plan(), "{:?}", self.live("json"));
    }
}
