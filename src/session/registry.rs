//! All sessions: finds or makes the one of a conversation, wakes those with unfinished work.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tracing::{error, info, warn};

use crate::agent::transcript::{Conversation, Record};
use crate::domain::{
    ChatId, ChatKey, ChatKind, Command, Inbound, MessageId, SessionId, TurnId, UpdateId, UserId,
};
use crate::plan::signals::Signals;
use crate::store::{StoreError, Table};

use super::actor::Actor;
use super::deps::Deps;
use super::mail::Mail;
use super::mailbox::{Post, mailbox};
use super::plans::Plans;
use super::record::{CardRow, Queued, SessionRecord, Strip, TurnRecord, chat_key, session_prefix};

/// Sessions that are asked to rest at one time.
const RESTS: usize = 64;
/// How long a session may take to say that it rests.
const REST_WAIT: Duration = Duration::from_millis(100);
/// How long a session may take to put its turn down before it moves to another chat.
const MIGRATION_WAIT: Duration = Duration::from_secs(5);

/// The sessions of this process.
#[derive(Debug)]
pub struct Sessions {
    deps: Arc<Deps>,
    mailboxes: HashMap<ChatKey, Post<Mail>>,
    /// When each of them was spoken to last.
    used: HashMap<ChatKey, Instant>,
    tasks: JoinSet<()>,
}

impl Sessions {
    /// Wakes every session that has a turn, queued words or open cards from before.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub async fn wake(deps: Arc<Deps>) -> Result<Self, StoreError> {
        let mut sessions = Self {
            deps,
            mailboxes: HashMap::new(),
            used: HashMap::new(),
            tasks: JoinSet::new(),
        };
        let store = sessions.deps.store.clone();
        let mut unfinished: BTreeSet<String> = BTreeSet::new();
        let of = |key: &[u8]| {
            let end = key
                .iter()
                .position(|byte| *byte == b'/')
                .unwrap_or(key.len());
            String::from_utf8_lossy(key.get(..end).unwrap_or_default()).into_owned()
        };
        for (key, _) in store.scan::<TurnRecord>(Table::Running, b"").await? {
            unfinished.insert(of(&key));
        }
        for (key, _) in store.scan::<Queued>(Table::Queue, b"").await? {
            unfinished.insert(of(&key));
        }
        for (key, _) in store.scan::<Command>(Table::Later, b"").await? {
            unfinished.insert(of(&key));
        }
        for (key, _) in store.scan::<Strip>(Table::Strips, b"").await? {
            unfinished.insert(of(&key));
        }
        for (_, row) in store.scan::<CardRow>(Table::Approvals, b"").await? {
            unfinished.insert(row.session.0);
        }
        if unfinished.is_empty() {
            return Ok(sessions);
        }
        let records = store.scan::<SessionRecord>(Table::Sessions, b"").await?;
        for (_, record) in records {
            if unfinished.contains(record.id.as_str()) {
                info!(session.id = %record.id, "waking a session with unfinished work");
                unfinished.remove(record.id.as_str());
                sessions.spawn(record).await?;
            }
        }
        // What `/new` put aside may still have an answer on its way.
        for id in unfinished {
            let aside: Option<SessionRecord> = store.get(Table::Archived, id.as_bytes()).await?;
            if let Some(record) = aside {
                info!(session.id = %record.id, "finishing a session that was put aside");
                sessions.spawn_aside(record).await?;
            }
        }
        Ok(sessions)
    }

    /// Hands an input to its session.
    ///
    /// # Errors
    /// If the store cannot be read; the updates stay open then.
    pub async fn deliver(
        &mut self,
        inbound: Inbound,
        updates: Vec<UpdateId>,
    ) -> Result<(), StoreError> {
        let (key, kind) = self.place(&inbound).await?;
        self.used.insert(key, Instant::now());
        self.mailbox(key, kind)
            .await?
            .send(Mail::Input { inbound, updates })
            .ok();
        Ok(())
    }

    /// Ends the tasks of sessions that nobody spoke to for so long and that have nothing to do, so that
    /// conversations of the past take no memory. An input wakes them again.
    pub async fn rest(&mut self, quiet: Duration) {
        let now = Instant::now();
        let long = |at: &Instant| now.duration_since(*at) >= quiet;
        let keys: Vec<ChatKey> = self
            .used
            .iter()
            .filter(|(_, at)| long(at))
            .map(|(key, _)| *key)
            .take(RESTS)
            .collect();
        for key in keys {
            // Every input comes through here, so none can come between the question and the answer.
            if self.ends(key).await {
                self.used.remove(&key);
                self.mailboxes.remove(&key);
            } else {
                self.used.insert(key, now);
            }
        }
        while let Some(ended) = self.tasks.try_join_next() {
            if ended.is_err_and(|fault| fault.is_panic()) {
                error!("a session ended by a panic");
            }
        }
    }

    async fn ends(&self, key: ChatKey) -> bool {
        let Some(mailbox) = self.mailboxes.get(&key) else {
            return true;
        };
        let (done, told) = oneshot::channel();
        if mailbox.send(Mail::Rest { done }).is_err() {
            return true;
        }
        matches!(tokio::time::timeout(REST_WAIT, told).await, Ok(Ok(())))
    }

    /// Names the owner, who may have been claimed after the start.
    pub fn set_owner(&self, owner: Option<UserId>) {
        self.deps.set_owner(owner);
    }

    /// A chat takes no messages any more: its turns end.
    pub fn chat_gone(&self, chat: ChatId) {
        for (key, mailbox) in &self.mailboxes {
            if key.chat == chat {
                mailbox.send(Mail::ChatGone).ok();
            }
        }
    }

    /// Tells a session that somebody else's message appeared in its chat.
    pub fn buried(&self, key: ChatKey, message: MessageId) {
        if let Some(mailbox) = self.mailboxes.get(&key) {
            mailbox.send(Mail::Buried(message)).ok();
        }
    }

    /// A chat has a new id: its sessions go on under it.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub async fn migrate(&mut self, old: ChatId, new: ChatId) -> Result<(), StoreError> {
        let records = self
            .deps
            .store
            .scan::<SessionRecord>(Table::Sessions, b"")
            .await?;
        let mut moved = Vec::new();
        for (_, mut record) in records
            .into_iter()
            .filter(|(_, record)| record.key.chat == old)
        {
            let before = record.key;
            if let Some(mailbox) = self.mailboxes.remove(&before) {
                let (done, told) = oneshot::channel();
                mailbox.send(Mail::Shutdown { done }).ok();
                if tokio::time::timeout(MIGRATION_WAIT, told).await.is_err() {
                    info!(session.id = %record.id, "a session moves with sends in flight");
                }
                // Its last words may have counted on.
                let saved = self
                    .deps
                    .store
                    .get(Table::Sessions, &chat_key(before))
                    .await?;
                if let Some(saved) = saved {
                    record = saved;
                }
            }
            record.key = ChatKey::new(new, before.thread);
            let mut batch = crate::store::Batch::new();
            batch.delete(Table::Sessions, &chat_key(before));
            batch.put(Table::Sessions, &chat_key(record.key), &record)?;
            self.deps.store.commit(batch).await?;
            moved.push(record);
        }
        super::migrate::rows(&self.deps.store, old, new).await?;
        for record in moved {
            self.spawn(record).await?;
        }
        Ok(())
    }

    /// Cards may stand in another chat than their session.
    async fn place(&self, inbound: &Inbound) -> Result<(ChatKey, ChatKind), StoreError> {
        let own = match inbound {
            Inbound::Message(message) | Inbound::Edited(message) => {
                (message.key, message.chat_kind)
            }
            Inbound::Command(command) => (command.key, command.chat_kind),
            Inbound::Tap(tap) => {
                let kind = if tap.key.chat.0 > 0 {
                    ChatKind::Private
                } else {
                    ChatKind::Group
                };
                (tap.key, kind)
            }
        };
        let Inbound::Tap(tap) = inbound else {
            return Ok(own);
        };
        let Some((word, rest)) = tap.data.split_once(':') else {
            return Ok(own);
        };
        if !matches!(word, "approve" | "always" | "deny" | "ask") {
            return Ok(own);
        }
        let id = rest.split(':').next().unwrap_or_default();
        let row: Option<CardRow> = self.deps.store.get(Table::Approvals, id.as_bytes()).await?;
        Ok(row.map_or(own, |row| {
            let kind = if row.home.chat.0 > 0 {
                ChatKind::Private
            } else {
                ChatKind::Group
            };
            (row.home, kind)
        }))
    }

    async fn mailbox(&mut self, key: ChatKey, kind: ChatKind) -> Result<Post<Mail>, StoreError> {
        if let Some(mailbox) = self
            .mailboxes
            .get(&key)
            .filter(|mailbox| !mailbox.is_closed())
        {
            return Ok(mailbox.clone());
        }
        let stored: Option<SessionRecord> =
            self.deps.store.get(Table::Sessions, &chat_key(key)).await?;
        let record = match stored {
            Some(record) => record,
            None => self.fresh(key, kind).await?,
        };
        self.spawn(record).await
    }

    async fn fresh(&self, key: ChatKey, chat_kind: ChatKind) -> Result<SessionRecord, StoreError> {
        let settings = self.deps.settings();
        let now = chrono::Utc::now();
        let record = SessionRecord {
            id: SessionId(uuid::Uuid::new_v4().to_string()),
            key,
            chat_kind,
            created_at: now,
            turn: TurnId(0),
            level: settings.approvals,
            workspace: settings.workspace.clone(),
            language: None,
            client_language: None,
            model: 0,
            grants: Vec::new(),
            goal: None,
            signals: Signals::default(),
            used_at: now,
        };
        let mut batch = crate::store::Batch::new();
        batch.put(Table::Sessions, &chat_key(key), &record)?;
        // Everything that refers to it is committed later, and a flush takes along what was written before.
        self.deps.store.write(batch).await?;
        Ok(record)
    }

    async fn spawn(&mut self, record: SessionRecord) -> Result<Post<Mail>, StoreError> {
        let key = record.key;
        let me = self.spawn_aside(record).await?;
        self.mailboxes.insert(key, me.clone());
        self.used.entry(key).or_insert_with(Instant::now);
        Ok(me)
    }

    /// Starts a session's task without making it the live one of its conversation.
    async fn spawn_aside(&mut self, record: SessionRecord) -> Result<Post<Mail>, StoreError> {
        let prefix = session_prefix(&record.id);
        let records: Vec<(Vec<u8>, Record)> =
            self.deps.store.scan(Table::Transcript, &prefix).await?;
        let conversation =
            Conversation::replay(records.into_iter().map(|(_, record)| record).collect());
        let (me, inbox) = mailbox();
        let plans = Plans::open(&self.deps, &record);
        let actor = Actor {
            deps: Arc::clone(&self.deps),
            me: me.clone(),
            record,
            conversation,
            queue: std::collections::VecDeque::new(),
            observed: std::collections::VecDeque::new(),
            later: std::collections::VecDeque::new(),
            closing: Vec::new(),
            stalled: std::sync::atomic::AtomicBool::new(false),
            unsaved: Vec::new(),
            line: super::flow_line::FlowLine::default(),
            running: None,
            delivering: std::collections::HashSet::new(),
            delivery: None,
            cards: HashMap::new(),
            deadlines: HashMap::new(),
            plans,
            speaker: super::speak::speaker(),
            over: false,
            holding: false,
            comment: None,
            card: None,
            bounds: self.deps.settings(),
            project_fault: None,
        };
        self.tasks.spawn(actor.run(inbox));
        Ok(me)
    }

    /// Asks every session to put its turn down, and waits for their last words at most `limit`.
    /// Gives the number of sessions that were not ready in time.
    pub async fn shutdown(mut self, limit: Duration) -> usize {
        let mut waiting = Vec::new();
        for (key, mailbox) in &self.mailboxes {
            let (done, told) = oneshot::channel();
            if mailbox.send(Mail::Shutdown { done }).is_ok() {
                waiting.push((*key, told));
            }
        }
        let deadline = tokio::time::Instant::now() + limit;
        let mut left = 0;
        for (key, told) in waiting {
            if tokio::time::timeout_at(deadline, told).await.is_err() {
                left += 1;
                warn!(
                    chat.id = key.chat.0,
                    "a session was not ready in time; the next start takes it up"
                );
            }
        }
        while let Some(ended) = self.tasks.try_join_next() {
            if let Err(fault) = ended
                && fault.is_panic()
            {
                error!("a session ended by a panic");
            }
        }
        left
    }
}
