//! Integration tests: real sockets, real processes.
#![allow(missing_docs, reason = "tests are their own documentation")]

mod page;
mod playground;
mod support;
