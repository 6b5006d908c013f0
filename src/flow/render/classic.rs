//! Text with explicit entities: nesting and escaping errors cannot exist.

use crate::domain::{Entity, EntityKind, Formatted};
use crate::i18n::tr;

use super::super::sections::{Part, Sections};
use super::super::units::utf16_len;

/// UTF-16 units of a message: Telegram's 4096 with 200 in hand.
pub(super) const BUDGET: usize = 4_096 - 200;
/// Telegram's limit of entities in a message.
const ENTITIES: usize = 100;
/// Units kept for the line that counts the entries left out.
const ELISION: usize = 60;

/// Lays the sections out; also gives the index of the first log entry shown.
pub(super) fn lay_out(sections: &Sections, language: &str) -> (Formatted, usize) {
    let mut page = Page::default();
    for line in &sections.chrome {
        page.line(line);
    }
    for part in &sections.plan {
        page.quote(part);
    }
    let footer = sections.footer.as_ref();
    let footer_units = footer.map_or(0, |line| utf16_len(&line.text) + 1);
    let room = BUDGET.saturating_sub(page.units + footer_units);
    let cost = |line: &Formatted| utf16_len(&line.text) + 1;
    let mut from = super::log_start(sections, room, usize::MAX, cost);
    if from > 0 {
        from = super::log_start(sections, room.saturating_sub(ELISION), usize::MAX, cost);
    }
    let mut log: Vec<Formatted> = Vec::new();
    if from > 0 {
        let count = from.to_string();
        log.push(Formatted::plain(tr(
            language,
            "flow-earlier",
            &[("count", &count)],
        )));
    }
    log.extend(sections.log.iter().skip(from).cloned());
    page.quoted(&log);
    if let Some(footer) = footer {
        page.line(footer);
    }
    (page.finish(), from)
}

#[derive(Default)]
struct Page {
    out: Formatted,
    units: usize,
}

impl Page {
    fn line(&mut self, line: &Formatted) {
        let text = line.text.trim_end();
        if text.trim().is_empty() {
            return;
        }
        if self.units > 0 {
            self.out.text.push('\n');
            self.units += 1;
        }
        let base = self.units;
        self.out.text.push_str(text);
        self.units += utf16_len(text);
        for entity in &line.entities {
            if base + entity.offset + entity.length <= self.units {
                self.out.entities.push(Entity {
                    kind: entity.kind.clone(),
                    offset: base + entity.offset,
                    length: entity.length,
                });
            }
        }
    }

    fn quote(&mut self, part: &Part) {
        let heading = part.heading.trim();
        let mut lines = Vec::with_capacity(part.lines.len() + 1);
        if !heading.is_empty() {
            lines.push(Formatted {
                text: heading.to_owned(),
                entities: vec![Entity {
                    kind: EntityKind::Bold,
                    offset: 0,
                    length: utf16_len(heading),
                }],
            });
        }
        lines.extend(part.lines.iter().cloned());
        self.quoted(&lines);
    }

    fn quoted(&mut self, lines: &[Formatted]) {
        let at = self.out.entities.len();
        let start = if self.units > 0 { self.units + 1 } else { 0 };
        for line in lines {
            self.line(line);
        }
        if self.units > start {
            self.out.entities.insert(
                at,
                Entity {
                    kind: EntityKind::ExpandableBlockquote,
                    offset: start,
                    length: self.units - start,
                },
            );
        }
    }

    /// The page; beyond the limit inline formatting goes first, from the end.
    fn finish(mut self) -> Formatted {
        while self.out.entities.len() > ENTITIES {
            let last_inline = self
                .out
                .entities
                .iter()
                .rposition(|entity| entity.kind != EntityKind::ExpandableBlockquote);
            match last_inline {
                Some(at) => {
                    self.out.entities.remove(at);
                }
                None => self.out.entities.truncate(ENTITIES),
            }
        }
        self.out
    }
}
