//! Files that people send: downloaded to the session's directory, private, under safe names.

use std::path::Path;
use std::time::Duration;

use backon::{ExponentialBuilder, Retryable};
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;

use super::api::{ApiClient, ApiFault, DownloadError};
use super::decode::safe_name;
use crate::domain::{Attachment, Fault, MessageId};

/// Largest file that the Bot API hands out, in bytes.
pub const SIZE_LIMIT: u64 = 20 * 1024 * 1024;
/// Tries of a download that fails on the way.
const TRIES: usize = 3;
/// The first wait between tries.
const PAUSE: Duration = Duration::from_millis(500);

/// Downloads an attachment of `message` into `directory`, which is created for the owner alone, and gives
/// it back with its path, size and, for pictures, the MIME type that its bytes show.
///
/// # Errors
/// A fault to be told, naming the file: too big, or not to be had.
pub async fn fetch(
    api: &ApiClient,
    attachment: &Attachment,
    message: MessageId,
    directory: &Path,
) -> Result<Attachment, Fault> {
    let name = safe_name(&attachment.name);
    let told = |key: &str| Fault::user(key, &[("name", name.as_str())]);
    if attachment.size.is_some_and(|size| size > SIZE_LIMIT) {
        return Err(told("access-file-too-big"));
    }
    private_directory(directory).await.map_err(|error| {
        tracing::error!(%error, "the directory for files cannot be created");
        told("access-file-failed")
    })?;
    let unique = uuid::Uuid::new_v4().simple().to_string();
    let unique = unique.get(..8).unwrap_or_default();
    let target = directory.join(format!("{message}_{unique}_{name}"));
    let policy = ExponentialBuilder::default()
        .with_min_delay(PAUSE)
        .with_max_times(TRIES - 1)
        .with_jitter();
    let outcome = (|| attempt(api, &attachment.file_id, &target))
        .retry(policy)
        .when(passing)
        .await;
    match outcome {
        Ok(size) => {
            let mime = picture(&target)
                .await
                .map(str::to_owned)
                .or_else(|| attachment.mime.clone());
            Ok(Attachment {
                name,
                mime,
                size: Some(size),
                path: Some(target),
                ..attachment.clone()
            })
        }
        Err(error) => {
            tracing::warn!(%error, "a file could not be downloaded");
            remove(&target).await;
            Err(told(if is_too_big(&error) {
                "access-file-too-big"
            } else {
                "access-file-failed"
            }))
        }
    }
}

async fn attempt(api: &ApiClient, file_id: &str, target: &Path) -> Result<u64, DownloadError> {
    let file = api
        .call("getFile", &json!({"file_id": file_id}))
        .await
        .map_err(DownloadError::Api)?;
    let remote = file
        .get("file_path")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if remote.is_empty() {
        return Err(DownloadError::Api(ApiFault::BadRequest(
            "no file_path".into(),
        )));
    }
    remove(target).await;
    api.download(remote, target, SIZE_LIMIT).await
}

/// Whether another try may help.
fn passing(error: &DownloadError) -> bool {
    match error {
        DownloadError::Api(fault) => fault.outcome_unknown() || *fault == ApiFault::NotSent,
        DownloadError::TooBig | DownloadError::Disk(_) => false,
    }
}

fn is_too_big(error: &DownloadError) -> bool {
    match error {
        DownloadError::TooBig => true,
        DownloadError::Api(ApiFault::BadRequest(text)) => text.contains("file is too big"),
        DownloadError::Api(_) | DownloadError::Disk(_) => false,
    }
}

async fn private_directory(directory: &Path) -> std::io::Result<()> {
    tokio::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)
        .await
}

async fn remove(path: &Path) {
    match tokio::fs::remove_file(path).await {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => tracing::warn!(%error, "a partly downloaded file could not be removed"),
    }
}

/// The MIME type of a picture by its first bytes; names and reported types lie.
async fn picture(path: &Path) -> Option<&'static str> {
    let mut head = [0; 12];
    let mut file = tokio::fs::File::open(path).await.ok()?;
    file.read_exact(&mut head).await.ok()?;
    sniff(&head)
}

fn sniff(head: &[u8]) -> Option<&'static str> {
    if head.starts_with(b"\x89PNG\r\n\x1a\n") {
        Some("image/png")
    } else if head.starts_with(b"\xff\xd8\xff") {
        Some("image/jpeg")
    } else if head.starts_with(b"GIF8") {
        Some("image/gif")
    } else if head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WEBP") {
        Some("image/webp")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_known_by_its_bytes() {
        assert_eq!(sniff(b"\x89PNG\r\n\x1a\n0000"), Some("image/png"));
        assert_eq!(sniff(b"\xff\xd8\xff\xe000000000"), Some("image/jpeg"));
        assert_eq!(sniff(b"RIFF0000WEBP"), Some("image/webp"));
        assert_eq!(sniff(b"#!/bin/sh\n  "), None);
    }
}
