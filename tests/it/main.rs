//! Integration tests: one binary, real sockets, real processes, names are sentences.
#![allow(missing_docs, reason = "tests are their own documentation")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::wildcard_enum_match_arm,
    clippy::print_stderr,
    reason = "a helper of a test fails the test"
)]

mod config;
#[cfg(feature = "llm-genai")]
mod crash;
mod flow;
mod http;
mod inbound;
#[cfg(feature = "llm-genai")]
mod llm;
mod page;
mod playground;
mod reference;
mod session;
mod store;
#[expect(dead_code, reason = "not every test needs every helper yet")]
mod support;
mod text;
mod tools;
mod whole;
