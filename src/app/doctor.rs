//! `greenlight doctor`: what must be right before the bot can work, each as one line.

use std::path::Path;
use std::time::Duration;

use chrono::{DateTime, Utc};
use secrecy::ExposeSecret;

use crate::config::{self, Adapter, ConfigError, ModelSettings, SandboxMode, Settings};
use crate::domain::Fault;
use crate::i18n::tr;
use crate::store::{Store, StoreError, Table};
use crate::tools::sandbox;

/// Patience with one request.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Seconds that the clock may differ from Telegram's.
const MAX_SKEW: i64 = 60;
/// Dead letters that are listed.
const SHOWN_LETTERS: usize = 5;

/// How a check went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grade {
    /// Fine.
    Good,
    /// Works, but worth knowing.
    Note,
    /// Must be mended.
    Bad,
}

/// One line of the report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// How it went.
    pub grade: Grade,
    /// What was found.
    pub fault: Fault,
}

impl Check {
    fn new(grade: Grade, key: &str, arguments: &[(&str, &str)]) -> Self {
        Self {
            grade,
            fault: Fault::user(key, arguments),
        }
    }
}

/// Runs every check; settings that do not load are the only one then.
pub async fn run(loaded: Result<Settings, ConfigError>, language: &str) -> Vec<Check> {
    let settings = match loaded {
        Ok(settings) => settings,
        Err(error) => {
            return vec![Check {
                grade: Grade::Bad,
                fault: error.0,
            }];
        }
    };
    let mut checks = vec![Check::new(Grade::Good, "doctor-config", &[])];
    telegram(&settings, &mut checks).await;
    checks.push(match settings.telegram.owner {
        Some(id) => Check::new(Grade::Good, "doctor-owner", &[("id", &id.to_string())]),
        None => Check::new(Grade::Note, "doctor-no-owner", &[]),
    });
    match &settings.model {
        Some(model) => checks.push(probe_model(model).await),
        None => checks.push(Check::new(Grade::Note, "doctor-no-model", &[])),
    }
    checks.push(workspace(&settings.workspace));
    checks.push(sandbox(settings.tools.sandbox));
    store(&settings.home, &mut checks).await;
    checks.push(versions(language));
    checks
}

/// Whether nothing must be mended.
#[must_use]
pub fn passed(checks: &[Check]) -> bool {
    checks.iter().all(|check| check.grade != Grade::Bad)
}

/// The report for people.
#[must_use]
pub fn lines(checks: &[Check], language: &str) -> Vec<String> {
    checks
        .iter()
        .map(|check| {
            let sign = match check.grade {
                Grade::Good => "✓",
                Grade::Note => "•",
                Grade::Bad => "✗",
            };
            format!("{sign} {}", super::cli::sentence(language, &check.fault))
        })
        .collect()
}

fn client() -> Result<reqwest::Client, reqwest::Error> {
    reqwest::Client::builder().timeout(TIMEOUT).build()
}

/// Token and clock, both from one `getMe`.
async fn telegram(settings: &Settings, checks: &mut Vec<Check>) {
    let Some(token) = &settings.telegram.token else {
        checks.push(Check::new(Grade::Bad, "config-no-token", &[]));
        return;
    };
    let api = settings.telegram.api_url.as_str();
    let url = format!("{api}/bot{}/getMe", token.expose_secret());
    let sent = match client() {
        Ok(client) => client.post(url).send().await,
        Err(error) => Err(error),
    };
    let answer = match sent {
        Ok(answer) => answer,
        Err(error) => {
            // The address of a request holds the token.
            let reason = reason(&error.without_url());
            let arguments = [("url", api), ("reason", reason.as_str())];
            checks.push(Check::new(
                Grade::Bad,
                "doctor-telegram-unreachable",
                &arguments,
            ));
            return;
        }
    };
    let date = answer
        .headers()
        .get("date")
        .and_then(|date| date.to_str().ok())
        .and_then(|date| DateTime::parse_from_rfc2822(date).ok());
    let status = answer.status();
    let body: serde_json::Value = answer.json().await.unwrap_or_default();
    let name = body
        .pointer("/result/username")
        .and_then(|name| name.as_str());
    checks.push(match name {
        Some(name) => Check::new(Grade::Good, "doctor-token", &[("name", name)]),
        None if matches!(status.as_u16(), 401 | 404) => {
            Check::new(Grade::Bad, "doctor-token-refused", &[])
        }
        None => {
            let reason = status.as_str().to_owned();
            let arguments = [("url", api), ("reason", reason.as_str())];
            Check::new(Grade::Bad, "doctor-telegram-unreachable", &arguments)
        }
    });
    if let Some(date) = date {
        let skew = (Utc::now() - date.with_timezone(&Utc)).num_seconds().abs();
        let arguments = [("seconds", skew.to_string())];
        let arguments = arguments
            .each_ref()
            .map(|(name, value)| (*name, value.as_str()));
        checks.push(if skew <= MAX_SKEW {
            Check::new(Grade::Good, "doctor-clock", &[])
        } else {
            Check::new(Grade::Bad, "doctor-clock-wrong", &arguments)
        });
    }
}

/// Asks the provider for its list of models: enough to learn whether address and key are right.
async fn probe_model(model: &ModelSettings) -> Check {
    let name = model.name.as_str();
    let key = model
        .api_key
        .as_ref()
        .map(|key| key.expose_secret().to_owned())
        .unwrap_or_default();
    let (root, path) = match model.adapter {
        Adapter::Demo => return Check::new(Grade::Note, "doctor-model-demo", &[]),
        Adapter::Openai => ("https://api.openai.com/v1/", "models"),
        Adapter::Anthropic => ("https://api.anthropic.com/v1/", "models"),
        Adapter::Gemini => (
            "https://generativelanguage.googleapis.com/v1beta/",
            "models",
        ),
        Adapter::Ollama => ("http://localhost:11434/", "api/tags"),
    };
    let root = model.base_url.as_deref().unwrap_or(root);
    let sent = match client() {
        Ok(client) => {
            let mut request = client.get(format!("{root}{path}"));
            if !key.is_empty() {
                request = match model.adapter {
                    Adapter::Openai | Adapter::Ollama | Adapter::Demo => request.bearer_auth(key),
                    Adapter::Anthropic => request
                        .header("x-api-key", key)
                        .header("anthropic-version", "2023-06-01"),
                    Adapter::Gemini => request.header("x-goog-api-key", key),
                };
            }
            request.send().await
        }
        Err(error) => Err(error),
    };
    match sent {
        Ok(answer) if matches!(answer.status().as_u16(), 401 | 403) => Check::new(
            Grade::Bad,
            "doctor-model-refused",
            &[("setting", "model.api_key")],
        ),
        Ok(answer) if answer.status().is_server_error() => {
            let status = answer.status().as_u16().to_string();
            let arguments = [("name", name), ("status", status.as_str())];
            Check::new(Grade::Note, "doctor-model-unwell", &arguments)
        }
        Ok(_) => Check::new(Grade::Good, "doctor-model", &[("name", name)]),
        Err(error) => {
            let reason = reason(&error.without_url());
            let arguments = [("setting", "model.base_url"), ("reason", reason.as_str())];
            Check::new(Grade::Bad, "doctor-model-unreachable", &arguments)
        }
    }
}

/// The innermost cause, which says more than "error sending request".
fn reason(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

fn workspace(path: &Path) -> Check {
    let shown = path.display().to_string();
    if !path.is_dir() {
        return Check::new(Grade::Bad, "config-no-workspace", &[("path", &shown)]);
    }
    match tempfile::NamedTempFile::new_in(path) {
        Ok(_) => Check::new(Grade::Good, "doctor-workspace", &[("path", &shown)]),
        Err(_) => Check::new(
            Grade::Note,
            "doctor-workspace-read-only",
            &[("path", &shown)],
        ),
    }
}

fn sandbox(mode: SandboxMode) -> Check {
    match (mode, sandbox::probe().is_available()) {
        (SandboxMode::Workspace, false) => Check::new(Grade::Bad, "doctor-no-sandbox", &[]),
        (SandboxMode::Off, false) => Check::new(Grade::Note, "doctor-no-sandbox-off", &[]),
        (SandboxMode::Off, true) => Check::new(Grade::Note, "doctor-sandbox-off", &[]),
        (SandboxMode::Workspace, true) => Check::new(Grade::Good, "doctor-sandbox", &[]),
    }
}

async fn store(home: &Path, checks: &mut Vec<Check>) {
    let path = home.display().to_string();
    if !home.exists() {
        checks.push(Check::new(
            Grade::Good,
            "doctor-store-new",
            &[("path", &path)],
        ));
        return;
    }
    let store = match Store::open(home).await {
        Ok(store) => store,
        Err(StoreError::Locked(_)) => {
            checks.push(Check::new(
                Grade::Good,
                "doctor-store-running",
                &[("path", &path)],
            ));
            return;
        }
        Err(error) => {
            checks.push(Check {
                grade: Grade::Bad,
                fault: error.fault(),
            });
            return;
        }
    };
    if let Some(quarantine) = &store.report().quarantined {
        let moved = quarantine.moved_to.display().to_string();
        let rows = quarantine.rows.to_string();
        let arguments = [("path", moved.as_str()), ("rows", rows.as_str())];
        checks.push(Check::new(
            Grade::Bad,
            "doctor-store-quarantined",
            &arguments,
        ));
    } else {
        checks.push(Check::new(Grade::Good, "doctor-store", &[("path", &path)]));
    }
    dead_letters(&store, checks).await;
    if let Err(error) = store.stop().await {
        checks.push(Check {
            grade: Grade::Bad,
            fault: error.fault(),
        });
    }
}

/// Updates that were given up on: how many, and the ids of the newest.
async fn dead_letters(store: &Store, checks: &mut Vec<Check>) {
    let letters = store
        .scan::<serde_json::Value>(Table::DeadLetters, &[])
        .await;
    match letters {
        Ok(letters) if letters.is_empty() => {}
        Ok(letters) => {
            let ids: Vec<String> = letters
                .iter()
                .rev()
                .take(SHOWN_LETTERS)
                .map(|(key, _)| letter_id(key))
                .collect();
            let (count, ids) = (letters.len().to_string(), ids.join(", "));
            let arguments = [("count", count.as_str()), ("ids", ids.as_str())];
            checks.push(Check::new(Grade::Note, "doctor-dead-letters", &arguments));
        }
        Err(error) => checks.push(Check {
            grade: Grade::Bad,
            fault: error.fault(),
        }),
    }
}

/// The update id at the end of a key: bot id, then four big-endian bytes.
fn letter_id(key: &[u8]) -> String {
    key.last_chunk::<4>()
        .map(|bytes| u32::from_be_bytes(*bytes).to_string())
        .unwrap_or_default()
}

fn versions(language: &str) -> Check {
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let missing: Vec<&str> = ["bash", "git"]
        .into_iter()
        .filter(|program| !on_path(program))
        .collect();
    let version = env!("CARGO_PKG_VERSION");
    if missing.is_empty() {
        let arguments = [("version", version), ("kernel", kernel.trim())];
        return Check::new(Grade::Good, "doctor-versions", &arguments);
    }
    let names = missing.join(&tr(language, "doctor-and", &[]));
    Check::new(Grade::Bad, "doctor-programs-missing", &[("names", &names)])
}

fn on_path(program: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|dir| dir.join(program).is_file()))
}

/// The settings in force as lines, without secrets, for a bug report.
#[must_use]
pub fn settings_lines(settings: &Settings) -> Vec<String> {
    config::shown(settings)
        .into_iter()
        .filter(|(_, text)| !text.is_empty())
        .map(|(key, text)| format!("{} = {text}", key.name))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Flags;

    fn settings(dir: &Path) -> Settings {
        let home = dir.join("home").display().to_string();
        let workspace = dir.display().to_string();
        let env = |name: &str| match name {
            "GREENLIGHT_HOME" => Some(home.clone()),
            "GREENLIGHT_WORKSPACE" => Some(workspace.clone()),
            "TELOXIDE_TOKEN" => Some("110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw8".to_owned()),
            // Nothing listens on the discard port.
            "GREENLIGHT_TELEGRAM_API_URL" => Some("http://127.0.0.1:9".to_owned()),
            "GREENLIGHT_MODEL" => Some("openai/x".to_owned()),
            "GREENLIGHT_MODEL_BASE_URL" => Some("http://127.0.0.1:9/v1/".to_owned()),
            _ => None,
        };
        config::load(&Flags::default(), env, dir).unwrap()
    }

    fn keys(checks: &[Check]) -> Vec<&str> {
        checks
            .iter()
            .map(|check| check.fault.key.as_str())
            .collect()
    }

    #[tokio::test]
    async fn what_cannot_be_reached_is_named_without_the_token() {
        let dir = tempfile::tempdir().unwrap();
        let checks = run(Ok(settings(dir.path())), "en").await;
        let found = keys(&checks);
        for key in [
            "doctor-telegram-unreachable",
            "doctor-model-unreachable",
            "doctor-store-new",
        ] {
            assert!(found.contains(&key), "{found:?}");
        }
        assert!(!passed(&checks));
        let text = lines(&checks, "en").join("\n");
        assert!(
            text.contains("model.base_url") && !text.contains("AAHdq"),
            "{text}"
        );
        assert!(!text.contains("doctor-"), "{text}");
    }

    #[tokio::test]
    async fn dead_letters_are_counted_and_the_newest_named() {
        let dir = tempfile::tempdir().unwrap();
        let settings = settings(dir.path());
        let store = Store::open(&settings.home).await.unwrap();
        let mut batch = crate::store::Batch::new();
        for update in 1_u32..=7 {
            let key = [&5_i64.to_be_bytes()[..], &update.to_be_bytes()].concat();
            batch
                .put(Table::DeadLetters, &key, &serde_json::json!({}))
                .unwrap();
        }
        store.commit(batch).await.unwrap();
        let mut checks = Vec::new();
        dead_letters(&store, &mut checks).await;
        assert_eq!(
            lines(&checks, "en"),
            ["• 7 updates were given up on, the newest: 7, 6, 5, 4, 3."]
        );
        drop(store);
        let mut checks = Vec::new();
        super::store(&settings.home, &mut checks).await;
        assert_eq!(keys(&checks), ["doctor-store", "doctor-dead-letters"]);
    }

    #[tokio::test]
    async fn settings_that_do_not_load_are_the_only_finding() {
        let fault = config::require_workspace(&mut Settings {
            workspace: "/no/such/place".into(),
            ..settings(Path::new("/tmp"))
        });
        let checks = run(fault.map(|()| unreachable!()), "en").await;
        assert_eq!(keys(&checks), ["config-no-workspace"]);
    }
}
