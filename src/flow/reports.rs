//! What the calls that were asked for came to.

use crate::domain::MessageId;

use super::Millis;
use super::effect::FlowEffect;
use super::event::EditRefusal;
use super::machine::{Flow, Live, Surface};
use super::view::Stage;

impl Flow {
    pub(super) fn on_opened(
        &mut self,
        message: MessageId,
        now: Millis,
        effects: &mut Vec<FlowEffect>,
    ) {
        let Surface::Opening { sent, old } = std::mem::replace(&mut self.surface, Surface::Closed)
        else {
            return;
        };
        if let Some(old) = old {
            effects.push(FlowEffect::DeleteOld {
                message: old.message,
            });
        }
        self.last_message = Some(message);
        self.surface = Surface::Open(Live {
            message,
            accepted: Some(sent),
            pending: None,
            refused: None,
        });
        if self.stage != Stage::Running {
            self.refresh(false, now, effects);
        }
    }

    pub(super) fn on_open_failed(&mut self) {
        if let Surface::Opening { old, .. } = std::mem::replace(&mut self.surface, Surface::Closed)
            && let Some(old) = old
        {
            self.surface = Surface::Open(old);
        }
    }

    pub(super) fn on_accepted(&mut self, edit: u64, now: Millis, effects: &mut Vec<FlowEffect>) {
        if let Surface::Open(live) = &mut self.surface
            && let Some((_, content)) = live.pending.take_if(|(number, _)| *number == edit)
        {
            live.accepted = Some(content);
            live.refused = None;
            if self.stage != Stage::Running {
                self.refresh(false, now, effects);
            }
        }
    }

    pub(super) fn on_rejected(
        &mut self,
        edit: u64,
        why: EditRefusal,
        now: Millis,
        effects: &mut Vec<FlowEffect>,
    ) {
        let Surface::Open(live) = &mut self.surface else {
            return;
        };
        match why {
            EditRefusal::Gone if edit > 0 => {
                let shown = live.accepted.as_ref().map(|content| content.revision);
                self.surface = Surface::Lost {
                    revision: shown.unwrap_or_default(),
                };
                if self.stage != Stage::Running {
                    self.refresh(false, now, effects);
                }
            }
            EditRefusal::Gone | EditRefusal::Superseded | EditRefusal::Unavailable => {
                live.pending.take_if(|(number, _)| *number == edit);
            }
            EditRefusal::Refused => {
                if let Some((_, content)) = live.pending.take_if(|(number, _)| *number == edit) {
                    live.refused = Some(content);
                }
                if self.stage != Stage::Running {
                    self.refresh(false, now, effects);
                }
            }
        }
    }
}
