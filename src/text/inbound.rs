//! What a person wrote in Telegram, with its formatting as Markdown for the model.

use crate::domain::{Entity, EntityKind};

use super::units;

/// `text` with `entities` as Markdown. Without entities the text is returned as it is, so that paths
/// and code typed by hand reach the model letter by letter; with entities, characters that would read
/// as markup are escaped. Entities out of bounds or inside a surrogate pair are ignored.
#[must_use]
pub fn to_markdown(text: &str, entities: &[Entity]) -> String {
    let entities = joined(entities);
    let spans: Vec<Span<'_>> = entities
        .iter()
        .filter_map(|entity| Span::new(text, entity))
        .collect();
    if spans.is_empty() {
        return text.to_owned();
    }
    let mut cuts: Vec<usize> = spans
        .iter()
        .flat_map(|span| [span.start, span.end])
        .chain([0, text.len()])
        .collect();
    cuts.sort_unstable();
    cuts.dedup();
    let mut writer = Writer::default();
    for pair in cuts.windows(2) {
        if let [from, to] = pair {
            let piece = text.get(*from..*to).unwrap_or_default();
            let active: Vec<&Span<'_>> = spans
                .iter()
                .filter(|span| span.start <= *from && *to <= span.end)
                .collect();
            writer.piece(piece, &active, *to);
        }
    }
    writer.finish()
}

/// Entities with touching ones of one style made one: Telegram cuts a style wherever another begins.
fn joined(entities: &[Entity]) -> Vec<Entity> {
    let mut sorted: Vec<&Entity> = entities.iter().collect();
    sorted.sort_by_key(|entity| entity.offset);
    let mut joined: Vec<Entity> = Vec::new();
    for entity in sorted {
        let end = entity.offset.saturating_add(entity.length);
        let touching = joined.iter_mut().find(|known| {
            known.kind == entity.kind
                && matches!(Mark::of(&known.kind), Some(Mark::Wrap(_)))
                && known.offset.saturating_add(known.length) >= entity.offset
        });
        match touching {
            Some(known) => known.length = known.length.max(end - known.offset),
            None => joined.push(entity.clone()),
        }
    }
    joined
}

/// An entity in bytes, with white space at its edges left outside.
#[derive(Debug)]
struct Span<'a> {
    kind: &'a EntityKind,
    start: usize,
    end: usize,
}

impl<'a> Span<'a> {
    fn new(text: &str, entity: &'a Entity) -> Option<Self> {
        let start = units::byte_at_utf16(text, entity.offset)?;
        let end = units::byte_at_utf16(text, entity.offset.checked_add(entity.length)?)?;
        let covered = text.get(start..end)?;
        let trimmed = covered.trim();
        if trimmed.is_empty() || matches!(entity.kind, EntityKind::Underline) {
            // Markdown has no underline, and nothing is lost without it.
            return None;
        }
        let start = start + (covered.len() - covered.trim_start().len());
        Some(Self {
            kind: &entity.kind,
            start,
            end: start + trimmed.len(),
        })
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Mark {
    Wrap(&'static str),
    Link(String),
}

impl Mark {
    fn of(kind: &EntityKind) -> Option<Self> {
        match kind {
            EntityKind::Bold => Some(Self::Wrap("**")),
            EntityKind::Italic => Some(Self::Wrap("*")),
            EntityKind::Strikethrough => Some(Self::Wrap("~~")),
            EntityKind::Spoiler => Some(Self::Wrap("||")),
            EntityKind::TextLink { url } => Some(Self::Link(url.clone())),
            EntityKind::Underline
            | EntityKind::Code
            | EntityKind::Pre { .. }
            | EntityKind::Blockquote
            | EntityKind::ExpandableBlockquote => None,
        }
    }
}

/// Writes pieces of text with a stack of open marks.
#[derive(Debug, Default)]
struct Writer {
    out: String,
    open: Vec<(Mark, usize)>,
    quoted: bool,
}

impl Writer {
    fn piece(&mut self, piece: &str, active: &[&Span<'_>], to: usize) {
        let quoted = active.iter().any(|span| {
            matches!(
                span.kind,
                EntityKind::Blockquote | EntityKind::ExpandableBlockquote
            )
        });
        let pre = active.iter().find_map(|span| match span.kind {
            EntityKind::Pre { language } => Some(language.as_deref().unwrap_or_default()),
            EntityKind::Bold
            | EntityKind::Italic
            | EntityKind::Underline
            | EntityKind::Strikethrough
            | EntityKind::Spoiler
            | EntityKind::Code
            | EntityKind::TextLink { .. }
            | EntityKind::Blockquote
            | EntityKind::ExpandableBlockquote => None,
        });
        let wanted: Vec<(Mark, usize)> = active
            .iter()
            .filter_map(|span| Some((Mark::of(span.kind)?, span.end)))
            .collect();
        if quoted != self.quoted {
            self.close_all();
            self.start_line(quoted);
        }
        if let Some(language) = pre {
            self.close_all();
            self.fence(piece, language);
            return;
        }
        self.close_unwanted(&wanted);
        // A mark must stand directly before a letter.
        let spaces = piece.len() - piece.trim_start().len();
        let (before, piece) = piece.split_at_checked(spaces).unwrap_or(("", piece));
        self.push(before);
        self.open_missing(&wanted);
        if active
            .iter()
            .any(|span| matches!(span.kind, EntityKind::Code))
        {
            self.push(&code_span(piece));
        } else {
            let escaped = escape(piece, self.out.chars().next_back());
            self.push(&escaped);
        }
        while self.open.iter().any(|(_, end)| *end <= to) {
            self.close_one();
        }
    }

    fn close_unwanted(&mut self, wanted: &[(Mark, usize)]) {
        while self.open.iter().any(|open| !wanted.contains(open)) {
            self.close_one();
        }
    }

    /// Opens marks that are wanted and not open, the longest first.
    fn open_missing(&mut self, wanted: &[(Mark, usize)]) {
        let mut missing: Vec<&(Mark, usize)> = wanted
            .iter()
            .filter(|mark| !self.open.contains(mark))
            .collect();
        missing.sort_by_key(|(_, end)| std::cmp::Reverse(*end));
        for (mark, end) in missing {
            match mark {
                Mark::Wrap(sign) => self.out.push_str(sign),
                Mark::Link(_) => self.out.push('['),
            }
            self.open.push((mark.clone(), *end));
        }
    }

    fn close_one(&mut self) {
        match self.open.pop() {
            Some((Mark::Wrap(sign), _)) => self.out.push_str(sign),
            Some((Mark::Link(url), _)) => {
                let url = url
                    .replace(' ', "%20")
                    .replace('(', "%28")
                    .replace(')', "%29");
                self.out.push_str(&format!("]({url})"));
            }
            None => {}
        }
    }

    fn close_all(&mut self) {
        while !self.open.is_empty() {
            self.close_one();
        }
    }

    fn start_line(&mut self, quoted: bool) {
        self.quoted = quoted;
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
        if quoted {
            self.out.push_str("> ");
        } else if !self.out.is_empty() {
            // Without an empty line the paragraph would continue the quote.
            self.out.push('\n');
        }
    }

    fn fence(&mut self, code: &str, language: &str) {
        let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat(longest.max(2) + 1);
        if !self.out.is_empty() && !self.out.ends_with('\n') && !self.out.ends_with("> ") {
            self.push("\n");
        }
        self.push(&format!("{fence}{language}\n{code}\n{fence}\n"));
    }

    fn push(&mut self, text: &str) {
        if self.quoted {
            self.out.push_str(&text.replace('\n', "\n> "));
        } else if self.out.ends_with("`\n") && text.starts_with('\n') {
            self.out.push_str(text.get(1..).unwrap_or_default());
        } else {
            self.out.push_str(text);
        }
    }

    fn finish(mut self) -> String {
        self.close_all();
        self.out.truncate(self.out.trim_end().len());
        self.out
    }
}

/// `code` between enough backticks.
fn code_span(code: &str) -> String {
    let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let ticks = "`".repeat(longest + 1);
    if code.starts_with('`') || code.ends_with('`') {
        format!("{ticks} {code} {ticks}")
    } else {
        format!("{ticks}{code}{ticks}")
    }
}

/// `text` with a backslash before what would read as markup. Underscores inside words are no markup.
fn escape(text: &str, before: Option<char>) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut previous = before;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let next = characters.peek().copied();
        let markup = match character {
            '*' | '`' | '[' | ']' => true,
            '_' => {
                !(previous.is_some_and(char::is_alphanumeric)
                    && next.is_some_and(char::is_alphanumeric))
            }
            '~' | '|' => next == Some(character) || previous == Some(character),
            '\\' => next.is_some_and(|next| next.is_ascii_punctuation()),
            _ => false,
        };
        if markup {
            escaped.push('\\');
        }
        escaped.push(character);
        previous = Some(character);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entity(kind: EntityKind, offset: usize, length: usize) -> Entity {
        Entity {
            kind,
            offset,
            length,
        }
    }

    #[test]
    fn text_without_entities_is_untouched() {
        assert_eq!(
            to_markdown("fix src/a_b.rs *now*", &[]),
            "fix src/a_b.rs *now*"
        );
    }

    #[test]
    fn styles_links_and_code_become_markdown() {
        let entities = [
            entity(EntityKind::Bold, 3, 6),
            entity(EntityKind::Code, 9, 3),
            entity(
                EntityKind::TextLink {
                    url: "https://e.com/(x)".into(),
                },
                13,
                4,
            ),
        ];
        assert_eq!(
            to_markdown("😀 bold  a`b link * a_b _", &entities),
            "😀 **bold**  ``a`b`` [link](https://e.com/%28x%29) \\* a_b \\_"
        );
    }

    #[test]
    fn a_block_of_code_and_a_quote_get_lines_of_their_own() {
        assert_eq!(
            to_markdown(
                "see:\nfn a()\nok",
                &[entity(
                    EntityKind::Pre {
                        language: Some("rust".into())
                    },
                    5,
                    6
                )]
            ),
            "see:\n```rust\nfn a()\n```\nok"
        );
        assert_eq!(
            to_markdown("he\nsaid\nno", &[entity(EntityKind::Blockquote, 0, 7)]),
            "> he\n> said\n\n\nno"
        );
    }

    #[test]
    fn nested_styles_close_in_order() {
        assert_eq!(
            to_markdown(
                "one two three",
                &[
                    entity(EntityKind::Bold, 0, 7),
                    entity(EntityKind::Italic, 4, 9)
                ]
            ),
            "**one *two*** *three*"
        );
        assert_eq!(
            to_markdown(
                "onetwo",
                &[
                    entity(EntityKind::Bold, 0, 3),
                    entity(EntityKind::Bold, 3, 3),
                    entity(EntityKind::Italic, 3, 3)
                ]
            ),
            "**one*two***"
        );
    }

    #[test]
    fn entities_out_of_bounds_are_ignored() {
        for (offset, length) in [(9, 1), (0, 99), (1, 1), (usize::MAX, 2)] {
            assert_eq!(
                to_markdown("😀 a", &[entity(EntityKind::Bold, offset, length)]),
                "😀 a"
            );
        }
    }
}
