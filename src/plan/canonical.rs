//! The canonical form of tool arguments, on which a check and a call are compared.
//!
//! One JSON object, compact, keys sorted by their decoded text, strings re-encoded, number literals
//! kept exactly as written (`1`, `1.0` and `1e0` differ), array order kept. Of a key given twice the
//! last value wins, as it does in every tool that later decodes the same text.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

/// Levels of nesting that are accepted, the outer object included.
pub const MAX_DEPTH: usize = 64;

/// Bytes a check's canonical arguments may have.
pub const MAX_CHECK_BYTES: usize = 4096;

/// Why arguments have no canonical form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotCanonical {
    /// Empty, cut, or followed by more text.
    #[error("arguments must be exactly one JSON value")]
    NotJson,
    /// JSON, but an array, a string, a number, a boolean or null.
    #[error("arguments must be a JSON object")]
    NotObject,
    /// Nested deeper than [`MAX_DEPTH`].
    #[error("arguments are nested too deeply (more than {MAX_DEPTH} levels)")]
    TooDeep,
}

/// The canonical text of `arguments`.
///
/// # Errors
///
/// [`NotCanonical`] if the text is not exactly one JSON object within the depth bound.
pub fn canonical(arguments: &str) -> Result<String, NotCanonical> {
    if !arguments.trim_start().starts_with('{') {
        let any: Result<&RawValue, _> = serde_json::from_str(arguments);
        return Err(any.map_or(NotCanonical::NotJson, |_| NotCanonical::NotObject));
    }
    let mut out = String::with_capacity(arguments.len());
    write_object(arguments, 1, &mut out)?;
    Ok(out)
}

/// The canonical arguments of a shell call that runs exactly `command`.
#[must_use]
pub fn shell_call(command: &str) -> String {
    let mut out = String::from("{\"command\":");
    push_string(command, &mut out);
    out.push('}');
    out
}

fn write_value(raw: &RawValue, depth: usize, out: &mut String) -> Result<(), NotCanonical> {
    let text = raw.get();
    match text.as_bytes().first() {
        Some(b'{') => write_object(text, depth, out),
        Some(b'[') => write_array(text, depth, out),
        // Without escapes it is encoded as it would be again.
        Some(b'"') if !text.contains('\\') => {
            out.push_str(text);
            Ok(())
        }
        Some(b'"') => {
            let decoded: String = serde_json::from_str(text).map_err(|_| NotCanonical::NotJson)?;
            push_string(&decoded, out);
            Ok(())
        }
        // Numbers, true, false and null have one spelling each that matters.
        Some(_) => {
            out.push_str(text);
            Ok(())
        }
        None => Err(NotCanonical::NotJson),
    }
}

fn write_object(text: &str, depth: usize, out: &mut String) -> Result<(), NotCanonical> {
    if depth > MAX_DEPTH {
        return Err(NotCanonical::TooDeep);
    }
    let fields: BTreeMap<String, &RawValue> =
        serde_json::from_str(text).map_err(|_| NotCanonical::NotJson)?;
    out.push('{');
    for (index, (key, value)) in fields.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        push_string(key, out);
        out.push(':');
        write_value(value, depth + 1, out)?;
    }
    out.push('}');
    Ok(())
}

fn write_array(text: &str, depth: usize, out: &mut String) -> Result<(), NotCanonical> {
    if depth > MAX_DEPTH {
        return Err(NotCanonical::TooDeep);
    }
    let items: Vec<&RawValue> = serde_json::from_str(text).map_err(|_| NotCanonical::NotJson)?;
    out.push('[');
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_value(item, depth + 1, out)?;
    }
    out.push(']');
    Ok(())
}

/// Appends a text as a JSON string.
pub(super) fn push_string(text: &str, out: &mut String) {
    let plain = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
    if text.bytes().all(plain) {
        out.push('"');
        out.push_str(text);
        out.push('"');
    } else {
        // A `Value` displays as compact JSON and cannot fail for a string.
        out.push_str(&serde_json::Value::from(text).to_string());
    }
}

#[cfg(test)]
mod tests;
