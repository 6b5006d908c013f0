//! Words of a command: what they surely are, and what they run while they expand.

use brush_parser::ParserOptions;
use brush_parser::word::{self, WordPiece, WordPieceWithSource};

use super::{Found, found, judge};

/// One word after reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Arg {
    /// The text, or as much of it as is sure.
    pub(super) text: String,
    /// Whether `text` is all of it.
    pub(super) sure: bool,
    /// Whether it may become several words, or other ones.
    pub(super) splits: bool,
}

impl Arg {
    pub(super) fn fixed(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            sure: true,
            splits: false,
        }
    }

    pub(super) fn unknown(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            sure: false,
            splits: true,
        }
    }

    /// Whether it is exactly this text.
    pub(super) fn is(&self, text: &str) -> bool {
        self.sure && self.text == text
    }

    /// Whether it is an option, or may be one.
    pub(super) fn is_option(&self) -> bool {
        self.text.starts_with('-') && self.text.len() > 1
    }

    /// Whether it is a short option cluster that holds `letter`.
    pub(super) fn has_flag(&self, letter: char) -> bool {
        self.is_option() && !self.text.starts_with("--") && self.text.contains(letter)
    }

    /// The last part of a path.
    pub(super) fn base(&self) -> &str {
        self.text.rsplit('/').next().unwrap_or_default()
    }
}

/// Reads a raw word and judges every command that its expansion runs.
pub(super) fn read(raw: &str, depth: usize) -> Result<Arg, String> {
    let pieces = word::parse(raw, &ParserOptions::default())
        .map_err(|_| "a word cannot be parsed".to_owned())?;
    let mut arg = Arg::fixed("");
    take(&mut arg, raw, &pieces, false, depth)?;
    Ok(arg)
}

/// Judges the commands that the expansion of a here-document runs.
pub(super) fn document(text: &str, depth: usize) -> Found {
    let pieces = word::parse_heredoc(text, &ParserOptions::default())
        .map_err(|_| "a here-document cannot be parsed".to_owned())?;
    take(&mut Arg::fixed(""), text, &pieces, true, depth)
}

fn take(
    arg: &mut Arg,
    raw: &str,
    pieces: &[WordPieceWithSource],
    quoted: bool,
    depth: usize,
) -> Found {
    for part in pieces {
        match &part.piece {
            WordPiece::Text(text) => {
                let pattern = text.contains(['*', '?', '[']);
                let braces = text.contains('{') && (text.contains(',') || text.contains(".."));
                if !quoted && (pattern || braces) {
                    arg.sure = false;
                    arg.splits = true;
                }
                arg.text.push_str(text);
            }
            WordPiece::SingleQuotedText(text) => arg.text.push_str(text),
            WordPiece::AnsiCQuotedText(text) => {
                if text.contains('\\') {
                    arg.sure = false;
                }
                arg.text.push_str(text);
            }
            WordPiece::EscapeSequence(text) => {
                arg.text.push_str(text.strip_prefix('\\').unwrap_or(text));
            }
            WordPiece::DoubleQuotedSequence(inner)
            | WordPiece::GettextDoubleQuotedSequence(inner) => {
                take(arg, raw, inner, true, depth)?;
            }
            WordPiece::TildeExpansion(_) => {
                arg.sure = false;
                arg.text.push('~');
            }
            WordPiece::ParameterExpansion(_) => {
                let source = raw.get(part.start_index..part.end_index).unwrap_or(raw);
                if nests(source) {
                    return found("a command hides in a parameter");
                }
                unknown(arg, quoted);
            }
            WordPiece::CommandSubstitution(command) => {
                judge(command, depth + 1)?;
                unknown(arg, quoted);
            }
            WordPiece::BackquotedCommandSubstitution(command) => {
                judge(&command.replace("\\`", "`"), depth + 1)?;
                unknown(arg, quoted);
            }
            WordPiece::ArithmeticExpression(expression) => {
                arithmetic(&expression.value)?;
                unknown(arg, quoted);
            }
        }
    }
    Ok(())
}

fn unknown(arg: &mut Arg, quoted: bool) {
    arg.sure = false;
    arg.splits |= !quoted;
    arg.text.push('…');
}

fn nests(text: &str) -> bool {
    ["$(", "`", "<(", ">("]
        .iter()
        .any(|mark| text.contains(mark))
}

/// Arithmetic may run commands through substitutions and array subscripts.
pub(super) fn arithmetic(expression: &str) -> Found {
    if nests(expression) || expression.contains('[') {
        return found("a command may hide in arithmetic");
    }
    Ok(())
}

/// Variables that make other programs run something else.
pub(super) fn assignment(raw: &str) -> Found {
    const LOADED: [&str; 22] = [
        "PATH",
        "BASH_ENV",
        "ENV",
        "IFS",
        "PROMPT_COMMAND",
        "PS4",
        "SHELLOPTS",
        "BASHOPTS",
        "EDITOR",
        "VISUAL",
        "PAGER",
        "BROWSER",
        "MANPAGER",
        "LESSOPEN",
        "PERL5OPT",
        "PERL5LIB",
        "PYTHONSTARTUP",
        "PYTHONPATH",
        "NODE_OPTIONS",
        "RUBYOPT",
        "RUSTC_WRAPPER",
        "CDPATH",
    ];
    let name: String = raw
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
        .collect();
    let prefixed = ["LD_", "DYLD_", "GIT_"]
        .iter()
        .any(|start| name.starts_with(start));
    // Sets of git that only shape its output or identity.
    let harmless = [
        "GIT_AUTHOR_",
        "GIT_COMMITTER_",
        "GIT_PAGER",
        "GIT_TERMINAL_PROMPT",
    ]
    .iter()
    .any(|start| name.starts_with(start));
    if LOADED.contains(&name.as_str()) || (prefixed && !harmless) {
        return found(format!("{name} changes which programs run"));
    }
    Ok(())
}

/// Whether a function of this name would change what later commands mean.
pub(super) fn shadows(name: &str) -> bool {
    const COMMON: [&str; 12] = [
        "cd", "ls", "cat", "echo", "git", "test", "printf", "grep", "cp", "mv", "command",
        "builtin",
    ];
    COMMON.contains(&name)
        || !name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
}

/// Judges a file that output goes to.
pub(super) fn target(raw: &str, read: &Arg, append: bool) -> Found {
    const SINKS: [&str; 4] = ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"];
    if read.sure && SINKS.contains(&read.text.as_str()) {
        return Ok(());
    }
    let temporary = [
        "$TMPDIR/",
        "\"$TMPDIR/",
        "${TMPDIR}/",
        "\"${TMPDIR}/",
        "\"$TMPDIR\"/",
    ];
    if temporary.iter().any(|start| raw.starts_with(start)) && !raw.contains("..") {
        return Ok(());
    }
    if !append {
        return found("a redirection overwrites a file");
    }
    let inside =
        read.sure && !read.text.starts_with('/') && !read.text.split('/').any(|part| part == "..");
    if inside && !read.text.split('/').any(|part| part == ".git") {
        return Ok(());
    }
    found("a redirection writes to a file outside the workspace")
}
