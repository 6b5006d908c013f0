//! Shared words: ids, the chat key, inbound input, tool calls and outcomes, model messages, progress
//! and errors by remedy. Plain data without behaviour that needs a runtime.

mod chat;
mod ids;
mod inbound;
mod keyboard;
mod model;
mod progress;
mod remedy;
mod tool;

pub use chat::{ChatKey, ChatKind, Entity, EntityKind, Formatted};
pub use ids::{
    ApprovalId, CallId, ChatId, MessageId, SessionId, ThreadId, TurnId, UpdateId, UserId,
};
pub use inbound::{
    Attachment, AttachmentKind, Command, Inbound, Origin, Quote, Role, Sender, Tap, UserMessage,
};
pub use keyboard::{Button, Keyboard};
pub use model::{
    FinishReason, ImageRef, ModelEvent, ModelFault, ModelMessage, ModelReply, ModelRequest,
    ToolSpec, Usage,
};
pub use progress::{EndReason, Notice, Progress};
pub use remedy::{Fault, Remedy};
pub use tool::{
    ActionClass, AgentRole, ApprovalLevel, CallStatus, Effects, PlanTrack, SandboxProfile,
    ToolCall, ToolDescriptor, ToolOutcome,
};
