//! Who may do what: a pure decision over settings, the claimed owner and an update, and the one-time
//! code by which an owner is claimed.

use std::collections::BTreeMap;

use subtle::ConstantTimeEq;

use super::decode::Incoming;
use crate::config::{GroupSettings, Respond, TelegramSettings};
use crate::domain::{ChatId, ChatKind, Role, UserId};

/// The account in whose name anonymous admins write. Never a person.
pub const ANONYMOUS_ADMIN: UserId = UserId(1_087_968_824);
/// The account in whose name channels write in groups.
const CHANNEL_BOT: UserId = UserId(136_817_688);
/// Telegram's service account, author of linked-channel forwards.
const SERVICE: UserId = UserId(777_000);
/// A code lives this many seconds.
const CODE_SECONDS: i64 = 600;
/// Wrong tries after which a code dies.
const CODE_TRIES: u8 = 5;
/// Letters and digits of a code; none looks like another.
const CODE_ALPHABET: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
/// Characters in a code: 50 random bits.
const CODE_LENGTH: usize = 10;

/// What a user is to this bot in one chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// May be served.
    Principal(Role),
    /// A person who is not listed.
    Stranger,
    /// Not a person: a bot, a channel, an anonymous admin.
    NotAPerson,
}

/// What to do with a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Serve it.
    Serve(Role),
    /// Take it along as an observation, never as a request.
    Observe,
    /// Say once a day that the person is not known here.
    Refuse,
    /// Say nothing.
    Ignore,
}

/// How a message addresses the bot in a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Address {
    /// A command that is ours.
    Command,
    /// A mention or a reply to the bot.
    Named,
    /// Neither.
    None,
}

/// The rules: settings, the owner and groups that changed their ids.
#[derive(Debug, Clone)]
pub struct Rules {
    settings: TelegramSettings,
    owner: Option<UserId>,
    moved: BTreeMap<ChatId, ChatId>,
}

impl Rules {
    /// Rules from settings. `claimed` is the owner claimed by code, who counts only when the settings
    /// name none; `moved` maps the new id of each migrated group to its old one.
    #[must_use]
    pub fn new(
        settings: TelegramSettings,
        claimed: Option<UserId>,
        moved: BTreeMap<ChatId, ChatId>,
    ) -> Self {
        let owner = settings.owner.or(claimed).filter(|owner| is_person(*owner));
        Self {
            settings,
            owner,
            moved,
        }
    }

    /// The owner, if there is one.
    #[must_use]
    pub fn owner(&self) -> Option<UserId> {
        self.owner
    }

    /// Makes a user the owner, unless there is one.
    pub fn claim(&mut self, user: UserId) -> bool {
        let free = self.owner.is_none() && is_person(user);
        if free {
            self.owner = Some(user);
        }
        free
    }

    /// Notes that a group has a new id; its settings go with it.
    pub fn migrate(&mut self, from: ChatId, to: ChatId) {
        let first = self.moved.get(&from).copied().unwrap_or(from);
        if from != to {
            self.moved.insert(to, first);
        }
    }

    /// The same rights under new settings.
    #[must_use]
    pub fn with_settings(self, settings: TelegramSettings) -> Self {
        Self::new(settings, self.owner, self.moved)
    }

    /// The id under which a migrated group's settings stand; its own id for any other chat.
    #[must_use]
    pub fn first_id(&self, chat: ChatId) -> ChatId {
        self.moved.get(&chat).copied().unwrap_or(chat)
    }

    /// The settings of a served group.
    #[must_use]
    pub fn group(&self, chat: ChatId) -> Option<&GroupSettings> {
        self.settings.groups.get(&chat).or_else(|| {
            self.moved
                .get(&chat)
                .and_then(|old| self.settings.groups.get(old))
        })
    }

    /// What `user` is in `chat`. Nobody is served while there is no owner.
    #[must_use]
    pub fn standing(&self, user: UserId, is_bot: bool, chat: ChatId) -> Standing {
        if is_bot || !is_person(user) {
            return Standing::NotAPerson;
        }
        let Some(owner) = self.owner else {
            return Standing::Stranger;
        };
        let listed = || {
            self.settings.members.contains(&user)
                || self
                    .group(chat)
                    .is_some_and(|group| group.members.contains(&user))
        };
        if user == owner {
            Standing::Principal(Role::Owner)
        } else if listed() {
            Standing::Principal(Role::Member)
        } else {
            Standing::Stranger
        }
    }

    /// What to do with a message that addresses the bot as `address`.
    #[must_use]
    pub fn judge(&self, message: &Incoming, address: Address) -> Verdict {
        let Some(person) = message.person.as_ref().filter(|_| !message.for_chat) else {
            return Verdict::Ignore;
        };
        let standing = self.standing(person.id, person.is_bot, message.key.chat);
        match message.chat_kind {
            ChatKind::Private => match standing {
                Standing::Principal(role) => Verdict::Serve(role),
                Standing::Stranger => Verdict::Refuse,
                Standing::NotAPerson => Verdict::Ignore,
            },
            ChatKind::Group => match (self.group(message.key.chat), standing) {
                (None, _) | (_, Standing::NotAPerson) => Verdict::Ignore,
                (Some(group), Standing::Principal(role)) if addressed(group.respond, address) => {
                    Verdict::Serve(role)
                }
                (Some(group), Standing::Principal(_) | Standing::Stranger) if group.observe => {
                    Verdict::Observe
                }
                (Some(_), Standing::Principal(_) | Standing::Stranger) => Verdict::Ignore,
            },
            ChatKind::Channel => Verdict::Ignore,
        }
    }

    /// Whether the bot must leave a chat to which `by` added it: an unlisted one, unless the owner did it.
    #[must_use]
    pub fn must_leave(&self, chat: ChatId, kind: ChatKind, by: UserId) -> bool {
        kind != ChatKind::Private && self.group(chat).is_none() && self.owner != Some(by)
    }
}

fn addressed(respond: Respond, address: Address) -> bool {
    match respond {
        Respond::All => true,
        Respond::Mention => address != Address::None,
        Respond::Commands => address == Address::Command,
    }
}

fn is_person(user: UserId) -> bool {
    user.0 > 0 && ![ANONYMOUS_ADMIN, CHANNEL_BOT, SERVICE].contains(&user)
}

/// The one-time code by which the first owner is claimed.
#[derive(Debug, Clone)]
pub struct ClaimCode {
    code: String,
    expires_at: i64,
    tries_left: u8,
}

/// What became of a try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimOutcome {
    /// The code was right and is used up.
    Accepted,
    /// The code was wrong; more tries are left.
    Wrong,
    /// The code has expired, was used, or had too many tries.
    Dead,
}

impl ClaimCode {
    /// A code from `random` bytes, alive for ten minutes from `now` (Unix seconds).
    #[must_use]
    pub fn new(random: [u8; 16], now: i64) -> Self {
        let code = random
            .iter()
            .take(CODE_LENGTH)
            .filter_map(|byte| CODE_ALPHABET.get(usize::from(byte % 32)))
            .map(|byte| char::from(*byte))
            .collect();
        Self {
            code,
            expires_at: now + CODE_SECONDS,
            tries_left: CODE_TRIES,
        }
    }

    /// The code, to be printed on the terminal and nowhere else.
    #[must_use]
    pub fn code(&self) -> &str {
        &self.code
    }

    /// Checks a try at `now`. The comparison takes the same time wherever the difference is.
    pub fn attempt(&mut self, text: &str, now: i64) -> ClaimOutcome {
        if self.tries_left == 0 || now >= self.expires_at {
            return ClaimOutcome::Dead;
        }
        let given = text.trim().to_ascii_uppercase();
        if bool::from(given.as_bytes().ct_eq(self.code.as_bytes())) {
            self.tries_left = 0;
            return ClaimOutcome::Accepted;
        }
        self.tries_left -= 1;
        if self.tries_left == 0 {
            ClaimOutcome::Dead
        } else {
            ClaimOutcome::Wrong
        }
    }
}

#[cfg(test)]
mod tests;
