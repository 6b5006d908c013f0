//! Tables for a narrow screen: aligned monospace when they fit, records otherwise.

use pulldown_cmark::Alignment;
use unicode_width::UnicodeWidthStr;

use crate::domain::EntityKind;

use super::run::Run;

/// Columns of monospace text that a phone shows without wrapping.
const PHONE_COLUMNS: usize = 40;
/// Columns between two cells.
const GUTTER: usize = 2;

/// A table while its events arrive.
#[derive(Debug, Default)]
pub(super) struct Table {
    alignments: Vec<Alignment>,
    rows: Vec<Vec<Run>>,
}

impl Table {
    pub(super) fn new(alignments: Vec<Alignment>) -> Self {
        Self {
            alignments,
            rows: Vec::new(),
        }
    }

    pub(super) fn start_row(&mut self) {
        self.rows.push(Vec::new());
    }

    pub(super) fn add_cell(&mut self, cell: Run) {
        if let Some(row) = self.rows.last_mut() {
            row.push(cell);
        }
    }

    /// The table as aligned lines, if it is narrow enough.
    pub(super) fn aligned(&self) -> Option<String> {
        let widths = self.widths();
        let total: usize = widths.iter().sum::<usize>() + GUTTER * widths.len().saturating_sub(1);
        if total > PHONE_COLUMNS || total == 0 {
            return None;
        }
        let mut lines = Vec::new();
        for (index, row) in self.rows.iter().enumerate() {
            let mut line = String::new();
            for (column, width) in widths.iter().enumerate() {
                if column > 0 {
                    line.push_str(&" ".repeat(GUTTER));
                }
                let text = row.get(column).map_or("", |cell| cell.text().trim());
                let space = width.saturating_sub(text.width());
                let before = match self.alignments.get(column) {
                    Some(Alignment::Right) => space,
                    Some(Alignment::Center) => space / 2,
                    Some(Alignment::Left | Alignment::None) | None => 0,
                };
                line.push_str(&" ".repeat(before));
                line.push_str(text);
                line.push_str(&" ".repeat(space - before));
            }
            line.truncate(line.trim_end().len());
            lines.push(line);
            if index == 0 && self.rows.len() > 1 {
                lines.push("─".repeat(total));
            }
        }
        Some(lines.join("\n"))
    }

    /// One run a row, a line `header: value` for each cell that is not empty.
    pub(super) fn records(&self) -> Vec<Run> {
        let Some((head, rows)) = self.rows.split_first() else {
            return Vec::new();
        };
        if rows.is_empty() {
            return vec![record(&[], head)];
        }
        rows.iter().map(|row| record(head, row)).collect()
    }

    fn widths(&self) -> Vec<usize> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        (0..columns)
            .map(|column| {
                self.rows
                    .iter()
                    .filter_map(|row| row.get(column))
                    .map(|cell| cell.text().trim().width())
                    .max()
                    .unwrap_or(0)
            })
            .collect()
    }
}

fn record(head: &[Run], row: &[Run]) -> Run {
    let mut record = Run::default();
    for (column, cell) in row.iter().enumerate() {
        if cell.is_blank() {
            continue;
        }
        if record.units() > 0 {
            record.push("\n");
        }
        if let Some(header) = head.get(column).filter(|header| !header.is_blank()) {
            record.push_as(EntityKind::Bold, &format!("{}:", header.text().trim()));
            record.push(" ");
        }
        record.append(cell);
    }
    record
}
