//! Calling a model: one trait, one client over many providers, one classifier of errors.
//!
//! Types of the provider library never leave this module.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::BoxStream;

use crate::config::ModelSettings;
use crate::domain::{Fault, ModelEvent, ModelFault, ModelRequest, Remedy};

#[cfg(feature = "llm-genai")]
mod classify;
#[cfg(feature = "llm-genai")]
mod client;
#[cfg(feature = "llm-genai")]
mod reply;
#[cfg(feature = "llm-genai")]
mod wire;

/// The pieces of one reply. After [`ModelEvent::End`] or a fault it yields nothing more. Dropping it
/// ends the request.
pub type ModelStream = BoxStream<'static, Result<ModelEvent, ModelFault>>;

/// Something that answers a conversation.
pub trait Model: Send + Sync {
    /// Name at the provider, for people and for usage records.
    fn name(&self) -> String;

    /// Size of the context window in tokens.
    fn window(&self) -> u64;

    /// Whether this is the scripted demo, which must be labelled as such.
    fn is_demo(&self) -> bool;

    /// Sends `request` and gives the reply as it arrives. The future resolves with the first piece, so a
    /// fault of the future means that nothing of the reply was seen and the request may be repeated.
    ///
    /// # Errors
    ///
    /// A [`ModelFault`] by remedy; it never carries a key or text of the conversation.
    fn stream(&self, request: ModelRequest) -> BoxFuture<'static, Result<ModelStream, ModelFault>>;
}

/// How long a provider may be silent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Until the connection stands.
    pub connect: Duration,
    /// Until the reply begins, and then between two pieces of it.
    pub idle: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            // Reasoning models and cold local servers take long before the first token.
            idle: Duration::from_secs(120),
        }
    }
}

/// A client for the model that `settings` describe. Nothing is sent yet.
///
/// # Errors
///
/// A fault for the user when the settings cannot work: an address that is none, a missing key, a
/// provider that this build does not contain, or the demo model, which is built by the playground.
pub fn connect(settings: &ModelSettings) -> Result<Arc<dyn Model>, Fault> {
    connect_with(settings, Patience::default())
}

/// Like [`connect`], with limits of the caller's choice.
///
/// # Errors
///
/// As [`connect`].
#[cfg(feature = "llm-genai")]
pub fn connect_with(settings: &ModelSettings, patience: Patience) -> Result<Arc<dyn Model>, Fault> {
    client::Client::new(settings, patience).map(|client| Arc::new(client) as Arc<dyn Model>)
}

/// Like [`connect`]; this build contains no provider.
///
/// # Errors
///
/// Always.
#[cfg(not(feature = "llm-genai"))]
pub fn connect_with(settings: &ModelSettings, _: Patience) -> Result<Arc<dyn Model>, Fault> {
    Err(Fault::user(
        "model-unsupported",
        &[("name", &settings.name)],
    ))
}

/// What the user is told when a turn ends with `fault`.
#[must_use]
pub fn describe(fault: &ModelFault) -> Fault {
    match fault {
        ModelFault::Retry { reason, .. } => Fault {
            remedy: Remedy::RetryLater,
            ..Fault::user("model-unavailable", &[("reason", reason)])
        },
        ModelFault::ContextTooLong => Fault::user("model-context-too-long", &[]),
        ModelFault::Auth { setting } => Fault::user("model-auth", &[("setting", setting)]),
        ModelFault::Rejected { reason } => Fault::user("model-rejected", &[("reason", reason)]),
        ModelFault::Garbage { reason } => Fault {
            remedy: Remedy::RetryLater,
            ..Fault::user("model-garbage", &[("reason", reason)])
        },
    }
}
