//! The rules of the house, as tests: who may import whom, what stays pure, how long things get, that
//! every locale is whole, and that the repository says what it must.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "helpers of tests fail like the tests they serve"
)]

#[path = "tidy/source.rs"]
mod source;

#[path = "tidy/layers.rs"]
mod layers;

#[path = "tidy/sizes.rs"]
mod sizes;

#[path = "tidy/locales.rs"]
mod locales;

#[path = "tidy/repository.rs"]
mod repository;
