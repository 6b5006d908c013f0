//! Everything that a session's task can be told: one closed enum, one mailbox.

use tokio::sync::oneshot;

use crate::agent::TimerId;
use crate::domain::{
    ApprovalId, CallId, ChatKey, Command, Inbound, MessageId, ModelEvent, ModelFault, SessionId,
    ToolOutcome, TurnId, UpdateId,
};

use super::children::ChildEvent;

/// One letter.
#[derive(Debug)]
pub(super) enum Mail {
    /// A person did something; its updates are closed when the effect is durable.
    Input {
        /// What.
        inbound: Inbound,
        /// Updates it came from.
        updates: Vec<UpdateId>,
    },
    /// A message of somebody else appeared below the flow message.
    Buried(MessageId),
    /// A piece of a model's reply.
    Model {
        /// Epoch.
        turn: TurnId,
        /// Request number within the turn.
        request: u32,
        /// The piece.
        event: Result<ModelEvent, ModelFault>,
    },
    /// A running tool printed something.
    Output {
        /// Epoch.
        turn: TurnId,
        /// Which call.
        call: CallId,
        /// What.
        text: String,
    },
    /// A tool ended.
    Tool {
        /// Epoch.
        turn: TurnId,
        /// How.
        outcome: ToolOutcome,
    },
    /// Something happened to a sub-agent.
    Child {
        /// Epoch.
        turn: TurnId,
        /// The call that started it.
        call: CallId,
        /// What.
        event: ChildEvent,
    },
    /// A timer of the turn fired.
    Timer {
        /// Epoch.
        turn: TurnId,
        /// Which.
        id: TimerId,
    },
    /// The side call for the digest ended.
    Digest {
        /// Epoch.
        turn: TurnId,
        /// The digest, or nothing.
        text: Option<String>,
    },
    /// A card was sent, or could not be.
    CardSent {
        /// Which.
        id: ApprovalId,
        /// Where.
        key: ChatKey,
        /// Its message.
        message: Option<MessageId>,
    },
    /// A card's time is over.
    Deadline(ApprovalId),
    /// Flow and answer of a turn are delivered.
    Delivered {
        /// Session that the turn belongs to; `/new` may have put it aside meanwhile.
        session: SessionId,
        /// Which.
        turn: TurnId,
    },
    /// Time to see whether the store takes writes again.
    Revive,
    /// The turn has ended and the card is stripped: delete the plan now.
    Discard {
        /// The command that asked for it, to be answered.
        command: Option<Command>,
        /// Updates to close with it.
        updates: Vec<UpdateId>,
    },
    /// The chat takes no messages any more.
    ChatGone,
    /// The program ends: put the turn down where the next start can take it up.
    Shutdown {
        /// Told when the session has nothing in flight any more.
        done: oneshot::Sender<()>,
    },
}
