//! Identifiers, each its own type so that one cannot stand for another.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! number_id {
    ($(#[$doc:meta])* $name:ident, $inner:ty) => {
        $(#[$doc])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(pub $inner);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl $name {
            /// The identifier as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(value: &str) -> Self {
                Self(value.to_owned())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

number_id!(
    /// A Telegram user, positive.
    UserId,
    i64
);
number_id!(
    /// A Telegram chat: positive for a private chat, negative for a group or channel.
    ChatId,
    i64
);
number_id!(
    /// A topic of a forum or of a private chat. Never 1 (General), which is stored as no topic.
    ThreadId,
    i32
);
number_id!(
    /// A message inside one chat.
    MessageId,
    i32
);
number_id!(
    /// A Bot API update, unique for one bot.
    UpdateId,
    u32
);
number_id!(
    /// The epoch of a turn inside its session, counted from 1. An event of an older one is dropped.
    TurnId,
    u64
);

text_id!(
    /// A session: a random UUID, lower case with hyphens.
    SessionId
);
text_id!(
    /// One tool call, as named by the model (or by the host when the model named none).
    CallId
);
text_id!(
    /// One approval card or question: 16 lower-case hex digits.
    ApprovalId
);
