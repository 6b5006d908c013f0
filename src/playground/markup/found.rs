//! What Telegram finds in a text by itself.

use std::sync::LazyLock;

use regex::Regex;

use super::{QUOTES, STYLES, Span, units};

static PATTERNS: LazyLock<Vec<(&'static str, Regex)>> = LazyLock::new(|| {
    [
        (
            "email",
            r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}",
        ),
        ("url", r"https?://[^\s<>]+[^\s<>.,:;!?)]"),
        (
            "bot_command",
            r"/[A-Za-z0-9_]{1,64}(?:@[A-Za-z0-9_]{3,32})?",
        ),
        ("mention", r"@[A-Za-z0-9_]{3,32}"),
        ("hashtag", r"#\p{L}[\p{L}\p{N}_]{0,255}"),
    ]
    .into_iter()
    .filter_map(|(kind, pattern)| Regex::new(pattern).ok().map(|regex| (kind, regex)))
    .collect()
});

/// Adds what Telegram finds by itself: addresses, commands, mentions, hashtags.
pub(in crate::playground) fn detect(text: &str, mut spans: Vec<Span>) -> Vec<Span> {
    for (kind, pattern) in PATTERNS.iter() {
        for found in pattern.find_iter(text) {
            let before = text.get(..found.start()).unwrap_or_default();
            let after = text.get(found.end()..).unwrap_or_default();
            let word = |symbol: char| symbol.is_alphanumeric() || "_/@<>&".contains(symbol);
            if before.chars().next_back().is_some_and(word)
                || after.chars().next().is_some_and(word)
            {
                continue;
            }
            let span = Span::new(kind, units(before), units(found.as_str()));
            let taken = spans.iter().any(|other| {
                let holds = !other.is(&STYLES) && !other.is(&QUOTES);
                holds && other.offset < span.end() && span.offset < other.end()
            });
            if !taken {
                spans.push(span);
            }
        }
    }
    spans.sort_by_key(Span::rank);
    spans
}
