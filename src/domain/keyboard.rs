//! Inline keyboards, as every module that offers buttons speaks of them.

use serde::{Deserialize, Serialize};

/// Rows of buttons under a message; without a row it means "no keyboard".
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Keyboard {
    /// Rows from top to bottom.
    pub rows: Vec<Vec<Button>>,
}

/// One inline button that calls back.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Button {
    /// What it says, never empty.
    pub label: String,
    /// Callback data, 1–64 bytes.
    pub data: String,
}

impl Keyboard {
    /// No keyboard.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// A keyboard of one row.
    #[must_use]
    pub fn row(buttons: Vec<Button>) -> Self {
        Self {
            rows: vec![buttons],
        }
    }

    /// Whether there is nothing to tap.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.iter().all(Vec::is_empty)
    }
}

impl Button {
    /// A button with a label and callback data.
    #[must_use]
    pub fn new(label: impl Into<String>, data: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            data: data.into(),
        }
    }
}
