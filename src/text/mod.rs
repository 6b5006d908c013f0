//! Lengths, splitting, Markdown to text and entities, redaction. Pure.

pub mod bidi;
mod block;
pub mod entities;
pub mod inbound;
pub mod link;
pub mod markdown;
pub mod reasoning;
pub mod redact;
mod run;
pub mod split;
mod table;
pub mod units;
pub mod untrusted;
pub mod visible;

pub use reasoning::strip_reasoning;
