//! What becomes of one decoded update.

use std::sync::PoisonError;

use super::hold::Held;
use super::{Content, Context, Delivery, Reply};
use crate::domain::{
    ChatId, ChatKey, ChatKind, Command, EntityKind, Inbound, MessageId, Role, Sender, Tap,
    UpdateId, UserId, UserMessage,
};
use crate::telegram::access::{Address, ClaimOutcome, Standing, Verdict};
use crate::telegram::command::{self, CommandSpec, Parsed};
use crate::telegram::decode::{Decoded, Incoming, IncomingTap, Person, cut, without_mention};
use crate::telegram::durable::DurableError;
use crate::telegram::listener::unix_now;

impl Context {
    pub(super) async fn route(&self, id: UpdateId, decoded: Decoded) -> Result<(), DurableError> {
        match decoded {
            Decoded::Message(incoming) => self.message(*incoming).await,
            Decoded::Tap(tap) => self.tap(tap).await,
            Decoded::Membership {
                chat,
                kind,
                by,
                present,
            } => self.membership(id, chat, kind, by, present).await,
            Decoded::Migrated { from, to } => self.migrated(id, from, to).await,
            Decoded::Nothing => self.ignore(id).await,
        }
    }

    async fn message(&self, incoming: Incoming) -> Result<(), DurableError> {
        let parsed = self.parse(&incoming);
        if let Some(person) = incoming
            .person
            .clone()
            .filter(|_| self.may_claim(&incoming, &parsed))
        {
            return self.claim(&incoming, &person).await;
        }
        let named = incoming.mentions_me || incoming.replies_to_me;
        let address = match &parsed {
            Parsed::Ours { .. }
            | Parsed::Unknown {
                addressed: true, ..
            } => Address::Command,
            Parsed::Chat | Parsed::Foreign | Parsed::Unknown { .. } if named => Address::Named,
            Parsed::Chat | Parsed::Foreign | Parsed::Unknown { .. } => Address::None,
        };
        let verdict = self.rules().judge(&incoming, address);
        match (verdict, parsed) {
            (Verdict::Ignore, _) | (_, Parsed::Foreign) => self.ignore(incoming.update).await,
            (Verdict::Refuse, _) => self.refuse(&incoming).await,
            (Verdict::Observe, Parsed::Chat) => self.chat(incoming, Role::Member, true).await,
            (Verdict::Observe, Parsed::Ours { .. } | Parsed::Unknown { .. }) => {
                self.ignore(incoming.update).await
            }
            (Verdict::Serve(role), Parsed::Chat) => self.chat(incoming, role, false).await,
            // A command that was edited has run already, or never was one.
            (Verdict::Serve(_), Parsed::Ours { .. } | Parsed::Unknown { .. })
                if incoming.edited =>
            {
                self.ignore(incoming.update).await
            }
            (
                Verdict::Serve(role),
                Parsed::Ours {
                    spec, arguments_at, ..
                },
            ) => self.command(incoming, role, spec, arguments_at).await,
            (Verdict::Serve(_), Parsed::Unknown { word, addressed }) => {
                self.unknown(&incoming, word, addressed).await
            }
        }
    }

    /// Forwarded text and code are never commands.
    fn parse(&self, incoming: &Incoming) -> Parsed {
        let code = incoming.text.entities.iter().any(|entity| {
            entity.offset == 0 && matches!(entity.kind, EntityKind::Code | EntityKind::Pre { .. })
        });
        if incoming.origin.is_some() || code {
            return Parsed::Chat;
        }
        command::parse(&incoming.text.text, &self.me.username)
    }

    async fn chat(
        &self,
        incoming: Incoming,
        role: Role,
        observed: bool,
    ) -> Result<(), DurableError> {
        let Some(person) = incoming.person else {
            return self.ignore(incoming.update).await;
        };
        let text = without_mention(&incoming.text, &self.me.username);
        let message = UserMessage {
            key: incoming.key,
            chat_kind: incoming.chat_kind,
            sender: sender(person, role),
            message: incoming.message,
            updates: vec![incoming.update],
            text: (self.to_markdown)(&text.text, &text.entities),
            quote: incoming.quote,
            origin: incoming.origin,
            attachments: incoming.attachments,
            observed,
            sent_at: incoming.sent_at,
        };
        if incoming.edited {
            let updates = message.updates.clone();
            return self
                .pass(Content::Input(Inbound::Edited(message)), updates)
                .await;
        }
        self.hold_on(Held::Message(Box::new(message), incoming.album))
            .await;
        Ok(())
    }

    async fn command(
        &self,
        incoming: Incoming,
        role: Role,
        spec: &'static CommandSpec,
        arguments_at: usize,
    ) -> Result<(), DurableError> {
        let Some(person) = incoming.person else {
            return self.ignore(incoming.update).await;
        };
        let who = person.id;
        let rest = cut(&incoming.text, arguments_at);
        let command = Command {
            key: incoming.key,
            chat_kind: incoming.chat_kind,
            sender: sender(person, role),
            message: incoming.message,
            update: incoming.update,
            name: spec.name.to_owned(),
            arguments: (self.to_markdown)(&rest.text, &rest.entities)
                .trim()
                .to_owned(),
            quote: incoming.quote,
            attachments: incoming.attachments,
        };
        let content = Content::Input(Inbound::Command(command));
        if spec.control {
            // What the person said before goes first if there is room; a stop never waits for room.
            if self.hold.try_send(Held::Flush(incoming.key, who)).is_err() {
                tracing::debug!("the work lane is full; a control command overtakes it");
            }
            return self.control(content, vec![incoming.update]).await;
        }
        self.hold_on(Held::Flush(incoming.key, who)).await;
        self.pass(content, vec![incoming.update]).await
    }

    /// One hint in private or when this bot was named; in a group the word may be another bot's.
    async fn unknown(
        &self,
        incoming: &Incoming,
        word: String,
        addressed: bool,
    ) -> Result<(), DurableError> {
        if incoming.chat_kind != ChatKind::Private && !addressed {
            return self.ignore(incoming.update).await;
        }
        let reply = Reply::Say {
            key: incoming.key,
            to: Some(incoming.message),
            language: self.language_of(incoming.person.as_ref()),
            text: "command-unknown",
            arguments: vec![("command".into(), format!("/{word}"))],
        };
        self.pass(Content::Reply(reply), vec![incoming.update])
            .await
    }

    async fn refuse(&self, incoming: &Incoming) -> Result<(), DurableError> {
        let stranger = incoming
            .person
            .as_ref()
            .map_or(UserId(0), |person| person.id);
        if incoming.edited || !self.memory.may_refuse(stranger, unix_now()).await? {
            return self.ignore(incoming.update).await;
        }
        tracing::info!(user.id = stranger.0, "a stranger was refused");
        let reply = self.say(incoming, "access-refused");
        self.pass(Content::Reply(reply), vec![incoming.update])
            .await
    }

    fn may_claim(&self, incoming: &Incoming, parsed: &Parsed) -> bool {
        let start = matches!(parsed, Parsed::Ours { spec, .. } if spec.name == "start");
        let person = incoming
            .person
            .as_ref()
            .is_some_and(|person| !person.is_bot);
        let private =
            incoming.chat_kind == ChatKind::Private && !incoming.for_chat && !incoming.edited;
        let with_code = incoming.text.text.split_whitespace().nth(1).is_some();
        let offered = self
            .claim
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_some();
        start && person && private && with_code && offered && self.rules().owner().is_none()
    }

    async fn claim(&self, incoming: &Incoming, person: &Person) -> Result<(), DurableError> {
        let code = incoming
            .text
            .text
            .split_whitespace()
            .nth(1)
            .unwrap_or_default();
        let outcome = {
            let mut claim = self.claim.lock().unwrap_or_else(PoisonError::into_inner);
            claim
                .as_mut()
                .map_or(ClaimOutcome::Dead, |claim| claim.attempt(code, unix_now()))
        };
        match outcome {
            ClaimOutcome::Accepted => {
                self.memory.claim(person.id, unix_now()).await?;
                self.rules().claim(person.id);
                tracing::info!(user.id = person.id.0, "the owner was claimed");
                self.pass(Content::OwnerClaimed(person.id), Vec::new())
                    .await?;
                let reply = self.say(incoming, "access-claimed");
                self.pass(Content::Reply(reply), vec![incoming.update])
                    .await
            }
            ClaimOutcome::Wrong => {
                let reply = self.say(incoming, "access-claim-wrong");
                self.pass(Content::Reply(reply), vec![incoming.update])
                    .await
            }
            ClaimOutcome::Dead => self.refuse(incoming).await,
        }
    }

    async fn tap(&self, tap: IncomingTap) -> Result<(), DurableError> {
        let language = self.language_of(Some(&tap.person));
        let alert = |text| {
            Content::Reply(Reply::Alert {
                query: tap.query.clone(),
                language: language.clone(),
                text,
            })
        };
        let (Some((key, kind, message)), Some(data)) = (tap.place, tap.data.clone()) else {
            return self
                .control(alert("access-tap-expired"), vec![tap.update])
                .await;
        };
        let served = {
            let rules = self.rules();
            let standing = rules.standing(tap.person.id, tap.person.is_bot, key.chat);
            let listed = kind == ChatKind::Private
                || kind == ChatKind::Group && rules.group(key.chat).is_some();
            if let (Standing::Principal(role), true) = (standing, listed) {
                Some(role)
            } else {
                None
            }
        };
        let Some(role) = served else {
            return self
                .control(alert("access-tap-refused"), vec![tap.update])
                .await;
        };
        let update = tap.update;
        let tap = Tap {
            key,
            sender: sender(tap.person, role),
            update,
            query: tap.query,
            message,
            data,
        };
        self.control(Content::Input(Inbound::Tap(tap)), vec![update])
            .await
    }

    async fn membership(
        &self,
        id: UpdateId,
        chat: ChatId,
        kind: ChatKind,
        by: UserId,
        present: bool,
    ) -> Result<(), DurableError> {
        if !present {
            return self.pass(Content::Removed(chat), vec![id]).await;
        }
        if !self.rules().must_leave(chat, kind, by) {
            return self.ignore(id).await;
        }
        tracing::info!(chat.id = chat.0, user.id = by.0, "leaving an unlisted chat");
        self.pass(Content::Reply(Reply::Leave { chat }), vec![id])
            .await
    }

    async fn migrated(&self, id: UpdateId, from: ChatId, to: ChatId) -> Result<(), DurableError> {
        self.moved(from, to).await?;
        self.pass(Content::Migrated { from, to }, vec![id]).await
    }

    /// Serves a group's settings under its new id, durably. Doing so twice is harmless.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn moved(&self, from: ChatId, to: ChatId) -> Result<(), DurableError> {
        let first = {
            let mut rules = self.rules();
            rules.migrate(from, to);
            rules.first_id(to)
        };
        self.memory.moved(to, first).await
    }

    pub(super) async fn report_skipped(&self, count: u64) {
        tracing::warn!(count, "messages older than a day were skipped");
        let Some(owner) = self.owner() else {
            return;
        };
        let reply = Reply::Say {
            key: ChatKey::new(ChatId(owner.0), None),
            to: None,
            language: self.language.clone(),
            text: "access-backlog-skipped",
            arguments: vec![("count".into(), count.to_string())],
        };
        self.hold_on(Held::Pass(Box::new(Delivery {
            content: Content::Reply(reply),
            updates: Vec::new(),
        })))
        .await;
    }

    fn say(&self, incoming: &Incoming, text: &'static str) -> Reply {
        let to: Option<MessageId> = Some(incoming.message);
        let language = self.language_of(incoming.person.as_ref());
        Reply::Say {
            key: incoming.key,
            to,
            language,
            text,
            arguments: Vec::new(),
        }
    }

    fn language_of(&self, person: Option<&Person>) -> String {
        person
            .and_then(|person| person.language.clone())
            .unwrap_or_else(|| self.language.clone())
    }

    fn rules(&self) -> std::sync::MutexGuard<'_, crate::telegram::access::Rules> {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn ignore(&self, id: UpdateId) -> Result<(), DurableError> {
        self.inbox.close(&[id], unix_now()).await
    }

    async fn pass(&self, content: Content, updates: Vec<UpdateId>) -> Result<(), DurableError> {
        self.hold_on(Held::Pass(Box::new(Delivery { content, updates })))
            .await;
        Ok(())
    }

    async fn hold_on(&self, held: Held) {
        if self.hold.send(held).await.is_err() {
            tracing::debug!("nobody takes deliveries any more; the update stays open on disk");
        }
    }

    async fn control(&self, content: Content, updates: Vec<UpdateId>) -> Result<(), DurableError> {
        if self
            .control
            .send(Delivery { content, updates })
            .await
            .is_err()
        {
            tracing::debug!("nobody takes deliveries any more; the update stays open on disk");
        }
        Ok(())
    }
}

fn sender(person: Person, role: Role) -> Sender {
    Sender {
        id: person.id,
        name: person.name,
        username: person.username,
        language: person.language,
        role,
    }
}
