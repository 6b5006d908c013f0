//! The driver: one task and one mailbox per session, an exhaustive match over effects. Only this module
//! awaits across adapters.

mod actor;
pub mod answer;
mod batch;
pub mod board;
mod cards;
mod commands;
mod deps;
mod flow_driver;
pub mod flow_line;
pub mod flow_record;
pub mod flow_task;
mod flow_wires;
mod inputs;
pub mod journal;
mod mail;
mod migrate;
mod plan_owner;
mod plan_tool;
mod plans;
pub mod record;
mod registry;
mod resume;
mod revisions;
mod speak;
mod stall;
mod taps;
mod tokens;
mod turns;
pub mod usage;
mod words;

pub use deps::{Answered, Deps};
pub use record::SessionRecord;
pub use registry::Sessions;
