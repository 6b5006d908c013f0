//! Reasoning that a model printed into its answer.

/// Tags that models put around reasoning.
const TAGS: [&str; 3] = ["think", "thinking", "reasoning"];

/// Longest code span that is looked for, in bytes.
const MAX_SPAN: usize = 4096;

/// `text` without `<think>`, `<thinking>` and `<reasoning>` sections; inside code they stay, because
/// there they are meant. A section that never ends reaches to the end. A closing tag alone on its line
/// without an opening one ends a section that the provider's template had opened.
#[must_use]
pub fn strip_reasoning(text: &str) -> String {
    let mut scanner = Scanner::default();
    let mut rest = text;
    while !rest.is_empty() {
        rest = scanner.step(rest);
    }
    if !scanner.removed {
        return text.to_owned();
    }
    scanner.kept.trim().to_owned()
}

#[derive(Default)]
struct Scanner {
    kept: String,
    /// Character and length of the open fence.
    fence: Option<(char, usize)>,
    /// Tag of the open section.
    section: Option<&'static str>,
    removed: bool,
    mid_line: bool,
}

impl Scanner {
    /// Consumes something from the front of `rest` and gives what is left.
    fn step<'a>(&mut self, rest: &'a str) -> &'a str {
        if let Some(tag) = self.section {
            return self.skip_section(tag, rest);
        }
        if !self.mid_line
            && let Some((mark, length)) = fence_mark(rest)
        {
            return self.fence_line(mark, length, rest);
        }
        if self.fence.is_some() {
            return self.keep_line(rest);
        }
        if rest.starts_with('`') {
            return self.code_span(rest);
        }
        for tag in TAGS {
            if let Some(after) = strip_tag(rest, tag, false) {
                self.section = Some(tag);
                self.removed = true;
                return after;
            }
            if let Some(after) = strip_tag(rest, tag, true) {
                let alone = !self.mid_line
                    && after
                        .trim_start_matches([' ', '\t', '\r'])
                        .starts_with('\n');
                if alone {
                    self.kept.clear();
                    self.removed = true;
                    return after;
                }
            }
        }
        let end = rest
            .char_indices()
            .skip(1)
            .find(|(_, c)| matches!(c, '<' | '`' | '\n'))
            .map_or(rest.len(), |(at, _)| at);
        let end = if rest.starts_with('\n') { 1 } else { end };
        self.keep(rest, end)
    }

    fn skip_section<'a>(&mut self, tag: &str, rest: &'a str) -> &'a str {
        let mut at = 0;
        while let Some(found) = rest.get(at..).and_then(|tail| tail.find("</")) {
            at += found;
            if let Some(after) = rest.get(at..).and_then(|tail| strip_tag(tail, tag, true)) {
                self.section = None;
                self.mid_line = true;
                return after;
            }
            at += 2;
        }
        ""
    }

    fn fence_line<'a>(&mut self, mark: char, length: usize, rest: &'a str) -> &'a str {
        match self.fence {
            Some((open, least)) if open == mark && length >= least => self.fence = None,
            Some(_) => {}
            None => self.fence = Some((mark, length)),
        }
        self.keep_line(rest)
    }

    fn keep_line<'a>(&mut self, rest: &'a str) -> &'a str {
        let end = rest.find('\n').map_or(rest.len(), |at| at + 1);
        self.keep(rest, end)
    }

    /// A code span ends with a run of as many backticks, before the paragraph ends.
    fn code_span<'a>(&mut self, rest: &'a str) -> &'a str {
        let length = rest.chars().take_while(|c| *c == '`').count();
        let near = super::units::truncate_bytes(rest, MAX_SPAN);
        let paragraph = near.find("\n\n").unwrap_or(near.len());
        let mut at = length;
        while let Some(found) = rest.get(at..paragraph).and_then(|tail| tail.find('`')) {
            let start = at + found;
            let run = rest
                .get(start..)
                .map_or(0, |tail| tail.chars().take_while(|c| *c == '`').count());
            at = start + run;
            if run == length {
                return self.keep(rest, at);
            }
        }
        self.keep(rest, length)
    }

    fn keep<'a>(&mut self, rest: &'a str, end: usize) -> &'a str {
        let (head, tail) = rest.split_at_checked(end).unwrap_or((rest, ""));
        self.kept.push_str(head);
        self.mid_line = !head.ends_with('\n');
        tail
    }
}

/// The fence that the line at the front opens or closes.
fn fence_mark(line: &str) -> Option<(char, usize)> {
    let line = line.trim_start_matches([' ', '>', '\t']);
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = line.chars().take_while(|c| *c == mark).count();
    let rest = line.get(length..)?.lines().next().unwrap_or_default();
    (length >= 3 && (mark == '~' || !rest.contains('`'))).then_some((mark, length))
}

/// What follows `<tag>` (or `</tag>`) at the front of `text`.
fn strip_tag<'a>(text: &'a str, tag: &str, closing: bool) -> Option<&'a str> {
    let rest = text.strip_prefix(if closing { "</" } else { "<" })?;
    let (name, rest) = rest.split_at_checked(tag.len())?;
    if !name.eq_ignore_ascii_case(tag) {
        return None;
    }
    rest.trim_start_matches([' ', '\t']).strip_prefix('>')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_go_and_code_stays() {
        for (text, left) in [
            ("<think>a\n\nb</think>\n\nHello", "Hello"),
            ("A <THINKING >x</Thinking> b", "A  b"),
            ("<reasoning>never ends", ""),
            (
                "see `<think>x</think>` there",
                "see `<think>x</think>` there",
            ),
            (
                "```\n<think>x</think>\n```\n",
                "```\n<think>x</think>\n```\n",
            ),
            ("<think>```\ncode</think>\nout", "out"),
            ("plan plan\n</think>\n\nAnswer", "Answer"),
            ("the tag </think> is odd", "the tag </think> is odd"),
            ("a < b <thin>", "a < b <thin>"),
            (
                "~~~\n<think>\n~~~\n<think>x</think>y",
                "~~~\n<think>\n~~~\ny",
            ),
        ] {
            assert_eq!(strip_reasoning(text), left, "{text}");
        }
    }
}
