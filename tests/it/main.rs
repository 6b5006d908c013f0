//! Integration tests: one binary.

mod flow;
