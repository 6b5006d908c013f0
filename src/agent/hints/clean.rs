//! The natural part of a message, in one spelling.

use std::sync::LazyLock;

use regex::Regex;

/// Things that are not the user's running words: code, quotes, addresses, paths and file names.
static FOREIGN: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        r"(?s)```.*?(?:```|\z)",
        r"(?s)~~~.*?(?:~~~|\z)",
        r"`[^`\n]*`",
        r"(?m)^[ \t]*>.*$",
        r#""[^"\n]{1,400}""#,
        r"“[^”\n]{1,400}”",
        r"„[^“”\n]{1,400}[“”]",
        r"«[^»\n]{1,400}»",
        r"‘[^’\n]{1,400}’(?:\s|$|[.,;:!?])",
        r"(?m)(?:^|\s)'[^'\n]{1,400}'(?:\s|$|[.,;:!?])",
        r"(?i)\b(?:https?|ftp|file)://\S+",
        r"(?m)(?:^|\s)[@#/~]\S+",
        r"\S+[/\\]\S+",
        r"\b[\w-]+\.[A-Za-z]\w{0,5}\b",
    ]
    .iter()
    .filter_map(|pattern| Regex::new(pattern).ok())
    .collect()
});

/// The user's running words: lower case, one kind of apostrophe, Arabic and Russian letters without
/// their spelling variants, compounds with hyphens as one word.
pub(super) fn natural(text: &str) -> String {
    let mut text = text.to_owned();
    for pattern in FOREIGN.iter() {
        if pattern.is_match(&text) {
            // A full stop keeps phrases from closing over the gap.
            text = pattern.replace_all(&text, " . ").into_owned();
        }
    }
    fold(&text)
}

/// One spelling for text and phrases, with single blanks.
pub(super) fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    let mut before = ' ';
    let mut chars = text.chars().flat_map(char::to_lowercase).peekable();
    while let Some(c) = chars.next() {
        let within =
            before.is_alphanumeric() && chars.peek().is_some_and(|next| next.is_alphanumeric());
        before = c;
        match c {
            '’' | '‘' | 'ʼ' | '`' => folded.push('\''),
            'ё' => folded.push('е'),
            'أ' | 'إ' | 'آ' | 'ٱ' => folded.push('ا'),
            'ى' => folded.push('ي'),
            'ة' => folded.push('ه'),
            // Tatweel and the vowel signs.
            '\u{640}' | '\u{64b}'..='\u{65f}' | '\u{670}' => {}
            '-' if within => folded.push('_'),
            c if c.is_whitespace() => {
                if !folded.ends_with(' ') {
                    folded.push(' ');
                }
            }
            c => folded.push(c),
        }
    }
    folded
}
