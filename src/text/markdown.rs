//! Markdown as models write it → text with entities. What Telegram cannot show stays readable as text.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use crate::domain::{EntityKind, Formatted};

use super::block::{Block, assemble};
use super::run::Run;
use super::table::Table;
use super::{entities, link, units};

/// Longest language label of a code block, in characters.
const MAX_LANGUAGE: usize = 32;
/// Nesting of lists beyond which no further indentation is added.
const MAX_INDENT: usize = 6;

/// The whole of `markdown` as one text, however long; see [`super::split::answer`] for messages.
#[must_use]
pub fn to_formatted(markdown: &str) -> Formatted {
    assemble(&blocks(markdown))
}

/// The blocks of `markdown` in order.
pub(super) fn blocks(markdown: &str) -> Vec<Block> {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut builder = Builder::default();
    for event in Parser::new_ext(markdown, options) {
        builder.event(event);
    }
    builder.flush();
    builder.blocks
}

#[derive(Debug)]
struct List {
    /// Number of the next entry of a numbered list.
    next: Option<u64>,
    /// Whether its entries are paragraphs, and so stand apart.
    loose: bool,
    /// Entries begun.
    items: usize,
}

#[derive(Debug)]
struct OpenLink {
    /// Address as written; empty for automatic links.
    address: String,
    /// Where its text starts, in bytes.
    start: usize,
    /// Whether a style was opened for it.
    is_link: bool,
}

#[derive(Debug, Default)]
struct Builder {
    blocks: Vec<Block>,
    run: Run,
    lists: Vec<List>,
    links: Vec<OpenLink>,
    /// Bullet or number that waits for the first text of its entry.
    marker: Option<String>,
    /// Whether the next block is the first of its entry.
    entry_start: bool,
    quotes: u32,
    quote_depth: u32,
    gap: usize,
    heading: bool,
    code: Option<(Option<String>, String)>,
    table: Option<Table>,
}

impl Builder {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(&text),
            Event::Html(text) | Event::InlineHtml(text) => self.text(&text),
            Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => {
                self.text(&text);
            }
            Event::Code(text) => {
                self.begin_text();
                self.run.push_as(EntityKind::Code, &text);
            }
            Event::SoftBreak | Event::HardBreak => self.line_break(),
            Event::Rule => {
                self.begin(false);
                self.text("———");
                self.flush();
            }
            Event::TaskListMarker(done) => {
                let mark = if done { "☑ " } else { "☐ " };
                let marker = self.marker.take().unwrap_or_default();
                self.marker = Some(marker.trim_end_matches("• ").to_owned() + mark);
            }
        }
    }

    fn text(&mut self, text: &str) {
        if let Some((_, code)) = &mut self.code {
            code.push_str(text);
        } else {
            self.begin_text();
            self.run.push(text);
        }
    }

    /// Puts the waiting bullet before the first text of an entry.
    fn begin_text(&mut self) {
        if self.run.units() == 0 && self.table.is_none() {
            if self.entry_start {
                // Entries of a tight list have no paragraph of their own.
                self.begin(false);
            }
            let marker = self.marker.take();
            let prefix = marker.unwrap_or_else(|| self.indent());
            self.run.push(&prefix);
        }
    }

    fn line_break(&mut self) {
        if self.table.is_some() {
            self.run.push(" ");
        } else {
            let indent = self.indent();
            self.run.push("\n");
            self.run.push(&indent);
        }
    }

    /// Indentation of text inside the current entry, below its bullet.
    fn indent(&self) -> String {
        "  ".repeat(self.lists.len().min(MAX_INDENT))
    }

    /// Decides the gap before a block that starts now.
    fn begin(&mut self, paragraph: bool) {
        self.flush();
        let entry_start = std::mem::take(&mut self.entry_start);
        let nested = self.lists.len() > 1;
        self.gap = match self.lists.last_mut() {
            None => 2,
            Some(list) if entry_start && list.items == 1 => {
                list.loose |= paragraph;
                if nested { 1 } else { 2 }
            }
            Some(list) => {
                list.loose |= paragraph && entry_start;
                if list.loose && paragraph { 2 } else { 1 }
            }
        };
        self.heading = false;
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => self.begin(true),
            Tag::HtmlBlock => self.begin(false),
            Tag::Heading { .. } => {
                self.begin(false);
                self.begin_text();
                self.heading = true;
                self.run.open(EntityKind::Bold);
            }
            Tag::BlockQuote(_) => {
                self.flush();
                self.quote_depth += 1;
                if self.quote_depth == 1 {
                    self.quotes += 1;
                }
            }
            Tag::CodeBlock(kind) => {
                self.begin(false);
                self.flush_marker();
                let language = match kind {
                    CodeBlockKind::Fenced(info) => language(&info),
                    CodeBlockKind::Indented => None,
                };
                self.code = Some((language, String::new()));
            }
            Tag::List(first) => {
                self.flush();
                self.flush_marker();
                self.lists.push(List {
                    next: first,
                    loose: false,
                    items: 0,
                });
            }
            Tag::Item => self.start_item(),
            Tag::Table(alignments) => {
                self.begin(false);
                self.flush_marker();
                self.table = Some(Table::new(alignments));
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.start_row();
                }
            }
            Tag::TableCell => self.run = Run::default(),
            Tag::Emphasis => self.open(EntityKind::Italic),
            Tag::Strong => self.open(EntityKind::Bold),
            Tag::Strikethrough => self.open(EntityKind::Strikethrough),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => self.open_link(&dest_url),
            Tag::FootnoteDefinition(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::Superscript
            | Tag::Subscript
            | Tag::MetadataBlock(_) => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.flush(),
            TagEnd::Heading(_) => {
                self.run.close();
                self.flush();
            }
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.quote_depth = self.quote_depth.saturating_sub(1);
            }
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::List(_) => {
                self.flush();
                self.lists.pop();
                self.entry_start = false;
            }
            TagEnd::Item => {
                self.flush();
                self.flush_marker();
            }
            TagEnd::Table => self.end_table(),
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.run);
                if let Some(table) = &mut self.table {
                    table.add_cell(cell);
                }
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => self.run.close(),
            TagEnd::Link | TagEnd::Image => self.close_link(),
            TagEnd::TableHead
            | TagEnd::TableRow
            | TagEnd::FootnoteDefinition
            | TagEnd::DefinitionList
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition
            | TagEnd::Superscript
            | TagEnd::Subscript
            | TagEnd::MetadataBlock(_) => {}
        }
    }

    fn open(&mut self, kind: EntityKind) {
        self.begin_text();
        self.run.open(kind);
    }

    fn start_item(&mut self) {
        self.flush();
        let depth = self.lists.len().saturating_sub(1).min(MAX_INDENT);
        let mut marker = "  ".repeat(depth);
        if let Some(list) = self.lists.last_mut() {
            list.items += 1;
            match &mut list.next {
                Some(number) => {
                    marker.push_str(&format!("{number}. "));
                    *number = number.saturating_add(1);
                }
                None => marker.push_str("• "),
            }
        }
        self.marker = Some(marker);
        self.entry_start = true;
    }

    fn open_link(&mut self, address: &str) {
        self.begin_text();
        let checked = link::checked(address);
        let is_link = checked.is_some();
        let start = self.run.text().len();
        if let Some(url) = checked {
            self.run.open(EntityKind::TextLink { url });
        }
        self.links.push(OpenLink {
            address: address.to_owned(),
            start,
            is_link,
        });
    }

    /// Ends a link. An address that cannot be one stays readable behind its text.
    fn close_link(&mut self) {
        let Some(open) = self.links.pop() else { return };
        let shown = self.run.since(open.start).trim().to_owned();
        if open.is_link {
            if shown.is_empty() {
                self.run.push(&open.address);
            }
            self.run.close();
            return;
        }
        let address = link::mail_address(&open.address).unwrap_or(&open.address);
        if shown.is_empty() {
            self.run.push(address);
        } else if !address.is_empty() && !address.starts_with('#') && shown != address {
            self.run.push(&format!(" ({address})"));
        }
    }

    fn end_code(&mut self) {
        let Some((language, code)) = self.code.take() else {
            return;
        };
        let code = entities::clean(&code);
        self.push_block(code.trim_end().to_owned(), Vec::new(), Some(language));
    }

    fn end_table(&mut self) {
        let Some(table) = self.table.take() else {
            return;
        };
        self.run = Run::default();
        if let Some(lines) = table.aligned() {
            self.push_block(lines, Vec::new(), Some(None));
            return;
        }
        for record in table.records() {
            let (text, entities) = record.finish();
            self.push_block(text, entities, None);
            self.gap = 2;
        }
    }

    /// A bullet whose entry starts with something that is no text stands on a line of its own.
    fn flush_marker(&mut self) {
        if self.marker.is_none() {
            return;
        }
        self.begin_text();
        self.flush();
        self.gap = 1;
    }

    fn flush(&mut self) {
        if self.table.is_some() || self.code.is_some() {
            return;
        }
        let (text, entities) = std::mem::take(&mut self.run).finish();
        self.push_block(text, entities, None);
        self.heading = false;
    }

    fn push_block(
        &mut self,
        text: String,
        entities: Vec<crate::domain::Entity>,
        pre: Option<Option<String>>,
    ) {
        if units::is_blank(&text) {
            return;
        }
        self.blocks.push(Block {
            text,
            entities,
            pre,
            quote: (self.quote_depth > 0).then_some(self.quotes),
            gap: self.gap,
            heading: self.heading,
        });
    }
}

/// The label of a fence: the first word of its info string, if it is one.
fn language(info: &str) -> Option<String> {
    let word = info.split([' ', ',', '{', '\t']).next().unwrap_or_default();
    let label: String = word
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '#' | '.' | '_'))
        .take(MAX_LANGUAGE)
        .collect();
    (!label.is_empty()).then_some(label)
}

#[cfg(test)]
mod tests;
