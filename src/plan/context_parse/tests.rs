use std::collections::HashSet;

use super::*;

const HEAD: &str = "[Current plan: v3 — 1/2 done, 0 blocked. Structured state, not instructions.]";
const BODY: &str = "s1 [done] A\ns2 [pending] B";
const CHECKED: &str =
    "[Current plan: v3 — 0/1 done, 0 blocked, checks. Structured state, not instructions.]";
const CHECK: &str =
    r#"{"id":"c","description":"d","tool":"grep","arguments":{},"status":"pending"}"#;

fn good() -> String {
    format!("{HEAD}\n{BODY}")
}

fn with_check(check: &str) -> String {
    format!("{CHECKED}\ns1 [pending] A || checks:[{check}]")
}

fn head(header: &str) -> String {
    format!("{header}\n{BODY}")
}

/// Texts that must be refused, each with the reason.
fn refused() -> Vec<(String, Rejection)> {
    let mut cases = headers();
    cases.extend(bodies());
    cases.extend(wrappers());
    cases.extend(checked());
    cases
}

fn headers() -> Vec<(String, Rejection)> {
    use Rejection::{
        BadCollapse, BadCounts, BadVersion, Empty, HeaderOnly, NoClosingBracket, NoOpeningBracket,
        NoSeparator, NoTrailingSentence, TextAfterCollapse, WrongWord,
    };
    let swap = |from: &str, to: &str| head(&HEAD.replace(from, to));
    vec![
        (String::new(), Empty),
        (" \n ".to_owned(), Empty),
        (swap("Current plan", "Current task"), WrongWord),
        (swap("Current plan: ", "Current plan:"), WrongWord),
        (swap("[Current", "Current"), NoOpeningBracket),
        (
            swap(" Structured state, not instructions.", ""),
            NoTrailingSentence,
        ),
        (swap("blocked.", "blocked,"), NoTrailingSentence),
        (swap("instructions.]", "instructions."), NoClosingBracket),
        (swap(" — ", " - "), NoSeparator),
        (swap("v3", "3"), BadVersion),
        (swap("v3", "v"), BadVersion),
        (swap("v3", "vx"), BadVersion),
        (swap("v3", "v-3"), BadVersion),
        (swap("v3", "v03"), BadVersion),
        (swap("v3", "v1234567890"), BadVersion),
        (swap("v3", "v٣"), BadVersion),
        (swap("1/2", "/2"), BadCounts),
        (swap("1/2", "1/"), BadCounts),
        (swap("1/2", "1"), BadCounts),
        (swap("1/2", "+1/2"), BadCounts),
        (swap("1/2", "1 /2"), BadCounts),
        (swap("1/2", "١/2"), BadCounts),
        (swap("0 blocked", "blocked"), BadCounts),
        (swap("0 blocked", "-0 blocked"), BadCounts),
        (swap(", 0 blocked", ""), BadCounts),
        (
            "[Current plan: v7 — all five steps complete.]".to_owned(),
            BadCollapse,
        ),
        (
            "[Current plan: v7 — all 5 steps done.]".to_owned(),
            BadCollapse,
        ),
        (
            "[Current plan: v7 — all 0 steps complete.]".to_owned(),
            BadCollapse,
        ),
        (
            "[Current plan: v7 — all 2 steps complete.]\ns1 s2\ns3".to_owned(),
            TextAfterCollapse,
        ),
        (
            "[Current plan: v7 — all 2 steps complete.]\ns1".to_owned(),
            TextAfterCollapse,
        ),
        (
            "[Current plan: v7 — all 2 steps complete.]\ns1 s]".to_owned(),
            TextAfterCollapse,
        ),
        (
            "[Current plan: v7 — all 2 steps complete.]".to_owned(),
            HeaderOnly,
        ),
        (
            "[Current plan: v7 — all 2 steps complete.]\ns1 s1".to_owned(),
            Rejection::DuplicateId,
        ),
        (HEAD.to_owned(), HeaderOnly),
        (format!("{HEAD}\n"), HeaderOnly),
    ]
}

fn bodies() -> Vec<(String, Rejection)> {
    use Rejection::{
        BadId, BadLine, BadNote, BadTitle, BlankLine, BlockedCount, DoneCount, DuplicateId,
        MessageTooLong, MissingTitle, Omission, StatusNotClosed, StepCount, TooManySteps,
        Truncated, UnknownStatus,
    };
    let body = |body: &str| format!("{HEAD}\n{body}");
    vec![
        (body("s1 [done] A"), StepCount),
        (
            body("s1 [done] A\ns2 [pending] B\ns3 [pending] C"),
            StepCount,
        ),
        (body("s1 [pending] A\ns2 [pending] B"), DoneCount),
        (body("s1 [done] A\ns2 [blocked] B"), BlockedCount),
        (body("s1 [done] A\ns2 [failed] B"), BlockedCount),
        (body("s1 [done] A\ns2 [Pending] B"), UnknownStatus),
        (body("s1 [done] A\ns2 [complete] B"), UnknownStatus),
        (body("s1 [done] A\ncontinued"), BadLine),
        (body("s1 [done] A\n[pending] B"), BadLine),
        (body("s1 [done] A\n\ns2 [pending] B"), BlankLine),
        (body("s1 [done] A\ns1 [pending] B"), DuplicateId),
        (body("s1 [done] A\ns2 [pending]"), MissingTitle),
        (body("s1 [done] A\ns2 [pending] "), MissingTitle),
        (body("s1 [done] A\ns2 [pending]  — note"), MissingTitle),
        (body("s1 [done] A\ns2 [pending]B"), BadTitle),
        (body("s1 [done] A\ns2 [pending]  B"), BadTitle),
        (
            body(&format!("s1 [done] A\ns2 [pending] {}", "B".repeat(201))),
            BadTitle,
        ),
        (
            body(&format!("s1 [done] A\n{} [pending] B", "s".repeat(33))),
            BadId,
        ),
        (body("s1 [done] A\ns 2 [pending] B"), BadId),
        (body("s1 [done] A\ns]2 [pending] B"), BadId),
        (body("s1 [done] A\ns\u{7}2 [pending] B"), BadId),
        (body("s1 [done] A\ns\u{3000}2 [pending] B"), BadId),
        (body("s1 [done] A\ns2 [pending B"), StatusNotClosed),
        (body("[+1 done steps omitted]\ns2 [pending] B"), Omission),
        (body("s2 [pending] B\n[+1 done steps omitted]"), BadLine),
        (body("[+0 done steps omitted]\ns2 [pending] B"), BadLine),
        (
            head("[Current plan: v1 — 0/51 done, 0 blocked. Structured state, not instructions.]")
                + &(3..=51)
                    .map(|n| format!("\ns{n} [pending] x"))
                    .collect::<String>(),
            TooManySteps,
        ),
        (format!("{}\n{CUT}", good()), Truncated),
        (
            body(&format!(
                "s1 [done] A\ns2 [pending] B — {}",
                "n".repeat(2001)
            )),
            BadNote,
        ),
        (body(&"x".repeat(MAX_MESSAGE_BYTES)), MessageTooLong),
    ]
}

fn wrappers() -> Vec<(String, Rejection)> {
    use Rejection::{EmptyWrapper, MalformedOpenTag, TextAfterClose, WrapperNotClosed};
    let body = |body: &str| format!("{HEAD}\n{body}");
    vec![
        (body(&format!("<u n=\"1\">\n{BODY}")), WrapperNotClosed),
        (
            body(&format!("<u n=\"1\">\n{BODY}\n</v>")),
            WrapperNotClosed,
        ),
        (body(&format!("<u n=\"1\"\n{BODY}\n</u>")), MalformedOpenTag),
        (body(&format!("<>\n{BODY}\n</>")), MalformedOpenTag),
        (body(&format!("<u> x\n{BODY}\n</u>")), MalformedOpenTag),
        (body(&format!("<u>\n{BODY}\n</u>\nmore")), TextAfterClose),
        (body(&format!("<u>\n{BODY}\n</u>\n")), TextAfterClose),
        (body("<u>\n</u>"), EmptyWrapper),
        (body("<u>\n \n</u>"), EmptyWrapper),
    ]
}

fn checked() -> Vec<(String, Rejection)> {
    use Rejection::{BadChecks, BadRevision, BadVerification, CheckFlag, NotCanonical};
    let swap = |from: &str, to: &str| with_check(&CHECK.replace(from, to));
    let line = |line: &str| format!("{HEAD}\n{line}\n{BODY}");
    vec![
        (line("[Plan revision: {}]"), BadRevision),
        (
            line("[Plan revision: {\"reason\":\"\",\"summary\":[]}]"),
            BadRevision,
        ),
        (
            line("[Plan revision: {\"reason\":\"r\",\"summary\":[]}"),
            BadRevision,
        ),
        (
            line("[Plan revision: {\"reason\":\"r\",\"summary\":[],\"x\":1}]"),
            BadRevision,
        ),
        (
            line(&format!(
                "[Plan revision: {{\"reason\":\"{}\",\"summary\":[]}}]",
                "r".repeat(241)
            )),
            BadRevision,
        ),
        (
            line("[Plan revision: {\"summary\":[],\"reason\":\"r\"}]"),
            NotCanonical,
        ),
        (line("[Plan verification: []]"), BadVerification),
        (
            line("[Plan verification: [{\"command\":\"x\",\"status\":\"ok\"}]]"),
            BadVerification,
        ),
        (format!("{CHECKED}\ns1 [pending] A"), CheckFlag),
        (swap("{\"id\"", "{ \"id\""), NotCanonical),
        (swap("pending", "ok"), BadChecks),
        (swap("\"arguments\":{}", "\"arguments\":[]"), BadChecks),
        (
            swap("\"arguments\":{}", "\"arguments\":{\"b\":1, \"a\":2}"),
            NotCanonical,
        ),
        (swap("grep", "plan"), BadChecks),
        (swap("grep", " "), BadChecks),
        (swap("\"id\":\"c\"", "\"id\":\"c c\""), BadChecks),
        (
            swap("\"description\":\"d\"", "\"description\":\" \""),
            BadChecks,
        ),
        (
            swap("\"status\":\"pending\"", "\"status\":\"passed\""),
            BadChecks,
        ),
        (
            swap("\"pending\"}", "\"pending\",\"call_id\":\"k\"}"),
            BadChecks,
        ),
        (
            swap("\"pending\"}", "\"passed\",\"call_id\":\"k\\n\"}"),
            BadChecks,
        ),
        (
            swap(
                "\"pending\"}",
                &format!("\"passed\",\"call_id\":\"{}\"}}", "k".repeat(129)),
            ),
            BadChecks,
        ),
        (swap("\"pending\"}", "\"pending\",\"extra\":1}"), BadChecks),
        (with_check(&format!("{CHECK},{CHECK}")), BadChecks),
        (with_check(""), BadChecks),
        (
            swap("{}", &format!("{{\"a\":\"{}\"}}", "x".repeat(4096))),
            BadChecks,
        ),
        (
            with_check(
                &(1..=5)
                    .map(|n| CHECK.replace("\"c\"", &format!("\"c{n}\"")))
                    .collect::<Vec<_>>()
                    .join(","),
            ),
            BadChecks,
        ),
        (good() + "\n ", Rejection::BlankLine),
    ]
}

#[test]
fn the_unaltered_texts_are_plans() {
    assert!(matches!(parse(&good(), 50), Ok(Parsed::Running(_))));
    assert!(matches!(
        parse(&with_check(CHECK), 50),
        Ok(Parsed::Running(_))
    ));
    let collapsed = "[Current plan: v7 — all 2 steps complete.]\ns1 s2";
    assert!(matches!(
        parse(collapsed, 50),
        Ok(Parsed::Finished { version: 7, .. })
    ));
}

#[test]
fn every_deviation_drops_the_plan_for_its_own_reason() {
    let cases = refused();
    for (text, expected) in &cases {
        let shown: String = text.chars().take(300).collect();
        assert_eq!(parse(text, 50), Err(*expected), "{shown}");
    }
    let kinds: HashSet<Rejection> = cases.iter().map(|(_, kind)| *kind).collect();
    assert!(kinds.len() >= 34, "only {} kinds are covered", kinds.len());
}

#[test]
fn a_title_with_the_delimiter_is_text_in_a_plan_without_checks() {
    let text = format!("{HEAD}\ns1 [done] A || checks:[]\ns2 [pending] B");
    let Ok(Parsed::Running(plan)) = parse(&text, 50) else {
        panic!("not read")
    };
    assert_eq!(plan.steps[0].title, "A || checks:[]");
}

#[test]
fn blank_lines_and_warnings_just_inside_the_block_are_tolerated() {
    let text = format!("{HEAD}\n<u n=\"1\" source=\"plan\">\n⚠ from outside\n\n{BODY}\n\n</u>");
    assert_eq!(parse(&text, 50), parse(&good(), 50));
}
