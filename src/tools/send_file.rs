//! `send_file`: a file of the workspace for the chat. Checked here, sent by the session.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use super::args;
use super::call::{Inspection, Place};
use super::paths::{self, Want};
use super::toolbox::Shop;
use crate::domain::{ActionClass, Effects, ToolDescriptor};

const EXAMPLE: &str = r#"{"path":"build/report.pdf","caption":"The report"}"#;
/// Largest upload. Source: Bot API, "Sending files".
const MAX_BYTES: u64 = 50_000_000;
/// Longest caption in UTF-16 units. Source: Bot API, `sendDocument`.
const MAX_CAPTION: usize = 1024;

pub(super) static DESCRIPTOR: ToolDescriptor = ToolDescriptor {
    name: "send_file",
    description: "Sends a file of the workspace to the user's chat.",
    schema: args::schema::<Args>,
    effects: Effects::Channel,
    label: "tool-send-file",
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Path beneath the workspace, at most 50 MB.
    path: String,
    /// A line under the file, at most 1024 characters.
    #[serde(default)]
    caption: Option<String>,
}

/// A file that is fit to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// Resolved path of a regular file of 1 to 50,000,000 bytes.
    pub path: PathBuf,
    /// Text under it, at most 1024 UTF-16 units.
    pub caption: Option<String>,
}

pub(super) fn attachment(shop: &Shop, raw: &str, place: &Place) -> Result<Attachment, String> {
    let parsed: Args = args::parse("send_file", raw, EXAMPLE)?;
    let path = paths::resolve(place, &shop.protected, &parsed.path, Want::Read)?;
    let meta = path
        .metadata()
        .map_err(|error| format!("`{}` cannot be read: {error}.", parsed.path))?;
    if !meta.is_file() {
        return Err(format!("`{}` is not a regular file.", parsed.path));
    }
    if meta.len() == 0 || meta.len() > MAX_BYTES {
        return Err(format!(
            "`{}` has {} bytes; 1 to {MAX_BYTES} can be sent.",
            parsed.path,
            meta.len()
        ));
    }
    let caption = parsed.caption.filter(|caption| !caption.trim().is_empty());
    if caption
        .as_ref()
        .is_some_and(|caption| caption.encode_utf16().count() > MAX_CAPTION)
    {
        return Err(format!(
            "`caption` is longer than {MAX_CAPTION} characters."
        ));
    }
    Ok(Attachment { path, caption })
}

pub(super) fn inspect(shop: &Shop, raw: &str, place: &Place) -> Result<Inspection, String> {
    let file = attachment(shop, raw, place)?;
    let argument = paths::shown(place, &file.path);
    Ok(Inspection::plain(
        &DESCRIPTOR,
        ActionClass::Channel,
        argument,
        vec![file.path],
        place,
    ))
}
