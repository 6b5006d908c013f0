//! Arguments of calls: typed, strict, and explained to the model when they are wrong.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Longest raw argument text that is parsed, in bytes.
const MAX_ARGUMENTS: usize = 2 * 1024 * 1024;

/// Parses raw JSON arguments. The error names what is wrong and shows a valid example.
pub(super) fn parse<T: DeserializeOwned>(
    tool: &str,
    raw: &str,
    example: &str,
) -> Result<T, String> {
    if raw.len() > MAX_ARGUMENTS {
        return Err(format!(
            "The arguments of `{tool}` are longer than {MAX_ARGUMENTS} bytes. Split the work into smaller calls."
        ));
    }
    let text = if raw.trim().is_empty() { "{}" } else { raw };
    serde_json::from_str(text).map_err(|error| {
        format!("The arguments of `{tool}` are not valid: {error}. A valid example: {example}")
    })
}

/// The JSON schema of `T` without references, because several servers reject them.
pub(super) fn schema<T: JsonSchema>() -> Value {
    let generator = SchemaSettings::draft07()
        .with(|settings| {
            settings.inline_subschemas = true;
            settings.meta_schema = None;
        })
        .into_generator();
    let mut value = generator.into_root_schema_for::<T>().to_value();
    if let Some(object) = value.as_object_mut() {
        object.remove("title");
        object.remove("description");
    }
    value
}

/// One line of at most 120 characters, for the flow.
pub(super) fn one_line(text: &str) -> String {
    const MAX: usize = 120;
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > MAX * 4 {
            break;
        }
    }
    if line.chars().count() <= MAX {
        return line;
    }
    let mut cut: String = line.chars().take(MAX - 1).collect();
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Sample {
        /// A path.
        path: String,
    }

    #[test]
    fn wrong_arguments_are_named_and_an_example_is_shown() {
        let error = parse::<Sample>("demo", r#"{"pat":"x"}"#, r#"{"path":"x"}"#).unwrap_err();
        assert!(error.contains("unknown field `pat`"), "{error}");
        assert!(
            error.ends_with(r#"A valid example: {"path":"x"}"#),
            "{error}"
        );
        assert_eq!(
            parse::<Sample>("demo", r#"{"path":"a"}"#, "").unwrap().path,
            "a"
        );
    }

    #[test]
    fn a_schema_is_closed_and_has_no_references() {
        let schema = schema::<Sample>();
        assert_eq!(schema["additionalProperties"], Value::Bool(false));
        assert!(!schema.to_string().contains("$ref"));
    }

    #[test]
    fn a_line_for_the_flow_is_short_and_single() {
        let line = one_line(&"many words\n".repeat(100));
        assert_eq!(line.chars().count(), 120);
        assert!(!line.contains('\n'));
    }
}
