//! A flat list of blocks between the Markdown tree and messages: what a split may separate.

use crate::domain::{Entity, EntityKind, Formatted};

use super::{entities, units};

/// One paragraph, heading, list entry, code block or table, without separators around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    /// Text, already cleaned.
    pub(super) text: String,
    /// Entities inside the text, in Telegram's form.
    pub(super) entities: Vec<Entity>,
    /// For a monospace block, its language label.
    pub(super) pre: Option<Option<String>>,
    /// Which quote it stands in; neighbours of one quote share one entity.
    pub(super) quote: Option<u32>,
    /// Line feeds before it, unless it comes first.
    pub(super) gap: usize,
    /// Whether it should stay with the next block.
    pub(super) heading: bool,
}

/// What a message may hold.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// UTF-16 units.
    pub(super) units: usize,
    /// Entities.
    pub(super) entities: usize,
    /// Bytes of text and link addresses.
    pub(super) bytes: usize,
}

/// How much of the limits something takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) units: usize,
    pub(super) entities: usize,
    pub(super) bytes: usize,
}

impl Size {
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            units: self.units + other.units,
            entities: self.entities + other.entities,
            bytes: self.bytes + other.bytes,
        }
    }

    pub(super) fn fits(self, limits: Limits) -> bool {
        self.units <= limits.units && self.entities <= limits.entities && self.bytes <= limits.bytes
    }
}

impl Block {
    /// What the block takes with the gap before it, counting its quote as an entity of its own.
    pub(super) fn size(&self) -> Size {
        let addresses: usize = self.entities.iter().map(address_bytes).sum();
        Size {
            units: units::utf16_len(&self.text) + self.gap,
            entities: self.entities.len() + self.wrappers(),
            bytes: self.text.len() + self.gap + addresses,
        }
    }

    fn wrappers(&self) -> usize {
        usize::from(self.pre.is_some()) + usize::from(self.quote.is_some())
    }

    /// Cuts the block so that the head fits into `room`; `None` when not even one character does.
    /// Only white space at the seam is lost.
    pub(super) fn cut(&self, room: Limits) -> Option<(Self, Option<Self>)> {
        let most = self.furthest(room)?;
        let at = best_boundary(&self.text, most, self.pre.is_some())?;
        let (head, tail) = self.text.split_at_checked(at)?;
        let head_text = head.trim_end();
        let tail_text = if self.pre.is_some() {
            tail.strip_prefix('\n').unwrap_or(tail)
        } else {
            tail.trim_start()
        };
        let head_end = units::utf16_len(head_text);
        let tail_start = units::utf16_len(&self.text) - units::utf16_len(tail_text);
        let first = Self {
            text: head_text.to_owned(),
            entities: clip(&self.entities, 0, head_end),
            heading: false,
            ..self.clone()
        };
        let second = (!units::is_blank(tail_text)).then(|| Self {
            text: tail_text.to_owned(),
            entities: clip(&self.entities, tail_start, usize::MAX),
            gap: 1,
            ..self.clone()
        });
        Some((first, second))
    }

    /// Byte position of the longest prefix that fits.
    fn furthest(&self, room: Limits) -> Option<usize> {
        let mut entities_left = room.entities.checked_sub(self.wrappers())?;
        let mut bytes_left = room.bytes.checked_sub(self.gap)?;
        let mut units_left = room.units.checked_sub(self.gap)?;
        let mut starts = self.entities.iter().peekable();
        let mut unit = 0;
        for (at, character) in self.text.char_indices() {
            while let Some(entity) = starts.next_if(|entity| entity.offset <= unit) {
                let (Some(entities), Some(bytes)) = (
                    entities_left.checked_sub(1),
                    bytes_left.checked_sub(address_bytes(entity)),
                ) else {
                    return (at > 0).then_some(at);
                };
                (entities_left, bytes_left) = (entities, bytes);
            }
            let (Some(units), Some(bytes)) = (
                units_left.checked_sub(character.len_utf16()),
                bytes_left.checked_sub(character.len_utf8()),
            ) else {
                return (at > 0).then_some(at);
            };
            (units_left, bytes_left) = (units, bytes);
            unit += character.len_utf16();
        }
        Some(self.text.len())
    }
}

fn address_bytes(entity: &Entity) -> usize {
    if let EntityKind::TextLink { url } = &entity.kind {
        url.len()
    } else {
        0
    }
}

fn clip(entities: &[Entity], from: usize, to: usize) -> Vec<Entity> {
    entities
        .iter()
        .filter_map(|entity| {
            let start = entity.offset.max(from);
            let end = (entity.offset + entity.length).min(to);
            (start < end).then(|| Entity {
                kind: entity.kind.clone(),
                offset: start - from,
                length: end - start,
            })
        })
        .collect()
}

/// The best place to cut at or before `most`: after a line, a sentence, a word, a grapheme. A boundary
/// too far from the end is passed over, or parts would be tiny.
fn best_boundary(text: &str, most: usize, code: bool) -> Option<usize> {
    use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};

    if most >= text.len() {
        return Some(text.len());
    }
    let window = text.get(..most)?;
    let rest = text.get(most..)?;
    if rest.starts_with('\n') {
        return Some(most);
    }
    let line = window.rfind('\n').filter(|at| {
        let least = if code { most / 8 } else { most / 2 };
        *at > least
    });
    if line.is_some() {
        return line;
    }
    if !code {
        let sentence = window
            .split_sentence_bound_indices()
            .map(|(at, _)| at)
            .filter(|at| *at > most / 2)
            .last();
        if sentence.is_some() {
            return sentence;
        }
    }
    let word = if rest.starts_with(char::is_whitespace) {
        Some(most)
    } else {
        window.rfind(char::is_whitespace)
    };
    if let Some(at) = word.filter(|at| *at > most / 4) {
        return Some(at);
    }
    let mut cursor = GraphemeCursor::new(most, text.len(), true);
    let grapheme = match cursor.is_boundary(text, 0) {
        Ok(true) => Some(most),
        Ok(false) | Err(_) => cursor.prev_boundary(text, 0).ok().flatten(),
    };
    // A single grapheme longer than a message can only be cut between its characters.
    grapheme.filter(|at| *at > 0).or(Some(most))
}

/// One message from blocks: separators, quotes and monospace entities put in.
pub(super) fn assemble(blocks: &[Block]) -> Formatted {
    let mut text = String::new();
    let mut end = 0;
    let mut entities = Vec::new();
    let mut quote: Option<(u32, usize)> = None;
    for block in blocks {
        let previous = end;
        if !text.is_empty() {
            text.extend(std::iter::repeat_n('\n', block.gap));
            end += block.gap;
        }
        if let Some((_, start)) = quote.filter(|(id, _)| block.quote != Some(*id)) {
            entities.push(quote_entity(start, previous));
            quote = None;
        }
        if quote.is_none() {
            quote = block.quote.map(|id| (id, end));
        }
        let length = units::utf16_len(&block.text);
        if let Some(language) = &block.pre {
            entities.push(Entity {
                kind: EntityKind::Pre {
                    language: language.clone(),
                },
                offset: end,
                length,
            });
        }
        entities.extend(block.entities.iter().cloned().map(|mut entity| {
            entity.offset += end;
            entity
        }));
        text.push_str(&block.text);
        end += length;
    }
    if let Some((_, start)) = quote {
        entities.push(quote_entity(start, end));
    }
    entities::normalise(&Formatted { text, entities })
}

fn quote_entity(start: usize, end: usize) -> Entity {
    Entity {
        kind: EntityKind::Blockquote,
        offset: start,
        length: end - start,
    }
}
