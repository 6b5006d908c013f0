//! Lengths as Telegram measures entities, and cutting for people.

/// Length in UTF-16 code units, the unit of entity offsets.
#[must_use]
pub fn utf16_len(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// The text on one line, cut to `limit` characters with an ellipsis that counts.
pub(crate) fn one_line(text: &str, limit: usize) -> String {
    let mut line = String::with_capacity(text.len().min(limit * 4));
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > limit * 8 {
            break;
        }
    }
    cut(&line, limit)
}

/// The text cut to `limit` characters with an ellipsis that counts.
pub(crate) fn cut(text: &str, limit: usize) -> String {
    if text.chars().nth(limit).is_none() {
        return text.to_owned();
    }
    let mut kept: String = text.chars().take(limit.saturating_sub(1)).collect();
    kept.truncate(kept.trim_end().len());
    kept.push('…');
    kept
}

/// The last `limit` characters, with an ellipsis in front if something was left out.
pub(crate) fn tail(text: &str, limit: usize) -> String {
    let count = text.chars().count();
    if count <= limit {
        return text.to_owned();
    }
    let kept: String = text.chars().skip(count - limit.saturating_sub(1)).collect();
    format!("…{}", kept.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_count_utf16_units() {
        assert_eq!(utf16_len("aé😀"), 4);
    }

    #[test]
    fn cutting_never_splits_a_character_and_counts_the_ellipsis() {
        assert_eq!(cut("абвгд", 4), "абв…");
        assert_eq!(cut("абвг", 4), "абвг");
        assert_eq!(one_line(" a\n  b\tc ", 10), "a b c");
        assert_eq!(tail("абвгд", 3), "…гд");
    }
}
