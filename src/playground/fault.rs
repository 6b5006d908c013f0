//! Faults that a test switches on: what goes wrong with the next calls of a method.

use std::time::Duration;

/// What goes wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FaultKind {
    /// 429 with `retry_after` seconds; nothing is done.
    TooMany(u64),
    /// A JSON refusal with this code and description (without prefix); nothing is done.
    Refuse(u16, String),
    /// An HTML page with this status, as an edge server sends it; nothing is done.
    Html(u16),
    /// The connection is cut before anything is done.
    Cut,
    /// The call takes effect, then the reply is cut.
    CutAfter,
    /// The call takes effect, then an HTML 502 is sent.
    HtmlAfter,
    /// The call takes effect, then half of the JSON is sent.
    TruncateAfter,
    /// The call takes effect, then the reply is held back for this long.
    DelayAfter(Duration),
    /// No reply ever; nothing is done.
    Hang,
}

impl FaultKind {
    /// Whether the call takes effect.
    #[must_use]
    pub fn takes_effect(&self) -> bool {
        matches!(
            self,
            Self::CutAfter | Self::HtmlAfter | Self::TruncateAfter | Self::DelayAfter(_)
        )
    }
}

/// A fault and when it strikes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Bot API method, any case; `*` for every method.
    pub method: String,
    /// Only in this chat.
    pub chat: Option<i64>,
    /// Matching calls that pass first.
    pub skip: u32,
    /// How many calls fail.
    pub count: u32,
    /// What goes wrong.
    pub kind: FaultKind,
}

impl Fault {
    /// The next `count` calls of `method` fail with `kind`.
    #[must_use]
    pub fn next(method: &str, count: u32, kind: FaultKind) -> Self {
        Self {
            method: method.to_owned(),
            chat: None,
            skip: 0,
            count,
            kind,
        }
    }
}

/// The fault for this call, counted down.
pub(super) fn take(faults: &mut Vec<Fault>, method: &str, chat: Option<i64>) -> Option<FaultKind> {
    let mut struck = None;
    for fault in faults.iter_mut() {
        let here = (fault.method == "*" || fault.method.eq_ignore_ascii_case(method))
            && fault.chat.is_none_or(|wanted| Some(wanted) == chat);
        if !here {
            continue;
        }
        if fault.skip > 0 {
            fault.skip -= 1;
            continue;
        }
        if fault.count > 0 {
            fault.count -= 1;
            struck = Some(fault.kind.clone());
            break;
        }
    }
    faults.retain(|fault| fault.count > 0);
    struck
}
