//! `greenlight completions`.

use std::io::Write;

/// Writes the completions of a shell to standard output.
///
/// # Errors
/// If standard output cannot be written.
pub(super) fn write(shell: clap_complete::Shell) -> std::io::Result<()> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut super::command(), "greenlight", &mut text);
    std::io::stdout().lock().write_all(&text)
}
