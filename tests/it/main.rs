//! Integration tests: real sockets, real processes.
#![allow(missing_docs, reason = "tests are their own documentation")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a helper of a test fails the test"
)]

mod page;
mod playground;
#[expect(dead_code, reason = "not every test needs every helper yet")]
mod support;
