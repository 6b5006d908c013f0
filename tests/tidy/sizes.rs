//! How long things get, and what tests may not do.

use regex::Regex;

use crate::source::{item_end, sources};

/// Lines of a file.
const FILE_LINES: usize = 600;
/// Lines of a function.
const FUNCTION_LINES: usize = 100;

fn check(complaint: &str, faults: Vec<String>) {
    assert!(faults.is_empty(), "{complaint}:\n{}", faults.join("\n"));
}

#[test]
fn no_file_is_too_long() {
    let faults = sources()
        .iter()
        .map(|source| (source.path.clone(), source.raw.lines().count()))
        .filter(|(_, lines)| *lines > FILE_LINES)
        .map(|(path, lines)| format!("{path}: {lines} lines"))
        .collect();
    check("files over 600 lines", faults);
}

#[test]
fn no_function_is_too_long() {
    let function = Regex::new(r"\bfn\s+(\w+)").unwrap();
    let mut faults = Vec::new();
    for source in sources() {
        for capture in function.captures_iter(&source.code) {
            let whole = capture.get(0).unwrap();
            let end = item_end(source.code.as_bytes(), whole.start());
            let lines = source.line(end.min(source.code.len())) - source.line(whole.start()) + 1;
            if lines > FUNCTION_LINES {
                let line = source.line(whole.start());
                faults.push(format!(
                    "{}:{line}: {} has {lines} lines",
                    source.path, &capture[1]
                ));
            }
        }
    }
    check("functions over 100 lines", faults);
}

#[test]
fn no_test_sleeps() {
    let thread = Regex::new(r"\bthread::sleep\b|\bsleep_ms\b").unwrap();
    let timer = Regex::new(r"\btime::sleep\b|\bsleep\(").unwrap();
    let mut faults = Vec::new();
    for source in sources() {
        // With paused time a timer is an event like any other.
        let paused = source.raw.contains("start_paused") || source.raw.contains("time::pause");
        let test = source.test_code();
        let found = thread
            .find_iter(&test)
            .chain(timer.find_iter(&test).filter(|_| !paused));
        for hit in found {
            faults.push(format!(
                "{}:{}: {}",
                source.path,
                source.line(hit.start()),
                hit.as_str()
            ));
        }
    }
    check("tests that sleep", faults);
}

#[test]
fn nothing_is_printed_past_the_command_line() {
    let print = Regex::new(r"\b(e?println|e?print|dbg|todo|unimplemented)!").unwrap();
    let mut faults = Vec::new();
    for source in sources() {
        for hit in print.find_iter(&source.product) {
            faults.push(format!(
                "{}:{}: {}",
                source.path,
                source.line(hit.start()),
                hit.as_str()
            ));
        }
    }
    check("printing or unfinished", faults);
}
