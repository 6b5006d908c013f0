//! A strict local Bot API, a chat page and a demo model: the product without a token.
//!
//! The server keeps Telegram's rules as they were measured: what happens to a text before it is
//! stored, limits, the order of checks of an edit, who may be written to, how updates are confirmed,
//! floods. Every call is recorded, and [`invariants`] says what is wrong with the record.

mod compose;
pub mod demo;
mod fault;
mod flood;
mod log;
mod markup;
mod methods;
mod model;
mod page;
mod params;
mod poll;
mod refusal;
mod server;
mod start;
mod state;
mod world;

pub mod sample;

pub use demo::Demo;
pub use fault::{Fault, FaultKind};
pub use log::{Call, invariants};
pub use markup::Span;
pub use model::{Answer, Button, Draft, DraftFile, FileView, Person, Post, RoomKind, Standing};
pub use page::{PAGE_KEYS, Translate};
pub use start::{GROUP, MEMBER, OWNER, Options, Running, STRANGER, TOKEN, USERNAME, start};
pub use world::World;
