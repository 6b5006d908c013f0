//! Bot API to domain and back.

pub mod outbox;
pub mod access;
pub mod api;
pub mod command;
pub mod decode;
pub mod dispatch;
pub mod inbox;
pub mod listener;
pub mod media;
pub mod merge;
pub mod repair;
