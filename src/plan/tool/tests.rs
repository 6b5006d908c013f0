use super::*;

fn ok(text: &str) -> Parsed {
    parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn no(text: &str) -> Rejection {
    parse(text).expect_err(text)
}

fn titles(parsed: &Parsed) -> Vec<String> {
    let (Operation::Init(Init::Checklist { tasks, .. }) | Operation::AddTasks { tasks }) =
        &parsed.operation
    else {
        panic!("{:?}", parsed.operation)
    };
    tasks.iter().map(|task| task.title.clone()).collect()
}

#[test]
fn every_example_parses_without_a_note_and_stands_in_the_description() {
    for (name, text) in EXAMPLES {
        let parsed = ok(text);
        assert_eq!(parsed.operation.name(), *name);
        assert_eq!(parsed.notes, [] as [String; 0], "{name} teaches a synonym");
        if !matches!(*name, "submit" | "check_replace") {
            assert!(DESCRIPTION.contains(text), "{name}");
        }
    }
}

#[test]
fn synonyms_are_understood_with_a_note_that_teaches() {
    let create = ok(r#"{"verb":"create","title":"x","steps":["Look","Fix"]}"#);
    assert_eq!(titles(&create), ["Look", "Fix"]);
    assert_eq!(create.notes.len(), 3, "{:?}", create.notes);
    let wrapped = ok(r#"{"verb":"create","create":{"title":"T","steps":[{"title":"A"}]}}"#);
    assert_eq!(titles(&wrapped), ["A"]);
    assert!(
        wrapped
            .notes
            .iter()
            .any(|note| note.contains("`create`; put them")),
        "{:?}",
        wrapped.notes
    );
    let one = ok(
        r#"{"operation":"add_task","title":"A","description":"d","dependencies":[1],"task_type":"edit"}"#,
    );
    assert_eq!(titles(&one), ["A"]);
    for key in ["id", "step_id"] {
        let parsed = ok(&format!(
            r#"{{"operation":"complete","{key}":"t1","outcome":"SUCCESS"}}"#
        ));
        assert_eq!(parsed.notes.len(), 1);
        assert_eq!(
            parsed.operation,
            Operation::Complete {
                task_id: "t1".to_owned(),
                outcome: Outcome::Success,
                note: None
            }
        );
    }
    let single = ok(r#"{"operation":"update","task_id":"t1","status":"done"}"#);
    assert_eq!(
        single.operation,
        Operation::Update {
            updates: vec![Update {
                id: "t1".to_owned(),
                status: Some(NewStatus::Completed),
                note: None
            }]
        }
    );
    assert_eq!(single.notes.len(), 1);
    let flat = r#"{"operation":"submit","title":"T","context":{"problem":"p","target_state":"t","intent":"i"},"steps":[{"title":"a","detail":"b"}]}"#;
    assert_eq!(ok(flat).notes.len(), 1);
}

#[test]
fn mode_follows_the_tasks_and_import_ignores_it() {
    let design = ok(r#"{"operation":"init","title":"T"}"#);
    assert_eq!(design.operation.gate_kind(), PlanOperation::InitDesign);
    let list = ok(r#"{"operation":"init","title":"T","tasks":[{"title":"a"}]}"#);
    assert_eq!(list.operation.gate_kind(), PlanOperation::InitChecklist);
    let import = ok(r#"{"operation":"init","file_path":"/a/b.json","mode":"design"}"#);
    assert_eq!(
        import.operation,
        Operation::Init(Init::Import {
            path: "/a/b.json".into()
        })
    );
    assert!(matches!(
        ok(r#"{"operation":"init","title":"T","mode":"design","tasks":["a"]}"#).operation,
        Operation::Init(Init::Design {
            with_tasks: true,
            ..
        })
    ));
}

/// A call, its class, and words of the problem.
const MISSHAPEN: &[(&str, Class, &str)] = &[
    ("[]", Class::ParseError, "one JSON object"),
    ("{} {}", Class::ParseError, "one JSON object"),
    ("null", Class::ParseError, "one JSON object"),
    (r#"{"title":"x"}"#, Class::MissingField, "init, submit"),
    (
        r#"{"operation":"launch"}"#,
        Class::UnknownOperation,
        "\"launch\"",
    ),
    (
        r#"{"operation":"start","verb":"get"}"#,
        Class::AliasConflict,
        "two operations",
    ),
    (
        r#"{"operation":"init","title":"x","tasks":[{"title":"a"}],"steps":[]}"#,
        Class::AliasAmbiguous,
        "'steps'",
    ),
    (
        r#"{"operation":"init","title":"x","tasks":null,"operations":[{"id":"a"}]}"#,
        Class::AliasAmbiguous,
        "'operations'",
    ),
    (
        r#"{"verb":"create","operations":[{"title":"a"}]}"#,
        Class::WrongFieldName,
        "did you mean 'tasks'",
    ),
    (
        r#"{"operation":"init","title":"x","mode":"plan"}"#,
        Class::Shape,
        "unknown mode",
    ),
    (
        r#"{"operation":"add_tasks","tasks":[]}"#,
        Class::MissingField,
        "at least one",
    ),
    (
        r#"{"operation":"add_tasks","wrap":{"tasks":["bare"]}}"#,
        Class::MissingField,
        "at least one",
    ),
    (
        r#"{"operation":"complete","outcome":"success"}"#,
        Class::MissingField,
        "task_id",
    ),
    (
        r#"{"operation":"complete","task_id":"  "}"#,
        Class::MissingField,
        "id required",
    ),
    (
        r#"{"operation":"complete","task_id":"a","id":"b"}"#,
        Class::AliasConflict,
        "two tasks",
    ),
    (
        r#"{"operation":"complete","task_id":"a","outcome":"maybe"}"#,
        Class::Shape,
        "maybe",
    ),
    (
        r#"{"operation":"update","changes":[]}"#,
        Class::WrongFieldName,
        "'updates'",
    ),
    (
        r#"{"operation":"update","task_id":"a","updates":[{"id":"a","status":"done"},{"id":"b","status":"done"}]}"#,
        Class::AliasConflict,
        "list",
    ),
    (
        r#"{"operation":"update","task_id":"a","updates":[{"id":"b","status":"done"}]}"#,
        Class::AliasConflict,
        "two tasks",
    ),
    (
        r#"{"operation":"update","updates":[{"id":"a","status":"odd"}]}"#,
        Class::Shape,
        "odd",
    ),
    (
        r#"{"operation":"revise","operations":[{"kind":"move","task_id":"a"}]}"#,
        Class::MissingField,
        "reason",
    ),
    (
        r#"{"operation":"revise","reason":"r","operations":[{"kind":"move","task_id":"a","after_id":"b","before_id":"c"}]}"#,
        Class::AliasConflict,
        "not both",
    ),
    (
        r#"{"operation":"revise","reason":"r","operations":[{"kind":"burn"}]}"#,
        Class::Shape,
        "burn",
    ),
    (
        r#"{"operation":"check_replace","task_id":"a","check_id":"c","justification":"j"}"#,
        Class::MissingField,
        "evidence_note",
    ),
    (r#"{"operation":"submit"}"#, Class::MissingField, "draft"),
];

#[test]
fn what_is_ambiguous_or_misshapen_is_rejected_with_its_class() {
    for (text, class, words) in MISSHAPEN {
        let error = no(text);
        assert_eq!(error.class, *class, "{text}: {error}");
        assert!(error.text.contains(words), "{error}");
        let (_, example) = error
            .text
            .rsplit_once("Valid example: ")
            .expect("an example");
        ok(example);
    }
    assert_eq!(
        ok(r#"{"operation":"update","task_id":"a","updates":[{"id":"a","status":"done"}]}"#)
            .operation
            .name(),
        "update"
    );
}

#[test]
fn v35_a_key_of_500_characters_is_cut_in_the_error() {
    let error = no(&format!(r#"{{"{}":1}}"#, "k".repeat(500)));
    assert!(error.text.chars().count() <= 400, "{error}");
    assert!(error.text.contains(&"k".repeat(48)) && !error.text.contains(&"k".repeat(49)));
    let many: Vec<String> = (0..12).map(|n| format!("\"k{n:02}\":1")).collect();
    let error = no(&format!("{{{}}}", many.join(",")));
    assert!(error.text.contains("k07, and 4 more]"), "{error}");
}

#[test]
fn v20_numbers_of_a_check_stay_as_written_and_its_claimed_status_is_ignored() {
    let parsed = ok(
        r#"{"operation":"add_tasks","tasks":[{"title":"a","checks":[{"tool":"read_file","arguments":{"line":1.0,"b":1e0},"status":"passed","call_id":"x"}]}]}"#,
    );
    let Operation::AddTasks { tasks } = parsed.operation else {
        panic!("add_tasks")
    };
    assert_eq!(
        tasks[0].checks,
        [NewCheck {
            id: None,
            description: String::new(),
            tool: "read_file".to_owned(),
            arguments: r#"{"line":1.0,"b":1e0}"#.to_owned()
        }]
    );
}

#[test]
fn the_schema_has_no_references_and_names_every_operation() {
    let text = schema().to_string();
    assert!(
        !text.contains("$ref") && !text.contains("$defs") && !text.contains("definitions"),
        "{text}"
    );
    for (name, _) in EXAMPLES {
        assert!(text.contains(&format!("\"{name}\"")), "{name}");
    }
}
