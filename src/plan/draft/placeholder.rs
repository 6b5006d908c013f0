//! Phrases that say a plan is not settled yet.

use std::sync::LazyLock;

use regex::Regex;

/// Phrases that stand for missing work wherever they occur. Plans *about* a placeholder or a TODO are fine.
const UNSETTLED: &[&str] = &[
    r"tbd",
    r"to be (?:determined|decided|defined)",
    r"once (?:clarified|provided)",
    r"needs? (?:further )?clarification",
    r"requirements (?:are|were) (?:unspecified|not provided|unclear)",
    r"no specific changes? (?:\w+ ){0,4}(?:was|were) provided",
    r"placeholder (?:if|until|pending)",
];

static PATTERN: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(&format!(r"(?i)\b(?:{})\b", UNSETTLED.join("|"))).ok());

/// A verb before the word means that the step itself puts one in.
static PUTS_ONE_IN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:use|add|insert|with|or) (?:a )?placeholder\b(?:\s+(\w+))?").ok()
});

/// Words after which "placeholder" is a thing of the product, not a gap in the plan.
const THINGS: &[&str] = &[
    "text",
    "texts",
    "attribute",
    "image",
    "images",
    "string",
    "label",
    "component",
    "element",
];

/// The first phrase that says the plan is not settled, as written, at most 80 characters.
#[must_use]
pub fn placeholder(text: &str) -> Option<String> {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let plain = PATTERN
        .as_ref()
        .and_then(|pattern| pattern.find(&line))
        .map(|found| found.as_str());
    let put_in = || {
        PUTS_ONE_IN
            .as_ref()?
            .captures_iter(&line)
            .find_map(|found| {
                let next = found.get(1).map(|word| word.as_str().to_lowercase());
                let a_thing = next.is_some_and(|word| THINGS.contains(&word.as_str()));
                if a_thing {
                    None
                } else {
                    found.get(0).map(|all| all.as_str())
                }
            })
    };
    plain
        .or_else(put_in)
        .map(|phrase| phrase.chars().take(80).collect())
}
