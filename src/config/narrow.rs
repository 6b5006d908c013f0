//! The project file: what a workspace may take away, and never give.

use std::path::Path;

use crate::domain::ApprovalLevel;

use super::ConfigError;
use super::file::{self, Found};
use super::settings::{PreinitBash, SandboxMode, Settings};
use super::value::Value;

/// Name of the project file in a workspace.
pub const PROJECT_FILE: &str = ".greenlight.toml";

/// The settings as they hold in `workspace`: its `.greenlight.toml` may lower caps and switch planning,
/// tools and rights off. A wider value changes nothing. The opt-out of planning counts only where
/// nobody pinned planning on by flag, environment or file.
///
/// # Errors
/// If the project file is malformed, or names a key that a project may not set.
pub fn narrow(settings: &Settings, workspace: &Path) -> Result<Settings, ConfigError> {
    let mut narrowed = settings.clone();
    let path = workspace.join(PROJECT_FILE);
    let Some(text) = file::read(&path)? else {
        return Ok(narrowed);
    };
    for found in file::parse(&path, &text)? {
        apply(&mut narrowed, &found)?;
    }
    Ok(narrowed)
}

fn apply(settings: &mut Settings, found: &Found) -> Result<(), ConfigError> {
    let budgets = &mut settings.budgets;
    match (found.key.name, &found.value) {
        ("plan.enabled", Value::Bool(false)) if !settings.plan.pinned => {
            settings.plan.enabled = false;
        }
        ("plan.max_tasks", Value::Integer(cap)) => lower(&mut settings.plan.max_tasks, *cap),
        ("plan.max_render_chars", Value::Integer(cap)) => {
            lower(&mut settings.plan.max_render_chars, *cap);
        }
        ("plan.preinit_bash", Value::Text(word)) if word == "sandboxed" => {
            settings.plan.preinit_bash = PreinitBash::Sandboxed;
        }
        ("tools.sandbox", Value::Text(word)) if word == "workspace" => {
            settings.tools.sandbox = SandboxMode::Workspace;
        }
        ("tools.network_while_planning", Value::Bool(false)) => {
            settings.tools.network_while_planning = false;
        }
        ("tools.web_fetch", Value::Bool(false)) => settings.tools.web_fetch = false,
        ("tools.disabled", Value::List(names)) => {
            for name in names {
                if !settings.tools.disabled.contains(name) {
                    settings.tools.disabled.push(name.clone());
                }
            }
        }
        ("approvals.level", Value::Text(word)) => {
            settings.approvals = stricter(settings.approvals, word);
        }
        ("budgets.requests", Value::Integer(cap)) => lower(&mut budgets.requests, *cap),
        ("budgets.calls", Value::Integer(cap)) => lower(&mut budgets.calls, *cap),
        ("budgets.seconds", Value::Integer(cap)) => lower(&mut budgets.seconds, *cap),
        ("budgets.turn_tokens", Value::Integer(cap)) => lower_limit(&mut budgets.turn_tokens, *cap),
        ("budgets.day_tokens", Value::Integer(cap)) => lower_limit(&mut budgets.day_tokens, *cap),
        // A wider value of a key that a project may set: no effect.
        (
            "plan.enabled"
            | "plan.preinit_bash"
            | "tools.sandbox"
            | "tools.network_while_planning"
            | "tools.web_fetch",
            _,
        ) => {}
        (name, _) => {
            return Err(ConfigError::new(
                "config-project-forbidden",
                &[("place", &found.place), ("key", name)],
            ));
        }
    }
    Ok(())
}

fn lower<T: TryFrom<i64> + Ord + Copy>(value: &mut T, cap: i64) {
    if let Ok(cap) = T::try_from(cap) {
        *value = (*value).min(cap);
    }
}

/// Like `lower`, where 0 means no limit.
fn lower_limit(value: &mut u64, cap: i64) {
    if let Ok(cap) = u64::try_from(cap)
        && cap > 0
    {
        *value = if *value == 0 { cap } else { (*value).min(cap) };
    }
}

fn stricter(level: ApprovalLevel, word: &str) -> ApprovalLevel {
    match (level, word) {
        (_, "ask") => ApprovalLevel::Ask,
        (ApprovalLevel::Yolo, "auto") => ApprovalLevel::Auto,
        (level, _) => level,
    }
}
