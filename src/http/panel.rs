//! The read-only panel: embedded files and the sentences they show. It holds no data of its own; the page
//! asks `/api` with the token that its reader types.

use std::fmt;
use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use rust_embed::RustEmbed;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::guard::refuse;

/// Language and key to sentence; the program hands in its locales.
pub type Translate = Arc<dyn Fn(&str, &str) -> String + Send + Sync>;

/// The panel's sentences.
#[derive(Clone)]
pub struct Words {
    /// Looks a sentence up.
    pub translate: Translate,
    /// Tags of the locales on offer.
    pub languages: Vec<String>,
    /// Tag for readers whose language is not on offer.
    pub default: String,
}

impl fmt::Debug for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Words")
            .field("languages", &self.languages)
            .field("default", &self.default)
            .finish_non_exhaustive()
    }
}

/// Languages written from right to left.
const RIGHT_TO_LEFT: [&str; 2] = ["ar", "fa"];

/// Keys of `http.ftl` that the page needs.
pub const PANEL_KEYS: [&str; 85] = [
    "panel-subtitle",
    "panel-sessions",
    "panel-usage",
    "panel-flow",
    "panel-plan",
    "panel-language",
    "panel-back",
    "panel-token-title",
    "panel-token-help",
    "panel-token-field",
    "panel-token-enter",
    "panel-token-wrong",
    "panel-token-none",
    "panel-token-wait",
    "panel-forget",
    "panel-offline",
    "panel-empty-title",
    "panel-empty-body",
    "panel-choose",
    "panel-gone",
    "panel-running",
    "panel-idle",
    "panel-queued",
    "panel-turn",
    "panel-model",
    "panel-context",
    "panel-elapsed",
    "panel-flow-none",
    "panel-plan-none",
    "panel-version",
    "panel-revision",
    "panel-approved",
    "panel-criteria",
    "panel-checks",
    "panel-verification",
    "panel-missing",
    "panel-done",
    "panel-face-discussing",
    "panel-face-editing",
    "panel-face-ready",
    "panel-face-not_ready",
    "panel-face-seeding",
    "panel-face-seed_failed",
    "panel-face-partial_seed",
    "panel-face-running",
    "panel-face-corrupt",
    "panel-mark-pending",
    "panel-mark-in_progress",
    "panel-mark-completed",
    "panel-mark-skipped",
    "panel-mark-failed",
    "panel-mark-blocked",
    "panel-mark-recheck",
    "panel-evidence-pending",
    "panel-evidence-passed",
    "panel-evidence-failed",
    "panel-evidence-stale",
    "panel-evidence-blocked",
    "panel-evidence-attested",
    "panel-call-running",
    "panel-call-ok",
    "panel-call-failed",
    "panel-call-refused",
    "panel-call-interrupted",
    "panel-call-cancelled",
    "panel-today",
    "panel-lifetime",
    "panel-turns",
    "panel-requests",
    "panel-calls",
    "panel-input",
    "panel-cached",
    "panel-output",
    "panel-day-limit",
    "panel-unlimited",
    "panel-plans-created",
    "panel-plans-updated",
    "panel-plans-blocked",
    "panel-models",
    "panel-known",
    "panel-now",
    "panel-seconds",
    "panel-minutes",
    "panel-hours",
    "panel-days",
];

#[derive(RustEmbed)]
#[folder = "src/http/panel/"]
struct Assets;

pub(super) fn router(words: Words) -> Router {
    Router::new()
        .route("/", get(|| async { asset("index.html") }))
        .route("/panel/words", get(sentences))
        .route(
            "/panel/{*path}",
            get(|Path(path): Path<String>| async move { asset(&path) }),
        )
        .with_state(words)
}

fn asset(path: &str) -> Response {
    let Some(file) = Assets::get(path) else {
        return refuse(StatusCode::NOT_FOUND, "not_found");
    };
    let kind = file.metadata.mimetype().to_owned();
    ([(header::CONTENT_TYPE, kind)], file.data.into_owned()).into_response()
}

#[derive(Deserialize)]
struct InLanguage {
    #[serde(default)]
    lang: String,
}

async fn sentences(State(words): State<Words>, Query(wanted): Query<InLanguage>) -> Json<Value> {
    let language = words.nearest(&wanted.lang);
    let all: Map<String, Value> = PANEL_KEYS
        .iter()
        .map(|key| {
            let short = key.trim_start_matches("panel-").to_owned();
            (short, json!((words.translate)(language, key)))
        })
        .collect();
    Json(json!({
        "language": language,
        "right_to_left": RIGHT_TO_LEFT.contains(&language),
        "languages": words.languages,
        "words": all,
    }))
}

impl Words {
    /// The locale on offer that is nearest to a browser's tag.
    fn nearest(&self, wanted: &str) -> &str {
        let primary = |tag: &str| {
            tag.split('-')
                .next()
                .unwrap_or_default()
                .to_ascii_lowercase()
        };
        self.languages
            .iter()
            .find(|tag| tag.eq_ignore_ascii_case(wanted))
            .or_else(|| {
                self.languages
                    .iter()
                    .find(|tag| primary(tag) == primary(wanted))
            })
            .unwrap_or(&self.default)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_language_is_chosen() {
        let words = Words {
            translate: Arc::new(|_, key| key.to_owned()),
            languages: ["en", "pt-BR", "ru"].map(str::to_owned).to_vec(),
            default: "en".to_owned(),
        };
        for (wanted, chosen) in [
            ("ru", "ru"),
            ("ru-RU", "ru"),
            ("pt-PT", "pt-BR"),
            ("PT-br", "pt-BR"),
            ("xx", "en"),
            ("", "en"),
        ] {
            assert_eq!(words.nearest(wanted), chosen, "{wanted}");
        }
    }

    #[test]
    fn the_page_puts_text_in_as_text_alone() {
        let mut scripts = 0;
        for name in Assets::iter() {
            let file = Assets::get(&name).unwrap();
            let text = String::from_utf8_lossy(&file.data).into_owned();
            if name.ends_with(".js") {
                scripts += 1;
                for word in [
                    "innerHTML",
                    "outerHTML",
                    "insertAdjacentHTML",
                    "document.write",
                    "eval(",
                    "Function(",
                    "localStorage",
                    ".srcdoc",
                ] {
                    assert!(!text.contains(word), "{name}: {word}");
                }
            }
            if name.ends_with(".html") {
                for word in [" style=", " onclick=", "<script>", "http://", "https://"] {
                    assert!(!text.contains(word), "{name}: {word}");
                }
            }
        }
        assert!(scripts >= 3);
    }

    #[test]
    fn every_word_of_the_page_is_handed_over() {
        let named = regex::Regex::new(r#"(?:\bt\(|data-t=|data-hint=)"([a-z_-]+)""#).unwrap();
        for name in Assets::iter() {
            let file = Assets::get(&name).unwrap();
            for found in named.captures_iter(&String::from_utf8_lossy(&file.data)) {
                let key = format!("panel-{}", &found[1]);
                assert!(PANEL_KEYS.contains(&key.as_str()), "{name}: {key}");
            }
        }
    }
}
