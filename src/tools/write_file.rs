//! `write_file`: creates or replaces a file.

use std::path::{Component, Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;
use similar::TextDiff;
use tokio_util::sync::CancellationToken;

use super::call::{Card, CardKind, Inspection, Place, Ran};
use super::paths::{self, Want};
use super::toolbox::Shop;
use super::{args, atomic};
use crate::domain::{ActionClass, Effects, ToolDescriptor};

const EXAMPLE: &str = r#"{"path":"notes/todo.md","content":"first line\n"}"#;
/// Largest file that is compared or changed, in bytes.
pub(super) const MAX_FILE: u64 = 4 * 1024 * 1024;

pub(super) static DESCRIPTOR: ToolDescriptor = ToolDescriptor {
    name: "write_file",
    description: "Creates a file or replaces all of its content. Prefer edit_file for a change in a file.",
    schema: args::schema::<Args>,
    effects: Effects::Write,
    label: "tool-write-file",
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Path beneath the workspace.
    path: String,
    /// The whole content.
    content: String,
}

pub(super) fn inspect(shop: &Shop, raw: &str, place: &Place) -> Result<Inspection, String> {
    let parsed: Args = args::parse("write_file", raw, EXAMPLE)?;
    let path = paths::resolve(place, &shop.protected, &parsed.path, Want::Write)?;
    let old = read_old(&path)?;
    Ok(describe(&DESCRIPTOR, place, path, &old, &parsed.content))
}

/// The present content as text, empty for a new file. What is not text is described, not shown.
fn read_old(path: &Path) -> Result<String, String> {
    match path.metadata() {
        Ok(meta) if meta.is_dir() => Err("The path is a directory.".to_owned()),
        Ok(meta) if !meta.is_file() => Err("The path is not a regular file.".to_owned()),
        Ok(meta) if meta.len() > MAX_FILE => Ok(format!("({} bytes)\n", meta.len())),
        Ok(_) if paths::is_env_file(path) => Ok("(the present content is not shown)\n".to_owned()),
        Ok(meta) => Ok(std::fs::read(path)
            .ok()
            .and_then(|bytes| String::from_utf8(bytes).ok())
            .unwrap_or_else(|| format!("(binary, {} bytes)\n", meta.len()))),
        Err(_) => Ok(String::new()),
    }
}

/// What is known of a write before it happens.
pub(super) fn describe(
    tool: &ToolDescriptor,
    place: &Place,
    path: PathBuf,
    old: &str,
    new: &str,
) -> Inspection {
    let shown = paths::shown(place, &path);
    let from = format!("a/{shown}");
    let to = format!("b/{shown}");
    let diff = TextDiff::from_lines(old, new)
        .unified_diff()
        .context_radius(3)
        .header(&from, &to)
        .to_string();
    // Hooks and settings of git run commands later on, so whoever writes them runs commands.
    let class = if path
        .components()
        .any(|part| part == Component::Normal(".git".as_ref()))
    {
        ActionClass::Destructive
    } else {
        ActionClass::WorkspaceWrite
    };
    Inspection {
        effects: Effects::Write,
        class,
        argument: shown,
        targets: vec![path],
        card: Card {
            tool: tool.name.to_owned(),
            kind: CardKind::Diff,
            text: diff,
            cwd: place.workspace.clone(),
        },
    }
}

pub(super) fn run(
    shop: &Shop,
    raw: &str,
    place: &Place,
    _: &CancellationToken,
) -> Result<Ran, String> {
    let parsed: Args = args::parse("write_file", raw, EXAMPLE)?;
    let path = paths::resolve(place, &shop.protected, &parsed.path, Want::Write)?;
    let known = path.exists();
    let same = std::fs::read(&path).is_ok_and(|old| old == parsed.content.as_bytes());
    if same {
        return Ok(Ran::said("The file has exactly this content already.", ""));
    }
    atomic::write(&path, parsed.content.as_bytes())
        .map_err(|error| format!("`{}` cannot be written: {error}.", parsed.path))?;
    let verb = if known { "Replaced" } else { "Created" };
    let lines = parsed.content.lines().count();
    Ok(Ran::said(
        format!("{verb} {} ({lines} lines).", paths::shown(place, &path)),
        lines.to_string(),
    )
    .changed(true))
}
