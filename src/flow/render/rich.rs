//! Rich messages (Bot API 10.1): HTML with details, and Markdown.

use crate::domain::{EntityKind, Formatted};
use crate::i18n::tr;

use super::super::sections::{Part, Sections};
use super::super::units::utf16_len;

/// Characters of a rich message: Telegram's 32768 with something in hand.
pub(super) const BUDGET: usize = 30_000;
/// Log entries of a message; every line is a block, and 500 blocks are allowed.
const LOG_LINES: usize = 200;
/// Characters of markup that one line may need.
const LINE_OVERHEAD: usize = 16;

/// Rich HTML; also gives the index of the first log entry shown.
pub(super) fn html(sections: &Sections, language: &str) -> (String, usize) {
    lay_out(sections, language, &Html)
}

/// Rich Markdown; also gives the index of the first log entry shown.
pub(super) fn markdown(sections: &Sections, language: &str) -> (String, usize) {
    lay_out(sections, language, &Markdown)
}

/// The two ways to write the same blocks.
trait Form {
    fn escape(&self, text: &str) -> String;
    fn wrap(&self, kind: &EntityKind, inner: &str) -> String;
    fn line(&self, inner: &str) -> String;
    fn details(&self, summary: &str, body: &str) -> String;
}

fn lay_out(sections: &Sections, language: &str, form: &dyn Form) -> (String, usize) {
    let mut out = String::new();
    for line in &sections.chrome {
        out.push_str(&block(form, line));
    }
    for part in &sections.plan {
        out.push_str(&details(form, part));
    }
    let footer = sections.footer.as_ref().map(|line| block(form, line));
    let used = out.chars().count() + footer.as_ref().map_or(0, |line| line.chars().count()) + 200;
    let room = BUDGET.saturating_sub(used);
    let from = super::log_start(sections, room, LOG_LINES, |line| {
        // Escaping may double a character, and HTML signs take up to six.
        let special = line
            .text
            .chars()
            .filter(|c| c.is_ascii_punctuation())
            .count();
        utf16_len(&line.text) + special * 5 + LINE_OVERHEAD * (1 + line.text.lines().count())
    });
    let mut lines = Vec::new();
    if from > 0 {
        let count = from.to_string();
        lines.push(Formatted::plain(tr(
            language,
            "flow-earlier",
            &[("count", &count)],
        )));
    }
    lines.extend(sections.log.iter().skip(from).cloned());
    if !lines.is_empty() {
        out.push_str(&details(
            form,
            &Part {
                heading: sections.log_heading.clone(),
                lines,
            },
        ));
    }
    out.push_str(&footer.unwrap_or_default());
    (out.trim().to_owned(), from)
}

fn details(form: &dyn Form, part: &Part) -> String {
    let body: String = part.lines.iter().map(|line| block(form, line)).collect();
    form.details(&form.escape(part.heading.trim()), &body)
}

/// One text as blocks, one for each of its lines.
fn block(form: &dyn Form, text: &Formatted) -> String {
    let (mut out, mut line, mut run) = (String::new(), String::new(), String::new());
    let mut open: Option<(usize, &EntityKind)> = None;
    let mut at = 0;
    for sign in text.text.chars() {
        if open.is_none()
            && let Some(entity) = text.entities.iter().find(|entity| entity.offset == at)
        {
            line.push_str(&form.escape(&std::mem::take(&mut run)));
            open = Some((entity.offset + entity.length, &entity.kind));
        }
        at += sign.len_utf16();
        if sign == '\n' && open.is_none() {
            line.push_str(&form.escape(&std::mem::take(&mut run)));
            out.push_str(&finished(form, &std::mem::take(&mut line)));
        } else {
            run.push(if sign == '\n' { ' ' } else { sign });
        }
        if let Some((_, kind)) = open.take_if(|(end, _)| *end <= at) {
            line.push_str(&form.wrap(kind, &form.escape(&std::mem::take(&mut run))));
        }
    }
    line.push_str(&form.escape(&run));
    out.push_str(&finished(form, &line));
    out
}

/// A line, unless there is nothing on it.
fn finished(form: &dyn Form, line: &str) -> String {
    if line.trim().is_empty() {
        String::new()
    } else {
        form.line(line.trim())
    }
}

struct Html;

impl Form for Html {
    fn escape(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        for sign in text.chars() {
            match sign {
                '&' => out.push_str("&amp;"),
                '<' => out.push_str("&lt;"),
                '>' => out.push_str("&gt;"),
                '"' => out.push_str("&quot;"),
                other => out.push(other),
            }
        }
        out
    }

    fn wrap(&self, kind: &EntityKind, inner: &str) -> String {
        let tag = if *kind == EntityKind::Code {
            "code"
        } else {
            "b"
        };
        format!("<{tag}>{inner}</{tag}>")
    }

    fn line(&self, inner: &str) -> String {
        format!("<p>{inner}</p>")
    }

    fn details(&self, summary: &str, body: &str) -> String {
        format!("<details><summary>{summary}</summary>{body}</details>")
    }
}

struct Markdown;

impl Form for Markdown {
    fn escape(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len() * 2);
        for sign in text.chars() {
            match sign {
                '&' => out.push_str("&amp;"),
                '<' => out.push_str("&lt;"),
                '>' => out.push_str("&gt;"),
                other => {
                    if other.is_ascii_punctuation() {
                        out.push('\\');
                    }
                    out.push(other);
                }
            }
        }
        out
    }

    fn wrap(&self, kind: &EntityKind, inner: &str) -> String {
        if *kind == EntityKind::Code {
            format!("<code>{inner}</code>")
        } else {
            format!("**{inner}**")
        }
    }

    fn line(&self, inner: &str) -> String {
        format!("{inner}\n\n")
    }

    fn details(&self, summary: &str, body: &str) -> String {
        format!("<details><summary>{summary}</summary>\n\n{body}</details>\n\n")
    }
}
