//! The view model: everything that one flow message shows at one moment.

use serde::{Deserialize, Serialize};

use crate::domain::EndReason;
use crate::plan::view::PlanView;

use super::{Log, Millis};

/// Where the message is in its life.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "stage", rename_all = "snake_case")]
pub enum Stage {
    /// The turn runs.
    Running,
    /// The turn ended.
    Settled {
        /// Why.
        reason: EndReason,
    },
    /// A full block; the newest one is below it.
    Frozen,
    /// No turn: the plan alone, shown on request.
    Standing,
}

/// What one flow message shows.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// Locale tag.
    pub language: &'a str,
    /// Stage.
    pub stage: &'a Stage,
    /// Log of this block.
    pub log: &'a Log,
    /// How long the turn has run.
    pub elapsed: Millis,
    /// Tokens of the context and of the window.
    pub usage: Option<(u64, u64)>,
    /// The plan.
    pub plan: Option<&'a PlanView>,
    /// Whether tool arguments and outputs may be shown.
    pub detail: bool,
}
