//! One answer as messages, split on the Markdown tree so that every part stands by itself.

use crate::domain::Formatted;

use super::block::{Block, Limits, Size, assemble};
use super::{markdown, units};

/// UTF-16 units in one message. Telegram counts characters, so this is on the safe side.
pub const MAX_UNITS: usize = 4096;
/// Entities in one message; Telegram drops what is beyond.
pub const MAX_ENTITIES: usize = 100;
/// Bytes of text and link addresses in one message, half of what the Bot API takes.
pub const MAX_BYTES: usize = 16_384;

/// Texts of more parts than this are cut roughly first.
const HUGE: usize = 32;

const LIMITS: Limits = Limits {
    units: MAX_UNITS,
    entities: MAX_ENTITIES,
    bytes: MAX_BYTES,
};

/// The messages that together show `markdown`: each at most [`MAX_UNITS`] long with at most
/// [`MAX_ENTITIES`] entities. Text is never lost, only white space between parts. Empty when nothing
/// would be visible.
#[must_use]
pub fn answer(markdown: &str) -> Vec<Formatted> {
    pack(markdown::blocks(markdown), LIMITS)
}

/// Plain text as messages of at most [`MAX_UNITS`], cut at lines, sentences or words.
#[must_use]
pub fn plain(text: &str) -> Vec<Formatted> {
    let block = Block {
        text: super::entities::clean(text),
        entities: Vec::new(),
        pre: None,
        quote: None,
        gap: 0,
        heading: false,
    };
    pack(vec![block], LIMITS)
}

fn pack(blocks: Vec<Block>, limits: Limits) -> Vec<Formatted> {
    let mut packer = Packer {
        limits,
        part: Vec::new(),
        used: Size::default(),
        done: Vec::new(),
    };
    for block in blocks {
        packer.add(block);
    }
    packer.close(false);
    packer.done
}

struct Packer {
    limits: Limits,
    part: Vec<Block>,
    used: Size,
    done: Vec<Formatted>,
}

impl Packer {
    fn add(&mut self, block: Block) {
        let mut next = Some(block);
        while let Some(block) = next.take() {
            let size = block.size();
            if size.units > HUGE * self.limits.units {
                // Cutting a huge text part by part would copy its rest every time.
                let (head, tail) = self.halve(block);
                self.add(head);
                self.close(false);
                next = tail;
                continue;
            }
            if self.used.plus(size).fits(self.limits) {
                self.push(block);
            } else if size.fits(self.limits) {
                self.close(true);
                // A heading that moved along may leave too little room.
                if self.used.plus(size).fits(self.limits) {
                    self.push(block);
                } else {
                    self.close(false);
                    self.push(block);
                }
            } else {
                next = self.fill(&block);
            }
        }
    }

    /// Cuts a large piece, still of many parts, off a huge block.
    fn halve(&self, block: Block) -> (Block, Option<Block>) {
        let piece = Limits {
            units: HUGE / 2 * self.limits.units,
            entities: usize::MAX,
            bytes: usize::MAX,
        };
        match block.cut(piece) {
            Some(cut) => cut,
            None => (block, None),
        }
    }

    /// Puts as much of a block that fits into no message as the current one takes; gives the rest.
    fn fill(&mut self, block: &Block) -> Option<Block> {
        let room = Limits {
            units: self.limits.units.saturating_sub(self.used.units),
            entities: self.limits.entities.saturating_sub(self.used.entities),
            bytes: self.limits.bytes.saturating_sub(self.used.bytes),
        };
        let roomy = room.units >= self.limits.units / 4 && room.entities >= 10;
        if !self.part.is_empty() && !roomy {
            self.close(true);
        }
        let room = if self.part.is_empty() {
            self.limits
        } else {
            room
        };
        match block.cut(room) {
            Some((head, tail)) => {
                self.push(head);
                if tail.is_some() {
                    self.close(false);
                }
                tail
            }
            None if self.part.is_empty() => None,
            None => {
                self.close(false);
                Some(block.clone())
            }
        }
    }

    fn push(&mut self, block: Block) {
        self.used = self.used.plus(block.size());
        self.part.push(block);
    }

    /// Ends the current part; with `keep_headings` a heading at its end opens the next one.
    fn close(&mut self, keep_headings: bool) {
        let mut moved = Vec::new();
        if keep_headings && self.part.iter().any(|block| !block.heading) {
            while let Some(block) = self.part.pop_if(|block| block.heading) {
                moved.insert(0, block);
            }
        }
        let formatted = assemble(&std::mem::replace(&mut self.part, moved));
        self.used = self
            .part
            .iter()
            .fold(Size::default(), |sum, block| sum.plus(block.size()));
        if !units::is_blank(&formatted.text) {
            self.done.push(formatted);
        }
    }
}
