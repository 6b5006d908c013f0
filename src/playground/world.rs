//! The world in a test's hands: people act, the bot's traces are read, faults are switched on.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::sync::{broadcast, watch};
use tokio::time::Instant;

use super::compose::{announce, compose};
use super::fault::Fault;
use super::log::{Call, invariants};
use super::markup::detect;
use super::methods;
use super::model::{Answer, Draft, Person, Post, Room, RoomKind, Standing, TapState, Topic, set};
use super::state::State;
use crate::domain::{ChatId, MessageId, ThreadId, UserId};

/// A handle on the server's state. Clones share it.
#[derive(Clone)]
pub struct World {
    state: Arc<Mutex<State>>,
    changed: watch::Sender<u64>,
}

impl World {
    /// An empty world for the bot with this token and user name.
    #[must_use]
    pub fn new(token: &str, username: &str) -> Self {
        Self {
            state: Arc::new(Mutex::new(State::new(token, username))),
            changed: watch::Sender::new(0),
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state and wakes everyone who waits for it.
    pub(super) fn with<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let result = change(&mut self.lock());
        self.changed.send_modify(|version| *version += 1);
        result
    }

    pub(super) fn watch(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    pub(super) fn events(&self) -> broadcast::Receiver<Arc<str>> {
        self.lock().events.subscribe()
    }

    /// The bot's token.
    #[must_use]
    pub fn token(&self) -> String {
        self.lock().token.clone()
    }

    /// Adds a person; the bot may not write before the person does, or before [`World::open`].
    pub fn person(&self, person: Person) -> UserId {
        let id = person.id;
        self.with(|state| state.people.insert(id.0, person));
        id
    }

    /// Opens the private chat of `user`, as if `/start` had been sent long ago.
    pub fn open(&self, user: UserId) -> ChatId {
        self.with(|state| state.private_room(user.0));
        ChatId(user.0)
    }

    /// Adds a group with the bot in it; the first member is its creator.
    pub fn group(
        &self,
        id: i64,
        title: &str,
        kind: RoomKind,
        forum: bool,
        members: &[UserId],
    ) -> ChatId {
        let room = Room {
            id,
            kind,
            title: title.to_owned(),
            forum,
            members: members.iter().map(|member| member.0).collect(),
            bot: Standing::Member,
            migrated: None,
            topics: BTreeMap::new(),
            posts: BTreeMap::new(),
            last: 0,
        };
        self.with(|state| state.rooms.insert(id, room));
        ChatId(id)
    }

    /// Adds a topic, with the service message that begins it.
    pub fn topic(&self, chat: ChatId, user: UserId, name: &str) -> ThreadId {
        let mut draft = Draft::default();
        draft.extra.insert(
            "forum_topic_created".to_owned(),
            json!({ "name": name, "icon_color": 7_322_096 }),
        );
        self.with(|state| {
            let post = compose(state, user, chat, draft);
            let id = post.id.0;
            let topic = Topic {
                name: name.to_owned(),
                closed: false,
            };
            if let Some(room) = state.rooms.get_mut(&chat.0) {
                room.topics.insert(id, topic);
            }
            let mut post = post;
            post.thread = Some(ThreadId(id));
            announce(state, post);
            ThreadId(id)
        })
    }

    /// Closes a topic, or deletes it with everything in it.
    pub fn close_topic(&self, chat: ChatId, thread: ThreadId, delete: bool) {
        self.with(|state| {
            let Some(room) = state.rooms.get_mut(&chat.0) else {
                return;
            };
            if delete {
                room.topics.remove(&thread.0);
                room.posts
                    .values_mut()
                    .filter(|post| post.thread == Some(thread))
                    .for_each(|post| post.deleted = true);
            } else if let Some(topic) = room.topics.get_mut(&thread.0) {
                topic.closed = true;
            }
        });
    }

    /// A person writes.
    pub fn say(
        &self,
        user: UserId,
        chat: ChatId,
        thread: Option<ThreadId>,
        text: &str,
    ) -> MessageId {
        let draft = Draft {
            thread,
            ..Draft::text(text)
        };
        self.say_with(user, chat, draft)
    }

    /// A person writes with entities, an answer, a file, a forward or an album.
    pub fn say_with(&self, user: UserId, chat: ChatId, draft: Draft) -> MessageId {
        self.with(|state| {
            if chat.0 == user.0 {
                state.private_room(user.0);
                if let Some(room) = state.rooms.get_mut(&chat.0)
                    && room.bot == Standing::Kicked
                {
                    room.bot = Standing::Member;
                }
            }
            let post = compose(state, user, chat, draft);
            let id = post.id;
            announce(state, post);
            id
        })
    }

    /// A person edits an own message.
    pub fn edit(&self, _user: UserId, chat: ChatId, message: MessageId, text: &str) {
        self.with(|state| {
            state.change(chat.0, message.0, |post| {
                post.text = text.to_owned();
                post.entities = detect(text, Vec::new());
                post.edited = Some(chrono::Utc::now().timestamp());
            });
            let body = state
                .post(chat.0, message.0)
                .map(|post| state.message_json(post, 1));
            if let Some(body) = body {
                state.push("edited_message", body);
            }
        });
    }

    /// A person deletes a message; bots are not told.
    pub fn delete(&self, chat: ChatId, message: MessageId) {
        self.with(|state| state.change(chat.0, message.0, |post| post.deleted = true));
    }

    /// A person taps a button; the id is for [`World::answer`].
    pub fn tap(&self, user: UserId, chat: ChatId, message: MessageId, data: &str) -> String {
        self.with(|state| {
            let id = format!("{}", 4_000_000_000_000_u64 + state.unique());
            let tap = TapState {
                user: user.0,
                chat: chat.0,
                data: data.to_owned(),
                at: Instant::now(),
                answers: Vec::new(),
            };
            state.taps.insert(id.clone(), tap);
            let chat_json = state
                .rooms
                .get(&chat.0)
                .map(|room| room.json(&state.people));
            let carrier = state.post(chat.0, message.0).map_or_else(
                || json!({ "message_id": message, "date": 0, "chat": chat_json }),
                |post| state.message_json(post, 1),
            );
            let from = state.people.get(&user.0).map(Person::json);
            let body = json!({
                "id": id, "from": from, "message": carrier, "data": data,
                "chat_instance": format!("{}", chat.0),
            });
            state.push("callback_query", body);
            id
        })
    }

    /// The bot's first answer to a tap.
    #[must_use]
    pub fn answer(&self, tap: &str) -> Option<Answer> {
        self.lock()
            .taps
            .get(tap)
            .and_then(|tap| tap.answers.first().cloned())
    }

    /// Messages of a chat that are not deleted, oldest first.
    #[must_use]
    pub fn messages(&self, chat: ChatId) -> Vec<Post> {
        let mut posts = self.all_messages(chat);
        posts.retain(|post| !post.deleted);
        posts
    }

    /// Id of the newest message of a chat, 0 if there is none.
    #[must_use]
    pub fn last_message(&self, chat: ChatId) -> MessageId {
        let state = self.lock();
        let room = state.rooms.get(&chat.0);
        MessageId(
            room.and_then(|room| room.posts.keys().next_back().copied())
                .unwrap_or_default(),
        )
    }

    /// Messages of a chat with a greater id that are not deleted, oldest first.
    #[must_use]
    pub fn messages_after(&self, chat: ChatId, message: MessageId) -> Vec<Post> {
        let state = self.lock();
        let room = state.rooms.get(&chat.0);
        let posts = room.map(|room| room.posts.range(message.0.saturating_add(1)..));
        let posts = posts.into_iter().flatten().map(|(_, post)| post);
        posts.filter(|post| !post.deleted).cloned().collect()
    }

    /// Every message a chat ever had.
    #[must_use]
    pub fn all_messages(&self, chat: ChatId) -> Vec<Post> {
        let state = self.lock();
        let room = state.rooms.get(&chat.0);
        room.map(|room| room.posts.values().cloned().collect())
            .unwrap_or_default()
    }

    /// Waits until `seen` finds something; it is asked again after every change.
    pub async fn wait_for<T>(&self, mut seen: impl FnMut(&Self) -> Option<T>) -> T {
        let mut changes = self.changed.subscribe();
        loop {
            if let Some(found) = seen(self) {
                return found;
            }
            if changes.changed().await.is_err() {
                // Cannot happen while this handle holds the sender.
                std::future::pending::<()>().await;
            }
        }
    }

    /// Every call so far.
    #[must_use]
    pub fn log(&self) -> Vec<Call> {
        self.lock().log.iter().cloned().collect()
    }

    /// Calls from number `from` on, oldest first.
    #[must_use]
    pub fn calls_from(&self, from: u64) -> Vec<Call> {
        let state = self.lock();
        let first = state.log.front().map_or(1, |call| call.number);
        let skip = usize::try_from(from.saturating_sub(first)).unwrap_or(usize::MAX);
        state.log.iter().skip(skip).cloned().collect()
    }

    /// Milliseconds since the server was made, the clock of [`Call::at_ms`].
    #[must_use]
    pub fn now_ms(&self) -> u64 {
        let start = self.lock().start;
        let passed = Instant::now().saturating_duration_since(start);
        u64::try_from(passed.as_millis()).unwrap_or(u64::MAX)
    }

    /// What is wrong so far: broken invariants, and taps that were never answered.
    #[must_use]
    pub fn verdict(&self) -> Vec<String> {
        let mut found = invariants(&self.log());
        let state = self.lock();
        let open = state.taps.values().filter(|tap| tap.answers.is_empty());
        found.extend(open.map(|tap| format!("the tap on {} was never answered", tap.data)));
        found
    }

    /// Switches a fault on.
    pub fn fault(&self, fault: Fault) {
        self.with(|state| state.faults.push(fault));
    }

    /// Switches every fault off.
    pub fn heal(&self) {
        self.with(|state| state.faults.clear());
    }

    /// Enforces Telegram's flood limits or lifts them.
    pub fn limits(&self, on: bool) {
        self.with(|state| state.flood.on = on);
    }

    /// A string that must never be seen in a call.
    pub fn guard(&self, secret: &str) {
        self.with(|state| state.secrets.push(secret.to_owned()));
    }

    /// Changes how the bot stands in a chat, with the update that tells it.
    pub fn stand(&self, chat: ChatId, by: UserId, standing: Standing) {
        self.with(|state| {
            let name = |standing| match standing {
                Standing::Member => "member",
                Standing::Admin => "administrator",
                Standing::Restricted => "restricted",
                Standing::Left => "left",
                Standing::Kicked | Standing::Deactivated => "kicked",
            };
            let Some(room) = state.rooms.get_mut(&chat.0) else {
                return;
            };
            let old = std::mem::replace(&mut room.bot, standing);
            let side = |status: &str| {
                let mut member = json!({ "user": state.me.json(), "status": status });
                set(&mut member, "until_date", (status == "kicked").then_some(0));
                member
            };
            let chat_json = state
                .rooms
                .get(&chat.0)
                .map(|room| room.json(&state.people));
            let body = json!({
                "chat": chat_json,
                "from": state.people.get(&by.0).map(Person::json),
                "date": chrono::Utc::now().timestamp(),
                "old_chat_member": side(name(old)),
                "new_chat_member": side(name(standing)),
            });
            state.push("my_chat_member", body);
        });
    }

    /// Turns a group into a supergroup; returns the new chat.
    pub fn migrate(&self, chat: ChatId, by: UserId) -> ChatId {
        let new = ChatId(-1_000_000_000_000 + chat.0);
        self.with(|state| {
            let Some(mut room) = state.rooms.get(&chat.0).cloned() else {
                return;
            };
            room.id = new.0;
            room.kind = RoomKind::Supergroup;
            room.posts = BTreeMap::new();
            room.last = 0;
            state.rooms.insert(new.0, room);
            for (place, field, other) in [
                (chat, "migrate_to_chat_id", new),
                (new, "migrate_from_chat_id", chat),
            ] {
                let mut draft = Draft::default();
                draft.extra.insert(field.to_owned(), json!(other));
                let post = compose(state, by, place, draft);
                announce(state, post);
            }
            if let Some(old) = state.rooms.get_mut(&chat.0) {
                old.migrated = Some(new.0);
            }
            state.taps.retain(|_, tap| tap.chat != chat.0);
        });
        new
    }

    /// Queues any update object under a fresh id, for kinds that nobody knows.
    pub fn push_update(&self, update: Value) -> i64 {
        self.with(|state| state.push_raw(update))
    }

    /// Makes the next update id jump.
    pub fn jump_updates(&self, next: i64) {
        self.with(|state| state.jump_updates(next));
    }

    /// Updates that the bot has not confirmed.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.lock().queue.len()
    }

    /// The command menu that `user` sees in `chat`.
    #[must_use]
    pub fn menu(&self, chat: ChatId, user: UserId) -> Value {
        let state = self.lock();
        let language = state
            .people
            .get(&user.0)
            .and_then(|person| person.language.clone());
        methods::menu(&state, chat.0, user.0, &language.unwrap_or_default())
    }
}
