//! The approval policy: whether the owner is asked about a call that planning leaves to policy.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::domain::{ActionClass, ApprovalLevel};

/// What policy says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Run it.
    Run,
    /// Ask the owner first.
    AskOwner,
}

/// Classes that the owner granted with "always" for one session. Destructive calls and plan operations
/// can never be among them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "BTreeSet<ActionClass>")]
pub struct Grants(BTreeSet<ActionClass>);

impl From<BTreeSet<ActionClass>> for Grants {
    fn from(classes: BTreeSet<ActionClass>) -> Self {
        let mut grants = Self::default();
        for class in classes {
            grants.add(class);
        }
        grants
    }
}

impl Grants {
    /// Whether "always" may be offered for this class.
    #[must_use]
    pub fn is_grantable(class: ActionClass) -> bool {
        match class {
            ActionClass::Read
            | ActionClass::WorkspaceWrite
            | ActionClass::Exec
            | ActionClass::Network
            | ActionClass::Spawn
            | ActionClass::Channel => true,
            ActionClass::Destructive | ActionClass::Plan => false,
        }
    }

    /// Adds a class; `false` if it cannot be granted.
    pub fn add(&mut self, class: ActionClass) -> bool {
        let grantable = Self::is_grantable(class);
        if grantable {
            self.0.insert(class);
        }
        grantable
    }

    /// Whether the class was granted.
    #[must_use]
    pub fn has(&self, class: ActionClass) -> bool {
        self.0.contains(&class)
    }

    /// Forgets all grants.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// The granted classes in a fixed order.
    pub fn iter(&self) -> impl Iterator<Item = ActionClass> + '_ {
        self.0.iter().copied()
    }
}

/// Whether the owner is asked about a call of this class. While `planning` the level counts as `ask`
/// and no grant counts; both apply again afterwards.
#[must_use]
pub fn approval(
    level: ApprovalLevel,
    class: ActionClass,
    granted: &Grants,
    planning: bool,
) -> Decision {
    let level = if planning { ApprovalLevel::Ask } else { level };
    let asks = match class {
        // A sub-agent's own calls are asked about one by one; plan operations by the table.
        ActionClass::Read | ActionClass::Spawn | ActionClass::Plan => false,
        ActionClass::WorkspaceWrite | ActionClass::Exec => level == ApprovalLevel::Ask,
        ActionClass::Network | ActionClass::Channel | ActionClass::Destructive => {
            level != ApprovalLevel::Yolo
        }
    };
    let granted = !planning && granted.has(class);
    if asks && !granted {
        Decision::AskOwner
    } else {
        Decision::Run
    }
}

/// Why the design track is refused at this level, in English for the model; `None` if it is open.
#[must_use]
pub fn design_refusal(level: ApprovalLevel) -> Option<&'static str> {
    match level {
        ApprovalLevel::Ask | ApprovalLevel::Auto => None,
        ApprovalLevel::Yolo => Some(
            "Refused: a session that never asks cannot wait for an approval, so there is no design \
             track here. Use plan init with mode \"checklist\" and tasks, or import a file with \
             file_path.",
        ),
    }
}
