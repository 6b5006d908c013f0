//! Left-to-right runs inside right-to-left text.

/// Left-to-right isolate. Telegram removes the older embedding characters, but not the isolates.
const LRI: char = '\u{2066}';
/// End of an isolate.
const PDI: char = '\u{2069}';

/// Whether the locale `language` is written from right to left.
#[must_use]
pub fn is_rtl(language: &str) -> bool {
    let primary = language.split(['-', '_']).next().unwrap_or_default();
    matches!(
        primary,
        "ar" | "he" | "fa" | "ur" | "ps" | "sd" | "ug" | "yi" | "dv" | "ckb"
    )
}

/// `text` (a command, a path, a name) isolated as a left-to-right run when `language` is written from
/// right to left; otherwise as it is. Isolates inside the text are removed, so that none can end ours.
#[must_use]
pub fn ltr(language: &str, text: &str) -> String {
    if !is_rtl(language) || text.is_empty() {
        return text.to_owned();
    }
    let inner: String = text
        .chars()
        .filter(|c| !matches!(c, '\u{2066}'..='\u{2069}'))
        .collect();
    format!("{LRI}{inner}{PDI}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_right_to_left_locales_isolate() {
        assert_eq!(ltr("en", "ls -l"), "ls -l");
        assert_eq!(ltr("ar-EG", "ls \u{2069}-l"), "\u{2066}ls -l\u{2069}");
    }
}
