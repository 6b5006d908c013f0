//! Reads a TOML file against the key table: every unknown key and wrong value is found with its line.

use std::ops::Range;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::ConfigError;
use super::keys::{self, KEYS, Key, Kind};
use super::nested::{self, Inside};
use super::value::{self, Bad, Value};

/// Largest configuration file in bytes.
const MAX_BYTES: u64 = 256 * 1024;
/// Least likeness of a name that is offered instead of an unknown one, 0–1.
const NEAR: f64 = 0.6;

/// One value of the file with its place, `<file>:<line>`.
pub(super) struct Found {
    pub(super) key: &'static Key,
    pub(super) value: Value,
    pub(super) place: String,
}

/// Reads the file; `None` if there is none.
pub(super) fn read(path: &Path) -> Result<Option<String>, ConfigError> {
    let shown = path.display().to_string();
    let fail = |error: std::io::Error| {
        ConfigError::new(
            "config-unreadable",
            &[("path", &shown), ("reason", &error.to_string())],
        )
    };
    let size = match std::fs::metadata(path) {
        Ok(meta) => meta.len(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(fail(error)),
    };
    if size > MAX_BYTES {
        return Err(ConfigError::new("config-too-large", &[("path", &shown)]));
    }
    std::fs::read_to_string(path).map(Some).map_err(fail)
}

/// Every value of a document, checked.
pub(super) fn parse(path: &Path, text: &str) -> Result<Vec<Found>, ConfigError> {
    let document = Document { path, text };
    let table = DeTable::parse(text).map_err(|error| {
        let place = document.place(error.span().unwrap_or(0..0));
        // The message may run over several lines; the first one says what is wrong.
        let reason = error
            .message()
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned();
        ConfigError::new("config-syntax", &[("place", &place), ("reason", &reason)])
    })?;
    let mut found = Vec::new();
    document.walk("", table.get_ref(), &mut found)?;
    Ok(found)
}

struct Document<'a> {
    path: &'a Path,
    text: &'a str,
}

impl Document<'_> {
    fn walk(
        &self,
        prefix: &str,
        table: &DeTable<'_>,
        found: &mut Vec<Found>,
    ) -> Result<(), ConfigError> {
        for (name, value) in table {
            let full = format!("{prefix}{}", name.get_ref());
            if let Some(key) = keys::find(&full) {
                found.push(Found {
                    key,
                    value: self.value(key, value)?,
                    place: self.place(name.span()),
                });
                continue;
            }
            let section = format!("{full}.");
            if !KEYS.iter().any(|key| key.name.starts_with(&section)) {
                return Err(self.unknown(name.span(), &full, known()));
            }
            let DeValue::Table(inner) = value.get_ref() else {
                let reason = value::bad("config-bad-section");
                return Err(self.refused(value.span(), &full, &reason));
            };
            self.walk(&section, inner, found)?;
        }
        Ok(())
    }

    fn value(&self, key: &'static Key, value: &Spanned<DeValue<'_>>) -> Result<Value, ConfigError> {
        let inside = if key.kind == Kind::Groups {
            nested::groups(value)
        } else if key.kind == Kind::Models {
            nested::models(value)
        } else {
            value::from_toml(key, value.get_ref())
                .map_err(|reason| Inside::Bad(value.span(), reason))
        };
        inside.map_err(|fault| match fault {
            Inside::Bad(span, reason) => self.refused(span, key.name, &reason),
            Inside::Unknown(span, name, choices) => {
                self.unknown(span, &name, choices.iter().copied())
            }
        })
    }

    fn refused(&self, span: Range<usize>, key: &str, reason: &Bad) -> ConfigError {
        refused(&self.place(span), key, reason)
    }

    fn unknown<'k>(
        &self,
        span: Range<usize>,
        name: &str,
        choices: impl Iterator<Item = &'k str>,
    ) -> ConfigError {
        let place = self.place(span);
        let name: String = name.chars().filter(|c| !c.is_control()).take(80).collect();
        match nearest(&name, choices) {
            Some(near) => ConfigError::new(
                "config-unknown-key-near",
                &[("place", &place), ("key", &name), ("near", near)],
            ),
            None => ConfigError::new("config-unknown-key", &[("place", &place), ("key", &name)]),
        }
    }

    fn place(&self, span: Range<usize>) -> String {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        format!("{}:{line}", self.path.display())
    }
}

/// The sentence for a value that cannot be used.
pub(super) fn refused(place: &str, key: &str, reason: &Bad) -> ConfigError {
    let mut arguments = vec![("place", place), ("key", key)];
    arguments.extend(
        reason
            .arguments
            .iter()
            .map(|(name, value)| (*name, value.as_str())),
    );
    ConfigError::new(reason.key, &arguments)
}

fn known() -> impl Iterator<Item = &'static str> {
    KEYS.iter().map(|key| key.name)
}

/// The most similar name; a right key in the wrong section counts as similar.
pub(super) fn nearest<'k>(name: &str, choices: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    let last = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
    choices
        .map(|choice| {
            let whole = strsim::normalized_damerau_levenshtein(name, choice);
            let tail = strsim::normalized_damerau_levenshtein(&last(name), &last(choice)) * 0.9;
            (choice, whole.max(tail))
        })
        .filter(|(_, score)| *score >= NEAR)
        .max_by(|left, right| left.1.total_cmp(&right.1))
        .map(|(choice, _)| choice)
}
