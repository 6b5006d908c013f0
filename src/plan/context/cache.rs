//! Keeps the wrapped text while the plan says the same.

use super::super::model::Plan;
use super::{Plain, plain, snapshot};

/// The wrapped message of the last render. A fresh nonce for the same content would change the prompt
/// for nothing and miss the provider's cache.
#[derive(Debug, Clone, Default)]
pub struct ContextCache {
    last: Option<(Plain, String)>,
}

impl ContextCache {
    /// The message of the plan; `wrap` is called only if it says something new.
    pub fn message(
        &mut self,
        plan: &Plan,
        max_chars: usize,
        wrap: &dyn Fn(&str) -> String,
    ) -> String {
        let now = plain(&snapshot(plan), max_chars);
        if let Some((before, text)) = &self.last
            && *before == now
        {
            return text.clone();
        }
        let text = now.wrapped(wrap);
        self.last = Some((now, text.clone()));
        text
    }

    /// Forgets the message, when the plan ends.
    pub fn clear(&mut self) {
        self.last = None;
    }
}
