//! Replies that announce a tool instead of calling it, and calls that were printed instead of made.

/// Verbs of tools after an announcement.
const VERBS: [&str; 24] = [
    "read",
    "run",
    "check",
    "look",
    "inspect",
    "open",
    "search",
    "edit",
    "write",
    "create",
    "update",
    "fix",
    "modify",
    "examine",
    "execute",
    "list",
    "grep",
    "call",
    "start",
    "apply",
    "implement",
    "change",
    "test",
    "verify",
];

/// Openings of an announcement, normalised, English.
const OPENINGS: [&str; 10] = [
    "let me",
    "i'll",
    "i will",
    "i'm going to",
    "i am going to",
    "now i'll",
    "now i will",
    "next i'll",
    "next i will",
    "i need to",
];

/// The same in other languages: an opening that already holds the verb.
const FOREIGN: [&str; 16] = [
    "сейчас прочитаю",
    "сейчас запущу",
    "сейчас проверю",
    "сейчас посмотрю",
    "давайте посмотрю",
    "я запущу",
    "я прочитаю",
    "я проверю",
    "я исправлю",
    "сейчас исправлю",
    "сначала прочитаю",
    "سأقرأ",
    "سأشغل",
    "سأتحقق",
    "سأقوم",
    "دعني",
];

/// Words that make it wait for a person, so that it is no announcement.
const CONDITIONS: [&str; 12] = [
    "if you",
    "once you",
    "when you",
    "after you",
    "would you",
    "shall i",
    "let me know",
    "do you want",
    "should i",
    "если вы",
    "когда вы",
    "إذا",
];

/// Whether the reply announces a tool call in its last sentence without making it.
#[must_use]
pub(super) fn announces_tool(text: &str) -> bool {
    let normal = normalise(text);
    let last = last_sentence(&normal);
    if last.ends_with('?') || CONDITIONS.iter().any(|word| last.contains(word)) {
        return false;
    }
    if FOREIGN.iter().any(|opening| last.contains(opening)) {
        return true;
    }
    OPENINGS.iter().any(|opening| {
        let Some((before, after)) = last.split_once(opening) else {
            return false;
        };
        let whole_word = before.is_empty() || before.ends_with([' ', ',', ':', ';']);
        whole_word
            && after
                .split_whitespace()
                .take(3)
                .any(|word| VERBS.contains(&word.trim_matches(|c: char| !c.is_alphabetic())))
    })
}

/// Whether the reply prints a call of one of `tools` as text.
#[must_use]
pub(super) fn prints_call(text: &str, tools: &[String]) -> bool {
    let outside = outside_code(text);
    if ["<tool_call", "<function=", "<function_call", "<invoke"]
        .iter()
        .any(|tag| outside.contains(tag))
    {
        return true;
    }
    tools.iter().any(|tool| {
        let call = format!("{tool}(");
        outside.lines().any(|line| {
            line.trim_start()
                .strip_prefix(&call)
                .is_some_and(|rest| rest.trim_start().starts_with('{'))
        })
    })
}

fn normalise(text: &str) -> String {
    outside_code(text)
        .replace(['\u{2019}', '\u{2018}'], "'")
        .to_lowercase()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

fn last_sentence(text: &str) -> &str {
    let body = text.trim_end_matches([' ', '.', '!', ':', '…']);
    let start = body
        .rfind(". ")
        .into_iter()
        .chain(body.rfind("! "))
        .chain(body.rfind("? "))
        .max()
        .map_or(0, |at| at + 2);
    text.get(start..).unwrap_or(text).trim_end()
}

fn outside_code(text: &str) -> String {
    let mut fenced = false;
    let mut kept = String::with_capacity(text.len());
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn announcements_are_found_and_offers_are_not() {
        for text in [
            "I'll read calc.py now.",
            "The test fails. Let me run it again:",
            "I’m going to edit the file",
            "Сейчас запущу тесты.",
        ] {
            assert!(announces_tool(text), "{text}");
        }
        for text in [
            "The function subtracts.",
            "I will fix it once you approve.",
            "Shall I run the tests?",
            "Let me know if I should run them.",
            "I could only look.",
            "I will let you decide.",
            "Paused here.",
        ] {
            assert!(!announces_tool(text), "{text}");
        }
    }

    #[test]
    fn printed_calls_are_found_outside_code_only() {
        let tools = vec!["read_file".to_owned()];
        assert!(prints_call("<tool_call>{}</tool_call>", &tools));
        assert!(prints_call("read_file({\"path\": \"a\"})", &tools));
        assert!(!prints_call(
            "```\nread_file({\"path\": \"a\"})\n```",
            &tools
        ));
        assert!(!prints_call("use read_file(path) in your code", &tools));
    }
}
