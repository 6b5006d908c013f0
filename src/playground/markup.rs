//! What Telegram does to a text before it is stored: bounds of entities, removed characters, trimming,
//! nesting, links found by itself, and keyboards.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::refusal::Refusal;

mod found;

pub(super) use found::detect;

/// Characters (code points) of a text after parsing.
pub(super) const TEXT_LIMIT: usize = 4096;
/// Characters of a caption.
pub(super) const CAPTION_LIMIT: usize = 1024;
/// Bytes of the raw argument.
pub(super) const RAW_LIMIT: usize = 32768;
/// Entities that are kept.
pub(super) const SPAN_LIMIT: usize = 100;
/// Bytes of callback data.
pub(super) const DATA_LIMIT: usize = 64;

const STYLES: [&str; 5] = ["bold", "italic", "underline", "strikethrough", "spoiler"];
const QUOTES: [&str; 2] = ["blockquote", "expandable_blockquote"];
const SOLID: [&str; 3] = ["pre", "code", "date_time"];
const LINKS: [&str; 3] = ["text_link", "text_mention", "custom_emoji"];
const FOUND: [&str; 8] = [
    "mention",
    "hashtag",
    "cashtag",
    "bot_command",
    "url",
    "email",
    "phone_number",
    "bank_card_number",
];

/// One formatted range, as the Bot API writes it. Offsets count UTF-16 code units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// Bot API type name.
    #[serde(rename = "type")]
    pub kind: String,
    /// First unit.
    pub offset: usize,
    /// Units covered.
    pub length: usize,
    /// Target of a `text_link`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Language of a `pre`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// User of a `text_mention`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<Value>,
    /// Emoji of a `custom_emoji`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom_emoji_id: Option<String>,
    /// Moment of a `date_time`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unix_time: Option<i64>,
}

impl Span {
    /// A range without further fields.
    #[must_use]
    pub fn new(kind: &str, offset: usize, length: usize) -> Self {
        Self {
            kind: kind.to_owned(),
            offset,
            length,
            url: None,
            language: None,
            user: None,
            custom_emoji_id: None,
            unix_time: None,
        }
    }

    fn end(&self) -> usize {
        self.offset + self.length
    }

    fn is(&self, kinds: &[&str]) -> bool {
        kinds.contains(&self.kind.as_str())
    }

    fn rank(&self) -> (usize, std::cmp::Reverse<usize>, u8) {
        let rank = match self.kind.as_str() {
            "blockquote" | "expandable_blockquote" => 0,
            "pre" => 10,
            "code" => 20,
            "date_time" => 48,
            "text_link" | "text_mention" => 49,
            "bold" => 90,
            "italic" => 91,
            "underline" => 92,
            "strikethrough" => 93,
            "spoiler" => 94,
            "custom_emoji" => 99,
            _ => 50,
        };
        (self.offset, std::cmp::Reverse(self.length), rank)
    }
}

/// UTF-16 code units of `text`.
pub(super) fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

/// Reads an array of `MessageEntity`; kinds that Telegram finds by itself are ignored.
pub(super) fn parse_spans(value: Option<Value>) -> Result<Vec<Span>, Refusal> {
    let Some(value) = value else {
        return Ok(Vec::new());
    };
    let list = value
        .as_array()
        .ok_or_else(|| Refusal::bad("expected an Array of MessageEntity"))?;
    let mut spans = Vec::new();
    for item in list {
        let kind = item.get("type").and_then(Value::as_str).unwrap_or_default();
        if FOUND.contains(&kind) {
            continue;
        }
        if !STYLES
            .iter()
            .chain(&QUOTES)
            .chain(&SOLID)
            .chain(&LINKS)
            .any(|known| *known == kind)
        {
            return Err(Refusal::bad(
                "can't parse MessageEntity: Unsupported type specified",
            ));
        }
        for field in ["offset", "length"] {
            let number = item.get(field).and_then(Value::as_i64).ok_or_else(|| {
                Refusal::bad(format!(
                    "can't parse MessageEntity: Field \"{field}\" must be of type Number"
                ))
            })?;
            if !(0..=1_000_000).contains(&number) {
                return Err(Refusal::bad(format!(
                    "receive an entity with incorrect {field} {number}"
                )));
            }
        }
        let span: Span = serde_json::from_value(item.clone())
            .map_err(|_| Refusal::bad("can't parse MessageEntity: wrong type"))?;
        if kind == "text_link" {
            check_link(span.url.as_deref().unwrap_or_default())?;
        }
        spans.push(span);
    }
    Ok(spans)
}

fn check_link(url: &str) -> Result<(), Refusal> {
    let lower = url.to_ascii_lowercase();
    let invalid = |why: &str| Refusal::bad(format!("entity URL '{url}' is invalid: {why}"));
    if lower.starts_with("tg:") || lower.starts_with("ton:") || lower.starts_with("mailto:") {
        return Ok(());
    }
    let rest = match lower.split_once("://") {
        Some(("http" | "https", rest)) => rest,
        Some(_) => return Err(invalid("Unsupported URL protocol")),
        None => lower.as_str(),
    };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or_default();
    if host.is_empty() {
        return Err(invalid("URL host is empty"));
    }
    if host.contains([' ', '"', '<', '>', '\\', '|', '^', '`', '{', '}']) {
        return Err(invalid("Disallowed character in URL host"));
    }
    if host.contains('.') || host.starts_with('[') {
        Ok(())
    } else {
        Err(invalid("Wrong HTTP URL"))
    }
}

/// Text and entities as they would be stored; an empty text means that nothing is left to send.
///
/// # Errors
///
/// An entity that leaves the text or cuts a symbol.
pub(super) fn normalise(text: &str, spans: &[Span]) -> Result<(String, Vec<Span>), Refusal> {
    check_bounds(text, spans)?;
    let (clean, moved) = remove_forbidden(text, spans);
    let kept = clean.trim_end_matches([' ', '\n']);
    if kept.is_empty() {
        return Ok((String::new(), Vec::new()));
    }
    let end = units(kept);
    let mut spans: Vec<Span> = resolve(moved)
        .into_iter()
        .filter(|span| span.offset < end)
        .map(|mut span| {
            span.length = span.length.min(end - span.offset);
            span
        })
        .collect();
    let first = spans.iter().map(|span| span.offset).min().unwrap_or(end);
    let lead = kept
        .chars()
        .take(first)
        .take_while(|symbol| [' ', '\n'].contains(symbol))
        .count();
    for span in &mut spans {
        span.offset -= lead;
    }
    spans.sort_by_key(Span::rank);
    Ok((kept.chars().skip(lead).collect(), spans))
}

fn check_bounds(text: &str, spans: &[Span]) -> Result<(), Refusal> {
    // For each unit: the byte where a symbol starts, or nothing inside a surrogate pair.
    let mut starts: Vec<Result<usize, usize>> = Vec::new();
    for (byte, symbol) in text.char_indices() {
        starts.push(Ok(byte));
        if symbol.len_utf16() == 2 {
            starts.push(Err(byte + symbol.len_utf8()));
        }
    }
    starts.push(Ok(text.len()));
    for span in spans.iter().filter(|span| span.length > 0) {
        let (offset, end) = (span.offset, span.end());
        match starts.get(offset) {
            None => {
                return Err(Refusal::bad(format!(
                    "entity begins after the end of the text at UTF-16 offset {offset}"
                )));
            }
            Some(Err(byte)) => {
                return Err(Refusal::bad(format!(
                    "entity begins in a middle of a UTF-16 symbol at byte offset {byte}"
                )));
            }
            Some(Ok(_)) => {}
        }
        match starts.get(end) {
            None => {
                return Err(Refusal::bad(format!(
                    "entity beginning at UTF-16 offset {offset} ends after the end of the text at UTF-16 offset {end}"
                )));
            }
            Some(Err(byte)) => {
                return Err(Refusal::bad(format!(
                    "entity beginning at UTF-16 offset {offset} ends in a middle of a UTF-16 symbol at byte offset {byte}"
                )));
            }
            Some(Ok(_)) => {}
        }
    }
    Ok(())
}

fn remove_forbidden(text: &str, spans: &[Span]) -> (String, Vec<Span>) {
    let mut clean = String::with_capacity(text.len());
    let mut place = Vec::new();
    let mut at = 0;
    for symbol in text.chars() {
        place.extend(std::iter::repeat_n(at, symbol.len_utf16()));
        let dropped = matches!(
            symbol,
            '\r' | '\u{2028}'..='\u{202e}' | '\u{333}' | '\u{33f}' | '\u{30a}'
        );
        if dropped {
            continue;
        }
        let blank = symbol < ' ' && symbol != '\n';
        clean.push(if blank { ' ' } else { symbol });
        at += symbol.len_utf16();
    }
    place.push(at);
    let moved = spans
        .iter()
        .filter_map(|span| {
            let start = *place.get(span.offset)?;
            let end = *place.get(span.end())?;
            let mut span = span.clone();
            span.offset = start;
            span.length = end.checked_sub(start).filter(|length| *length > 0)?;
            Some(span)
        })
        .collect();
    (clean, moved)
}

/// Nesting as Telegram allows it: quotes do not nest, code holds nothing, links do not nest, and
/// styles are cut where anything else begins or ends.
fn resolve(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_by_key(Span::rank);
    let quotes = apart(spans.iter().filter(|span| span.is(&QUOTES)));
    let mut blocks = apart(
        spans
            .iter()
            .filter(|span| !span.is(&QUOTES) && !span.is(&STYLES)),
    );
    blocks.retain(|block| {
        quotes
            .iter()
            .find(|quote| quote.end() > block.offset)
            .is_none_or(|quote| {
                quote.end() >= block.end()
                    && !(quote.offset > block.offset && quote.offset < block.end())
                    || quote.offset >= block.end()
            })
    });
    blocks.extend(quotes);
    let unions: Vec<Span> = STYLES.iter().flat_map(|kind| union(&spans, kind)).collect();
    let mut cuts: Vec<usize> = unions.iter().map(|span| span.offset).collect();
    cuts.extend(blocks.iter().flat_map(|block| [block.offset, block.end()]));
    cuts.sort_unstable();
    cuts.dedup();
    let solid: Vec<&Span> = blocks.iter().filter(|block| block.is(&SOLID)).collect();
    let mut pieces = Vec::new();
    for span in &unions {
        let mut from = span.offset;
        let inner = cuts
            .iter()
            .copied()
            .filter(|cut| *cut > span.offset && *cut < span.end());
        for to in inner.chain([span.end()]) {
            let hidden = solid
                .iter()
                .any(|block| block.offset <= from && to <= block.end());
            if !hidden {
                pieces.push(Span::new(&span.kind, from, to - from));
            }
            from = to;
        }
    }
    blocks.extend(pieces);
    blocks.sort_by_key(Span::rank);
    blocks
}

fn apart<'a>(spans: impl Iterator<Item = &'a Span>) -> Vec<Span> {
    let mut end = 0;
    spans
        .filter(|span| {
            let free = span.offset >= end;
            if free {
                end = span.end();
            }
            free
        })
        .cloned()
        .collect()
}

fn union(spans: &[Span], kind: &str) -> Vec<Span> {
    let mut out: Vec<Span> = Vec::new();
    for span in spans.iter().filter(|span| span.kind == kind) {
        match out.last_mut() {
            Some(last) if span.offset <= last.end() => {
                last.length = last.end().max(span.end()) - last.offset;
            }
            _ => out.push(span.clone()),
        }
    }
    out
}

#[cfg(test)]
mod tests;
