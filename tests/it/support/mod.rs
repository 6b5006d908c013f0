//! What every integration test stands on: a strict Bot API with people in it.

pub mod bot;
pub mod client;

pub use bot::TestBot;
pub use client::Client;
