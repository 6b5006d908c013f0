//! What the repository must say and must not say.

use regex::Regex;

use crate::source::{files, relative, root};

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn the_lints_are_denied() {
    let manifest: toml::Table = read("Cargo.toml").parse().unwrap();
    let lints = manifest["lints"]["clippy"].as_table().unwrap();
    for lint in [
        "unwrap_used",
        "expect_used",
        "panic",
        "indexing_slicing",
        "todo",
        "dbg_macro",
        "print_stdout",
        "print_stderr",
        "await_holding_lock",
        "let_underscore_must_use",
        "wildcard_enum_match_arm",
        "too_many_lines",
        "allow_attributes_without_reason",
    ] {
        assert_eq!(
            lints.get(lint).and_then(|level| level.as_str()),
            Some("deny"),
            "{lint}"
        );
    }
    let rust = manifest["lints"]["rust"].as_table().unwrap();
    for lint in ["unsafe_code", "missing_docs"] {
        assert!(
            matches!(rust[lint].as_str(), Some("deny" | "forbid")),
            "{lint}"
        );
    }
    assert!(manifest["package"].get("rust-version").is_some());
}

#[test]
fn the_readme_has_one_command_to_try_and_one_to_test() {
    let readme = read("README.md");
    for command in ["cargo run --release -- playground", "cargo test"] {
        let lines = readme.lines().filter(|line| line.trim() == command).count();
        assert_eq!(lines, 1, "{command}");
    }
    let script = read(".ci/run");
    assert!(script.lines().any(|line| line.trim() == "cargo test"));
}

#[test]
fn the_top_level_holds_nothing_else() {
    let allowed = [
        "Cargo.toml",
        "Cargo.lock",
        "src",
        "locales",
        "tests",
        "deploy",
        "README.md",
        "CHANGELOG.md",
        "LICENSE-MIT",
        "LICENSE-APACHE",
        "deny.toml",
        "clippy.toml",
        ".ci",
        ".git",
        ".gitignore",
        ".dockerignore",
        "target",
    ];
    for entry in std::fs::read_dir(root()).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        // What a tool puts there and the ignore file names is no part of the repository.
        let ignored = read(".gitignore")
            .lines()
            .any(|line| line.trim_matches('/') == name);
        assert!(ignored || allowed.contains(&name.as_str()), "{name}");
    }
}

#[test]
fn every_text_speaks_of_the_project_alone() {
    // Put together here so that this file does not find itself.
    let machine = ["work", "root", "home/user"]
        .map(|dir| format!(r"(^|[^\w.])/{dir}/"))
        .join("|");
    let found = Regex::new(&machine).unwrap();
    let mut faults = Vec::new();
    let mut paths = files("src", ".rs");
    for (dir, ending) in [
        ("tests", ".rs"),
        ("locales", ".ftl"),
        ("deploy", ""),
        (".ci", ""),
    ] {
        paths.extend(files(dir, ending));
    }
    paths.extend(["README.md", "CHANGELOG.md", "Cargo.toml"].map(|name| root().join(name)));
    for path in paths {
        let Ok(text) = std::fs::read_to_string(&path) else {
            continue;
        };
        for (number, line) in text.lines().enumerate() {
            if found.is_match(line) {
                faults.push(format!("{}:{}: {line}", relative(&path), number + 1));
            }
        }
    }
    assert!(
        faults.is_empty(),
        "paths of one machine:\n{}",
        faults.join("\n")
    );
}
