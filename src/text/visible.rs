//! Characters that hide or reorder text, made visible where a person must judge it.

use super::units::is_invisible;

/// `text` with every control, bidirectional, zero-width and unusual space character shown: C0 controls
/// as their pictures, the others as `⟨U+202E⟩`. Line feeds stay, because they are seen as lines.
#[must_use]
pub fn show_controls(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut previous = ' ';
    for character in text.chars() {
        let before = std::mem::replace(&mut previous, character);
        match character {
            '\n' => shown.push('\n'),
            '\u{7f}' => shown.push('␡'),
            character if character < ' ' => {
                shown.push(char::from_u32(0x2400 + u32::from(character)).unwrap_or('␦'));
            }
            // These only join and colour pictures there.
            '\u{200d}' | '\u{fe0f}' if is_picture(before) => shown.push(character),
            character if is_hidden(character) => {
                shown.push_str(&format!("⟨U+{:04X}⟩", u32::from(character)));
            }
            character => shown.push(character),
        }
    }
    shown
}

fn is_picture(character: char) -> bool {
    matches!(character, '\u{fe0f}' | '\u{2190}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}')
}

fn is_hidden(character: char) -> bool {
    is_invisible(character)
        || (character.is_whitespace() && character != ' ')
        || matches!(character, '\u{80}'..='\u{9f}' | '\u{e000}'..='\u{f8ff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_shown_and_lines_stay() {
        assert_eq!(
            show_controls("rm\t-rf \u{1b}[2K\r\u{202e}gpj\u{200b}\u{a0}x\nnext é日"),
            "rm␉-rf ␛[2K␍⟨U+202E⟩gpj⟨U+200B⟩⟨U+00A0⟩x\nnext é日"
        );
        assert_eq!(show_controls("⚠️ 👨‍👩‍👧"), "⚠️ 👨‍👩‍👧");
        assert_eq!(show_controls("a\u{200d}b\u{fe0f}"), "a⟨U+200D⟩b⟨U+FE0F⟩");
    }
}
