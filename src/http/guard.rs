//! Who gets in: host names, bearer token, rates; and the headers of every answer.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::{ConnectInfo, MatchedPath, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::rate::Rate;

/// The panel refreshes once a second and reads a handful of files when it opens.
const REQUEST_INTERVAL: Duration = Duration::from_millis(100);
const REQUEST_BURST: u32 = 60;
/// Wrong tokens.
const GUESS_INTERVAL: Duration = Duration::from_secs(6);
const GUESS_BURST: u32 = 10;

const CSP: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'; trusted-types 'none'";

/// An error as every endpoint tells it: a status and one machine word.
pub(super) fn refuse(status: StatusCode, word: &str) -> Response {
    (status, Json(json!({ "error": word }))).into_response()
}

/// Names under which the panel and the API may be reached. A foreign name that was made to point here
/// would let a web page read answers, so it is refused.
#[derive(Debug, Clone)]
pub(super) struct Hosts {
    /// Bound to loopback: only loopback names are ours.
    loopback: bool,
    extra: Arc<[String]>,
}

impl Hosts {
    pub(super) fn new(bind: SocketAddr, extra: Vec<String>) -> Self {
        Self {
            loopback: bind.ip().is_loopback(),
            extra: extra
                .into_iter()
                .map(|name| name.to_ascii_lowercase())
                .collect(),
        }
    }

    fn knows(&self, host: &str) -> bool {
        let Ok(authority) = host.parse::<axum::http::uri::Authority>() else {
            return false;
        };
        let name = authority.host().to_ascii_lowercase();
        let address = name.trim_matches(['[', ']']).parse::<IpAddr>();
        if let Ok(address) = address {
            return !self.loopback || address.is_loopback();
        }
        // A name without a dot cannot be registered by a stranger; containers call each other so.
        let single = !self.loopback && !name.contains('.') && !name.is_empty();
        name == "localhost" || single || self.extra.contains(&name)
    }
}

/// Lets requests for our own names through.
pub(super) async fn own_host(State(hosts): State<Hosts>, request: Request, next: Next) -> Response {
    let named = request
        .headers()
        .get(header::HOST)
        .and_then(|host| host.to_str().ok())
        .or_else(|| {
            request
                .uri()
                .authority()
                .map(|authority| authority.as_str())
        });
    if named.is_some_and(|host| hosts.knows(host)) {
        next.run(request).await
    } else {
        refuse(StatusCode::FORBIDDEN, "unknown_host")
    }
}

/// The door of `/api`.
#[derive(Debug, Clone)]
pub(super) struct Door {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// Digest of the token, so that comparing takes the same time whatever the lengths are.
    token: Option<[u8; 32]>,
    requests: Rate,
    guesses: Rate,
}

impl Door {
    pub(super) fn new(token: Option<SecretString>) -> Self {
        let token = token
            .filter(|token| !token.expose_secret().is_empty())
            .map(|token| Sha256::digest(token.expose_secret().as_bytes()).into());
        Self {
            inner: Arc::new(Inner {
                token,
                requests: Rate::new(REQUEST_INTERVAL, REQUEST_BURST),
                guesses: Rate::new(GUESS_INTERVAL, GUESS_BURST),
            }),
        }
    }

    /// The answer instead of the way in; `None` = come in.
    fn refusal(&self, address: IpAddr, request: &Request, now: Instant) -> Option<Response> {
        let Some(token) = &self.inner.token else {
            return Some(refuse(StatusCode::FORBIDDEN, "no_token_configured"));
        };
        // An address that guessed too often is not even told whether its next guess is right.
        let paced = self
            .inner
            .requests
            .take(address, now)
            .and_then(|()| self.inner.guesses.look(address, now));
        if let Err(wait) = paced {
            return Some(too_many(wait));
        }
        if let Some(given) = bearer_of(request) {
            if bool::from(Sha256::digest(given).ct_eq(token.as_slice())) {
                return None;
            }
            if let Err(wait) = self.inner.guesses.take(address, now) {
                return Some(too_many(wait));
            }
        }
        let mut answer = refuse(StatusCode::UNAUTHORIZED, "unauthorized");
        answer.headers_mut().insert(
            header::WWW_AUTHENTICATE,
            HeaderValue::from_static("Bearer realm=\"greenlight\""),
        );
        Some(answer)
    }
}

/// Lets requests with the right token through, at a bounded rate.
pub(super) async fn bearer(
    State(door): State<Door>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: Request,
    next: Next,
) -> Response {
    match door.refusal(peer.ip(), &request, Instant::now()) {
        None => next.run(request).await,
        Some(answer) => answer,
    }
}

fn bearer_of(request: &Request) -> Option<&[u8]> {
    let value = request.headers().get(header::AUTHORIZATION)?.as_bytes();
    let (scheme, token) = value.split_at_checked("Bearer ".len())?;
    scheme.eq_ignore_ascii_case(b"Bearer ").then_some(token)
}

fn too_many(wait: Duration) -> Response {
    let mut answer = refuse(StatusCode::TOO_MANY_REQUESTS, "too_many_requests");
    let seconds = wait.as_secs().saturating_add(1);
    answer
        .headers_mut()
        .insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    answer
}

/// The headers of every answer: nothing is stored, framed, sniffed or loaded from elsewhere.
pub(super) async fn headers(mut response: Response) -> Response {
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, CSP),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    for (name, value) in [
        ("cross-origin-resource-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Counts answers by route and status; the route is the pattern, so that the number of series is fixed.
pub(super) async fn count(request: Request, next: Next) -> Response {
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map_or("none", MatchedPath::as_str)
        .to_owned();
    let response = next.run(request).await;
    let status = response.status().as_u16().to_string();
    metrics::counter!("greenlight_http_requests_total", "route" => route, "status" => status)
        .increment(1);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(bind: &str) -> Hosts {
        Hosts::new(bind.parse().unwrap(), vec!["Panel.example.org".to_owned()])
    }

    #[test]
    fn a_loopback_server_answers_to_loopback_names_and_listed_ones() {
        let hosts = hosts("127.0.0.1:80");
        for name in [
            "localhost",
            "LOCALHOST:8080",
            "127.0.0.1:8080",
            "[::1]:8080",
            "panel.example.org",
        ] {
            assert!(hosts.knows(name), "{name}");
        }
        for name in [
            "evil.example",
            "localhost.evil.example:8080",
            "192.168.0.7",
            "greenlight:8080",
            "",
            "127.0.0.1.nip.io",
            "a b",
        ] {
            assert!(!hosts.knows(name), "{name}");
        }
    }

    #[test]
    fn an_open_server_answers_to_addresses_and_short_names_too() {
        let hosts = hosts("0.0.0.0:80");
        for name in ["192.168.0.7:8080", "greenlight:8080", "localhost"] {
            assert!(hosts.knows(name), "{name}");
        }
        assert!(!hosts.knows("evil.example"));
    }
}
