//! The driver: one task and one mailbox per session, an exhaustive match over effects. Only this module
//! awaits across adapters.

pub mod access;
mod actor;
pub mod answer;
mod batch;
pub mod board;
mod calls;
mod cards;
mod children;
mod commands;
mod deps;
mod files;
mod flow_driver;
pub mod flow_line;
pub mod flow_record;
pub mod flow_task;
mod flow_wires;
pub mod inbox;
mod inputs;
pub mod journal;
mod labels;
mod lost_plan;
mod mail;
mod migrate;
mod narrow;
mod plan_owner;
mod plan_tool;
mod plans;
pub mod record;
mod registry;
mod requests;
mod resume;
mod revisions;
mod speak;
mod stall;
mod taps;
mod tokens;
mod turns;
pub mod usage;
mod watch;
mod words;
mod worked;

pub use deps::{Answered, Deps};
pub use record::SessionRecord;
pub use registry::Sessions;
pub use watch::PlanEvent;
