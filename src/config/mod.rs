//! Validated settings: file, environment and flags, with errors that name line and nearest key.

mod settings;

pub use settings::{
    Adapter, Budgets, Busy, GroupSettings, HttpSettings, ModelSettings, PlanSettings, PreinitBash,
    Render, Respond, SandboxMode, Settings, TelegramLimits, TelegramSettings, ToolSettings,
    Webhook,
};
