//! What every integration test stands on: a strict Bot API with people in it.

mod bot;
mod client;
mod session;

pub(crate) use bot::TestBot;
pub(crate) use client::Client;
pub(crate) use session::{Asked, Say, Session};
