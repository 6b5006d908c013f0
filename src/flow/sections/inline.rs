//! One line of text with flat, ordered entities.

use crate::domain::{Entity, EntityKind, Formatted};

use super::super::units::utf16_len;

/// Builds one line piece by piece.
#[derive(Debug, Default)]
pub(crate) struct Line {
    out: Formatted,
    units: usize,
}

impl Line {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Appends text, formatted if a kind is given.
    pub(crate) fn push(&mut self, text: &str, kind: Option<EntityKind>) {
        let length = utf16_len(text);
        if let Some(kind) = kind
            && !text.trim().is_empty()
        {
            self.out.entities.push(Entity {
                kind,
                offset: self.units,
                length,
            });
        }
        self.out.text.push_str(text);
        self.units += length;
    }

    /// Appends a piece with its entities.
    pub(crate) fn append(&mut self, piece: Formatted) {
        let by = self.units;
        self.out
            .entities
            .extend(piece.entities.into_iter().map(|entity| Entity {
                offset: entity.offset + by,
                ..entity
            }));
        self.units += utf16_len(&piece.text);
        self.out.text.push_str(&piece.text);
    }

    pub(crate) fn finish(self) -> Formatted {
        self.out
    }
}

/// A line of plan prose: `**bold**` and `` `code` `` become entities, headings lose their signs,
/// everything else stays as it is written.
pub(crate) fn inline(source: &str) -> Formatted {
    let trimmed = source.trim_start_matches('#');
    let heading = trimmed.len() < source.len() && trimmed.starts_with(' ');
    let mut rest = if heading { trimmed.trim() } else { source };
    let mut line = Line::new();
    if heading {
        line.push(&rest.replace("**", ""), Some(EntityKind::Bold));
        return line.finish();
    }
    while let Some((before, marker, inside, after)) = next_span(rest) {
        line.push(before, None);
        let kind = if marker == "`" {
            EntityKind::Code
        } else {
            EntityKind::Bold
        };
        line.push(inside, Some(kind));
        rest = after;
    }
    line.push(rest, None);
    line.finish()
}

/// The first closed span: text before it, its marker, its inside, and the text after it.
fn next_span(text: &str) -> Option<(&str, &str, &str, &str)> {
    for (at, _) in text.match_indices(['*', '`']) {
        let Some((before, from)) = text.split_at_checked(at) else {
            continue;
        };
        for marker in ["**", "`"] {
            if let Some(body) = from.strip_prefix(marker)
                && let Some((inside, after)) = body.split_once(marker)
                && !inside.is_empty()
                && inside.trim() == inside
            {
                return Some((before, marker, inside, after));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bold_and_code_become_entities_and_the_rest_stays() {
        let line = inline("- **Problem:** 2 * 3 in `a*b` 😀 **x**");
        assert_eq!(line.text, "- Problem: 2 * 3 in a*b 😀 x");
        let spans: Vec<_> = line
            .entities
            .iter()
            .map(|entity| (entity.kind.clone(), entity.offset, entity.length))
            .collect();
        assert_eq!(
            spans,
            [
                (EntityKind::Bold, 2, 8),
                (EntityKind::Code, 20, 3),
                (EntityKind::Bold, 27, 1),
            ]
        );
    }

    #[test]
    fn an_open_marker_is_text() {
        assert_eq!(inline("a ** b ` c"), Formatted::plain("a ** b ` c"));
    }
}
