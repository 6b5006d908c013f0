//! The Bot API client: one place that knows the token, the address and the error strings.
//!
//! teloxide's own requests sleep ten seconds on any 5xx, refuse replies with unknown parameters and
//! know no method after Bot API 9.1, so calls go out as JSON through [`ApiClient::call`]. teloxide's
//! typed client ([`ApiClient::bot`]) shares the address, the token and the connection pool.

mod fault;

use std::fmt;
use std::path::Path;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use teloxide::Bot;
use tokio::io::AsyncWriteExt;

pub use fault::{ApiFault, classify};

use crate::domain::{Fault, Remedy};

/// Connecting takes no longer than this.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// A call other than a long poll or an upload takes no longer than this.
const CALL_TIMEOUT: Duration = Duration::from_secs(25);
/// A long poll may take this much longer than the seconds asked for.
const POLL_MARGIN: Duration = Duration::from_secs(10);
/// Seconds that a long poll asks the server to wait.
pub const POLL_SECONDS: u64 = 30;
/// An upload or download takes no longer than this.
const FILE_TIMEOUT: Duration = Duration::from_secs(120);
/// Largest reply that is read, in bytes; getUpdates is capped near 4 MiB by the server.
const REPLY_LIMIT: usize = 16 * 1024 * 1024;

/// What a client is for. Each lane has connections of its own, so that slow sends never starve polling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// Long polling and start-up calls.
    Poll,
    /// Sending, editing, answering.
    Send,
}

/// A file to upload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePart {
    /// Name of the form field, such as `document`.
    pub field: String,
    /// File name that the receiver sees.
    pub name: String,
    /// MIME type.
    pub mime: String,
    /// Content.
    pub bytes: Vec<u8>,
}

/// A Bot API client of one lane. Cheap to clone; its `Debug` shows no token.
#[derive(Clone)]
pub struct ApiClient {
    http: reqwest::Client,
    root: reqwest::Url,
    token: SecretString,
    bot: Bot,
    timeout: Duration,
}

impl fmt::Debug for ApiClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiClient")
            .field("bot", &self.bot_id())
            .finish_non_exhaustive()
    }
}

impl ApiClient {
    /// A client for `api_url` (without `/bot…`) and `token` (`<digits>:<secret>`).
    ///
    /// # Errors
    /// If the token or the address has the wrong shape, or TLS cannot be set up.
    pub fn new(api_url: &str, token: &SecretString, lane: Lane) -> Result<Self, Fault> {
        if !token_has_shape(token.expose_secret()) {
            return Err(Fault::user("access-token-shape", &[]));
        }
        let bad_url = || Fault::user("access-api-url", &[("url", api_url)]);
        let root = reqwest::Url::parse(api_url).map_err(|_| bad_url())?;
        if root.cannot_be_a_base() || !matches!(root.scheme(), "http" | "https") {
            return Err(bad_url());
        }
        let timeout = match lane {
            Lane::Poll => Duration::from_secs(POLL_SECONDS) + POLL_MARGIN,
            Lane::Send => CALL_TIMEOUT,
        };
        let http = reqwest::Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(timeout)
            .tcp_nodelay(true)
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("greenlight/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|_| Fault {
                remedy: Remedy::Bug,
                key: "access-tls".into(),
                arguments: Vec::new(),
            })?;
        let bot = Bot::with_client(token.expose_secret(), http.clone()).set_api_url(root.clone());
        Ok(Self {
            http,
            root,
            token: token.clone(),
            bot,
            timeout,
        })
    }

    /// teloxide's typed client for the same bot. Its `Debug` shows the token: never print it.
    pub fn bot(&self) -> Bot {
        self.bot.clone()
    }

    /// The bot's user id, which is the part of the token before the colon.
    #[must_use]
    pub fn bot_id(&self) -> i64 {
        self.token
            .expose_secret()
            .split_once(':')
            .and_then(|(id, _)| id.parse().ok())
            .unwrap_or_default()
    }

    /// Calls `method` with a JSON object and gives its `result`.
    ///
    /// # Errors
    /// See [`ApiFault`].
    pub async fn call(&self, method: &str, body: &Value) -> Result<Value, ApiFault> {
        let request = self
            .http
            .post(self.url(&["", method]))
            .timeout(self.timeout)
            .json(body);
        Self::reply(request).await
    }

    /// Calls `method` with form fields and files. Fields that are objects or lists go as JSON text.
    ///
    /// # Errors
    /// See [`ApiFault`].
    pub async fn call_multipart(
        &self,
        method: &str,
        fields: &Value,
        files: Vec<FilePart>,
    ) -> Result<Value, ApiFault> {
        let mut form = reqwest::multipart::Form::new();
        for (name, value) in fields.as_object().into_iter().flatten() {
            let text = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            form = form.text(name.clone(), text);
        }
        for file in files {
            let part = reqwest::multipart::Part::bytes(file.bytes)
                .file_name(file.name)
                .mime_str(&file.mime)
                .map_err(|_| ApiFault::BadRequest(format!("not a MIME type: {}", file.mime)))?;
            form = form.part(file.field, part);
        }
        let request = self
            .http
            .post(self.url(&["", method]))
            .timeout(FILE_TIMEOUT)
            .multipart(form);
        Self::reply(request).await
    }

    /// Downloads the file at `remote` (`file_path` of getFile) into `target`, refusing more than `limit` bytes.
    /// Returns the number of bytes written. A partly written file is left for the caller to remove.
    ///
    /// # Errors
    /// See [`DownloadError`].
    pub async fn download(
        &self,
        remote: &str,
        target: &Path,
        limit: u64,
    ) -> Result<u64, DownloadError> {
        let mut segments = vec!["file"];
        segments.extend(
            remote
                .split('/')
                .filter(|part| !part.is_empty() && *part != ".."),
        );
        let url = self.url(&segments);
        let transport =
            |error: reqwest::Error| DownloadError::Api(ApiFault::from_transport(&error));
        let mut response = self
            .http
            .get(url)
            .timeout(FILE_TIMEOUT)
            .send()
            .await
            .map_err(transport)?;
        let status = response.status().as_u16();
        if !response.status().is_success() {
            return Err(DownloadError::Api(classify(status, &Value::Null)));
        }
        let mut file = open_private(target).await.map_err(DownloadError::Disk)?;
        let mut written: u64 = 0;
        while let Some(chunk) = response.chunk().await.map_err(transport)? {
            written = written.saturating_add(chunk.len() as u64);
            if written > limit {
                return Err(DownloadError::TooBig);
            }
            file.write_all(&chunk).await.map_err(DownloadError::Disk)?;
        }
        file.sync_all().await.map_err(DownloadError::Disk)?;
        Ok(written)
    }

    /// `<root>/bot<token>/…`, or `<root>/file/bot<token>/…` when the first segment is `file`.
    fn url(&self, segments: &[&str]) -> reqwest::Url {
        let mut url = self.root.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty();
            let (first, rest) = segments.split_first().unwrap_or((&"", &[]));
            if !first.is_empty() {
                path.push(first);
            }
            path.push(&format!("bot{}", self.token.expose_secret()));
            path.extend(rest);
        }
        url
    }

    async fn reply(request: reqwest::RequestBuilder) -> Result<Value, ApiFault> {
        let transport = |error: reqwest::Error| ApiFault::from_transport(&error);
        let mut response = request.send().await.map_err(transport)?;
        let status = response.status().as_u16();
        let mut bytes = Vec::new();
        while let Some(chunk) = response
            .chunk()
            .await
            .map_err(|_| ApiFault::UnknownOutcome)?
        {
            if bytes.len() + chunk.len() > REPLY_LIMIT {
                return Err(ApiFault::Server(status));
            }
            bytes.extend_from_slice(&chunk);
        }
        // An edge in front of the server answers in HTML, whatever the status.
        let Ok(mut body) = serde_json::from_slice::<Value>(&bytes) else {
            return Err(if status < 300 {
                ApiFault::UnknownOutcome
            } else {
                ApiFault::Server(status)
            });
        };
        if body.get("ok").and_then(Value::as_bool) == Some(true) {
            return Ok(body.get_mut("result").map(Value::take).unwrap_or_default());
        }
        Err(classify(status, &body))
    }
}

/// Why a download failed.
#[derive(Debug, thiserror::Error)]
pub enum DownloadError {
    /// The Bot API refused or was not reached.
    #[error(transparent)]
    Api(ApiFault),
    /// The file is larger than allowed.
    #[error("the file is too big")]
    TooBig,
    /// The file could not be written.
    #[error("cannot store the file: {0}")]
    Disk(std::io::Error),
}

async fn open_private(target: &Path) -> std::io::Result<tokio::fs::File> {
    tokio::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(target)
        .await
}

/// `<digits>:<at least 20 of [A-Za-z0-9_-]>`. Anything else would break the address or be no token.
fn token_has_shape(token: &str) -> bool {
    token.split_once(':').is_some_and(|(id, secret)| {
        !id.is_empty()
            && id.len() <= 18
            && id.bytes().all(|byte| byte.is_ascii_digit())
            && (20..=128).contains(&secret.len())
            && secret
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token() -> SecretString {
        SecretString::from("123456:AAAA_secret-secret-secret-secret-0000")
    }

    #[test]
    fn an_address_with_a_prefix_keeps_it() {
        let client = ApiClient::new("http://127.0.0.1:9/prefix/", &token(), Lane::Send).unwrap();
        assert_eq!(
            client.url(&["", "getMe"]).path(),
            "/prefix/bot123456:AAAA_secret-secret-secret-secret-0000/getMe"
        );
        assert_eq!(
            client.url(&["file", "a", "b"]).path(),
            "/prefix/file/bot123456:AAAA_secret-secret-secret-secret-0000/a/b"
        );
        assert_eq!(client.bot_id(), 123_456);
    }

    #[test]
    fn neither_debug_nor_an_error_shows_the_token() {
        let client = ApiClient::new("http://127.0.0.1:9", &token(), Lane::Poll).unwrap();
        assert!(!format!("{client:?}").contains("secret"));
        for bad in [
            "",
            "123",
            "x:AAAA_secret-secret-secret-secret-0000",
            "1:short",
        ] {
            let fault = ApiClient::new("http://127.0.0.1", &SecretString::from(bad), Lane::Poll)
                .unwrap_err();
            assert_eq!(fault, Fault::user("access-token-shape", &[]));
        }
        assert!(ApiClient::new("mailto:x", &token(), Lane::Poll).is_err());
    }

    #[tokio::test]
    async fn a_refused_connection_is_known_to_have_had_no_effect() {
        let port = std::net::TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let client =
            ApiClient::new(&format!("http://127.0.0.1:{port}"), &token(), Lane::Send).unwrap();
        let fault = client.call("getMe", &Value::Null).await.unwrap_err();
        assert_eq!(fault, ApiFault::NotSent);
        assert!(!fault.to_string().contains("secret"));
    }
}
