//! Wiring and life cycle of the process.

mod bot;
pub mod cli;
pub mod doctor;
mod http;
pub mod logging;
pub mod metrics;
mod panel_flow;
mod plan_events;
mod playground;
mod report;
mod route;
mod signals;
mod start;

pub use bot::{Bot, Parts, run};
pub use playground::run as run_playground;
pub use start::{main_playground, main_run};
