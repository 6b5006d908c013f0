//! JSON kept as text, so that number literals in the arguments of a check stay as they were written.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

/// An object by key; of equal keys the last one wins.
pub(crate) type Fields = BTreeMap<String, Box<RawValue>>;

/// The object, if the text is exactly one.
pub(crate) fn object(text: &str) -> Option<Fields> {
    serde_json::from_str(text).ok()
}

/// The items, if the text is an array.
pub(crate) fn array(text: &str) -> Option<Vec<Box<RawValue>>> {
    serde_json::from_str(text).ok()
}

/// A string, or a number as it was written.
pub(crate) fn text(raw: &RawValue) -> Option<String> {
    if let Ok(text) = serde_json::from_str::<String>(raw.get()) {
        return Some(text);
    }
    let first = raw.get().trim_start().chars().next()?;
    (first == '-' || first.is_ascii_digit()).then(|| raw.get().trim().to_owned())
}

/// Whether the value is null.
pub(super) fn is_null(raw: &RawValue) -> bool {
    raw.get().trim() == "null"
}
