//! Inline text under construction: characters with styles that are open or closed.

use crate::domain::{Entity, EntityKind};

use super::{entities, units};

/// Text and entities of one paragraph or table cell while its events arrive.
#[derive(Debug, Default, Clone)]
pub(super) struct Run {
    text: String,
    units: usize,
    entities: Vec<Entity>,
    /// Kind, and where it opened in UTF-16 units and in bytes.
    open: Vec<(EntityKind, usize, usize)>,
}

impl Run {
    /// Appends text, cleaned of what Telegram would change.
    pub(super) fn push(&mut self, text: &str) {
        let text = entities::clean(text);
        self.units += units::utf16_len(&text);
        self.text.push_str(&text);
    }

    /// Appends text that is one entity as a whole.
    pub(super) fn push_as(&mut self, kind: EntityKind, text: &str) {
        let (offset, at) = (self.units, self.text.len());
        self.push(text);
        self.add(kind, offset, at);
    }

    /// Appends another run with its entities.
    pub(super) fn append(&mut self, other: &Self) {
        let shift = self.units;
        self.text.push_str(&other.text);
        self.units += other.units;
        self.entities
            .extend(other.entities.iter().cloned().map(|mut entity| {
                entity.offset += shift;
                entity
            }));
    }

    /// Opens a style here.
    pub(super) fn open(&mut self, kind: EntityKind) {
        self.open.push((kind, self.units, self.text.len()));
    }

    /// Closes the innermost open style.
    pub(super) fn close(&mut self) {
        if let Some((kind, offset, at)) = self.open.pop() {
            self.add(kind, offset, at);
        }
    }

    /// Text since byte `at`, which must lie between characters.
    pub(super) fn since(&self, at: usize) -> &str {
        self.text.get(at..).unwrap_or_default()
    }

    /// Length in UTF-16 units.
    pub(super) fn units(&self) -> usize {
        self.units
    }

    /// The text so far.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Whether anything could be seen.
    pub(super) fn is_blank(&self) -> bool {
        units::is_blank(&self.text)
    }

    /// The text without trailing white space, and its entities without overlaps.
    pub(super) fn finish(mut self) -> (String, Vec<Entity>) {
        while !self.open.is_empty() {
            self.close();
        }
        self.text.truncate(self.text.trim_end().len());
        let end = units::utf16_len(&self.text);
        let clipped = self
            .entities
            .into_iter()
            .filter(|entity| entity.offset < end)
            .map(|mut entity| {
                entity.length = entity.length.min(end - entity.offset);
                entity
            })
            .collect();
        (self.text, entities::fix(clipped))
    }

    fn add(&mut self, kind: EntityKind, offset: usize, at: usize) {
        // A style over nothing visible is refused by Telegram.
        if !units::is_blank(self.since(at)) {
            self.entities.push(Entity {
                kind,
                offset,
                length: self.units - offset,
            });
        }
    }
}
