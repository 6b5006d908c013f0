//! The machine of one turn's flow message: events and the time in, effects out.

use crate::domain::{EndReason, Keyboard, MessageId, Progress};
use crate::plan::view::{PlanFace, PlanView};

use super::effect::{Body, FlowEffect};
use super::event::FlowEvent;
use super::keyboard::{discard_confirmation, keyboard};
use super::log::{Change, Log};
use super::render::{Rendered, Renderer, render};
use super::sections::cut_short;
use super::view::{Stage, View};
use super::{Millis, TICK_MS};

/// Attempts after the end of the turn before the machine gives up; one every tick.
const LAST_ATTEMPTS: u32 = 40;

/// What is fixed for a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowOptions {
    /// Locale tag.
    pub language: String,
    /// Form of the message.
    pub renderer: Renderer,
    /// Whether the chat is a group or channel.
    pub group: bool,
    /// Whether groups see tool arguments and outputs.
    pub group_detail: bool,
    /// Whether the message opens at once, as for a seed turn.
    pub eager: bool,
    /// The plan when the turn begins.
    pub plan: Option<PlanView>,
}

/// What a message shows, or is asked to show.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Content {
    pub(super) body: Body,
    pub(super) keyboard: Keyboard,
    /// Counts changes other than the clock's.
    pub(super) revision: u64,
    /// Counts additions to the log.
    pub(super) additions: u64,
}

impl Content {
    pub(super) fn same(&self, other: &Self) -> bool {
        self.body == other.body && self.keyboard == other.keyboard
    }
}

/// The newest message and what is known about it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Live {
    pub(super) message: MessageId,
    /// `None` after a restart: what is shown is not known.
    pub(super) accepted: Option<Content>,
    pub(super) pending: Option<(u64, Content)>,
    pub(super) refused: Option<Content>,
}

/// Where the newest message stands.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Surface {
    /// None yet, or the last block is frozen.
    Closed,
    /// One is being sent; `old` is the copy that it replaces.
    Opening { sent: Content, old: Option<Live> },
    /// It is there.
    Open(Live),
    /// It vanished when it showed this revision.
    Lost { revision: u64 },
}

/// The flow message of one turn.
#[derive(Debug, Clone)]
pub struct Flow {
    pub(super) options: FlowOptions,
    pub(super) log: Log,
    pub(super) plan: Option<PlanView>,
    pub(super) stage: Stage,
    pub(super) started: Millis,
    pub(super) ended: Option<Millis>,
    pub(super) usage: Option<(u64, u64)>,
    pub(super) surface: Surface,
    pub(super) revision: u64,
    pub(super) additions: u64,
    pub(super) edits: u64,
    pub(super) newest_foreign: Option<MessageId>,
    pub(super) document: Document,
    pub(super) attempts_left: u32,
    pub(super) last_message: Option<MessageId>,
    pub(super) finished: bool,
    pub(super) confirming: bool,
}

/// The document that shows a long plan in full.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Document {
    /// None was asked for.
    None,
    /// This revision is on its way.
    Asked(String),
    /// This revision was accepted.
    Sent(String),
    /// This revision could not be sent, so its Approve does not go live.
    Failed(String),
}

impl Flow {
    /// The flow of a turn that is about to start.
    #[must_use]
    pub fn new(options: FlowOptions) -> Self {
        Self {
            plan: options.plan.clone(),
            options,
            log: Log::default(),
            stage: Stage::Running,
            started: 0,
            ended: None,
            usage: None,
            surface: Surface::Closed,
            revision: 0,
            additions: 0,
            edits: 0,
            newest_foreign: None,
            document: Document::None,
            attempts_left: LAST_ATTEMPTS,
            last_message: None,
            finished: false,
            confirming: false,
        }
    }

    /// A message outside of any turn that shows the plan's chrome and buttons.
    #[must_use]
    pub fn standing(options: FlowOptions) -> Self {
        Self {
            stage: Stage::Standing,
            ..Self::new(options)
        }
    }

    /// The flow of a turn that a crash cut off, as it was stored; what Telegram shows is not known.
    #[must_use]
    pub fn resumed(
        options: FlowOptions,
        log: Log,
        usage: Option<(u64, u64)>,
        message: MessageId,
        elapsed: Millis,
        now: Millis,
    ) -> Self {
        Self {
            log,
            usage,
            started: now,
            ended: Some(now + elapsed),
            surface: Surface::Open(Live {
                message,
                accepted: None,
                pending: None,
                refused: None,
            }),
            last_message: Some(message),
            ..Self::new(options)
        }
    }

    /// Takes one event in and says what is to be done.
    #[must_use]
    pub fn handle(&mut self, event: FlowEvent, now: Millis) -> Vec<FlowEffect> {
        let mut effects = Vec::new();
        if self.finished {
            return effects;
        }
        match event {
            FlowEvent::Started => self.on_started(now, &mut effects),
            FlowEvent::Progress(progress) => self.on_progress(progress, now, &mut effects),
            FlowEvent::Plan(plan) => self.on_plan(plan),
            FlowEvent::Tick { may_repost } => self.on_tick(may_repost, now, &mut effects),
            FlowEvent::Opened { message } => self.on_opened(message, now, &mut effects),
            FlowEvent::OpenFailed => self.on_open_failed(),
            FlowEvent::EditAccepted { edit } => self.on_accepted(edit, now, &mut effects),
            FlowEvent::EditRejected { edit, why } => self.on_rejected(edit, why, now, &mut effects),
            FlowEvent::Buried { message } => {
                self.newest_foreign = self.newest_foreign.max(Some(message));
            }
            FlowEvent::DocumentSent { revision } => {
                self.document = Document::Sent(revision);
                self.revision += 1;
                self.refresh(false, now, &mut effects);
            }
            FlowEvent::ConfirmDiscard { asked } => {
                self.confirming = asked;
                self.revision += 1;
                self.refresh(false, now, &mut effects);
            }
            FlowEvent::DocumentFailed => {
                if let Document::Asked(revision) = &self.document {
                    self.document = Document::Failed(revision.clone());
                }
                self.refresh(false, now, &mut effects);
            }
            FlowEvent::UseClassic => {
                self.options.renderer = Renderer::Classic;
            }
            FlowEvent::Answer { text } => {
                let change = self.log.forget_answer(&text);
                self.count(change);
            }
            FlowEvent::Settle { reason, plan } => {
                self.on_settle(reason, plan, now, &mut effects);
            }
        }
        effects
    }

    fn on_started(&mut self, now: Millis, effects: &mut Vec<FlowEffect>) {
        self.started = now;
        if self.options.eager || self.stage == Stage::Standing {
            self.open(now, effects);
        }
        effects.push(FlowEffect::StartTimer { after_ms: TICK_MS });
    }

    fn on_progress(&mut self, progress: Progress, now: Millis, effects: &mut Vec<FlowEffect>) {
        if self.stage != Stage::Running {
            return;
        }
        if let Progress::Usage {
            context, window, ..
        } = &progress
        {
            let usage = Some((*context, *window));
            if self.usage != usage {
                self.usage = usage;
                self.revision += 1;
            }
            return;
        }
        let change = self.log.fold(progress);
        self.count(change);
        if change == Change::Activity && self.surface == Surface::Closed {
            self.open(now, effects);
        }
    }

    fn count(&mut self, change: Change) {
        match change {
            Change::None => {}
            Change::Altered => self.revision += 1,
            Change::Added | Change::Activity => {
                self.revision += 1;
                self.additions += 1;
            }
        }
    }

    fn on_plan(&mut self, plan: Option<PlanView>) {
        if self.plan != plan {
            self.plan = plan;
            self.revision += 1;
        }
    }

    fn on_settle(
        &mut self,
        reason: EndReason,
        plan: Option<PlanView>,
        now: Millis,
        effects: &mut Vec<FlowEffect>,
    ) {
        if self.stage != Stage::Running {
            return;
        }
        self.log.close(cut_short(&reason));
        self.plan = plan;
        self.ended = self.ended.or(Some(now));
        self.stage = Stage::Settled { reason };
        self.revision += 1;
        if self.surface == Surface::Closed {
            if self.must_show() {
                self.open(now, effects);
            } else {
                self.finish(effects);
            }
            return;
        }
        self.refresh(false, now, effects);
    }

    /// Whether a turn that opened no message has something to show at its end: tools whose opening
    /// failed, or a plan whose state changed.
    fn must_show(&self) -> bool {
        let before = self.options.plan.as_ref();
        let changed = self.plan.as_ref().is_some_and(|plan| {
            let revised = before.map_or("", |plan| &plan.revision) != plan.revision;
            let failed = matches!(plan.face, PlanFace::SeedFailed | PlanFace::PartialSeed);
            revised || failed && before.map(|plan| plan.face) != Some(plan.face)
        });
        self.log.tools() > 0 || changed || self.last_message.is_some()
    }

    /// How long the turn has run, in milliseconds.
    #[must_use]
    pub fn elapsed(&self, now: Millis) -> Millis {
        self.ended.unwrap_or(now).saturating_sub(self.started)
    }

    /// The log of the newest block, for the durable record.
    #[must_use]
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// Context tokens and window, for the durable record.
    #[must_use]
    pub fn usage(&self) -> Option<(u64, u64)> {
        self.usage
    }

    /// The newest message of the turn.
    #[must_use]
    pub fn message(&self) -> Option<MessageId> {
        self.last_message
    }

    /// Whether no turn runs any more.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.stage != Stage::Running
    }

    /// Whether the buttons ask for confirmation of a discard.
    #[must_use]
    pub fn confirming(&self) -> bool {
        self.confirming
    }

    /// The plan as it is shown.
    #[must_use]
    pub fn plan(&self) -> Option<&PlanView> {
        self.plan.as_ref()
    }

    /// The message without plan and buttons: what it becomes when a newer flow message opens.
    #[must_use]
    pub fn stripped(&self, now: Millis) -> Body {
        let body = self.rendered(&self.log, &self.stage, None, now).body;
        if body.is_empty() {
            // A card that only shows the plan is nothing without it, and a message cannot be empty.
            let words = crate::i18n::tr(&self.options.language, "flow-continued", &[]);
            return Body::Classic(crate::domain::Formatted::plain(words));
        }
        body
    }

    pub(super) fn rendered(
        &self,
        log: &Log,
        stage: &Stage,
        plan: Option<&PlanView>,
        now: Millis,
    ) -> Rendered {
        let view = View {
            language: &self.options.language,
            stage,
            log,
            elapsed: self.elapsed(now),
            usage: self.usage,
            plan,
            detail: !self.options.group || self.options.group_detail,
        };
        render(&view, self.options.renderer)
    }

    pub(super) fn buttons(&self, prose_whole: bool) -> Keyboard {
        let running = self.stage == Stage::Running;
        let plan = self.plan.as_ref();
        if let (true, Some(plan)) = (self.confirming, plan) {
            return discard_confirmation(&self.options.language, plan.done, plan.total);
        }
        let sent = match (&self.document, plan) {
            (Document::Sent(revision), Some(plan)) => *revision == plan.revision,
            (Document::Sent(_) | Document::None | Document::Asked(_) | Document::Failed(_), _) => {
                false
            }
        };
        keyboard(&self.options.language, plan, running, prose_whole || sent)
    }

    pub(super) fn finish(&mut self, effects: &mut Vec<FlowEffect>) {
        self.finished = true;
        effects.push(FlowEffect::Finished {
            message: self.last_message,
        });
    }
}

#[cfg(test)]
mod tests;
