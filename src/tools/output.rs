//! Bounds of what a model reads: long text goes to a file and its head and tail stay.

use std::collections::VecDeque;
use std::path::Path;

use sha2::{Digest, Sha256};

/// Longest text that a model reads in full, in bytes.
pub(super) const MAX_SHOWN: usize = 32 * 1024;
/// Bytes shown of the beginning and of the end of longer text.
const EDGE: usize = 8 * 1024;
/// Bytes kept of the beginning and of the end of a command's output.
const KEPT: usize = 4 * 1024 * 1024;

/// Text that fits, and the sentence that says where the rest is (empty when nothing was cut).
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Bounded {
    pub(super) text: String,
    pub(super) note: String,
}

/// Cuts redacted text that is longer than 32 KiB and stores the whole of it under `session_dir`,
/// named by its content, so that the same output is stored once.
pub(super) fn bound(text: String, session_dir: &Path) -> Bounded {
    if text.len() <= MAX_SHOWN {
        return Bounded {
            text,
            note: String::new(),
        };
    }
    let digest = Sha256::digest(text.as_bytes());
    let name: String = digest
        .iter()
        .take(12)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let path = session_dir.join("outputs").join(format!("{name}.txt"));
    let stored = if path.exists() {
        Ok(())
    } else {
        super::atomic::write(&path, text.as_bytes())
    };
    let head = head(&text, EDGE);
    let tail = tail(&text, EDGE);
    let left_out = text.len() - head.len() - tail.len();
    let note = match stored {
        Ok(()) => format!(
            "The output has {} bytes; {left_out} of them are left out in the middle. All of it is in {} (read_file with a line range, or grep).",
            text.len(),
            path.display()
        ),
        Err(error) => {
            tracing::warn!(error = %error, "a long output could not be stored");
            format!(
                "The output has {} bytes; {left_out} of them are left out in the middle and could not be stored.",
                text.len()
            )
        }
    };
    Bounded {
        text: format!("{head}\n[… {left_out} bytes left out …]\n{tail}"),
        note,
    }
}

/// The longest beginning of at most `max` bytes that ends at a character.
pub(super) fn head(text: &str, max: usize) -> &str {
    let mut end = max.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// The longest end of at most `max` bytes that begins at a character.
pub(super) fn tail(text: &str, max: usize) -> &str {
    let mut start = text.len().saturating_sub(max);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    text.get(start..).unwrap_or_default()
}

/// Output of a command: beginning and end are kept, the middle of a flood is counted and dropped.
#[derive(Debug, Default)]
pub(super) struct Capture {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    dropped: u64,
}

impl Capture {
    /// Takes more output.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let room = KEPT.saturating_sub(self.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        self.head.extend_from_slice(first);
        self.tail.extend(rest);
        let over = self.tail.len().saturating_sub(KEPT);
        self.tail.drain(..over);
        self.dropped += over as u64;
    }

    /// Everything kept, as text; bytes that are no UTF-8 become replacement characters.
    pub(super) fn text(&self) -> String {
        let mut text = String::from_utf8_lossy(&self.head).into_owned();
        if self.dropped > 0 {
            text.push_str(&format!("\n[… {} bytes dropped …]\n", self.dropped));
        }
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        text.push_str(&String::from_utf8_lossy(&tail));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_output_goes_to_one_file_named_by_content() {
        let root = tempfile::tempdir().unwrap();
        let text = "начало\n".to_owned() + &"x".repeat(50_000) + "\nend";
        let first = bound(text.clone(), root.path());
        let second = bound(text.clone(), root.path());
        assert_eq!(first, second);
        assert!(first.text.len() < MAX_SHOWN);
        assert!(first.text.starts_with("начало") && first.text.ends_with("end"));
        let files: Vec<_> = std::fs::read_dir(root.path().join("outputs"))
            .unwrap()
            .collect();
        assert_eq!(files.len(), 1);
        let path = files[0].as_ref().unwrap().path();
        assert!(first.note.contains(path.to_str().unwrap()));
        assert_eq!(std::fs::read_to_string(path).unwrap(), text);
    }

    #[test]
    fn a_flood_keeps_both_ends() {
        let mut capture = Capture::default();
        capture.push(b"first");
        for _ in 0..10 {
            capture.push(&vec![b'x'; 1024 * 1024]);
        }
        capture.push(b"last");
        let text = capture.text();
        assert!(text.starts_with("first") && text.ends_with("last"));
        assert!(text.contains("bytes dropped"));
        assert!(text.len() < 2 * KEPT + 64);
    }
}
