//! Bot API to domain and back.

pub mod access;
pub mod api;
pub mod command;
pub mod decode;
pub mod dispatch;
pub mod durable;
pub mod inbox;
pub mod listener;
pub mod media;
pub mod merge;
pub mod outbox;
pub mod repair;
