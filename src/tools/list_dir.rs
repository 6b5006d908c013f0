//! `list_dir`: the entries of one directory.

use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::args;
use super::call::{Inspection, Place, Ran, Unfit};
use super::paths::{self, Want};
use super::toolbox::Shop;
use crate::domain::{Effects, ToolDescriptor};

const EXAMPLE: &str = r#"{"path":"src"}"#;
const MAX_ENTRIES: usize = 1000;

pub(super) static DESCRIPTOR: ToolDescriptor = ToolDescriptor {
    name: "list_dir",
    description: "Lists one directory: a slash after directories, an arrow after links, sizes of files.",
    schema: args::schema::<Args>,
    effects: Effects::Read,
    label: "tool-list-dir",
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Directory beneath the workspace; the workspace itself unless given.
    #[serde(default)]
    path: Option<String>,
}

pub(super) fn inspect(shop: &Shop, raw: &str, place: &Place) -> Result<Inspection, Unfit> {
    let parsed: Args = args::parse("list_dir", raw, EXAMPLE)?;
    Inspection::look(&DESCRIPTOR, shop, "", parsed.path.as_deref(), place)
}

pub(super) fn run(
    shop: &Shop,
    raw: &str,
    place: &Place,
    _: &CancellationToken,
) -> Result<Ran, String> {
    let parsed: Args = args::parse("list_dir", raw, EXAMPLE)?;
    let given = parsed.path.as_deref().unwrap_or(".");
    let path = paths::resolve(place, &shop.protected, given, Want::Read)?;
    let list = std::fs::read_dir(&path)
        .map_err(|error| format!("`{given}` cannot be listed: {error}."))?;
    let mut names: Vec<String> = list
        .flatten()
        .filter(|entry| !paths::is_protected(&entry.path(), &shop.protected))
        .take(MAX_ENTRIES + 1)
        .map(|entry| line(&entry))
        .collect();
    let note = if names.len() > MAX_ENTRIES {
        names.truncate(MAX_ENTRIES);
        format!("Only {MAX_ENTRIES} entries are shown; use glob to narrow down.")
    } else {
        String::new()
    };
    names.sort();
    let summary = names.len().to_string();
    let source = format!("directory {}", paths::shown(place, &path));
    let body = if names.is_empty() {
        "(empty)".to_owned()
    } else {
        names.join("\n")
    };
    Ok(Ran::read(source, body, summary).with_note(note))
}

fn line(entry: &std::fs::DirEntry) -> String {
    let name = entry.file_name().to_string_lossy().into_owned();
    match entry.path().symlink_metadata() {
        Ok(meta) if meta.is_dir() => format!("{name}/"),
        Ok(meta) if meta.is_symlink() => {
            let target = std::fs::read_link(entry.path()).unwrap_or_default();
            format!("{name} -> {}", target.display())
        }
        Ok(meta) => format!("{name} ({} bytes)", meta.len()),
        Err(_) => name,
    }
}
