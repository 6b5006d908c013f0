//! Everything that the machine asks for.

use serde::{Deserialize, Serialize};

use crate::domain::{Formatted, Keyboard, MessageId};

/// What a flow message consists of, in the form of its renderer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "form", rename_all = "snake_case")]
pub enum Body {
    /// Text and entities.
    Classic(Formatted),
    /// Rich message HTML.
    RichHtml {
        /// The HTML.
        html: String,
        /// The same in classic form, for chats where rich messages are refused.
        fallback: Formatted,
    },
    /// Rich message Markdown.
    RichMarkdown {
        /// The Markdown.
        markdown: String,
        /// The same in classic form, for chats where rich messages are refused.
        fallback: Formatted,
    },
}

impl Body {
    /// Whether it shows nothing, so that Telegram would refuse it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Classic(text)
            | Self::RichHtml { fallback: text, .. }
            | Self::RichMarkdown { fallback: text, .. } => text.text.trim().is_empty(),
        }
    }
}

/// What the driver has to do.
#[derive(Debug, Clone, PartialEq)]
pub enum FlowEffect {
    /// Fire [`super::FlowEvent::Tick`] once, after so many milliseconds.
    StartTimer {
        /// The wait.
        after_ms: u64,
    },
    /// Send a new flow message, silently; report `Opened` or `OpenFailed`.
    Open {
        /// Content.
        body: Body,
        /// Buttons.
        keyboard: Keyboard,
    },
    /// Edit a flow message; report `EditAccepted` or `EditRejected` with the number.
    Edit {
        /// Number of the edit; 0 for a frozen block, whose report is of no interest.
        edit: u64,
        /// Which message.
        message: MessageId,
        /// Content.
        body: Body,
        /// Buttons.
        keyboard: Keyboard,
        /// Whether nothing but the clock moved.
        clock_only: bool,
        /// Whether the buttons differ from those that are shown.
        keyboard_changed: bool,
    },
    /// Send the whole content anew at the bottom, silently; on `Opened` the machine asks to delete `old`.
    Repost {
        /// The buried copy.
        old: MessageId,
        /// Content.
        body: Body,
        /// Buttons.
        keyboard: Keyboard,
    },
    /// Delete the buried copy; the new id is stored.
    DeleteOld {
        /// Which message.
        message: MessageId,
    },
    /// Send the plan's document of this revision, silently; report `DocumentSent`.
    SendDocument {
        /// Which revision.
        revision: String,
    },
    /// The turn's flow message is final; nothing follows.
    Finished {
        /// The newest block, if one was opened.
        message: Option<MessageId>,
    },
}
