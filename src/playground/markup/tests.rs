use serde_json::{Value, json};

use super::*;

fn spans(value: &Value) -> Vec<Span> {
    serde_json::from_value(value.clone()).unwrap()
}

#[test]
fn text_is_stored_as_telegrams_own_library_would_store_it() {
    for line in include_str!("normalised.jsonl").lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let text = case["text"].as_str().unwrap();
        let got = normalise(text, &spans(&case["entities"])).unwrap();
        let want = (
            case["stored"].as_str().unwrap().to_owned(),
            spans(&case["stored_entities"]),
        );
        assert_eq!(got, want, "{line}");
    }
}

#[test]
fn an_entity_outside_the_text_or_inside_a_surrogate_pair_is_refused() {
    for (offset, length, words) in [
        (5, 1, "begins after the end"),
        (0, 9, "ends after the end"),
        (1, 1, "begins in a middle"),
        (0, 1, "ends in a middle"),
    ] {
        let refusal = normalise("😀ab", &[Span::new("bold", offset, length)]).unwrap_err();
        assert!(refusal.text.contains(words), "{}", refusal.text);
    }
}

#[test]
fn links_to_files_are_refused_and_found_kinds_are_ignored() {
    let bad = json!([{"type": "text_link", "offset": 0, "length": 1, "url": "src/main.rs:3"}]);
    assert!(parse_spans(Some(bad)).is_err());
    let found = json!([{"type": "url", "offset": 0, "length": 1}]);
    assert_eq!(parse_spans(Some(found)).unwrap(), Vec::new());
}

#[test]
fn a_path_is_no_command_and_a_command_keeps_its_address() {
    let kinds = |text: &str| -> Vec<(String, usize, usize)> {
        detect(text, Vec::new())
            .into_iter()
            .map(|span| (span.kind, span.offset, span.length))
            .collect()
    };
    assert_eq!(kinds("/etc/hosts"), Vec::new());
    assert_eq!(
        kinds("/plan@some_bot now"),
        vec![("bot_command".to_owned(), 0, 14)]
    );
    assert_eq!(kinds("😀 @some_bot"), vec![("mention".to_owned(), 3, 9)]);
}
