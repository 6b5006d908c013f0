//! The client: settings → target, request → stream.

use std::sync::Arc;

use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use genai::adapter::AdapterKind;
use genai::chat::{CacheControl, ChatOptions};
use genai::resolver::{AuthData, Endpoint};
use genai::{ModelIden, ServiceTarget};
use secrecy::ExposeSecret;

use super::{Model, ModelStream, Patience, reply, wire};
use crate::config::{Adapter, ModelSettings};
use crate::domain::{Fault, ModelFault, ModelRequest};

/// Sent where a server of one's own asks for no key, but the protocol has a place for one.
const NO_KEY: &str = "none";

/// One model at one provider.
pub(super) struct Client {
    inner: genai::Client,
    target: Arc<ServiceTarget>,
    options: ChatOptions,
    name: String,
    window: u64,
}

impl Client {
    /// Checks the settings and prepares connections.
    pub(super) fn new(settings: &ModelSettings, patience: Patience) -> Result<Self, Fault> {
        let kind = adapter(settings)?;
        let endpoint = endpoint(settings)?;
        let auth = auth(settings)?;
        install_crypto();
        let mut builder = reqwest13::Client::builder()
            .connect_timeout(patience.connect)
            // A redirect would turn the request into another one, and carry the key along.
            .redirect(reqwest13::redirect::Policy::none());
        if is_loopback(&endpoint) {
            builder = builder.no_proxy();
        }
        let http = builder
            .build()
            .map_err(|_| Fault::user("model-client", &[("name", &settings.name)]))?;
        let inner = genai::Client::builder()
            .with_reqwest(http)
            .build()
            .map_err(|_| Fault::user("model-client", &[("name", &settings.name)]))?;
        let mut options = ChatOptions::default()
            .with_capture_usage(true)
            .with_capture_content(true)
            .with_capture_reasoning_content(true)
            .with_capture_tool_calls(true)
            .with_stream_header_timeout(patience.idle)
            .with_stream_read_timeout(patience.idle);
        if matches!(settings.adapter, Adapter::Anthropic) {
            // The other providers cache a repeated prefix by themselves.
            options = options.with_cache_control(CacheControl::Ephemeral);
        }
        Ok(Self {
            inner,
            target: Arc::new(ServiceTarget {
                endpoint: Endpoint::from_owned(endpoint),
                auth,
                model: ModelIden::new(kind, settings.name.clone()),
            }),
            options,
            name: settings.name.clone(),
            window: settings.context_tokens,
        })
    }
}

impl Model for Client {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn window(&self) -> u64 {
        self.window
    }

    fn is_demo(&self) -> bool {
        false
    }

    fn stream(&self, request: ModelRequest) -> BoxFuture<'static, Result<ModelStream, ModelFault>> {
        let client = self.inner.clone();
        let target = (*self.target).clone();
        let mut options = self.options.clone();
        async move {
            if let Some(most) = request.max_output_tokens {
                options = options.with_max_tokens(most);
            }
            let request = wire::request(request).await;
            let response = client
                .exec_chat_stream(target, request, Some(&options))
                .await
                .map_err(|error| super::classify::fault(&error))?;
            let mut pieces = reply::pieces(response.stream).boxed();
            // The provider is only asked when the stream is read: the first piece tells whether it
            // accepted the request.
            match pieces.next().await {
                Some(Err(fault)) => Err(fault),
                Some(Ok(first)) => Ok(futures::stream::once(async move { Ok(first) })
                    .chain(pieces)
                    .boxed()),
                None => Err(reply::cut()),
            }
        }
        .boxed()
    }
}

fn adapter(settings: &ModelSettings) -> Result<AdapterKind, Fault> {
    match settings.adapter {
        Adapter::Openai => Ok(AdapterKind::OpenAI),
        Adapter::Anthropic => Ok(AdapterKind::Anthropic),
        Adapter::Gemini => Ok(AdapterKind::Gemini),
        Adapter::Ollama => Ok(AdapterKind::Ollama),
        Adapter::Demo => Err(Fault::user(
            "model-unsupported",
            &[("name", &settings.name)],
        )),
    }
}

/// The API root with the closing slash that addresses are appended to.
fn endpoint(settings: &ModelSettings) -> Result<String, Fault> {
    let own = match settings.adapter {
        Adapter::Openai | Adapter::Demo => "https://api.openai.com/v1/",
        Adapter::Anthropic => "https://api.anthropic.com/v1/",
        Adapter::Gemini => "https://generativelanguage.googleapis.com/v1beta/",
        Adapter::Ollama => "http://localhost:11434/",
    };
    let address = settings.base_url.as_deref().unwrap_or(own).trim();
    let valid = reqwest13::Url::parse(address)
        .is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    if !valid {
        return Err(Fault::user(
            "model-base-url",
            &[("setting", "model.base_url")],
        ));
    }
    let mut address = address.to_owned();
    if !address.ends_with('/') && !address.contains('?') {
        address.push('/');
    }
    Ok(address)
}

fn auth(settings: &ModelSettings) -> Result<AuthData, Fault> {
    let key = settings
        .api_key
        .as_ref()
        .map(|key| key.expose_secret().trim())
        .filter(|key| !key.is_empty());
    match key {
        Some(key) => Ok(AuthData::from_single(key)),
        None if matches!(settings.adapter, Adapter::Ollama) => Ok(AuthData::None),
        None if settings.base_url.is_some() => Ok(AuthData::from_single(NO_KEY)),
        None => Err(Fault::user("model-no-key", &[("setting", "model.api_key")])),
    }
}

/// A proxy of the environment can never reach our own machine.
fn is_loopback(endpoint: &str) -> bool {
    reqwest13::Url::parse(endpoint).is_ok_and(|url| {
        url.host_str().is_some_and(|host| {
            let host = host.trim_matches(['[', ']']);
            host == "localhost"
                || host
                    .parse::<std::net::IpAddr>()
                    .is_ok_and(|address| address.is_loopback())
        })
    })
}

/// The HTTP client panics without a process-wide provider of cryptography.
fn install_crypto() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let installed = rustls::crypto::ring::default_provider().install_default();
        if installed.is_err() {
            tracing::debug!("a provider of cryptography was installed before");
        }
    });
}
