//! Lays the sections out for one of three forms of message.

mod classic;
mod rich;

use serde::{Deserialize, Serialize};

use super::effect::Body;
use super::sections::{self, Sections};
use super::view::View;
use crate::domain::Formatted;

/// The forms of a flow message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Renderer {
    /// Text and entities: 4096 characters, 100 entities; 200 characters are kept in hand.
    #[default]
    Classic,
    /// Rich message HTML with details: 32768 characters, 500 blocks, depth 16.
    RichDetails,
    /// Rich message Markdown: the same limits.
    RichMarkdown,
}

impl Renderer {
    /// Units that a message may take, with something kept in hand.
    #[must_use]
    pub fn budget(self) -> usize {
        match self {
            Self::Classic => classic::BUDGET,
            Self::RichDetails | Self::RichMarkdown => rich::BUDGET,
        }
    }

    /// Units that the plan's bodies may take, so that the log keeps room.
    fn plan_budget(self) -> usize {
        match self {
            Self::Classic => 2_700,
            Self::RichDetails | Self::RichMarkdown => 20_000,
        }
    }
}

/// A rendered flow message.
#[derive(Debug, Clone, PartialEq)]
pub struct Rendered {
    /// The content.
    pub body: Body,
    /// Index of the first log entry that is shown; above 0 the block is over budget.
    pub shown_from: usize,
    /// Whether the plan's prose is shown in full (true without prose).
    pub prose_whole: bool,
}

/// Renders the view. Never fails: what does not fit is left out from the front of the log.
#[must_use]
pub fn render(view: &View<'_>, renderer: Renderer) -> Rendered {
    let sections = sections::build(view, renderer.plan_budget());
    let language = view.language;
    let (body, shown_from) = match renderer {
        Renderer::Classic => {
            let (text, shown_from) = classic::lay_out(&sections, language);
            (Body::Classic(text), shown_from)
        }
        Renderer::RichDetails => {
            let (html, shown_from) = rich::html(&sections, language);
            let fallback = fallback(view);
            (Body::RichHtml { html, fallback }, shown_from)
        }
        Renderer::RichMarkdown => {
            let (markdown, shown_from) = rich::markdown(&sections, language);
            let fallback = fallback(view);
            (Body::RichMarkdown { markdown, fallback }, shown_from)
        }
    };
    Rendered {
        body,
        shown_from,
        prose_whole: sections.prose_whole,
    }
}

fn fallback(view: &View<'_>) -> Formatted {
    let sections = sections::build(view, Renderer::Classic.plan_budget());
    classic::lay_out(&sections, view.language).0
}

/// How much of the log's end fits: the first index that is shown. `cost` gives the units of an entry.
fn log_start(
    sections: &Sections,
    room: usize,
    most: usize,
    cost: impl Fn(&Formatted) -> usize,
) -> usize {
    let mut left = room;
    let mut start = sections.log.len();
    for line in sections.log.iter().rev().take(most) {
        let cost = cost(line);
        if cost > left {
            break;
        }
        left -= cost;
        start -= 1;
    }
    start
}

#[cfg(test)]
pub(crate) mod tests;
