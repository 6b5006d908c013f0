//! Numbered steps and verification commands of a plan, as the host expects them in the checklist.

use super::scan::{Line, after_label, body, indent, is_blank, lines, unbullet};
use crate::plan::ops::bounds;

/// One numbered step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Title on one line, at most 200 characters.
    pub title: String,
    /// What to do: the rest of the line and the bullets below it. At most 5000 characters.
    pub description: String,
    /// `Done when:` bullets, at most 20 of 500 characters.
    pub done_when: Vec<String>,
    /// Commands of `Done when:` bullets that are exactly one command, at most 4.
    pub commands: Vec<String>,
}

/// The steps under `## Implementation steps`, in order.
#[must_use]
pub fn steps(md: &str) -> Vec<Step> {
    let Some(lines) = body(&lines(md), "Implementation steps") else {
        return Vec::new();
    };
    let mut found: Vec<Draft> = Vec::new();
    let mut base = None;
    for line in &lines {
        let own = indent(line.text);
        let number = (!line.fenced && own <= 3)
            .then(|| numbered(line.text))
            .flatten();
        match (number, base) {
            (Some(text), None) => {
                base = Some(own);
                found.push(Draft::new(text));
            }
            // A number that is indented further is a part of its step.
            (Some(text), Some(base)) if own < base + 2 => found.push(Draft::new(text)),
            (Some(_) | None, _) => {
                if let Some(step) = found.last_mut() {
                    step.add(line);
                }
            }
        }
    }
    found.into_iter().map(Draft::finish).collect()
}

/// The text after `12. ` or `12) `; `None` if there is none.
fn numbered(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let digits = text.chars().take_while(char::is_ascii_digit).count();
    let rest = text.get(digits..)?;
    let rest = rest.strip_prefix('.').or_else(|| rest.strip_prefix(')'))?;
    let spaced = rest.starts_with([' ', '\t']);
    ((1..=9).contains(&digits) && spaced && !is_blank(rest)).then(|| rest.trim())
}

struct Draft {
    title: String,
    description: Vec<String>,
    done_when: Vec<String>,
    /// Indent of a `Done when:` without text: deeper bullets below it are its items.
    open_done_when: Option<usize>,
}

impl Draft {
    fn new(text: &str) -> Self {
        let (title, rest) = split_title(text);
        Self {
            title,
            description: if is_blank(rest) {
                Vec::new()
            } else {
                vec![rest.to_owned()]
            },
            done_when: Vec::new(),
            open_done_when: None,
        }
    }

    fn add(&mut self, line: &Line<'_>) {
        if line.fenced {
            self.open_done_when = None;
            self.description.push(line.text.to_owned());
            return;
        }
        if line.text.trim().is_empty() {
            return;
        }
        let (text, bullet) = unbullet(line.text);
        if let Some(value) = done_when(text) {
            if is_blank(value) {
                self.open_done_when = Some(indent(line.text));
            } else {
                self.open_done_when = None;
                self.done_when.push(value.to_owned());
            }
            return;
        }
        match self.open_done_when {
            Some(depth) if bullet && indent(line.text) > depth => {
                if !is_blank(text) {
                    self.done_when.push(text.to_owned());
                }
            }
            Some(_) | None => {
                self.open_done_when = None;
                let mark = if bullet { "- " } else { "" };
                self.description.push(format!("{mark}{text}"));
            }
        }
    }

    fn finish(self) -> Step {
        let commands = self
            .done_when
            .iter()
            .filter_map(|item| backticked(item))
            .take(bounds::CHECKS)
            .map(str::to_owned)
            .collect();
        Step {
            title: bounds::cut(&self.title, bounds::TITLE),
            description: bounds::cut(&self.description.join("\n"), bounds::DESCRIPTION),
            done_when: self
                .done_when
                .iter()
                .take(bounds::CRITERIA)
                .map(|item| bounds::cut(item, bounds::CRITERION))
                .collect(),
            commands,
        }
    }
}

fn done_when(text: &str) -> Option<&str> {
    let prefix = text.get(..10)?;
    if prefix.eq_ignore_ascii_case("Done when:") {
        return text.get(10..).map(str::trim);
    }
    after_label(text, "Done when")
}

/// Title and rest of a step's text: cut at the first spaced dash, else after the first sentence.
#[must_use]
pub fn split_title(text: &str) -> (String, &str) {
    let dash = [" — ", " – ", " - "]
        .iter()
        .filter_map(|mark| text.find(mark).map(|at| (at, mark.len())))
        .min();
    let (title, rest) = match dash.or_else(|| sentence(text)) {
        Some((at, length)) => (
            text.get(..at).unwrap_or(text),
            text.get(at + length..).unwrap_or_default(),
        ),
        None => (text, ""),
    };
    let plain = plain(title);
    if plain.is_empty() {
        (bounds::one_line(text), "")
    } else {
        (plain, rest.trim())
    }
}

/// Where the first sentence ends and how long its mark is.
fn sentence(text: &str) -> Option<(usize, usize)> {
    let spaced = [". ", "! ", "? "]
        .iter()
        .filter_map(|mark| text.find(mark).map(|at| (at, mark.len())));
    let full = text.find('。').map(|at| (at, '。'.len_utf8()));
    spaced.chain(full).min()
}

/// A title without emphasis, on one line and without the mark that ends a sentence.
fn plain(text: &str) -> String {
    let line = bounds::one_line(&text.replace("**", "").replace("__", ""));
    line.trim_end_matches(['.', ' ']).to_owned()
}

/// Whether a task's title names the step: case, emphasis, code marks, numbers in front, end marks and
/// spaces do not matter; a title that repeats the step's description after a dash still names it.
#[must_use]
pub fn same_title(title: &str, step: &str) -> bool {
    let wanted = loose(step);
    let (head, _) = split_title(title);
    loose(title) == wanted || loose(&head) == wanted
}

fn loose(text: &str) -> String {
    let line = bounds::one_line(&text.replace(['`', '*', '_'], ""));
    let line = numbered(&line).unwrap_or(&line);
    line.trim_end_matches(['.', ':', '!', '?', ' '])
        .to_lowercase()
}

/// The command, if the text is exactly one command in backticks.
#[must_use]
pub fn backticked(text: &str) -> Option<&str> {
    let text = text.trim();
    let run = text.chars().take_while(|c| *c == '`').count();
    if !(1..=2).contains(&run) {
        return None;
    }
    let marks = text.get(..run)?;
    let inner = text.strip_prefix(marks)?.strip_suffix(marks)?;
    let clean = if run == 1 {
        !inner.contains('`')
    } else {
        !inner.contains("``")
    };
    (clean && !inner.trim().is_empty()).then(|| inner.trim())
}

/// The commands of `## Verification`: items of its list that are exactly one command, at most 16.
#[must_use]
pub fn verification(md: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in body(&lines(md), "Verification").unwrap_or_default() {
        if line.fenced {
            continue;
        }
        let (text, bullet) = unbullet(line.text);
        let item = if bullet {
            Some(text)
        } else {
            numbered(line.text)
        };
        let command = item
            .and_then(backticked)
            .filter(|one| one.len() <= bounds::CHECK_ARGUMENTS);
        if let Some(command) = command
            && found.len() < bounds::VERIFICATION
            && !found.iter().any(|known| known == command)
        {
            found.push(command.to_owned());
        }
    }
    found
}
