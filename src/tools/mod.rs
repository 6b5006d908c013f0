//! Runs one permitted call.
//!
//! Each tool is one file with one static [`ToolDescriptor`](crate::domain::ToolDescriptor). The
//! [`Toolbox`] is the only door: it inspects a call before the gate sees it and runs it once a
//! [`Permit`](crate::plan::gate::Permit) for exactly that call exists.

mod args;
mod ask_user;
mod atomic;
mod background;
mod bash;
mod bg_output;
mod bg_start;
mod bg_stop;
mod call;
mod classify;
mod edit_file;
mod environment;
mod fingerprint;
mod git_view;
mod glob;
mod grep;
mod html;
mod list_dir;
mod output;
mod paths;
mod process;
mod read_file;
pub mod sandbox;
mod send_file;
mod spawn_agent;
mod toolbox;
mod web_fetch;
mod web_guard;
mod write_file;

pub use ask_user::Question;
pub use call::{Card, CardKind, Inspection, Place, Unfit};
pub use sandbox::SandboxStatus;
pub use send_file::Attachment;
pub use spawn_agent::Errand;
pub use toolbox::{Redact, Toolbox, ToolboxOptions, Wrap};
