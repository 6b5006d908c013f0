//! Words for people in the place of a command.

/// Verbs that begin an instruction and are no programs.
const VERBS: [&str; 22] = [
    "run",
    "verify",
    "check",
    "ensure",
    "confirm",
    "validate",
    "review",
    "inspect",
    "look",
    "see",
    "manually",
    "make sure",
    "please",
    "execute",
    "assert",
    "observe",
    "visit",
    "navigate",
    "click",
    "try",
    "use",
    "tests",
];

/// Words that only occur in sentences, when they stand bare.
const SENTENCE: [&str; 24] = [
    "the",
    "that",
    "it",
    "all",
    "passes",
    "succeeds",
    "works",
    "should",
    "correctly",
    "successfully",
    "is",
    "are",
    "still",
    "returns",
    "shows",
    "without",
    "must",
    "sure",
    "works.",
    "passes.",
    "green",
    "everything",
    "errors",
    "properly",
];

/// Programs whose arguments are free text.
const FREE_TEXT: [&str; 9] = [
    "grep", "egrep", "fgrep", "rg", "ag", "ack", "echo", "printf", "git",
];

/// Whether the text reads like an instruction. A quoted word, an option or a path in the first word
/// shows that a command is meant.
pub(super) fn is_prose(command: &str) -> bool {
    let words: Vec<&str> = command.split_whitespace().collect();
    let Some(first) = words.first() else {
        return false;
    };
    if first.contains(['/', '=', '$', '(', '{', '"', '\'', '[', '!', '>', '<', '`']) {
        return false;
    }
    if !first.is_ascii() {
        return true;
    }
    let lower = first.to_ascii_lowercase();
    let begins = lower == first.to_ascii_lowercase()
        && (VERBS.contains(&lower.as_str())
            || command.to_ascii_lowercase().starts_with("make sure"));
    if begins {
        return true;
    }
    let capital = first.chars().next().is_some_and(char::is_uppercase)
        && first.chars().skip(1).all(|c| c.is_lowercase())
        && first.len() > 1
        && *first != "Rscript";
    if capital {
        return true;
    }
    if FREE_TEXT.contains(&lower.as_str()) {
        return false;
    }
    // Only the first command of a chain, and only words that no quote protects.
    words
        .iter()
        .skip(1)
        .take_while(|word| !word.contains(['|', '&', ';', '>', '<', '"', '\'']))
        .any(|word| SENTENCE.contains(word))
}
