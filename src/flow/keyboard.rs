//! Which buttons a state has.

use crate::domain::{Button, Keyboard};
use crate::i18n::tr;
use crate::plan::view::{PlanFace, PlanView};

/// Callback data of Approve, also of Retry after a failed seed turn.
pub const APPROVE: &str = "plan:ok";
/// Callback data of Discard, and of its confirmation.
pub const DISCARD: &str = "plan:no";
/// Callback data that takes a discard back.
pub const KEEP: &str = "plan:keep";
/// Callback data of Stop.
pub const STOP: &str = "turn:stop";

/// The buttons of the newest flow message. `approvable` is false while a part of a ready plan has not
/// been accepted by Telegram yet.
#[must_use]
pub fn keyboard(
    language: &str,
    plan: Option<&PlanView>,
    running: bool,
    approvable: bool,
) -> Keyboard {
    let button = |key: &str, data: &str| Button::new(tr(language, key, &[]), data);
    let approve = || button("flow-button-approve", APPROVE);
    let later = || button("flow-button-approve-later", APPROVE);
    let retry = || button("flow-button-retry", APPROVE);
    let discard = || button("flow-button-discard", DISCARD);
    let stop = || button("flow-button-stop", STOP);
    let rows = match (plan.map(|plan| plan.face), running) {
        (None | Some(PlanFace::Discussing | PlanFace::Corrupt | PlanFace::Done), true) => {
            vec![vec![stop()]]
        }
        (None | Some(PlanFace::Discussing | PlanFace::Corrupt | PlanFace::Done), false) => {
            Vec::new()
        }
        (Some(PlanFace::Editing | PlanFace::Ready | PlanFace::NotReady), true) => {
            vec![vec![later()], vec![discard(), stop()]]
        }
        (Some(PlanFace::Ready), false) if approvable => vec![vec![approve(), discard()]],
        (Some(PlanFace::Ready | PlanFace::Editing | PlanFace::NotReady), false) => {
            vec![vec![discard()]]
        }
        (
            Some(
                PlanFace::Seeding
                | PlanFace::SeedFailed
                | PlanFace::PartialSeed
                | PlanFace::Running,
            ),
            true,
        ) => vec![vec![discard(), stop()]],
        (Some(PlanFace::SeedFailed), false) => vec![vec![retry(), discard()]],
        (Some(PlanFace::Seeding | PlanFace::PartialSeed | PlanFace::Running), false) => {
            vec![vec![discard()]]
        }
    };
    Keyboard { rows }
}

/// The buttons that ask once more before work is thrown away.
#[must_use]
pub fn discard_confirmation(language: &str, done: usize, total: usize) -> Keyboard {
    let (done, total) = (done.to_string(), total.to_string());
    let sure = tr(
        language,
        "flow-button-discard-confirm",
        &[("done", &done), ("total", &total)],
    );
    Keyboard {
        rows: vec![
            vec![Button::new(sure, DISCARD)],
            vec![Button::new(tr(language, "flow-button-keep", &[]), KEEP)],
        ],
    }
}
