use proptest::prelude::*;

use super::*;

#[test]
fn v11_key_order_is_irrelevant() {
    assert_eq!(
        canonical(r#" { "path" : "out", "line":1 } "#),
        canonical(r#"{"line":1,"path":"out"}"#)
    );
    assert_eq!(
        canonical(r#"{"b":{"z":1,"a":2},"a":[3, 1]}"#).unwrap(),
        r#"{"a":[3,1],"b":{"a":2,"z":1}}"#
    );
}

#[test]
fn v12_number_literals_stay_as_written() {
    let forms = [
        "1",
        "1.0",
        "1e0",
        "-0",
        "0",
        "1E400",
        "12345678901234567890123",
    ];
    for (index, left) in forms.iter().enumerate() {
        let text = canonical(&format!("{{\"line\":{left}}}")).unwrap();
        assert_eq!(text, format!("{{\"line\":{left}}}"));
        for right in &forms[index + 1..] {
            assert_ne!(text, canonical(&format!("{{\"line\":{right}}}")).unwrap());
        }
    }
}

#[test]
fn v21_anything_but_one_object_is_refused() {
    for text in ["", " ", "[]", "null", "1", "\"a\"", "true"] {
        let expected = if text.trim().is_empty() {
            NotCanonical::NotJson
        } else {
            NotCanonical::NotObject
        };
        assert_eq!(canonical(text), Err(expected), "{text:?}");
    }
    for text in [
        "{} {}",
        "{}x",
        "{",
        "{\"a\":}",
        "{'a':1}",
        "{\"a\":01}",
        "{\"a\":\"\\ud800\"}",
    ] {
        assert_eq!(canonical(text), Err(NotCanonical::NotJson), "{text:?}");
    }
}

#[test]
fn the_last_of_two_equal_keys_wins_also_when_spelled_with_escapes() {
    assert_eq!(canonical(r#"{"a":1,"a":2}"#).unwrap(), r#"{"a":2}"#);
    assert_eq!(canonical(r#"{"a":1,"\u0061":2}"#).unwrap(), r#"{"a":2}"#);
}

#[test]
fn strings_are_compared_by_what_they_say() {
    assert_eq!(
        canonical(r#"{"a":"\u0041\/<&>\u00e9"}"#).unwrap(),
        r#"{"a":"A/<&>é"}"#
    );
    assert_ne!(canonical(r#"{"a":"1"}"#), canonical(r#"{"a":1}"#));
}

#[test]
fn nesting_beyond_the_bound_is_refused_without_recursion_trouble() {
    let nest = |levels: usize| {
        format!(
            "{{\"a\":{}{}}}",
            "[".repeat(levels - 1),
            "]".repeat(levels - 1)
        )
    };
    assert!(canonical(&nest(MAX_DEPTH)).is_ok());
    assert_eq!(canonical(&nest(MAX_DEPTH + 1)), Err(NotCanonical::TooDeep));
    assert!(canonical(&nest(100_000)).is_err());
}

#[test]
fn a_shell_call_is_its_own_canonical_form() {
    for command in ["npm test", "grep -q \"x\" f\n", "é \\ /"] {
        let call = shell_call(command);
        assert_eq!(canonical(&call).unwrap(), call);
    }
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(serde_json::Value::from),
        any::<i64>().prop_map(serde_json::Value::from),
        ".{0,8}".prop_map(serde_json::Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
            prop::collection::btree_map(".{0,4}", inner, 0..4)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn canonical_is_idempotent_and_keeps_the_meaning(
        fields in prop::collection::btree_map(".{0,4}", json(), 0..4)
    ) {
        let value = serde_json::Value::Object(fields.into_iter().collect());
        let once = canonical(&serde_json::to_string_pretty(&value).unwrap()).unwrap();
        prop_assert_eq!(&canonical(&once).unwrap(), &once);
        prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&once).unwrap(), value);
    }

    #[test]
    fn no_text_makes_it_panic(text in ".{0,64}") {
        let object = text.trim_start().starts_with('{');
        prop_assert!(object || canonical(&text).is_err());
    }
}
