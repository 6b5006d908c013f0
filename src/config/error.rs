//! Faults of the configuration. They name the place and the key, never the value, which may be a secret.

use crate::domain::Fault;

/// A setting that cannot be used, as a localised one-line sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(pub Fault);

impl ConfigError {
    pub(super) fn new(key: &str, arguments: &[(&str, &str)]) -> Self {
        Self(Fault::user(key, arguments))
    }

    /// The locale key and its arguments.
    #[must_use]
    pub fn fault(&self) -> &Fault {
        &self.0
    }
}
