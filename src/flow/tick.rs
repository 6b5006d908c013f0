//! When the message is opened, edited, frozen or posted anew.

use crate::domain::Keyboard;
use crate::plan::view::PlanFace;

use super::effect::FlowEffect;
use super::machine::{Content, Document, Flow, Live, Surface};
use super::view::Stage;
use super::{Millis, TICK_MS};

impl Flow {
    pub(super) fn on_tick(&mut self, may_repost: bool, now: Millis, effects: &mut Vec<FlowEffect>) {
        if self.stage != Stage::Running {
            self.attempts_left = self.attempts_left.saturating_sub(1);
            if self.attempts_left == 0 {
                self.finish(effects);
                return;
            }
        }
        if self.surface == Surface::Closed {
            let late = self.elapsed(now) >= TICK_MS;
            if late || self.log.tools() > 0 || self.stage != Stage::Running {
                self.open(now, effects);
            }
        } else {
            self.refresh(may_repost, now, effects);
        }
        if !self.finished {
            effects.push(FlowEffect::StartTimer { after_ms: TICK_MS });
        }
    }

    /// Sends a new message with everything that is to be shown.
    pub(super) fn open(&mut self, now: Millis, effects: &mut Vec<FlowEffect>) {
        let (content, _) = self.compose(now);
        effects.push(FlowEffect::Open {
            body: content.body.clone(),
            keyboard: content.keyboard.clone(),
        });
        self.surface = Surface::Opening {
            sent: content,
            old: None,
        };
        self.ask_for_document(effects);
    }

    /// What is to be shown now, and the first log entry that fits.
    fn compose(&self, now: Millis) -> (Content, usize) {
        let rendered = self.rendered(&self.log, &self.stage, self.plan.as_ref(), now);
        let content = Content {
            keyboard: self.buttons(rendered.prose_whole),
            body: rendered.body,
            revision: self.revision,
            additions: self.additions,
        };
        (content, rendered.shown_from)
    }

    /// Edits, freezes or reposts if what is shown is not what is to be shown.
    pub(super) fn refresh(&mut self, may_repost: bool, now: Millis, effects: &mut Vec<FlowEffect>) {
        self.ask_for_document(effects);
        match &self.surface {
            Surface::Closed | Surface::Opening { .. } => {}
            Surface::Lost { revision } => {
                if *revision != self.revision {
                    self.open(now, effects);
                } else if self.stage != Stage::Running {
                    self.finish(effects);
                }
            }
            Surface::Open(live) => {
                let live = live.clone();
                self.refresh_open(live, may_repost, now, effects);
            }
        }
    }

    fn refresh_open(
        &mut self,
        mut live: Live,
        may_repost: bool,
        now: Millis,
        effects: &mut Vec<FlowEffect>,
    ) {
        let (content, shown_from) = self.compose(now);
        if shown_from > 0 && self.freeze(&live, now, effects) {
            return;
        }
        let settled = self.stage != Stage::Running;
        let target = live
            .pending
            .as_ref()
            .map(|(_, content)| content)
            .or(live.accepted.as_ref());
        let due = !target.is_some_and(|target| target.same(&content))
            && !live
                .refused
                .as_ref()
                .is_some_and(|refused| refused.same(&content));
        if !due {
            if settled && live.pending.is_none() && !matches!(self.document, Document::Asked(_)) {
                self.finish(effects);
            }
            return;
        }
        let shown_additions = live.accepted.as_ref().map_or(0, |shown| shown.additions);
        let buried = self.newest_foreign > Some(live.message);
        if !settled && buried && may_repost && content.additions > shown_additions {
            effects.push(FlowEffect::Repost {
                old: live.message,
                body: content.body.clone(),
                keyboard: content.keyboard.clone(),
            });
            self.surface = Surface::Opening {
                sent: content,
                old: Some(live),
            };
            return;
        }
        self.edits += 1;
        effects.push(FlowEffect::Edit {
            edit: self.edits,
            message: live.message,
            body: content.body.clone(),
            keyboard: content.keyboard.clone(),
            clock_only: target.is_some_and(|target| {
                target.revision == content.revision && target.keyboard == content.keyboard
            }),
            keyboard_changed: live
                .accepted
                .as_ref()
                .is_none_or(|shown| shown.keyboard != content.keyboard),
        });
        live.pending = Some((self.edits, content));
        self.surface = Surface::Open(live);
    }

    /// Freezes the full block and opens the next; false if nothing in it is final yet.
    fn freeze(&mut self, live: &Live, now: Millis, effects: &mut Vec<FlowEffect>) -> bool {
        let count = self.frozen_count(now);
        if count == 0 {
            return false;
        }
        let frozen = self.rendered(&self.log.prefix(count), &Stage::Frozen, None, now);
        effects.push(FlowEffect::Edit {
            edit: 0,
            message: live.message,
            body: frozen.body,
            keyboard: Keyboard::none(),
            clock_only: false,
            keyboard_changed: true,
        });
        self.log.drop_prefix(count);
        self.open(now, effects);
        true
    }

    /// The most entries that can change no more and fit one block together.
    fn frozen_count(&self, now: Millis) -> usize {
        let fits = |count: usize| {
            let frozen = self.rendered(&self.log.prefix(count), &Stage::Frozen, None, now);
            frozen.shown_from == 0
        };
        let (mut low, mut high) = (0, self.log.final_prefix());
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if fits(middle) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        low
    }

    /// Asks for the document of a ready plan that is too long for the message, once per revision.
    fn ask_for_document(&mut self, effects: &mut Vec<FlowEffect>) {
        let Some(plan) = &self.plan else { return };
        if self.stage == Stage::Running || plan.face != PlanFace::Ready {
            return;
        }
        let known = match &self.document {
            Document::None => false,
            Document::Asked(revision) | Document::Sent(revision) | Document::Failed(revision) => {
                *revision == plan.revision
            }
        };
        if known || self.prose_is_whole() {
            return;
        }
        self.document = Document::Asked(plan.revision.clone());
        effects.push(FlowEffect::SendDocument {
            revision: plan.revision.clone(),
        });
    }

    fn prose_is_whole(&self) -> bool {
        self.rendered(&self.log, &self.stage, self.plan.as_ref(), 0)
            .prose_whole
    }
}
