//! Reads source files and takes comments, literals and test code apart, so that a rule about code is
//! not fooled by a sentence about it.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// One source file.
pub(crate) struct Source {
    /// Path below the repository, with `/`.
    pub(crate) path: String,
    /// As written.
    pub(crate) raw: String,
    /// Without comments and with blanked literals; same length and lines as `raw`.
    pub(crate) code: String,
    /// `code` with everything blanked that is compiled only for tests.
    pub(crate) product: String,
    /// String literals outside test code, unescaped roughly.
    pub(crate) literals: Vec<String>,
    /// `raw` without comments and test code, literals kept.
    pub(crate) text: String,
}

impl Source {
    fn new(path: String, raw: String) -> Self {
        let marked = mark(&raw);
        let keep = |wanted: &[Kind]| -> String {
            raw.bytes()
                .zip(&marked)
                .map(|(byte, kind)| {
                    if byte == b'\n' || wanted.contains(kind) {
                        char::from(byte)
                    } else {
                        ' '
                    }
                })
                .collect()
        };
        let code = keep(&[Kind::Code]);
        let is_test =
            path.starts_with("tests/") || path.ends_with("/tests.rs") || path.contains("/tests/");
        let test = if is_test {
            vec![true; raw.len()]
        } else {
            test_bytes(&code)
        };
        let without_tests = |text: &str| -> String {
            text.chars()
                .zip(&test)
                .map(|(char, test)| if *test && char != '\n' { ' ' } else { char })
                .collect()
        };
        let product = without_tests(&code);
        let text = without_tests(&keep(&[Kind::Code, Kind::Literal]));
        let literals = literals(&raw, &marked, &test);
        Self {
            path,
            raw,
            code,
            product,
            literals,
            text,
        }
    }

    /// The module below `src`, such as `plan`; `main` and `lib` for the roots.
    pub(crate) fn module(&self) -> Option<&str> {
        let below = self.path.strip_prefix("src/")?;
        Some(below.split(['/', '.']).next().unwrap_or_default())
    }

    /// Line of a byte, counted from 1.
    pub(crate) fn line(&self, at: usize) -> usize {
        self.code[..at]
            .bytes()
            .filter(|byte| *byte == b'\n')
            .count()
            + 1
    }

    /// Test code of this file: the whole of a test file, else what `product` leaves out.
    pub(crate) fn test_code(&self) -> String {
        self.code
            .chars()
            .zip(self.product.chars())
            .map(|(code, product)| {
                if code == product && code != '\n' {
                    ' '
                } else {
                    code
                }
            })
            .collect()
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Code,
    Comment,
    Literal,
}

pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Every file below a directory of the repository with this ending.
pub(crate) fn files(dir: &str, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut todo = vec![root().join(dir)];
    while let Some(dir) = todo.pop() {
        let Ok(entries) = std::fs::read_dir(&dir) else {
            continue;
        };
        for entry in entries {
            let path = entry.unwrap().path();
            if path.is_dir() {
                todo.push(path);
            } else if path.to_string_lossy().ends_with(ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

pub(crate) fn relative(path: &Path) -> String {
    path.strip_prefix(root())
        .unwrap()
        .to_string_lossy()
        .replace('\\', "/")
}

/// Every Rust file of `src` and `tests`, read once for all rules.
pub(crate) fn sources() -> &'static [Source] {
    static SOURCES: OnceLock<Vec<Source>> = OnceLock::new();
    SOURCES.get_or_init(|| {
        ["src", "tests"]
            .iter()
            .flat_map(|dir| files(dir, ".rs"))
            .map(|path| Source::new(relative(&path), std::fs::read_to_string(&path).unwrap()))
            .collect()
    })
}

/// Names what every byte belongs to.
fn mark(raw: &str) -> Vec<Kind> {
    let bytes = raw.as_bytes();
    let at = |i: usize| bytes.get(i).copied().unwrap_or(0);
    let mut kinds = vec![Kind::Code; bytes.len()];
    let mut i = 0;
    while i < bytes.len() {
        let (end, kind) = match at(i) {
            b'/' if at(i + 1) == b'/' => (find(bytes, i, b"\n"), Kind::Comment),
            b'/' if at(i + 1) == b'*' => (find(bytes, i, b"*/") + 2, Kind::Comment),
            b'"' => (quoted(bytes, i + 1, b'"'), Kind::Literal),
            b'r' if !word(bytes, i) && matches!(at(i + 1), b'"' | b'#') => {
                match raw_string(bytes, i) {
                    Some(end) => (end, Kind::Literal),
                    None => (i + 1, Kind::Code),
                }
            }
            b'\'' if at(i + 1) == b'\\' || char_end(raw, i).is_some() => (
                char_end(raw, i).unwrap_or_else(|| quoted(bytes, i + 1, b'\'')),
                Kind::Literal,
            ),
            _ => (i + 1, Kind::Code),
        };
        let end = end.min(bytes.len());
        kinds[i..end].fill(kind);
        i = end;
    }
    kinds
}

fn word(bytes: &[u8], at: usize) -> bool {
    at > 0
        && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_')
        && bytes[at - 1] != b'b'
}

fn find(bytes: &[u8], from: usize, what: &[u8]) -> usize {
    bytes[from..]
        .windows(what.len())
        .position(|window| window == what)
        .map_or(bytes.len(), |found| from + found)
}

fn quoted(bytes: &[u8], mut at: usize, quote: u8) -> usize {
    while at < bytes.len() && bytes[at] != quote {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at + 1
}

fn raw_string(bytes: &[u8], at: usize) -> Option<usize> {
    let hashes = bytes[at + 1..]
        .iter()
        .take_while(|byte| **byte == b'#')
        .count();
    if bytes.get(at + 1 + hashes) != Some(&b'"') {
        return None;
    }
    let close = [b"\"".as_slice(), &vec![b'#'; hashes]].concat();
    Some(find(bytes, at + 2 + hashes, &close) + close.len())
}

/// The end of a char literal that is not an escape; a lifetime has none.
fn char_end(raw: &str, at: usize) -> Option<usize> {
    let char = raw
        .get(at + 1..)?
        .chars()
        .next()
        .filter(|char| *char != '\\' && *char != '\'')?;
    let end = at + 1 + char.len_utf8();
    (raw.as_bytes().get(end) == Some(&b'\'')).then_some(end + 1)
}

/// The bytes that only a test build has.
fn test_bytes(code: &str) -> Vec<bool> {
    let mut test = vec![false; code.len()];
    let mut from = 0;
    while let Some(found) = code[from..].find("#[cfg(test)]") {
        let start = from + found;
        let end = item_end(code.as_bytes(), start);
        test[start..end].fill(true);
        from = end;
    }
    test
}

/// The end of the item that begins at `start`: its semicolon or closing brace.
pub(crate) fn item_end(code: &[u8], start: usize) -> usize {
    let mut depth = 0_i32;
    for (at, byte) in code.iter().enumerate().skip(start) {
        match byte {
            b'{' | b'(' | b'[' => depth += 1,
            b'}' | b')' | b']' => {
                depth -= 1;
                if depth == 0 && *byte == b'}' {
                    return at + 1;
                }
            }
            b';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    code.len()
}

fn literals(raw: &str, kinds: &[Kind], test: &[bool]) -> Vec<String> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < kinds.len() {
        if kinds[at] != Kind::Literal {
            at += 1;
            continue;
        }
        let first = at;
        // Two literals never touch, but for an empty one next to another, which no rule needs.
        while at < kinds.len() && kinds[at] == Kind::Literal {
            at += 1;
        }
        if !test[first] {
            let text = raw.get(first..at).unwrap_or_default();
            let text = text.trim_start_matches('r').trim_matches('#');
            found.push(text.trim_matches('"').to_owned());
        }
    }
    found
}

#[test]
fn the_reader_tells_code_from_comments_literals_and_tests() {
    let raw = "fn a<'x>() { // sled\n let s = \"tokio \\\" {\"; let c = '{'; let r = r#\"genai\"#; }\n\
               #[cfg(test)]\nmod tests { fn b() { sleep(); } }\nfn c() {}\n";
    let source = Source::new("src/x.rs".to_owned(), raw.to_owned());
    for gone in ["sled", "tokio", "genai", "sleep"] {
        assert!(!source.product.contains(gone), "{gone}: {}", source.product);
    }
    assert!(source.product.contains("fn c()") && source.test_code().contains("sleep"));
    assert_eq!(source.literals.len(), 3);
    assert_eq!(source.literals[2], "genai");
    assert_eq!(source.code.lines().count(), raw.lines().count());
}
