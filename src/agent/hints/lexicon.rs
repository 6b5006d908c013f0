//! The data files and the patterns made from them.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::clean::fold;

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

/// The patterns of one language.
pub(super) struct Lexicon {
    pub(super) language: Language,
    sections: Vec<(Section, Patterns)>,
}

/// Phrases of several words, and single words.
struct Patterns {
    phrases: Option<Regex>,
    words: Option<Regex>,
}

impl Lexicon {
    /// Whether the text has a phrase of the section, or a single word of it if those count.
    pub(super) fn matches(&self, section: Section, text: &str, words: bool) -> bool {
        self.patterns(section).any(|patterns| {
            let found = |pattern: &Option<Regex>| {
                pattern
                    .as_ref()
                    .is_some_and(|pattern| pattern.is_match(text))
            };
            found(&patterns.phrases) || (words && found(&patterns.words))
        })
    }

    /// Where the phrases and, if they count, single words of the section stand.
    pub(super) fn spans(&self, section: Section, text: &str, words: bool) -> Vec<Range<usize>> {
        let mut spans = Vec::new();
        for patterns in self.patterns(section) {
            for pattern in [Some(&patterns.phrases), words.then_some(&patterns.words)] {
                if let Some(Some(pattern)) = pattern {
                    spans.extend(pattern.find_iter(text).map(|found| found.range()));
                }
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
            let prefix = prefix(language, *section);
            (
                *section,
                Patterns {
                    phrases: pattern("", &phrases),
                    words: pattern(prefix, &words),
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

/// What may be joined to the front of a word: in Arabic "and", "for", "in" and the article, for words
/// that only tell what a text is about.
fn prefix(language: Language, section: Section) -> &'static str {
    let topic = matches!(section, Section::Life | Section::Work | Section::PlanWord);
    if topic && language == Language::Ar {
        "[وف]?(?:ال|لل|[بلك])?"
    } else {
        ""
    }
}

/// One pattern for all lines, longest first so that the longest phrase is the one found.
fn pattern(prefix: &str, lines: &[&String]) -> Option<Regex> {
    if lines.is_empty() {
        return None;
    }
    let mut alternatives: Vec<String> = lines.iter().map(|line| alternative(line)).collect();
    alternatives.sort_by_key(|line| std::cmp::Reverse(line.len()));
    Regex::new(&format!(r"\b{prefix}(?:{})", alternatives.join("|"))).ok()
}

fn alternative(line: &str) -> String {
    let (line, end) = match line.strip_suffix('*') {
        Some(stem) => (stem, r"\w*"),
        None => (line, ""),
    };
    let words: Vec<String> = line.split(' ').map(regex::escape).collect();
    format!(r"{}{end}\b", words.join(r"\s+"))
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
