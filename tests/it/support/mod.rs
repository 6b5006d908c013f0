//! What every integration test stands on: a strict Bot API with people in it, and the bot between it
//! and a scripted model.

mod bot;
mod client;
mod files;
mod hands;
mod provider;
pub(crate) mod rig;
pub(crate) mod script;
mod steps;
pub(crate) mod tree;
mod session;

pub(crate) use bot::TestBot;
pub(crate) use client::Client;
pub(crate) use session::{Asked, Say, Session};
