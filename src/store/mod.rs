//! Durable writes and loads (sled), files, backups. The only module that knows sled.

mod batch;
mod blob;
mod care;
mod db;
mod engine;
mod error;
mod jsonl;
mod layout;
mod line;
mod migrate;

#[cfg(test)]
mod tests;

pub use batch::{Batch, Table};
pub use care::{OpenReport, Quarantine};
pub use db::Store;
pub use error::StoreError;
pub use jsonl::Exported;
