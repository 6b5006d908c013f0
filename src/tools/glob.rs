//! `glob`: files by name, newest first, without what git ignores.

use std::path::PathBuf;
use std::time::SystemTime;

use globset::GlobBuilder;
use ignore::WalkBuilder;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::args;
use super::call::{Inspection, Place, Ran, Unfit};
use super::paths::{self, Want};
use super::toolbox::Shop;
use crate::domain::{Effects, ToolDescriptor};

const EXAMPLE: &str = r#"{"pattern":"**/*.rs","path":"src"}"#;
const MAX_FOUND: usize = 500;
/// Entries a walk looks at.
pub(super) const MAX_WALKED: usize = 200_000;

pub(super) static DESCRIPTOR: ToolDescriptor = ToolDescriptor {
    name: "glob",
    description: "Finds files by a glob pattern such as `**/*.rs`, newest first, without ignored ones.",
    schema: args::schema::<Args>,
    effects: Effects::Read,
    label: "tool-glob",
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Pattern over paths relative to `path`. A pattern without a slash matches names at any depth.
    pattern: String,
    /// Directory beneath the workspace; the workspace itself unless given.
    #[serde(default)]
    path: Option<String>,
}

pub(super) fn inspect(shop: &Shop, raw: &str, place: &Place) -> Result<Inspection, Unfit> {
    let parsed: Args = args::parse("glob", raw, EXAMPLE)?;
    Inspection::look(
        &DESCRIPTOR,
        shop,
        &parsed.pattern,
        parsed.path.as_deref(),
        place,
    )
}

/// A walk beneath `root` that leaves out what git ignores, other file systems, links, the git
/// directory and protected paths.
pub(super) fn walk(root: &std::path::Path, shop: &Shop) -> ignore::Walk {
    let protected = shop.protected.clone();
    WalkBuilder::new(root)
        .hidden(false)
        .require_git(false)
        .follow_links(false)
        .same_file_system(true)
        .filter_entry(move |entry| {
            entry.file_name() != ".git" && !paths::is_protected(entry.path(), &protected)
        })
        .build()
}

pub(super) fn matcher(pattern: &str) -> Result<globset::GlobMatcher, String> {
    let pattern = if pattern.contains('/') {
        pattern.to_owned()
    } else {
        format!("**/{pattern}")
    };
    GlobBuilder::new(&pattern)
        .literal_separator(true)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|error| format!("The glob pattern is not valid: {error}."))
}

pub(super) fn run(
    shop: &Shop,
    raw: &str,
    place: &Place,
    cancel: &CancellationToken,
) -> Result<Ran, String> {
    let parsed: Args = args::parse("glob", raw, EXAMPLE)?;
    let given = parsed.path.as_deref().unwrap_or(".");
    let root = paths::resolve(place, &shop.protected, given, Want::Read)?;
    let matcher = matcher(&parsed.pattern)?;
    let mut found: Vec<(SystemTime, PathBuf)> = Vec::new();
    let mut cut = false;
    for (walked, entry) in walk(&root, shop).flatten().enumerate() {
        if walked >= MAX_WALKED || cancel.is_cancelled() {
            cut = true;
            break;
        }
        let relative = entry.path().strip_prefix(&root).unwrap_or(entry.path());
        if entry.file_type().is_some_and(|kind| kind.is_file()) && matcher.is_match(relative) {
            let changed = entry.metadata().ok().and_then(|meta| meta.modified().ok());
            found.push((changed.unwrap_or(SystemTime::UNIX_EPOCH), entry.into_path()));
        }
    }
    found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let total = found.len();
    found.truncate(MAX_FOUND);
    let mut note = String::new();
    if total > MAX_FOUND {
        note = format!("{total} files match; the newest {MAX_FOUND} are shown.");
    }
    if cut {
        note.push_str(" The search was cut short; narrow it down with `path`.");
    }
    let names: Vec<String> = found
        .iter()
        .map(|(_, path)| paths::shown(place, path))
        .collect();
    let body = if names.is_empty() {
        "(no file matches)".to_owned()
    } else {
        names.join("\n")
    };
    Ok(Ran::read("file names", body, total.to_string()).with_note(note.trim()))
}
