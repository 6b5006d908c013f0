//! `GET /api/export`: the whole store as JSON lines, while the bot runs.

use std::io;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::{Stream, stream};
use tempfile::TempDir;
use tokio::fs::File;
use tokio::io::AsyncReadExt;

use super::{Shared, failed};
use crate::http::guard::refuse;

const CHUNK: usize = 64 * 1024;

/// Writes the export to a private temporary file, whole batches only, and hands that out.
pub(super) async fn export(State(shared): State<Shared>) -> Response {
    let Ok(place) = Arc::clone(&shared.exports).try_acquire_owned() else {
        return refuse(StatusCode::SERVICE_UNAVAILABLE, "export_running");
    };
    let made = match TempDir::new() {
        Ok(dir) => dir,
        Err(error) => return failed(&error),
    };
    let path = made.path().join("export.jsonl");
    if let Err(error) = shared.store.export(&path).await {
        return failed(&error);
    }
    let file = match File::open(&path).await {
        Ok(file) => file,
        Err(error) => return failed(&error),
    };
    let body = Body::from_stream(chunks(file, (made, place)));
    ([(header::CONTENT_TYPE, "application/jsonl")], body).into_response()
}

/// The file in pieces; `kept` lives until the last one is sent or the reader leaves.
fn chunks<K: Send + 'static>(
    file: File,
    kept: K,
) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
    stream::try_unfold((file, kept), |(mut file, kept)| async move {
        let mut buffer = vec![0; CHUNK];
        let length = file.read(&mut buffer).await?;
        buffer.truncate(length);
        Ok((length > 0).then(|| (Bytes::from(buffer), (file, kept))))
    })
}
