use super::*;

const GOLDEN: &str = "# Add session plan Approve gate\n\n## Context\n- **Problem:** Plan mode has no structured design doc before execution.\n- **Target state:** Users Approve a `.md` plan, then checklist runs automatically.\n- **Intent:** Ship Track A for TUI and Telegram in v1.\n\n## Implementation steps\n1. Add Approve validator — implement Rust scan in Phase 6 harness.\n2. Wire seed turn — synthetic user message, add_tasks, start.\n   - Done when: empty tasks triggers idle retry via /execute (forbidden while turn running).\n";

fn context(problem: &str) -> String {
    format!(
        "# T\n\n## Context\n{problem}\n- **Target state:** b\n- **Intent:** c\n\n## Implementation steps\n1. Do it\n"
    )
}

fn with_steps(steps: &str) -> String {
    format!(
        "## Context\n- **Problem:** a\n- **Target state:** b\n- **Intent:** c\n## Implementation steps\n{steps}"
    )
}

fn titles(md: &str) -> Vec<String> {
    steps(md).into_iter().map(|step| step.title).collect()
}

#[test]
fn the_golden_fixture_can_be_approved_and_maps_to_two_steps() {
    assert_eq!(missing(GOLDEN, 50), []);
    assert_eq!(
        steps(GOLDEN),
        [
            Step {
                title: "Add Approve validator".to_owned(),
                description: "implement Rust scan in Phase 6 harness.".to_owned(),
                done_when: vec![],
                commands: vec![],
            },
            Step {
                title: "Wire seed turn".to_owned(),
                description: "synthetic user message, add_tasks, start.".to_owned(),
                done_when: vec![
                    "empty tasks triggers idle retry via /execute (forbidden while turn running)."
                        .to_owned()
                ],
                commands: vec![],
            },
        ]
    );
    assert_eq!(
        title(GOLDEN).as_deref(),
        Some("Add session plan Approve gate")
    );
    assert_eq!(
        sections(GOLDEN)
            .iter()
            .map(|section| section.heading.as_str())
            .collect::<Vec<_>>(),
        ["Context", "Implementation steps"]
    );
}

#[test]
fn every_edge_of_the_context_is_judged() {
    use Missing::Problem;
    let cases: &[(&str, &[Missing])] = &[
        ("- **Problem:** a", &[]),
        ("- **Problem:** TBD", &[]),
        ("* **Problem:** a", &[]),
        ("+ **Problem:** a", &[]),
        ("**Problem:** a", &[]),
        ("- **Problem**: a", &[]),
        ("- **Problem:**a", &[]),
        ("  - **Problem:** a", &[]),
        ("- **Problem:**\n  goes on here", &[]),
        ("- **Problem:**\n\tgoes on here", &[]),
        ("- **Problem:**\n  - as a bullet", &[]),
        ("- **Problem:**\n  -\n  - second", &[]),
        ("- **Problem:** a <!-- hidden -->", &[]),
        ("- **Problem:**\r\n  goes on here\r", &[]),
        ("- **Problem:**\n- **Problem:** a", &[]),
        ("- **Problem:**", &[Problem]),
        ("- **Problem:**   ", &[Problem]),
        ("- **Problem:** \u{a0}\u{3000}", &[Problem]),
        ("- **Problem:** \u{200b}\u{feff}", &[Problem]),
        ("- **Problem:** <!-- fill in -->", &[Problem]),
        ("- **Problem:**\nnot indented", &[Problem]),
        ("- **Problem:**\n\n  after a blank line", &[Problem]),
        ("- **Problem:**\n  - **Constraints:** x", &[Problem]),
        ("- **Problem:**\n  -", &[Problem]),
        ("- **Problem:**\n  ```\n  code\n  ```", &[Problem]),
        ("```\n- **Problem:** in code\n```", &[Problem]),
        ("~~~~\n~~~\n- **Problem:** in code\n~~~~", &[Problem]),
        ("- Problem: a", &[Problem]),
        ("- **problem:** a", &[Problem]),
        ("- **Problems:** a", &[Problem]),
        ("Some **Problem:** a", &[Problem]),
        ("## Other\n- **Problem:** elsewhere\n## Context", &[Problem]),
        ("### Deeper\n- **Problem:** still inside", &[]),
    ];
    for (text, expected) in cases {
        assert_eq!(missing(&context(text), 50), *expected, "{text:?}");
    }
}

#[test]
fn every_edge_of_the_headings_and_steps_is_judged() {
    use Missing::{NumberedStep, Steps, TooManySteps};
    let cases: &[(&str, &[Missing])] = &[
        ("1. Do it", &[]),
        ("1) Do it", &[]),
        ("  3. Do it", &[]),
        ("10. Do it", &[]),
        ("Words first.\n\n1. Do it", &[]),
        ("### Part one\n1. Do it", &[]),
        ("", &[NumberedStep]),
        ("- Do it", &[NumberedStep]),
        ("1.", &[NumberedStep]),
        ("1.  \u{200b}", &[NumberedStep]),
        ("1.Do it", &[NumberedStep]),
        ("v1. Do it", &[NumberedStep]),
        ("    1. in code", &[NumberedStep]),
        ("```\n1. in code\n```", &[NumberedStep]),
        ("```\n1. code is never closed", &[NumberedStep]),
        ("## Notes\n1. elsewhere", &[NumberedStep]),
        ("# New title\n1. elsewhere", &[NumberedStep]),
        ("1. a\n2. b\n3. c", &[TooManySteps]),
    ];
    for (text, expected) in cases {
        assert_eq!(missing(&with_steps(text), 2), *expected, "{text:?}");
    }
    let heading = |text: &str| {
        missing(
            &with_steps("1. a").replace("## Implementation steps", text),
            9,
        )
    };
    for good in [
        "## Implementation steps  ",
        "##  Implementation steps",
        "## Implementation steps ##",
        "  ## Implementation steps",
    ] {
        assert_eq!(heading(good), [], "{good:?}");
    }
    for bad in [
        "# Implementation steps",
        "### Implementation steps",
        "##Implementation steps",
        "## Implementation Steps",
        "## Implementation stepsX",
        "    ## Implementation steps",
        "Implementation steps",
    ] {
        assert_eq!(heading(bad), [Steps, NumberedStep], "{bad:?}");
    }
}

#[test]
fn a_blank_file_and_an_empty_outline_name_everything() {
    for blank in ["", " \n\t\n", "<!-- nothing -->\n", "\u{feff}\n"] {
        assert_eq!(missing(blank, 9), [Missing::Everything], "{blank:?}");
    }
    assert_eq!(
        missing("# Title\n", 9),
        [
            Missing::Context,
            Missing::Problem,
            Missing::TargetState,
            Missing::Intent,
            Missing::Steps,
            Missing::NumberedStep
        ]
    );
    assert_eq!(
        missing(&scaffold("T"), 9),
        [
            Missing::Problem,
            Missing::TargetState,
            Missing::Intent,
            Missing::NumberedStep
        ]
    );
}

#[test]
fn titles_end_at_the_first_dash_or_sentence() {
    for (text, title, rest) in [
        ("A — b — c", "A", "b — c"),
        ("A – b", "A", "b"),
        ("A - b", "A", "b"),
        (
            "Well-known thing. Then more. Yes",
            "Well-known thing",
            "Then more. Yes",
        ),
        ("**Bold** — b", "Bold", "b"),
        ("Only a title.", "Only a title", ""),
        ("Only a title", "Only a title", ""),
        (" — b", "- b", ""),
    ] {
        assert_eq!(split_title(text), (title.to_owned(), rest), "{text:?}");
    }
    for (given, step) in [
        ("correct the adder", "Correct the adder"),
        ("1. Correct the `adder`.", "Correct the adder"),
        ("Correct the adder — change calc.py", "Correct the adder"),
        ("**Correct**  the adder", "Correct the adder"),
    ] {
        assert!(same_title(given, step), "{given:?}");
    }
    assert!(!same_title("Delete everything", "Correct the adder"));
}

#[test]
fn done_when_bullets_become_criteria_and_single_commands_checks() {
    let md = with_steps(
        "1. First — do\n   more words\n   - a bullet\n   - Done when: it works\n   - **Done when:** `cargo test`\n   - done when: run `x` now\n\
         2. Second\n   1. a nested number\n   - Done when:\n     - one\n     - `two`\n   - after\n- Done when: three\n",
    );
    let found = steps(&md);
    assert_eq!(titles(&md), ["First", "Second"]);
    assert_eq!(found[0].description, "do\nmore words\n- a bullet");
    assert_eq!(
        found[0].done_when,
        ["it works", "`cargo test`", "run `x` now"]
    );
    assert_eq!(found[0].commands, ["cargo test"]);
    assert_eq!(found[1].done_when, ["one", "`two`", "three"]);
    assert_eq!(found[1].commands, ["two"]);
    assert_eq!(found[1].description, "1. a nested number\n- after");
}

#[test]
fn verification_takes_single_commands_of_its_list_only() {
    let md = format!(
        "{GOLDEN}\n## Verification\nProse `no`\n- `cargo test`\n* `sh check.sh`\n1. `make lint`\n- run `x`\n- ``a `b` c``\n- `cargo test`\n```\n- `in code`\n```\n## Notes\n- `not here`\n"
    );
    assert_eq!(
        verification(&md),
        ["cargo test", "sh check.sh", "make lint", "a `b` c"]
    );
    assert_eq!(backticked("`a` and `b`"), None);
}

#[test]
fn line_ends_do_not_change_the_revision_but_text_does() {
    let unix = "a\nb\n";
    assert_eq!(revision(unix), revision("a\r\nb\r\n"));
    assert_eq!(revision(unix), revision("a\rb\r"));
    assert_ne!(revision(unix), revision("a\nb"));
    assert_eq!(
        revision(""),
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    );
}
