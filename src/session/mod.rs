//! One task and one mailbox per session; the only place that awaits across adapters.

pub mod answer;
mod flow_driver;
pub mod flow_record;
pub mod flow_task;
mod flow_wires;
pub mod journal;
