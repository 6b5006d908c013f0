//! Greenlight: a Telegram bot that runs a coding and operations agent on its owner's machine and
//! builds nothing before the owner has approved the plan.
//!
//! Data goes round once: `telegram::updates` → inbox → `session` mailbox → `agent` step → effects →
//! `llm` / `tools` / `plan` → outcomes → `agent` → progress → `flow` view model → renderer →
//! `telegram::outbox` → Bot API.
//!
//! # Invariants
//!
//! 1. `plan`, `agent` and `flow` name no runtime, client, clock, file system (but `plan::store`) or
//!    random source; time is an argument and timers are values with ids.
//! 2. Only `session` awaits across adapters. Only `telegram::outbox` can send. Only `store` knows
//!    sled. Only `llm` knows genai.
//! 3. A mutating tool cannot run without a `Permit`, and only the gate makes one.
//! 4. A change of plan, approval or inbox is durable before its consequence starts.
//! 5. Every event carries its turn id; a stale one changes nothing.
//! 6. Words a user reads come from `locales`; secrets never reach a log, an error or a message.
//! 7. Everything put into a model's context or a message has a byte bound.

pub mod agent;
pub mod app;
pub mod config;
pub mod domain;
pub mod flow;
pub mod http;
pub mod i18n;
pub mod llm;
pub mod plan;
pub mod playground;
pub mod session;
pub mod store;
pub mod telegram;
pub mod text;
pub mod tools;
