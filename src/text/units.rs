//! Lengths as Telegram and terminals measure them, and cuts that never break a character.

use unicode_segmentation::UnicodeSegmentation;

/// Length of `text` in UTF-16 code units, the unit of entity offsets.
#[must_use]
pub fn utf16_len(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// Number of Unicode scalar values, the unit of Telegram's own length limits.
#[must_use]
pub fn chars(text: &str) -> usize {
    text.chars().count()
}

/// Byte position of UTF-16 offset `units`, or `None` when it lies beyond the text or inside a
/// surrogate pair.
#[must_use]
pub fn byte_at_utf16(text: &str, units: usize) -> Option<usize> {
    let mut seen = 0;
    for (at, character) in text.char_indices() {
        if seen >= units {
            return (seen == units).then_some(at);
        }
        seen += character.len_utf16();
    }
    (seen == units).then_some(text.len())
}

/// The longest prefix of at most `max` bytes that ends between characters.
#[must_use]
pub fn truncate_bytes(text: &str, max: usize) -> &str {
    let mut end = max.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// The longest prefix of at most `max` UTF-16 code units that ends between characters.
#[must_use]
pub fn truncate_utf16(text: &str, max: usize) -> &str {
    let mut seen = 0;
    for (at, character) in text.char_indices() {
        seen += character.len_utf16();
        if seen > max {
            return text.get(..at).unwrap_or_default();
        }
    }
    text
}

/// `text` itself if it has at most `max` characters, otherwise a prefix that ends between graphemes
/// and a closing `…`, together at most `max` characters.
#[must_use]
pub fn truncate_chars(text: &str, max: usize) -> String {
    if chars(text) <= max {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut count = 0;
    for grapheme in text.graphemes(true) {
        count += chars(grapheme);
        if count >= max {
            break;
        }
        kept.push_str(grapheme);
    }
    kept.truncate(kept.trim_end().len());
    if max > 0 {
        kept.push('…');
    }
    kept
}

/// The last suffix of at most `max` bytes that starts between characters.
#[must_use]
pub fn tail_bytes(text: &str, max: usize) -> &str {
    let mut start = text.len().saturating_sub(max);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    text.get(start..).unwrap_or_default()
}

/// Whether nothing of `text` would be seen: white space, controls and zero-width characters only.
#[must_use]
pub fn is_blank(text: &str) -> bool {
    text.chars().all(|character| {
        character.is_whitespace() || character.is_control() || is_invisible(character)
    })
}

/// Characters that take no room on the screen, or only direct the text around them.
#[must_use]
pub fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_emoji_outside_the_basic_plane_counts_two_units() {
        assert_eq!(utf16_len("a😀é"), 4);
        assert_eq!(chars("a😀é"), 3);
        assert_eq!(byte_at_utf16("a😀é", 3), Some(5));
        assert_eq!(byte_at_utf16("a😀é", 2), None);
        assert_eq!(byte_at_utf16("a😀é", 4), Some(7));
        assert_eq!(byte_at_utf16("a😀é", 5), None);
    }

    #[test]
    fn cuts_keep_characters_whole() {
        assert_eq!(truncate_bytes("aé", 2), "a");
        assert_eq!(tail_bytes("éa", 2), "a");
        assert_eq!(truncate_utf16("😀😀", 3), "😀");
        assert_eq!(truncate_chars("abcdef", 4), "abc…");
        assert_eq!(truncate_chars("abcd", 4), "abcd");
        assert_eq!(truncate_chars("ab", 0), "");
    }

    #[test]
    fn a_family_emoji_is_not_cut_in_the_middle() {
        assert_eq!(truncate_chars("a👨‍👩‍👧b", 4), "a…");
    }

    #[test]
    fn zero_width_text_is_blank() {
        assert!(is_blank(" \u{200b}\u{feff}\n"));
        assert!(!is_blank("\u{200b}x"));
    }
}
