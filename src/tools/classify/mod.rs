//! Placeholder.
pub(super) fn destructive(_command: &str) -> Option<String> { None }
