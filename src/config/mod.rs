//! Validated settings: file, environment and flags, with errors that name line and nearest key.

mod error;
mod example;
mod file;
mod keys;
mod load;
mod narrow;
mod nested;
mod reload;
mod settings;
mod value;

#[cfg(test)]
mod tests;

pub use error::ConfigError;
pub use example::{example, reference};
pub use keys::{KEYS, Key, Kind};
pub use load::{FILE_NAME, Flags, known_variables, load, require_token, require_workspace};
pub use narrow::{PROJECT_FILE, narrow};
pub use reload::{Reload, diff, reloaded, secrets, shown};
pub use settings::{
    Adapter, Budgets, Busy, GroupSettings, HttpSettings, ModelSettings, PlanSettings, PreinitBash,
    Render, Respond, SandboxMode, Settings, TelegramLimits, TelegramSettings, ToolSettings,
    Webhook,
};
