//! Everything that can happen to a flow message.

use crate::domain::{EndReason, MessageId, Progress};
use crate::plan::view::PlanView;

/// What the driver tells the machine.
#[derive(Debug, Clone, PartialEq)]
pub enum FlowEvent {
    /// The turn began.
    Started,
    /// The turn moved on.
    Progress(Progress),
    /// The plan changed; `None` without a live plan.
    Plan(Option<PlanView>),
    /// The timer of [`super::FlowEffect::StartTimer`] fired.
    Tick {
        /// Whether this chat has had no repost in the last 15 seconds.
        may_repost: bool,
    },
    /// The message of the last `Open` or `Repost` exists.
    Opened {
        /// Its id.
        message: MessageId,
    },
    /// The last `Open` or `Repost` failed for now.
    OpenFailed,
    /// The edit with this number is what Telegram shows now ("not modified" counts).
    EditAccepted {
        /// Number of the edit.
        edit: u64,
    },
    /// The edit with this number was not made.
    EditRejected {
        /// Number of the edit.
        edit: u64,
        /// Why.
        why: EditRefusal,
    },
    /// Somebody else's message appeared in the chat or topic.
    Buried {
        /// Its id.
        message: MessageId,
    },
    /// The plan document of this revision was accepted by Telegram.
    DocumentSent {
        /// Revision that it shows in full.
        revision: String,
    },
    /// Discard was tapped on a plan with work done (or the question was taken back).
    ConfirmDiscard {
        /// Whether the buttons ask.
        asked: bool,
    },
    /// The plan document could not be sent.
    DocumentFailed,
    /// Rich messages are refused in this chat: classic from now on.
    UseClassic,
    /// The final answer, so that an equal narration is not shown twice.
    Answer {
        /// Its whole text.
        text: String,
    },
    /// The turn ended.
    Settle {
        /// Why.
        reason: EndReason,
        /// The plan as it stands at the end.
        plan: Option<PlanView>,
    },
}

/// Why an edit was not made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditRefusal {
    /// A newer edit of the same message took its place.
    Superseded,
    /// Tried long enough for now; the shown state is the one before.
    Unavailable,
    /// The message is gone or cannot be edited any more.
    Gone,
    /// This content is refused for good.
    Refused,
}
