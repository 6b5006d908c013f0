//! Folds progress into a view model and renders the flow message. Pure.
//!
//! [`Flow`] is the machine of one turn: events and the time go in, effects come out. The view model
//! ([`View`]) is turned into [`sections`] once, and the renderers only lay those out.

mod activity;
mod effect;
mod event;
mod keyboard;
mod log;
mod machine;
pub mod render;
mod reports;
pub mod sections;
mod tick;
mod units;
mod view;
mod words;

pub use effect::{Body, FlowEffect};
pub use event::{EditRefusal, FlowEvent};
pub use keyboard::{APPROVE, DISCARD, KEEP, STOP, discard_confirmation, keyboard};
pub use log::{Entry, Log, ToolState};
pub use machine::{Flow, FlowOptions};
pub use render::Renderer;
pub use sections::face_key;
pub use units::utf16_len;
pub use view::{Stage, View};
pub use words::{duration, tokens};

/// Milliseconds on a clock that never goes back; only differences count.
pub type Millis = u64;

/// How often a running flow message looks whether an edit is due.
pub const TICK_MS: Millis = 1_500;
