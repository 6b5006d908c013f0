//! Bot API to domain and back.

pub mod outbox;
