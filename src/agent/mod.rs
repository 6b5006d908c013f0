//! The turn machine: step, budgets, recovery, context, compaction, hints. Pure.
//!
//! `event` and `effect` are the table of contents: what a turn hears and what it asks for.

pub mod batch;
pub mod context;
pub mod effect;
pub mod event;
pub mod hints;
mod intent;
mod judge;
pub mod prompt;
mod retry;
pub mod transcript;
mod turn;

pub use effect::Effect;
pub use event::{Cancel, Event, Finished, PlanFacts, TimerId};
pub use turn::{Limits, Turn};
