//! Single shell words: their text after quote removal, and what in them is computed.

use brush_parser::ParserOptions;
use brush_parser::word::{self, WordPiece, WordPieceWithSource};

/// One word.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Word {
    /// Text after quote removal; substitutions are left out.
    pub(super) text: String,
    /// Whether the text is all there is: no substitution, and nothing the shell would expand.
    pub(super) is_literal: bool,
    /// Commands that are substituted into it.
    pub(super) commands: Vec<String>,
}

/// Reads a word as it stands in the command.
pub(super) fn read(raw: &str) -> Word {
    let mut read = Word {
        is_literal: true,
        ..Word::default()
    };
    match word::parse(raw, &ParserOptions::default()) {
        Ok(pieces) => add(&pieces, false, &mut read),
        Err(_) => read.is_literal = false,
    }
    read
}

fn add(pieces: &[WordPieceWithSource], quoted: bool, read: &mut Word) {
    for piece in pieces {
        match &piece.piece {
            WordPiece::Text(text) => {
                // Globs and braces are expanded by the shell unless they are quoted.
                if !quoted && text.contains(['*', '?', '[', '{']) && text.len() > 1 {
                    read.is_literal = false;
                }
                read.text.push_str(text);
            }
            WordPiece::SingleQuotedText(text) => read.text.push_str(text),
            WordPiece::AnsiCQuotedText(text) => {
                read.is_literal &= !text.contains('\\');
                read.text.push_str(text);
            }
            WordPiece::DoubleQuotedSequence(inner)
            | WordPiece::GettextDoubleQuotedSequence(inner) => add(inner, true, read),
            WordPiece::EscapeSequence(text) => {
                read.text.push_str(text.strip_prefix('\\').unwrap_or(text));
            }
            WordPiece::CommandSubstitution(command)
            | WordPiece::BackquotedCommandSubstitution(command) => {
                read.is_literal = false;
                read.commands.push(command.clone());
            }
            WordPiece::TildeExpansion(_)
            | WordPiece::ParameterExpansion(_)
            | WordPiece::ArithmeticExpression(_) => read.is_literal = false,
        }
    }
}
