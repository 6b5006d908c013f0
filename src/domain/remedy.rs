//! Errors named by what mends them.

use serde::{Deserialize, Serialize};

/// What to do about a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Remedy {
    /// Try again later; nothing was done.
    RetryLater,
    /// The model can mend it.
    TellModel,
    /// The user must act.
    TellUser,
    /// A fault of this program.
    Bug,
}

/// A fault that a user can be told: a locale key with its arguments, never an API body or a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{key}")]
pub struct Fault {
    /// What mends it.
    pub remedy: Remedy,
    /// Locale key of the sentence.
    pub key: String,
    /// Arguments by name.
    pub arguments: Vec<(String, String)>,
}

impl Fault {
    /// A fault that the user must act on.
    #[must_use]
    pub fn user(key: &str, arguments: &[(&str, &str)]) -> Self {
        Self {
            remedy: Remedy::TellUser,
            key: key.to_owned(),
            arguments: arguments
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
        }
    }
}
