//! Wiring and life cycle of the process.

pub mod cli;
pub mod doctor;
pub mod logging;
pub mod metrics;
