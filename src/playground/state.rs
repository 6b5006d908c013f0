//! Everything the server knows, and how it becomes Bot API objects and page events.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::sync::broadcast;
use tokio::time::Instant;

use super::fault::Fault;
use super::flood::Flood;
use super::log::{Call, LOG_LIMIT};
use super::model::{Button, FileView, Person, Post, Room, RoomKind, Standing, TapState, set};
use crate::domain::{ChatId, MessageId, ThreadId, UserId};

/// How long a tap waits in the queue, and other updates.
const TAP_LIFE: Duration = Duration::from_secs(150);
const UPDATE_LIFE: Duration = Duration::from_secs(24 * 3600);
/// Updates in the queue; new ones are dropped beyond it.
const QUEUE_LIMIT: usize = 100_000;
/// Earlier texts that are kept for each message.
const HISTORY_LIMIT: usize = 5_000;
/// Kinds that are only sent when asked for.
const OPT_IN: [&str; 3] = ["chat_member", "message_reaction", "message_reaction_count"];

/// One update on its way to the bot.
#[derive(Debug, Clone)]
pub(super) struct Queued {
    pub(super) id: i64,
    pub(super) kind: &'static str,
    pub(super) body: Value,
    pub(super) expires: Instant,
}

/// A webhook that is set.
#[derive(Debug, Clone, Default)]
pub(super) struct Hook {
    pub(super) url: String,
    pub(super) secret: Option<String>,
    pub(super) failures: u32,
    pub(super) last_error: Option<String>,
}

/// The whole state, behind one lock.
pub(super) struct State {
    pub(super) token: String,
    pub(super) me: Person,
    pub(super) start: Instant,
    pub(super) people: BTreeMap<i64, Person>,
    pub(super) rooms: BTreeMap<i64, Room>,
    pub(super) files: BTreeMap<String, FileView>,
    pub(super) taps: BTreeMap<String, TapState>,
    pub(super) commands: BTreeMap<(String, String), Value>,
    pub(super) queue: VecDeque<Queued>,
    pub(super) allowed: Option<Vec<String>>,
    pub(super) poll: u64,
    /// Whether the newest poll does not wait.
    pub(super) last_look: bool,
    pub(super) hook: Option<Hook>,
    pub(super) log: VecDeque<Call>,
    pub(super) calls: u64,
    pub(super) faults: Vec<Fault>,
    pub(super) flood: Flood,
    pub(super) secrets: Vec<String>,
    pub(super) events: broadcast::Sender<Arc<str>>,
    next_message: i32,
    next_update: i64,
    next_any: u64,
}

impl State {
    pub(super) fn new(token: &str, username: &str) -> Self {
        let id = token
            .split(':')
            .next()
            .and_then(|id| id.parse().ok())
            .unwrap_or(1);
        let secret = token.split(':').nth(1).unwrap_or(token).to_owned();
        Self {
            token: token.to_owned(),
            me: Person {
                id: UserId(id),
                name: "Greenlight".to_owned(),
                username: Some(username.to_owned()),
                language: None,
                bot: true,
            },
            start: Instant::now(),
            people: BTreeMap::new(),
            rooms: BTreeMap::new(),
            files: BTreeMap::new(),
            taps: BTreeMap::new(),
            commands: BTreeMap::new(),
            queue: VecDeque::new(),
            allowed: None,
            poll: 0,
            last_look: false,
            hook: None,
            log: VecDeque::new(),
            calls: 0,
            faults: Vec::new(),
            flood: Flood::default(),
            secrets: vec![secret],
            events: broadcast::channel(1024).0,
            next_message: 40,
            next_update: 500_000,
            next_any: 1,
        }
    }

    /// Tells the page; nobody may be listening, which is no fault.
    pub(super) fn emit(&self, kind: &str, body: Value) {
        let text = json!({ "kind": kind, "body": body }).to_string();
        drop(self.events.send(Arc::from(text.as_str())));
    }

    pub(super) fn unique(&mut self) -> u64 {
        self.next_any += 1;
        self.next_any
    }

    /// The room of a person's private chat, made when it is first used.
    pub(super) fn private_room(&mut self, user: i64) {
        let name = self
            .people
            .get(&user)
            .map(|person| person.name.clone())
            .unwrap_or_default();
        self.rooms.entry(user).or_insert_with(|| Room {
            id: user,
            kind: RoomKind::Private,
            title: name,
            forum: false,
            members: vec![user],
            bot: Standing::Member,
            migrated: None,
            topics: BTreeMap::new(),
            posts: BTreeMap::new(),
            last: 0,
        });
    }

    fn next_id(&mut self, chat: i64) -> i32 {
        if let Some(room) = self.rooms.get_mut(&chat)
            && matches!(room.kind, RoomKind::Supergroup | RoomKind::Channel)
        {
            room.last = if room.last == 0 { 12 } else { room.last + 1 };
            return room.last;
        }
        self.next_message += 1;
        self.next_message
    }

    /// A fresh message of `from`, not stored yet.
    pub(super) fn blank(&mut self, chat: i64, from: &Person) -> Post {
        Post {
            id: MessageId(self.next_id(chat)),
            chat: ChatId(chat),
            thread: None,
            from: from.id,
            author: from.name.clone(),
            from_bot: from.id == self.me.id,
            sender_chat: None,
            text: String::new(),
            entities: Vec::new(),
            keyboard: Vec::new(),
            silent: false,
            date: chrono::Utc::now().timestamp(),
            edited: None,
            history: Vec::new(),
            deleted: false,
            reply_to: None,
            file: None,
            reactions: Vec::new(),
            rich: None,
            extra: Map::new(),
            explicit: Vec::new(),
        }
    }

    /// Stores a message and shows it.
    pub(super) fn store(&mut self, post: Post) {
        self.emit("message", json!(post));
        if let Some(room) = self.rooms.get_mut(&post.chat.0) {
            room.posts.insert(post.id.0, post);
        }
    }

    /// Changes a message, remembering the text it had, and shows it.
    pub(super) fn change(&mut self, chat: i64, id: i32, change: impl FnOnce(&mut Post)) {
        let Some(post) = self
            .rooms
            .get_mut(&chat)
            .and_then(|room| room.posts.get_mut(&id))
        else {
            return;
        };
        let before = post.text.clone();
        change(post);
        if post.text != before && post.history.len() < HISTORY_LIMIT {
            post.history.push(before);
        }
        let body = json!(post);
        self.emit("message", body);
    }

    pub(super) fn post(&self, chat: i64, id: i32) -> Option<&Post> {
        let post = self.rooms.get(&chat)?.posts.get(&id)?;
        (!post.deleted).then_some(post)
    }

    /// The Bot API object of a message; `depth` levels of replies are included.
    pub(super) fn message_json(&self, post: &Post, depth: u8) -> Value {
        let room = self.rooms.get(&post.chat.0);
        let chat = room.map(|room| room.json(&self.people));
        let from = if post.from_bot {
            self.me.json()
        } else {
            self.people.get(&post.from.0).map_or_else(
                || json!({"id": post.from, "is_bot": true, "first_name": post.author}),
                Person::json,
            )
        };
        let mut message = json!({
            "message_id": post.id, "date": post.date, "chat": chat, "from": from,
        });
        set(&mut message, "sender_chat", post.sender_chat.clone());
        if let Some(ThreadId(thread)) = post.thread {
            set(&mut message, "message_thread_id", Some(thread));
            set(&mut message, "is_topic_message", Some(true));
        }
        set(&mut message, "edit_date", post.edited);
        let entities = (!post.entities.is_empty()).then(|| json!(post.entities));
        if let Some(file) = &post.file {
            set(&mut message, &file.kind, Some(file_json(file)));
            if !post.text.is_empty() {
                set(&mut message, "caption", Some(post.text.clone()));
                set(&mut message, "caption_entities", entities);
            }
        } else if let Some(rich) = &post.rich {
            set(&mut message, "rich_message", Some(rich.clone()));
        } else if !post.text.is_empty() {
            set(&mut message, "text", Some(post.text.clone()));
            set(&mut message, "entities", entities);
        }
        if !post.keyboard.is_empty() {
            set(
                &mut message,
                "reply_markup",
                Some(keyboard_json(&post.keyboard)),
            );
        }
        let reply = post.reply_to.filter(|_| depth > 0).and_then(|id| {
            let reply = self.post(post.chat.0, id.0)?;
            Some(self.message_json(reply, depth - 1))
        });
        set(&mut message, "reply_to_message", reply);
        if let Some(map) = message.as_object_mut() {
            map.extend(post.extra.clone());
        }
        message
    }

    /// Queues an update for the bot, unless it did not ask for the kind.
    pub(super) fn push(&mut self, kind: &'static str, body: Value) -> i64 {
        let id = self.next_update;
        self.next_update += 1;
        let wanted = match &self.allowed {
            Some(kinds) if !kinds.is_empty() => kinds.iter().any(|allowed| allowed == kind),
            _ => !OPT_IN.contains(&kind),
        };
        if wanted && self.queue.len() < QUEUE_LIMIT {
            let life = if kind == "callback_query" {
                TAP_LIFE
            } else {
                UPDATE_LIFE
            };
            self.queue.push_back(Queued {
                id,
                kind,
                body,
                expires: Instant::now() + life,
            });
        }
        id
    }

    /// Queues a whole update object under a fresh id, as it is.
    pub(super) fn push_raw(&mut self, mut update: Value) -> i64 {
        let id = self.next_update;
        self.next_update += 1;
        set(&mut update, "update_id", Some(id));
        self.queue.push_back(Queued {
            id,
            kind: "",
            body: update,
            expires: Instant::now() + UPDATE_LIFE,
        });
        id
    }

    /// Jumps the counter of updates, as after an idle week.
    pub(super) fn jump_updates(&mut self, next: i64) {
        self.next_update = next;
    }

    pub(super) fn remember(&mut self, call: Call) {
        self.emit("call", json!(call));
        if self.log.len() >= LOG_LIMIT {
            self.log.pop_front();
        }
        self.log.push_back(call);
    }

    /// Closes the record of call `number` and shows it.
    pub(super) fn finish(&mut self, number: u64, close: impl FnOnce(&mut Call)) {
        let Some(call) = self.log.iter_mut().rev().find(|call| call.number == number) else {
            return;
        };
        close(call);
        let body = json!(call);
        self.emit("call", body);
    }
}

/// The update as the bot gets it.
pub(super) fn update_json(update: &Queued) -> Value {
    if update.kind.is_empty() {
        return update.body.clone();
    }
    json!({ "update_id": update.id, update.kind: update.body })
}

/// The keyboard as the bot gets it.
pub(super) fn keyboard_json(rows: &[Vec<Button>]) -> Value {
    let rows: Vec<Vec<Value>> = rows
        .iter()
        .map(|row| {
            row.iter()
                .map(|button| {
                    let mut json = json!({ "text": button.text });
                    set(&mut json, "callback_data", button.data.clone());
                    set(&mut json, "url", button.url.clone());
                    set(&mut json, "style", button.style.clone());
                    json
                })
                .collect()
        })
        .collect();
    json!({ "inline_keyboard": rows })
}

/// The object of a file; a photo is a list of sizes.
fn file_json(file: &FileView) -> Value {
    let mut json = json!({
        "file_id": file.id, "file_unique_id": format!("u{}", file.id), "file_size": file.size,
    });
    if file.kind == "photo" {
        set(&mut json, "width", Some(800));
        set(&mut json, "height", Some(600));
        return json!([json]);
    }
    if file.kind != "voice" {
        set(&mut json, "file_name", Some(file.name.clone()));
    }
    set(&mut json, "mime_type", file.mime.clone());
    if file.kind == "voice" || file.kind == "audio" {
        set(&mut json, "duration", Some(3));
    }
    json
}
