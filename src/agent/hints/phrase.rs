//! One phrase of a data file and where it stands in a text.
//!
//! Plain search instead of patterns: two hundred compiled patterns with their tables for all of Unicode
//! would take ten megabytes for good.

use std::ops::Range;

/// What may be joined to the front of an Arabic word, the conjunction before the rest.
const CONJUNCTIONS: [&str; 2] = ["و", "ف"];
const ARTICLES: [&str; 5] = ["ال", "لل", "ب", "ل", "ك"];

/// A phrase in folded spelling.
#[derive(Debug)]
pub(super) struct Phrase {
    pub(super) words: String,
    /// Whether the last word may go on.
    open: bool,
    /// Whether something may be joined to its front.
    joined: bool,
}

impl Phrase {
    /// A line of a data file; a star at its end leaves the last word open.
    pub(super) fn new(line: &str, joined: bool) -> Self {
        let (words, open) = match line.strip_suffix('*') {
            Some(stem) => (stem, true),
            None => (line, false),
        };
        Self {
            words: words.to_owned(),
            open,
            joined,
        }
    }

    /// Every place where it stands as whole words.
    pub(super) fn spans<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
        text.match_indices(&self.words).filter_map(|(at, found)| {
            let (before, rest) = text.split_at_checked(at)?;
            let after = rest.get(found.len()..)?;
            let start = self.start(before)?;
            let more: usize = after
                .chars()
                .take_while(|c| is_word(*c))
                .map(char::len_utf8)
                .sum();
            (self.open || more == 0).then(|| start..at + found.len() + more)
        })
    }

    /// Where the first word begins, if it does not begin in the middle of one.
    fn start(&self, before: &str) -> Option<usize> {
        let at_boundary = |before: &str| !before.chars().next_back().is_some_and(is_word);
        if at_boundary(before) {
            return Some(before.len());
        }
        if !self.joined {
            return None;
        }
        let bare = ARTICLES
            .iter()
            .filter_map(|article| before.strip_suffix(article));
        bare.chain([before])
            .flat_map(|rest| {
                let joined = CONJUNCTIONS.iter().filter_map(|c| rest.strip_suffix(c));
                joined.chain([rest])
            })
            .find(|rest| at_boundary(rest))
            .map(str::len)
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(line: &str, joined: bool, text: &str) -> Vec<Range<usize>> {
        Phrase::new(line, joined).spans(text).collect()
    }

    #[test]
    fn a_phrase_stands_as_whole_words() {
        assert!(
            spans("plan it", false, "plan it, replan it")
                .into_iter()
                .eq(std::iter::once(0..7))
        );
        assert!(spans("plan", false, "planning a plant").is_empty());
        assert!(
            spans("plan*", false, "replan planning")
                .into_iter()
                .eq(std::iter::once(7..15))
        );
    }

    #[test]
    fn what_is_joined_to_an_arabic_word_belongs_to_it() {
        let word = "سفر";
        for text in ["سفر", "السفر", "والسفر", "للسفر", "وسفر", "بسفر"] {
            assert!(
                spans(word, true, text)
                    .into_iter()
                    .eq(std::iter::once(0..text.len())),
                "{text}"
            );
        }
        assert!(spans(word, false, "السفر").is_empty());
        assert!(spans(word, true, "مسفر").is_empty());
    }
}
