//! Key + arguments → string, from `locales/<tag>/*.ftl` (Fluent).

use std::borrow::Cow;
use std::collections::HashMap;

use fluent_templates::fluent_bundle::FluentValue;
use fluent_templates::{Loader, static_loader};
use unic_langid::LanguageIdentifier;

static_loader! {
    static LOCALES = {
        locales: "./locales",
        fallback_language: "en",
        // Right-to-left text is isolated where it meets commands and paths, not at every placeable.
        customise: |bundle| bundle.set_use_isolating(false),
    };
}

/// The sentence for `key` in the locale `language`, with `arguments` by name; English where the locale
/// has none. A value that is a whole number selects plural forms.
#[must_use]
pub fn tr(language: &str, key: &str, arguments: &[(&str, &str)]) -> String {
    let tag: LanguageIdentifier = language.parse().unwrap_or_default();
    let arguments: HashMap<Cow<'static, str>, FluentValue<'_>> = arguments
        .iter()
        .map(|(name, value)| {
            let value = value
                .parse::<i64>()
                .map_or_else(|_| FluentValue::from(*value), FluentValue::from);
            (Cow::Owned((*name).to_owned()), value)
        })
        .collect();
    LOCALES
        .try_lookup_with_args(&tag, key, &arguments)
        .unwrap_or_else(|| key.to_owned())
}

/// The locale tags that are complete, in alphabetical order.
#[must_use]
pub fn languages() -> Vec<String> {
    let mut tags: Vec<String> = LOCALES.locales().map(ToString::to_string).collect();
    tags.sort();
    tags
}
