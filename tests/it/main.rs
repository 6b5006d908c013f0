//! Integration tests, one binary.

mod config;
mod store;
