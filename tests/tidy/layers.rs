//! Who may import whom, and what stays pure.

use regex::Regex;

use crate::source::{Source, sources};

/// Modules in the order of the table, with what each may import besides itself.
const TABLE: &[(&str, &[&str])] = &[
    ("domain", &[]),
    ("text", &["domain"]),
    ("i18n", &["domain"]),
    ("config", &["domain"]),
    ("plan", &["domain", "text"]),
    ("agent", &["domain", "text", "plan"]),
    ("flow", &["domain", "text", "i18n", "plan"]),
    ("llm", &["domain", "config"]),
    ("tools", &["domain", "config", "text", "plan"]),
    ("store", &["domain", "config"]),
    ("telegram", &["domain", "config", "text", "i18n"]),
    (
        "session",
        &[
            "domain", "text", "i18n", "config", "plan", "agent", "flow", "llm", "tools", "store",
            "telegram",
        ],
    ),
    ("http", &["domain", "config", "store", "telegram"]),
    ("playground", &["domain", "config", "llm", "text"]),
];

/// Roots and wiring, which may name everything.
const FREE: &[&str] = &["app", "main", "lib"];

fn check(complaint: &str, faults: Vec<String>) {
    assert!(faults.is_empty(), "{complaint}:\n{}", faults.join("\n"));
}

/// Every path below `crate::` in the product code, groups resolved one level deep, with its place.
fn imports(source: &Source) -> Vec<(usize, String)> {
    let path = Regex::new(r"\bcrate::(\{|[\w:]+(?:\{[^}]*\})?)").unwrap();
    let mut found = Vec::new();
    for capture in path.captures_iter(&source.product) {
        let whole = capture.get(1).unwrap();
        if whole.as_str() != "{" {
            found.push((whole.start(), whole.as_str().split_whitespace().collect()));
            continue;
        }
        let mut depth = 0;
        let mut item = String::new();
        for char in source.product[whole.start()..].chars() {
            match char {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            if depth == 0 || (depth == 1 && matches!(char, ',' | '{')) {
                found.push((whole.start(), std::mem::take(&mut item)));
            } else if !char.is_whitespace() {
                item.push(char);
            }
            if depth == 0 {
                break;
            }
        }
    }
    found.retain(|(_, path)| !path.is_empty());
    found
}

#[test]
fn every_import_points_up_the_table() {
    let mut faults = Vec::new();
    for source in sources() {
        let Some(module) = source.module().filter(|module| !FREE.contains(module)) else {
            continue;
        };
        let Some((_, allowed)) = TABLE.iter().find(|(name, _)| *name == module) else {
            faults.push(format!("{}: the module is not in the table", source.path));
            continue;
        };
        for (at, path) in imports(source) {
            let target = path.split([':', '{']).next().unwrap_or_default();
            let known = TABLE.iter().any(|(name, _)| *name == target) || FREE.contains(&target);
            if known && target != module && !allowed.contains(&target) {
                let line = source.line(at);
                faults.push(format!(
                    "{}:{line}: {module} may not import {target}",
                    source.path
                ));
            }
        }
    }
    check("imports against the table", faults);
}

#[test]
fn tools_see_only_the_permit_of_the_plan_and_flow_only_its_read_model() {
    let mut faults = Vec::new();
    for source in sources() {
        let allowed: &[&str] = match source.module() {
            Some("tools") => &["plan::gate::Permit", "plan::gate::{Permit}"],
            Some("flow") => &["plan::view"],
            _ => continue,
        };
        for (at, path) in imports(source) {
            let fine = allowed.iter().any(|allowed| path.starts_with(allowed));
            if path.starts_with("plan") && !fine {
                faults.push(format!("{}:{}: {path}", source.path, source.line(at)));
            }
        }
    }
    check("too much of the plan", faults);
}

#[test]
fn pure_modules_name_no_runtime_client_clock_file_or_random_source() {
    let impure = Regex::new(
        r"\b(tokio|reqwest|teloxide|axum|SystemTime|Instant::now|Utc::now|Local::now|rand|Uuid::(new|now)\w*|(std::)?(fs|env|process|net)::\w+|thread::sleep|tempfile)\b",
    )
    .unwrap();
    let mut faults = Vec::new();
    for source in sources() {
        let pure = matches!(
            source.module(),
            Some("plan" | "agent" | "flow" | "text" | "domain")
        );
        if !pure || source.path.starts_with("src/plan/store") {
            continue;
        }
        for found in impure.find_iter(&source.product) {
            let line = source.line(found.start());
            faults.push(format!("{}:{line}: {}", source.path, found.as_str()));
        }
    }
    check("impure", faults);
}

#[test]
fn one_module_knows_the_database_and_one_the_model_client() {
    let mut faults = Vec::new();
    for (name, home) in [("sled", "store"), ("genai", "llm")] {
        let word = Regex::new(&format!(r"\b{name}::")).unwrap();
        for source in sources() {
            if source.module().is_some_and(|module| module != home) {
                for found in word.find_iter(&source.product) {
                    let line = source.line(found.start());
                    faults.push(format!("{}:{line}: {name}", source.path));
                }
            }
        }
    }
    check("named outside its module", faults);
}

#[test]
fn only_the_outbox_can_send() {
    let method = Regex::new(
        r"^/?(send[A-Z]\w+|editMessage\w+|forwardMessages?|copyMessages?|deleteMessages?)$",
    )
    .unwrap();
    let mut faults = Vec::new();
    for source in sources() {
        let may = source.path.starts_with("src/telegram/outbox")
            || source.path.starts_with("src/telegram/api")
            || source.module() == Some("playground")
            || source.module().is_none();
        if may {
            continue;
        }
        for literal in &source.literals {
            if method.is_match(literal) {
                faults.push(format!("{}: {literal}", source.path));
            }
        }
    }
    check("sends past the outbox", faults);
}
