//! Every locale is whole: the same keys, the same variables, the plural forms of its language, and every
//! key is used.

use std::collections::{BTreeMap, BTreeSet};

use fluent_syntax::ast::{
    Entry, Expression, InlineExpression, Pattern, PatternElement, Resource, Variant, VariantKey,
};
use regex::Regex;

use crate::source::{files, relative, root, sources};

/// What a message needs.
#[derive(Default)]
struct Message {
    variables: BTreeSet<String>,
    /// Sets of plural categories, one for each selection by number.
    plurals: Vec<BTreeSet<String>>,
}

type Locale = BTreeMap<String, Message>;

/// Plural categories of whole numbers and, where fractions differ, of those. Source: CLDR.
fn categories(tag: &str) -> (&'static [&'static str], &'static [&'static str]) {
    match tag {
        "ar" => (
            &["one", "two", "few", "many", "other"],
            &["zero", "one", "two", "few", "many", "other"],
        ),
        "ru" | "uk" | "pl" => (
            &["one", "few", "many", "other"],
            &["one", "few", "many", "other"],
        ),
        "es" | "pt-BR" | "fr" | "it" => (&["one", "other"], &["one", "many", "other"]),
        "id" | "zh-Hans" | "zh-Hant" | "ja" | "ko" => (&["other"], &["other"]),
        _ => (&["one", "other"], &["one", "other"]),
    }
}

fn tags() -> Vec<String> {
    let mut tags: Vec<String> = std::fs::read_dir(root().join("locales"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    tags.sort();
    tags
}

fn locale(tag: &str) -> Locale {
    let mut messages = Locale::new();
    for file in files(&format!("locales/{tag}"), ".ftl") {
        let name = relative(&file);
        let text = std::fs::read_to_string(&file).unwrap();
        let resource: Resource<String> = fluent_syntax::parser::parse(text)
            .unwrap_or_else(|(_, errors)| panic!("{name}: {errors:?}"));
        for entry in resource.body {
            match entry {
                Entry::Message(message) => {
                    let mut found = Message::default();
                    message
                        .value
                        .iter()
                        .for_each(|value| pattern(value, &mut found));
                    let twice = messages.insert(message.id.name.clone(), found).is_some();
                    assert!(!twice, "{name}: {} stands twice", message.id.name);
                }
                Entry::Junk { content } => panic!("{name}: cannot read {content}"),
                Entry::Term(_)
                | Entry::Comment(_)
                | Entry::GroupComment(_)
                | Entry::ResourceComment(_) => {}
            }
        }
    }
    messages
}

fn pattern(pattern: &Pattern<String>, found: &mut Message) {
    for element in &pattern.elements {
        if let PatternElement::Placeable { expression: inner } = element {
            expression(inner, found);
        }
    }
}

fn expression(expression: &Expression<String>, found: &mut Message) {
    match expression {
        Expression::Inline(inner) => inline(inner, found),
        Expression::Select { selector, variants } => {
            inline(selector, found);
            plural(variants, found);
            variants
                .iter()
                .for_each(|variant| pattern(&variant.value, found));
        }
    }
}

fn inline(inner: &InlineExpression<String>, found: &mut Message) {
    match inner {
        InlineExpression::VariableReference { id } => {
            found.variables.insert(id.name.clone());
        }
        InlineExpression::Placeable { expression: inner } => expression(inner, found),
        InlineExpression::FunctionReference { arguments, .. } => {
            arguments
                .positional
                .iter()
                .for_each(|argument| inline(argument, found));
        }
        InlineExpression::StringLiteral { .. }
        | InlineExpression::NumberLiteral { .. }
        | InlineExpression::MessageReference { .. }
        | InlineExpression::TermReference { .. } => {}
    }
}

fn plural(variants: &[Variant<String>], found: &mut Message) {
    let names: BTreeSet<String> = variants
        .iter()
        .filter_map(|variant| match &variant.key {
            VariantKey::Identifier { name } => Some(name.clone()),
            VariantKey::NumberLiteral { .. } => None,
        })
        .collect();
    let all = ["zero", "one", "two", "few", "many", "other"];
    if names.iter().all(|name| all.contains(&name.as_str())) {
        found.plurals.push(names);
    }
}

#[test]
fn every_locale_has_the_keys_and_variables_of_english() {
    let english = locale("en");
    let mut faults = Vec::new();
    for tag in tags() {
        let other = locale(&tag);
        for key in english.keys().filter(|key| !other.contains_key(*key)) {
            faults.push(format!("{tag}: {key} is missing"));
        }
        for (key, message) in &other {
            match english.get(key) {
                None => faults.push(format!("{tag}: {key} is not in English")),
                Some(wanted) if wanted.variables != message.variables => faults.push(format!(
                    "{tag}: {key} has {:?}, English {:?}",
                    message.variables, wanted.variables
                )),
                Some(_) => {}
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_plural_has_the_forms_of_its_language() {
    let mut faults = Vec::new();
    for tag in tags() {
        let (needed, possible) = categories(&tag);
        for (key, message) in locale(&tag) {
            for forms in &message.plurals {
                let missing = needed.iter().filter(|form| !forms.contains(**form));
                let wrong = forms
                    .iter()
                    .filter(|form| !possible.contains(&form.as_str()));
                for form in missing {
                    faults.push(format!("{tag}: {key} lacks [{form}]"));
                }
                for form in wrong {
                    faults.push(format!("{tag}: {key} has [{form}], which never occurs"));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Keys that calls name directly, with the file.
fn named_keys() -> Vec<(String, String)> {
    let call = Regex::new(
        r#"(?:\btr\(\s*(?:[^,()"]|\([^()]*\))*,\s*|\bFault::user\(\s*|\bConfigError::new\(\s*|\bbad\(\s*)"([a-z0-9_-]+)""#,
    )
    .unwrap();
    let mut keys = Vec::new();
    for source in sources() {
        for capture in call.captures_iter(&source.text) {
            keys.push((source.path.clone(), capture[1].to_owned()));
        }
    }
    keys
}

#[test]
fn every_key_that_the_code_names_exists() {
    let english = locale("en");
    let faults: Vec<String> = named_keys()
        .into_iter()
        .filter(|(_, key)| !english.contains_key(key))
        .map(|(path, key)| format!("{path}: {key} is in no locale"))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_key_is_used() {
    let sources = sources();
    let literals: BTreeSet<&str> = sources
        .iter()
        .flat_map(|source| &source.literals)
        .map(String::as_str)
        .collect();
    // A key that is put together, such as "flow-state-{name}", uses every key of that shape.
    let composed = Regex::new(r"^[a-z0-9-]*-\{\w*\}[a-z0-9-]*$").unwrap();
    let hole = Regex::new(r"\{\w*\}").unwrap();
    let shapes: Vec<Regex> = literals
        .iter()
        .filter(|literal| composed.is_match(literal))
        .map(|literal| {
            let shape = hole.replace_all(literal, "[a-z0-9_-]+");
            Regex::new(&format!("^{shape}$")).unwrap()
        })
        .collect();
    let unused: Vec<String> = locale("en")
        .into_keys()
        .filter(|key| !literals.contains(key.as_str()))
        .filter(|key| !shapes.iter().any(|shape| shape.is_match(key)))
        .collect();
    assert!(unused.is_empty(), "unused keys:\n{}", unused.join("\n"));
}
