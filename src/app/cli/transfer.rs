//! `greenlight export` and `import`, while the bot runs or not.

use std::path::{Path, PathBuf};
use std::time::Duration;

use chrono::Utc;
use secrecy::ExposeSecret;

use crate::config::Settings;
use crate::domain::Fault;
use crate::i18n::tr;
use crate::store::{Store, StoreError};

use super::say;

/// Writes the store to a file. A running bot is asked through its local port; without one its newest
/// backup is taken, and that is said.
pub(super) async fn export(
    settings: &Settings,
    file: Option<PathBuf>,
    language: &str,
) -> Result<(), Fault> {
    let file = file.unwrap_or_else(|| {
        format!("greenlight-{}.jsonl", Utc::now().format("%Y%m%dT%H%M%SZ")).into()
    });
    let shown = file.display().to_string();
    match Store::open(&settings.home).await {
        Ok(store) => {
            let done = store.export(&file).await;
            store.stop().await.map_err(|error| error.fault())?;
            let rows = done.map_err(|error| error.fault())?.rows.to_string();
            let arguments = [("rows", rows.as_str()), ("path", &shown)];
            say(&tr(language, "cli-exported", &arguments));
        }
        Err(StoreError::Locked(_)) if settings.http.bind.is_some() => {
            let bytes = fetch(settings).await?;
            write(&file, &bytes)?;
            let rows = bytes.iter().filter(|byte| **byte == b'\n').count();
            let rows = rows.saturating_sub(2).to_string();
            let arguments = [("rows", rows.as_str()), ("path", &shown)];
            say(&tr(language, "cli-exported", &arguments));
        }
        Err(StoreError::Locked(_)) => {
            let backup = Store::newest_backup(&settings.home)
                .ok_or_else(|| Fault::user("cli-export-running", &[]))?;
            let bytes = std::fs::read(&backup).map_err(|error| unwritable(&backup, &error))?;
            write(&file, &bytes)?;
            let name = backup
                .file_name()
                .map(|name| name.to_string_lossy().into_owned())
                .unwrap_or_default();
            let arguments = [("backup", name.as_str()), ("path", &shown)];
            say(&tr(language, "cli-exported-backup", &arguments));
        }
        Err(error) => return Err(error.fault()),
    }
    Ok(())
}

/// Replaces the store by an export: at once if the bot is stopped, else at its next start.
pub(super) async fn import(settings: &Settings, file: &Path, language: &str) -> Result<(), Fault> {
    Store::stage_import(&settings.home, file)
        .await
        .map_err(|error| error.fault())?;
    match Store::open(&settings.home).await {
        Ok(store) => {
            let rows = store.report().imported.unwrap_or_default().to_string();
            store.stop().await.map_err(|error| error.fault())?;
            say(&tr(language, "cli-imported", &[("rows", &rows)]));
            Ok(())
        }
        Err(StoreError::Locked(_)) => {
            say(&tr(language, "cli-import-staged", &[]));
            Ok(())
        }
        Err(error) => Err(error.fault()),
    }
}

async fn fetch(settings: &Settings) -> Result<Vec<u8>, Fault> {
    let failed = |reason: String| Fault::user("cli-export-failed", &[("reason", &reason)]);
    let bind = settings
        .http
        .bind
        .map(|bind| bind.to_string())
        .unwrap_or_default();
    let client = reqwest::Client::builder()
        .timeout(Duration::from_secs(120))
        .no_proxy()
        .build()
        .map_err(|error| failed(error.without_url().to_string()))?;
    let mut request = client.get(format!("http://{bind}/api/export"));
    if let Some(token) = &settings.http.token {
        request = request.bearer_auth(token.expose_secret());
    }
    let answer = request
        .send()
        .await
        .and_then(reqwest::Response::error_for_status)
        .map_err(|error| failed(error.without_url().to_string()))?;
    let bytes = answer
        .bytes()
        .await
        .map_err(|error| failed(error.without_url().to_string()))?;
    Ok(bytes.to_vec())
}

/// Writes a file atomically, for its owner only.
fn write(file: &Path, bytes: &[u8]) -> Result<(), Fault> {
    let dir = match file.parent() {
        Some(dir) if !dir.as_os_str().is_empty() => dir,
        Some(_) | None => Path::new("."),
    };
    let fail = |error: std::io::Error| unwritable(file, &error);
    let mut temporary = tempfile::NamedTempFile::new_in(dir).map_err(fail)?;
    std::io::Write::write_all(&mut temporary, bytes).map_err(fail)?;
    temporary.as_file().sync_all().map_err(fail)?;
    temporary
        .persist(file)
        .map(|_| ())
        .map_err(|error| fail(error.error))
}

fn unwritable(path: &Path, error: &std::io::Error) -> Fault {
    let (path, reason) = (path.display().to_string(), error.to_string());
    Fault::user("store-io", &[("path", &path), ("reason", &reason)])
}
