use super::*;
use crate::plan::template;

fn meaningful(command: &str) -> bool {
    command.contains("test")
}

fn draft() -> Draft {
    serde_json::from_value(serde_json::json!({
        "title": "Fix login",
        "context": {"problem": "It fails.\n## Context", "target_state": "It works.", "intent": "Asked.", "constraints": ["no new crates", "keep the API"]},
        "steps": [
            {"id": "look", "title": "Look - around", "detail": "Read src.\nAll of it.", "action": "inspect"},
            {"title": "Correct it", "detail": "Compare hashes — carefully.", "action": "change", "targets": "src/login.rs",
             "depends_on": ["look"], "done_when": ["`cargo test login`", "nobody complains"]},
            {"title": "Check it", "detail": "Run all.", "depends_on": [2]}
        ],
        "verification": ["cargo test"],
        "assumptions": null
    }))
    .unwrap()
}

#[test]
fn a_draft_renders_to_a_plan_that_can_be_approved() {
    let draft = draft();
    assert_eq!(check(&draft, &meaningful, 50), Ok(()));
    let md = render(&draft);
    assert_eq!(template::missing(&md, 50), [], "{md}");
    let steps = template::steps(&md);
    assert_eq!(
        steps
            .iter()
            .map(|step| step.title.as_str())
            .collect::<Vec<_>>(),
        ["Look: around", "Correct it", "Check it"]
    );
    assert_eq!(steps[1].commands, ["cargo test login"]);
    assert!(md.contains("   - Depends on step 1\n") && md.contains("   - Depends on step 2\n"));
    assert_eq!(template::verification(&md), ["cargo test"]);
    assert!(md.contains("- **Constraints:** no new crates; keep the API\n"));
}

#[test]
fn each_rule_of_a_submission_is_named_by_its_path() {
    type Spoil = fn(&mut Draft);
    let cases: &[(Spoil, &str)] = &[
        (|d| d.title = " ".to_owned(), "draft.title"),
        (|d| d.title = "x".repeat(201), "draft.title"),
        (
            |d| d.context.intent = "\u{a0}".to_owned(),
            "draft.context.intent",
        ),
        (|d| d.steps.clear(), "at least one step"),
        (|d| d.steps[1].targets.clear(), "at least one target"),
        (|d| d.steps[1].id = Some("look".to_owned()), "used twice"),
        (
            |d| d.steps[0].depends_on = vec!["3".to_owned()],
            "not an earlier step",
        ),
        (
            |d| d.steps[0].depends_on = vec!["look".to_owned()],
            "not an earlier step",
        ),
        (
            |d| d.steps[0].depends_on = vec!["ghost".to_owned()],
            "unknown step ghost",
        ),
        (
            |d| d.steps[0].detail = " ".to_owned(),
            "draft.steps[0].detail",
        ),
        (
            |d| d.verification = vec!["echo done".to_owned()],
            "can fail",
        ),
        (|d| d.verification.clear(), "can fail"),
        (|d| d.verification.push("a\nb".to_owned()), "one line"),
        (
            |d| d.steps[2].detail = "Details are TBD.".to_owned(),
            "\"TBD\"",
        ),
        (
            |d| d.assumptions = vec!["The name is to be determined".to_owned()],
            "\"to be determined\"",
        ),
        (
            |d| d.steps[0].title = "Add a placeholder".to_owned(),
            "\"Add a placeholder\"",
        ),
    ];
    for (spoil, expected) in cases {
        let mut draft = draft();
        spoil(&mut draft);
        let error = check(&draft, &meaningful, 50).unwrap_err();
        assert!(error.contains(expected), "{error:?} lacks {expected:?}");
    }
    assert!(
        check(&draft(), &meaningful, 2)
            .unwrap_err()
            .contains("at most 2")
    );
}

#[test]
fn plans_about_placeholders_are_not_placeholders() {
    for fine in [
        "Fix input placeholder",
        "Replace TODO",
        "Render the field with placeholder text",
        "Remove the stubs",
    ] {
        assert_eq!(placeholder(fine), None, "{fine}");
    }
    for unsettled in [
        "once provided",
        "needs  clarification",
        "requirements are unspecified",
        "use placeholder",
        "placeholder until then",
    ] {
        assert!(placeholder(unsettled).is_some(), "{unsettled}");
    }
}
