//! What Telegram makes of text and entities when it stores a message: the form in which nothing is
//! rejected, split or dropped any more. Behaviour follows TDLib's `fix_formatted_text`.

use std::mem::discriminant;

use crate::domain::{Entity, EntityKind, Formatted};

use super::units;

/// Text and entities as Telegram would store them: control characters replaced, entities inside code
/// removed, nested ones split, quotes flattened, white space trimmed, nothing empty. Entities that lie
/// outside the text or cut a character are dropped.
#[must_use]
pub fn normalise(formatted: &Formatted) -> Formatted {
    let (text, entities) = clean_with_entities(&formatted.text, &formatted.entities);
    let kept = text.trim_end_matches([' ', '\n']);
    let end = units::utf16_len(kept);
    let visible = visible_units(kept);
    let mut entities: Vec<Entity> = fix(entities)
        .into_iter()
        .filter(|entity| entity.offset < end)
        .map(|mut entity| {
            entity.length = entity.length.min(end - entity.offset);
            entity
        })
        .filter(|entity| {
            // The next visible unit must lie inside.
            let next = visible.partition_point(|unit| *unit < entity.offset);
            visible
                .get(next)
                .is_some_and(|unit| *unit < entity.offset + entity.length)
        })
        .collect();
    let first = entities
        .iter()
        .map(|entity| entity.offset)
        .min()
        .unwrap_or(usize::MAX);
    // Spaces and line feeds are one byte and one unit each.
    let cut = kept
        .bytes()
        .take(first)
        .take_while(|byte| matches!(byte, b' ' | b'\n'))
        .count();
    for entity in &mut entities {
        entity.offset -= cut;
    }
    sort(&mut entities);
    Formatted {
        text: kept.get(cut..).unwrap_or_default().to_owned(),
        entities,
    }
}

/// `text` without what Telegram removes: carriage returns and directional overrides vanish, other
/// control characters become spaces. Tabs become four spaces, because Telegram would make them one.
#[must_use]
pub fn clean(text: &str) -> String {
    let mut cleaned = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => cleaned.push('\n'),
            '\t' => cleaned.push_str("    "),
            '\r' | '\u{2028}'..='\u{202e}' => {}
            character if character < ' ' => cleaned.push(' '),
            character => cleaned.push(character),
        }
    }
    cleaned
}

fn clean_with_entities(text: &str, entities: &[Entity]) -> (String, Vec<Entity>) {
    let mut cleaned = String::with_capacity(text.len());
    // For every old unit the new one; `None` inside a surrogate pair.
    let mut map: Vec<Option<usize>> = Vec::with_capacity(text.len() + 1);
    let mut now = 0;
    for character in text.chars() {
        map.push(Some(now));
        if character.len_utf16() == 2 {
            map.push(None);
        }
        match character {
            '\r' | '\u{2028}'..='\u{202e}' | '\u{333}' | '\u{33f}' | '\u{30a}' => continue,
            '\n' => cleaned.push('\n'),
            character if character < ' ' => cleaned.push(' '),
            character => cleaned.push(character),
        }
        now += character.len_utf16();
    }
    map.push(Some(now));
    let at = |unit: usize| map.get(unit).copied().flatten();
    let entities = entities
        .iter()
        .filter_map(|entity| {
            let start = at(entity.offset)?;
            let end = at(entity.offset.checked_add(entity.length)?)?;
            (end > start).then(|| Entity {
                kind: entity.kind.clone(),
                offset: start,
                length: end - start,
            })
        })
        .collect();
    (cleaned, entities)
}

/// Offsets of the characters that can be seen, ascending.
fn visible_units(text: &str) -> Vec<usize> {
    let mut at = 0;
    let mut visible = Vec::with_capacity(text.len());
    for character in text.chars() {
        if !character.is_whitespace() && !units::is_invisible(character) {
            visible.push(at);
        }
        at += character.len_utf16();
    }
    visible
}

/// Entities without overlaps that Telegram would resolve: sorted by offset, outer before inner, styles
/// cut at the borders of other entities and absent from code.
#[must_use]
pub fn fix(entities: Vec<Entity>) -> Vec<Entity> {
    let mut entities: Vec<Entity> = entities
        .into_iter()
        .filter(|entity| entity.length > 0)
        .collect();
    sort(&mut entities);
    let (styles, others): (Vec<Entity>, Vec<Entity>) = entities
        .into_iter()
        .partition(|entity| is_style(&entity.kind));
    let (quotes, solid): (Vec<Entity>, Vec<Entity>) = others
        .into_iter()
        .partition(|entity| is_quote(&entity.kind));
    let quotes = without_overlaps(quotes);
    // Nothing may cross the border of a quote.
    let mut borders: Vec<Entity> = without_overlaps(code_before_links(solid))
        .into_iter()
        .filter(|entity| {
            let next = quotes.partition_point(|quote| end(quote) <= entity.offset);
            quotes
                .get(next)
                .is_none_or(|quote| quote.offset >= end(entity) || contains(quote, entity))
        })
        .chain(quotes.iter().cloned())
        .collect();
    sort(&mut borders);
    let mut fixed = Splitter::default().run(&styles, &borders);
    fixed.extend(borders);
    sort(&mut fixed);
    fixed
}

/// A link around code loses to the code, as Telegram decides.
fn code_before_links(entities: Vec<Entity>) -> Vec<Entity> {
    let code = without_overlaps(
        entities
            .iter()
            .filter(|entity| is_code(&entity.kind))
            .cloned()
            .collect(),
    );
    entities
        .into_iter()
        .filter(|entity| {
            let next = code.partition_point(|code| end(code) <= entity.offset);
            is_code(&entity.kind) || code.get(next).is_none_or(|code| code.offset >= end(entity))
        })
        .collect()
}

fn without_overlaps(entities: Vec<Entity>) -> Vec<Entity> {
    let mut last = 0;
    entities
        .into_iter()
        .filter(|entity| {
            let free = entity.offset >= last;
            if free {
                last = end(entity);
            }
            free
        })
        .collect()
}

fn contains(outer: &Entity, inner: &Entity) -> bool {
    outer.offset <= inner.offset && end(inner) <= end(outer)
}

fn end(entity: &Entity) -> usize {
    entity.offset + entity.length
}

fn sort(entities: &mut [Entity]) {
    entities.sort_by_key(|entity| {
        (
            entity.offset,
            usize::MAX - entity.length,
            priority(&entity.kind),
        )
    });
}

fn is_style(kind: &EntityKind) -> bool {
    matches!(
        kind,
        EntityKind::Bold
            | EntityKind::Italic
            | EntityKind::Underline
            | EntityKind::Strikethrough
            | EntityKind::Spoiler
    )
}

fn is_quote(kind: &EntityKind) -> bool {
    matches!(
        kind,
        EntityKind::Blockquote | EntityKind::ExpandableBlockquote
    )
}

fn is_code(kind: &EntityKind) -> bool {
    matches!(kind, EntityKind::Code | EntityKind::Pre { .. })
}

fn priority(kind: &EntityKind) -> u8 {
    match kind {
        EntityKind::Blockquote | EntityKind::ExpandableBlockquote => 0,
        EntityKind::Pre { language: Some(_) } => 10,
        EntityKind::Pre { language: None } => 11,
        EntityKind::Code => 20,
        EntityKind::TextLink { .. } => 49,
        EntityKind::Bold => 90,
        EntityKind::Italic => 91,
        EntityKind::Underline => 92,
        EntityKind::Strikethrough => 93,
        EntityKind::Spoiler => 94,
    }
}

/// Cuts styles where other entities begin or end and where another style begins, and drops what lies
/// inside code.
struct Splitter {
    running: Vec<(EntityKind, Option<(usize, usize)>)>,
    out: Vec<Entity>,
}

impl Default for Splitter {
    fn default() -> Self {
        Self {
            running: vec![
                (EntityKind::Bold, None),
                (EntityKind::Italic, None),
                (EntityKind::Underline, None),
                (EntityKind::Strikethrough, None),
                (EntityKind::Spoiler, None),
            ],
            out: Vec::new(),
        }
    }
}

impl Splitter {
    fn run(mut self, styles: &[Entity], borders: &[Entity]) -> Vec<Entity> {
        let mut rest = styles.iter().peekable();
        let mut stack: Vec<&Entity> = Vec::new();
        for border in borders {
            self.step(border.offset, &mut stack, &mut rest);
            stack.push(border);
        }
        self.step(usize::MAX, &mut stack, &mut rest);
        self.out
    }

    fn step<'a>(
        &mut self,
        to: usize,
        stack: &mut Vec<&Entity>,
        rest: &mut std::iter::Peekable<impl Iterator<Item = &'a Entity>>,
    ) {
        while let Some(top) = stack.last().copied().filter(|top| to >= end(top)) {
            self.advance(end(top), is_code(&top.kind), rest);
            stack.pop();
        }
        let inside_code = stack.last().is_some_and(|top| is_code(&top.kind));
        self.advance(to, inside_code, rest);
    }

    fn advance<'a>(
        &mut self,
        to: usize,
        inside_code: bool,
        rest: &mut std::iter::Peekable<impl Iterator<Item = &'a Entity>>,
    ) {
        let before = self.out.len();
        while let Some(style) = rest.next_if(|style| style.offset < to) {
            let joined = self.running.iter_mut().any(|(kind, span)| {
                if discriminant(kind) != discriminant(&style.kind) {
                    return false;
                }
                match span {
                    Some((_, until)) if style.offset <= *until => {
                        *until = (*until).max(end(style));
                        true
                    }
                    Some(_) | None => false,
                }
            });
            if !joined {
                self.flush(style.offset);
                for (kind, span) in &mut self.running {
                    if discriminant(kind) == discriminant(&style.kind) {
                        *span = Some((style.offset, end(style)));
                    }
                }
            }
        }
        self.flush(to);
        if inside_code {
            self.out.truncate(before);
        }
    }

    fn flush(&mut self, to: usize) {
        for (kind, span) in &mut self.running {
            let Some((from, until)) = *span else { continue };
            if from >= to {
                continue;
            }
            self.out.push(Entity {
                kind: kind.clone(),
                offset: from,
                length: until.min(to) - from,
            });
            *span = (until > to).then_some((to, until));
        }
    }
}
