//! The prompt analyzer: what a user's own words hint at.
//!
//! It reads natural text only, never commands, forwarded or quoted text, code or history; what it finds
//! is appended to the model's copy of the message and is never shown or stored as the user's words. The
//! phrases stand in one data file for each language.

mod clean;
mod lexicon;
mod phrase;

use serde::{Deserialize, Serialize};

use lexicon::{Language, Section};

/// Bytes of a message that are looked at; the rest of a very long one is left alone.
pub const MAX_BYTES: usize = 16 * 1024;

/// What the words are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// A plan is asked for.
    Plan,
    /// A file is to be read.
    Read,
    /// Something is to be found in the workspace.
    Search,
    /// A file is to be created.
    Write,
    /// A file is to be changed.
    Edit,
    /// A command is to be run.
    Bash,
    /// The network is to be searched.
    Web,
}

/// What was found in one message.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hints {
    /// Families in their fixed order, each once.
    pub families: Vec<Family>,
    /// Whether the message asks for a plan, so that plan mode begins before the model is called.
    pub plan_phrase: bool,
}

impl Hints {
    /// Whether nothing was found.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.families.is_empty()
    }
}

/// Looks at a user's own text. `language` is the client's or the session's language tag; phrases of
/// several words are known in every language, single words only in that language, in English for Latin
/// script, and in the language of the text's script.
#[must_use]
pub fn analyze(text: &str, language: Option<&str>) -> Hints {
    let head = text.trim_start();
    if head.is_empty() || head.starts_with('/') || starts_with_ignoring_case(head, "[system") {
        return Hints::default();
    }
    let text = clean::natural(bounded(head));
    let languages = languages_of(&text, language);
    let speaks = |section| {
        lexicon::all()
            .iter()
            .any(|lexicon| lexicon.matches(section, &text, languages.contains(&lexicon.language)))
    };
    let plan_phrase = asks_for_plan(&text, &languages, &speaks);
    let mut families = Vec::new();
    if plan_phrase {
        families.push(Family::Plan);
    }
    let others = [
        (Family::Read, Section::Read),
        (Family::Search, Section::Search),
        (Family::Write, Section::Write),
        (Family::Edit, Section::Edit),
        (Family::Bash, Section::Bash),
        (Family::Web, Section::Web),
    ];
    families.extend(
        others
            .iter()
            .filter(|(_, section)| speaks(*section))
            .map(|(family, _)| *family),
    );
    Hints {
        families,
        plan_phrase,
    }
}

/// The hints as text for the model, in English; empty without hints.
#[must_use]
pub fn hint_text(hints: &Hints) -> String {
    if hints.is_empty() {
        return String::new();
    }
    let lines: Vec<&str> = hints.families.iter().map(|family| hint(*family)).collect();
    format!("[Host hints, not the user's words]\n{}", lines.join("\n"))
}

fn hint(family: Family) -> &'static str {
    match family {
        Family::Plan => {
            "- The user asks for a plan: use the design track. Look around first, reading only. Then \
             plan submit with a whole draft, or plan init with mode \"design\" and write the session \
             plan .md. Then end the turn and wait for the owner's Approve. Do not paste the plan into \
             the chat and do not change anything before Approve. Plan operations: init, submit, \
             add_tasks, start, complete, update, revise, check_replace, get; there are no others."
        }
        Family::Read => {
            "- To see a file use read_file with its path instead of guessing its content."
        }
        Family::Search => {
            "- To find something in the workspace use grep for content or glob for names."
        }
        Family::Write => "- To create a file use write_file; the answer alone creates nothing.",
        Family::Edit => {
            "- To change a file read the place first, then use edit_file with a unique old_text."
        }
        Family::Bash => "- To run a command use bash and report what it really printed.",
        Family::Web => {
            "- To look something up on the network use web_fetch if it is on offer; else say that it is \
             not."
        }
    }
}

/// Whether a plan phrase is meant: not a phrase that is taken back or means something else, not about
/// private life alone, and not work to be done at once without the word "plan".
fn asks_for_plan(text: &str, languages: &[Language], speaks: &dyn Fn(Section) -> bool) -> bool {
    let found = lexicon::all().iter().any(|lexicon| {
        let own = languages.contains(&lexicon.language);
        let cancelled = lexicon.spans(Section::NotPlan, text, true);
        lexicon.spans(Section::Plan, text, own).iter().any(|span| {
            !cancelled
                .iter()
                .any(|over| over.start <= span.start && span.end <= over.end)
        })
    });
    if !found {
        return false;
    }
    if speaks(Section::Life) && !speaks(Section::Work) {
        return false;
    }
    !speaks(Section::Execute) || speaks(Section::PlanWord)
}

/// Languages whose single words count.
fn languages_of(text: &str, tag: Option<&str>) -> Vec<Language> {
    let in_range =
        |low: char, high: char| text.chars().filter(|c| (low..=high).contains(c)).count();
    let cyrillic = in_range('\u{400}', '\u{4ff}');
    let arabic = in_range('\u{600}', '\u{6ff}');
    let latin = text.chars().filter(char::is_ascii_alphabetic).count();
    let mut languages = Vec::new();
    if cyrillic > 0 && cyrillic >= latin / 4 {
        languages.push(Language::Ru);
    }
    if arabic > 0 && arabic >= latin / 4 {
        languages.push(Language::Ar);
    }
    if latin > 0 && latin >= (cyrillic + arabic) / 4 {
        languages.push(Language::En);
        if let Some(named) = tag.and_then(Language::from_tag)
            && named.is_latin()
        {
            languages.push(named);
        }
    }
    languages
}

fn starts_with_ignoring_case(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len())
        .is_some_and(|head| head.eq_ignore_ascii_case(prefix))
}

fn bounded(text: &str) -> &str {
    let mut end = text.len().min(MAX_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests;
