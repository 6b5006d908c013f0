//! `read_file`: numbered lines of a text file.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::args;
use super::call::{Inspection, Place, Ran};
use super::paths::{self, Want};
use super::toolbox::Shop;
use crate::domain::{ActionClass, Effects, ToolDescriptor};

const EXAMPLE: &str = r#"{"path":"src/main.rs","start_line":1,"end_line":200}"#;
/// Lines given when no end is asked for.
const DEFAULT_LINES: usize = 2000;
/// Bytes given at most; more is cut and said.
const MAX_BYTES: usize = 256 * 1024;
/// Longest line that is given, in bytes.
const MAX_LINE: usize = 4000;
/// Bytes at the beginning that tell text from binary.
const SNIFFED: usize = 8 * 1024;

pub(super) static DESCRIPTOR: ToolDescriptor = ToolDescriptor {
    name: "read_file",
    description: "Reads a text file with line numbers, all of it or a range of lines.",
    schema: args::schema::<Args>,
    effects: Effects::Read,
    label: "tool-read-file",
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Path beneath the workspace.
    path: String,
    /// First line, counted from 1.
    #[serde(default)]
    start_line: Option<usize>,
    /// Last line, included.
    #[serde(default)]
    end_line: Option<usize>,
}

pub(super) fn inspect(shop: &Shop, raw: &str, place: &Place) -> Result<Inspection, String> {
    let parsed: Args = args::parse("read_file", raw, EXAMPLE)?;
    let path = paths::resolve(place, &shop.protected, &parsed.path, Want::Read)?;
    let range = match (parsed.start_line, parsed.end_line) {
        (None, None) => String::new(),
        (start, end) => format!(
            ":{}-{}",
            start.unwrap_or(1),
            end.map(|end| end.to_string()).unwrap_or_default()
        ),
    };
    let argument = format!("{}{range}", paths::shown(place, &path));
    Ok(Inspection::plain(
        &DESCRIPTOR,
        ActionClass::Read,
        argument,
        vec![path],
        place,
    ))
}

pub(super) fn run(
    shop: &Shop,
    raw: &str,
    place: &Place,
    _: &CancellationToken,
) -> Result<Ran, String> {
    let parsed: Args = args::parse("read_file", raw, EXAMPLE)?;
    let start = parsed.start_line.unwrap_or(1).max(1);
    let end = parsed
        .end_line
        .unwrap_or(start.saturating_add(DEFAULT_LINES - 1));
    if end < start {
        return Err(format!("`end_line` {end} is before `start_line` {start}."));
    }
    let path = paths::resolve(place, &shop.protected, &parsed.path, Want::Read)?;
    let slice = lines(&path, start, end).map_err(|reason| format!("`{}` {reason}", parsed.path))?;
    let source = format!("file {}", paths::shown(place, &path));
    let summary = slice.count.to_string();
    let note = match (slice.count, slice.more) {
        (0, _) => format!("The file has {} lines; none in this range.", slice.last),
        (_, true) => format!("The file goes on after line {}.", slice.last),
        (_, false) => String::new(),
    };
    Ok(Ran::read(source, slice.text, summary).with_note(note))
}

struct Slice {
    text: String,
    count: usize,
    last: usize,
    more: bool,
}

/// Opens a regular text file; the error continues a sentence that begins with its name.
pub(super) fn open_text(path: &Path) -> Result<BufReader<File>, String> {
    let meta = path
        .metadata()
        .map_err(|error| format!("cannot be read: {error}."))?;
    if meta.is_dir() {
        return Err("is a directory; use list_dir.".to_owned());
    }
    if !meta.is_file() {
        return Err("is not a regular file.".to_owned());
    }
    let file = File::open(path).map_err(|error| format!("cannot be read: {error}."))?;
    let mut reader = BufReader::with_capacity(SNIFFED, file);
    let start = reader
        .fill_buf()
        .map_err(|error| format!("cannot be read: {error}."))?;
    if start.contains(&0) {
        return Err(format!(
            "is binary ({} bytes) and is not shown.",
            meta.len()
        ));
    }
    Ok(reader)
}

fn lines(path: &Path, start: usize, end: usize) -> Result<Slice, String> {
    let mut reader = open_text(path)?;
    let mut slice = Slice {
        text: String::new(),
        count: 0,
        last: 0,
        more: false,
    };
    let mut line = Vec::new();
    loop {
        line.clear();
        // One byte over the bound tells a long line from one that just fits.
        let read = (&mut reader)
            .take(MAX_LINE as u64 + 1)
            .read_until(b'\n', &mut line)
            .map_err(|error| format!("cannot be read: {error}."))?;
        if read == 0 {
            return Ok(slice);
        }
        let cut = line.len() > MAX_LINE && !line.ends_with(b"\n");
        if cut {
            reader
                .skip_until(b'\n')
                .map_err(|error| format!("cannot be read: {error}."))?;
        }
        if slice.last >= end || slice.text.len() > MAX_BYTES {
            slice.more = true;
            return Ok(slice);
        }
        slice.last += 1;
        if slice.last < start {
            continue;
        }
        slice.count += 1;
        let text = String::from_utf8_lossy(&line);
        let shown = text.trim_end_matches(['\n', '\r']);
        slice.text.push_str(&format!("{:>6}\t{shown}", slice.last));
        slice.text.push_str(if cut { " […]\n" } else { "\n" });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_numbered_and_what_follows_is_said() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("a.txt");
        std::fs::write(&path, "one\r\ntwo\nthree\n").unwrap();
        let slice = lines(&path, 2, 2).unwrap();
        assert_eq!(slice.text, "     2\ttwo\n");
        assert!(slice.more);
        let slice = lines(&path, 3, 9).unwrap();
        assert_eq!(
            (slice.text.as_str(), slice.more),
            ("     3\tthree\n", false)
        );
        assert_eq!(lines(&path, 9, 9).unwrap().count, 0);
    }

    #[test]
    fn binary_files_directories_and_endless_lines_are_bounded() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("b");
        std::fs::write(&path, b"\x7fELF\0\0").unwrap();
        assert!(lines(&path, 1, 9).err().unwrap().contains("binary"));
        assert!(lines(root.path(), 1, 9).err().unwrap().contains("list_dir"));
        std::fs::write(&path, "x".repeat(10_000) + "\nend\n").unwrap();
        let slice = lines(&path, 1, 9).unwrap();
        assert!(slice.text.len() < MAX_LINE + 100);
        assert!(slice.text.ends_with("     2\tend\n"));
    }
}
