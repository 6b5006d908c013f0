//! Durable writes and loads (sled), files, backups. The only module that knows sled.

mod batch;
mod db;
mod error;

pub use batch::{Batch, Table};
pub use db::Store;
pub use error::StoreError;
