//! Wiring and life cycle of the process.

mod bot;
pub mod cli;
pub mod doctor;
pub mod logging;
mod playground;
mod route;
mod signals;
mod start;

pub use bot::{Bot, Parts, run};
pub use playground::run as run_playground;
pub use start::{main_playground, main_run};
