//! The data files and the patterns made from them.

use std::ops::Range;
use std::sync::LazyLock;

use super::clean::fold;
use super::phrase::Phrase;

/// Languages with a data file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    En,
    Ru,
    Ar,
    Es,
    Pt,
    Fr,
    De,
    Id,
}

impl Language {
    const ALL: [(Self, &'static str, &'static str); 8] = [
        (Self::En, "en", include_str!("en.txt")),
        (Self::Ru, "ru", include_str!("ru.txt")),
        (Self::Ar, "ar", include_str!("ar.txt")),
        (Self::Es, "es", include_str!("es.txt")),
        (Self::Pt, "pt", include_str!("pt.txt")),
        (Self::Fr, "fr", include_str!("fr.txt")),
        (Self::De, "de", include_str!("de.txt")),
        (Self::Id, "id", include_str!("id.txt")),
    ];

    /// The language of a tag such as `pt-BR`.
    pub(super) fn from_tag(tag: &str) -> Option<Self> {
        let primary = tag.split(['-', '_']).next()?.to_ascii_lowercase();
        Self::ALL
            .iter()
            .find(|(_, name, _)| *name == primary)
            .map(|(language, ..)| *language)
    }

    pub(super) fn is_latin(self) -> bool {
        match self {
            Self::En | Self::Es | Self::Pt | Self::Fr | Self::De | Self::Id => true,
            Self::Ru | Self::Ar => false,
        }
    }
}

/// Sections of a data file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    Plan,
    NotPlan,
    Life,
    Work,
    PlanWord,
    Execute,
    Read,
    Search,
    Write,
    Edit,
    Bash,
    Web,
}

impl Section {
    const ALL: [(Self, &'static str); 12] = [
        (Self::Plan, "[plan]"),
        (Self::NotPlan, "[not-plan]"),
        (Self::Life, "[life]"),
        (Self::Work, "[work]"),
        (Self::PlanWord, "[plan-word]"),
        (Self::Execute, "[execute]"),
        (Self::Read, "[read]"),
        (Self::Search, "[search]"),
        (Self::Write, "[write]"),
        (Self::Edit, "[edit]"),
        (Self::Bash, "[bash]"),
        (Self::Web, "[web]"),
    ];
}

/// The phrases of one language.
pub(super) struct Lexicon {
    pub(super) language: Language,
    sections: Vec<(Section, Patterns)>,
}

/// Phrases of several words, and single words; the longest first, so that the longest is the one found.
struct Patterns {
    phrases: Vec<Phrase>,
    words: Vec<Phrase>,
}

impl Lexicon {
    /// Whether the text has a phrase of the section, or a single word of it if those count.
    pub(super) fn matches(&self, section: Section, text: &str, words: bool) -> bool {
        self.patterns(section).any(|patterns| {
            let single = words.then_some(&patterns.words).into_iter().flatten();
            patterns
                .phrases
                .iter()
                .chain(single)
                .any(|phrase| phrase.spans(text).next().is_some())
        })
    }

    /// Where the phrases and, if they count, single words of the section stand.
    pub(super) fn spans(&self, section: Section, text: &str, words: bool) -> Vec<Range<usize>> {
        let mut spans = Vec::new();
        for patterns in self.patterns(section) {
            let single = words.then_some(&patterns.words);
            for phrases in [Some(&patterns.phrases), single].into_iter().flatten() {
                spans.extend(apart(phrases.iter().flat_map(|phrase| phrase.spans(text))));
            }
        }
        spans
    }

    fn patterns(&self, section: Section) -> impl Iterator<Item = &Patterns> {
        self.sections
            .iter()
            .filter(move |(known, _)| *known == section)
            .map(|(_, patterns)| patterns)
    }
}

/// All languages.
pub(super) fn all() -> &'static [Lexicon] {
    static ALL: LazyLock<Vec<Lexicon>> = LazyLock::new(|| {
        Language::ALL
            .iter()
            .map(|(language, _, data)| load(*language, data))
            .collect()
    });
    &ALL
}

fn load(language: Language, data: &str) -> Lexicon {
    let sections = Section::ALL
        .iter()
        .map(|(section, heading)| {
            let lines: Vec<String> = lines(data, heading).map(fold).collect();
            let (phrases, words): (Vec<&String>, Vec<&String>) =
                lines.iter().partition(|line| line.contains(' '));
            let joined = has_joined_prefix(language, *section);
            (
                *section,
                Patterns {
                    phrases: made(&phrases, false),
                    words: made(&words, joined),
                },
            )
        })
        .collect();
    Lexicon { language, sections }
}

/// The lines under a heading.
pub(super) fn lines<'a>(data: &'a str, heading: &str) -> impl Iterator<Item = &'a str> {
    data.lines()
        .map(str::trim)
        .skip_while(move |line| *line != heading)
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Whether something may be joined to the front of a word: in Arabic "and", "for", "in" and the
/// article, for words that only tell what a text is about.
fn has_joined_prefix(language: Language, section: Section) -> bool {
    let topic = matches!(section, Section::Life | Section::Work | Section::PlanWord);
    topic && language == Language::Ar
}

fn made(lines: &[&String], joined: bool) -> Vec<Phrase> {
    let mut phrases: Vec<Phrase> = lines.iter().map(|line| Phrase::new(line, joined)).collect();
    phrases.sort_by_key(|phrase| std::cmp::Reverse(phrase.words.len()));
    phrases
}

/// Of spans the leftmost, of those the longest, and none that overlaps one before.
fn apart(spans: impl Iterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let mut spans: Vec<_> = spans.collect();
    spans.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
    let mut end = 0;
    spans.retain(|span| {
        let free = span.start >= end;
        if free {
            end = span.end;
        }
        free
    });
    spans
}

/// Headings and files, for tests.
#[cfg(test)]
pub(super) fn sources() -> impl Iterator<Item = (&'static str, &'static str)> {
    Language::ALL.iter().map(|(_, name, data)| (*name, *data))
}

#[cfg(test)]
pub(super) fn headings() -> impl Iterator<Item = &'static str> {
    Section::ALL.iter().map(|(_, heading)| *heading)
}
