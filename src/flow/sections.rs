//! The section builder: view model in, sections out, once for all renderers.

mod inline;
mod log_lines;

use crate::domain::{EntityKind, Formatted};
use crate::i18n::tr;
use crate::plan::view::{PlanFace, PlanSection, PlanView, RowMark};

use super::activity::activity;
use super::units::{cut, one_line, utf16_len};
use super::view::{Stage, View};
use super::words;

pub(crate) use inline::{Line, inline};
pub(crate) use log_lines::cut_short;
use log_lines::log_lines;

/// Characters of a row.
const ROW_LIMIT: usize = 150;
/// Units that the goal criteria may take.
const CRITERIA_BUDGET: usize = 600;

/// A flow message in parts.
#[derive(Debug, Clone, PartialEq)]
pub struct Sections {
    /// Always visible: header first, then the plan's chrome.
    pub chrome: Vec<Formatted>,
    /// Collapsed bodies of the plan.
    pub plan: Vec<Part>,
    /// One text per log entry, oldest first; text that is streaming comes last.
    pub log: Vec<Formatted>,
    /// Heading of the log, for renderers that need one.
    pub log_heading: String,
    /// The context footer.
    pub footer: Option<Formatted>,
    /// Whether the plan's prose is there in full.
    pub prose_whole: bool,
}

/// One collapsed body.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// First line, visible while collapsed.
    pub heading: String,
    /// The lines below it.
    pub lines: Vec<Formatted>,
}

impl Part {
    fn units(&self) -> usize {
        utf16_len(&self.heading)
            + 1
            + self
                .lines
                .iter()
                .map(|line| utf16_len(&line.text) + 1)
                .sum::<usize>()
    }
}

/// Builds the sections. The plan's bodies take at most about `plan_budget` UTF-16 units.
#[must_use]
pub fn build(view: &View<'_>, plan_budget: usize) -> Sections {
    let mut chrome: Vec<Formatted> = header(view).into_iter().collect();
    let (mut plan, mut prose_whole) = (Vec::new(), true);
    if let Some(shown) = view.plan {
        let running = matches!(view.stage, Stage::Running);
        chrome.extend(plan_chrome(view.language, shown, running));
        (plan, prose_whole) = plan_parts(view.language, shown, plan_budget);
        if !prose_whole && shown.face == PlanFace::Ready && !running {
            chrome.push(Formatted::plain(tr(
                view.language,
                "flow-plan-document",
                &[],
            )));
        }
    }
    if let Stage::Settled { reason } = view.stage {
        chrome.extend(
            words::reason(view.language, reason)
                .iter()
                .map(|line| cut(line.trim(), 600))
                .filter(|line| !line.is_empty())
                .map(Formatted::plain),
        );
    }
    Sections {
        chrome,
        plan,
        log: log_lines(view),
        log_heading: tr(view.language, "flow-log", &[]),
        footer: footer(view),
        prose_whole,
    }
}

fn header(view: &View<'_>) -> Option<Formatted> {
    let mut line = Line::new();
    match view.stage {
        Stage::Standing => return None,
        Stage::Running => {
            line.push("⚙️ ", None);
            line.push(
                &activity(view.language, view.log, view.detail),
                Some(EntityKind::Bold),
            );
        }
        Stage::Settled { reason } => line.push(
            &words::outcome(view.language, reason),
            Some(EntityKind::Bold),
        ),
        Stage::Frozen => line.push(&tr(view.language, "flow-continued", &[]), None),
    }
    if view.log.tools() > 0 {
        let count = view.log.tools().to_string();
        line.push(" • ", None);
        line.push(&tr(view.language, "flow-tools", &[("count", &count)]), None);
    }
    if !matches!(view.stage, Stage::Frozen) {
        line.push(" • ", None);
        line.push(&words::duration(view.language, view.elapsed), None);
    }
    Some(line.finish())
}

fn footer(view: &View<'_>) -> Option<Formatted> {
    let (used, window) = view.usage?;
    if matches!(view.stage, Stage::Frozen) || window == 0 {
        return None;
    }
    let (used, window) = (words::tokens(used), words::tokens(window));
    Some(Formatted::plain(tr(
        view.language,
        "flow-ctx",
        &[("used", &used), ("window", &window)],
    )))
}

fn plan_chrome(language: &str, plan: &PlanView, running: bool) -> Vec<Formatted> {
    // Readiness is judged at the end of a turn; until then the plan is being edited.
    let unjudged = running && matches!(plan.face, PlanFace::Ready | PlanFace::NotReady);
    let face = if unjudged {
        PlanFace::Editing
    } else {
        plan.face
    };
    let mut lines = Vec::new();
    if !plan.title.is_empty() {
        let mut title = Line::new();
        title.push("📋 ", None);
        title.push(&one_line(&plan.title, ROW_LIMIT), Some(EntityKind::Bold));
        if plan.total > 0 {
            title.push(&format!(" • {}/{}", plan.done, plan.total), None);
        }
        for (count, key) in [
            (plan.blocked, "flow-blocked"),
            (plan.recheck, "flow-recheck"),
        ] {
            if count > 0 {
                let count = count.to_string();
                title.push(
                    &format!(" · {}", tr(language, key, &[("count", &count)])),
                    None,
                );
            }
        }
        lines.push(title.finish());
    }
    if let Some(key) = face_key(face) {
        lines.push(Formatted::plain(tr(language, key, &[])));
    }
    if face == PlanFace::NotReady && !plan.missing.is_empty() {
        let missing: Vec<String> = plan
            .missing
            .iter()
            .map(|key| tr(language, key, &[]))
            .collect();
        let heading = tr(language, "flow-missing", &[]);
        lines.push(Formatted::plain(cut(
            &format!("{heading}: {}", missing.join(", ")),
            600,
        )));
    }
    if let Some(goal) = plan.goal.as_deref().filter(|goal| !goal.trim().is_empty()) {
        lines.push(inline(&format!("🎯 {}", one_line(goal, ROW_LIMIT))));
    }
    lines
}

/// Locale key of a state word; `None` while the checklist runs, which the rows say.
#[must_use]
pub fn face_key(face: PlanFace) -> Option<&'static str> {
    match face {
        PlanFace::Discussing => Some("flow-face-discussing"),
        PlanFace::Editing => Some("flow-face-editing"),
        PlanFace::Ready => Some("flow-face-ready"),
        PlanFace::NotReady => Some("flow-face-not-ready"),
        PlanFace::Seeding => Some("flow-face-seeding"),
        PlanFace::SeedFailed => Some("flow-face-seed-failed"),
        PlanFace::PartialSeed => Some("flow-face-partial-seed"),
        PlanFace::Corrupt => Some("flow-face-corrupt"),
        PlanFace::Done => Some("flow-face-done"),
        PlanFace::Running => None,
    }
}

fn plan_parts(language: &str, plan: &PlanView, budget: usize) -> (Vec<Part>, bool) {
    let mut left = budget;
    let mut parts = Vec::new();
    let criteria: Vec<Formatted> = plan
        .criteria
        .iter()
        .map(|line| one_line(line, ROW_LIMIT))
        .filter(|line| !line.is_empty())
        .map(|line| inline(&format!("• {line}")))
        .collect();
    // The goal's line says a single short criterion in full.
    let said = matches!(plan.criteria.as_slice(), [one] if plan.goal.as_ref() == Some(one) && one.chars().count() <= ROW_LIMIT);
    if !criteria.is_empty() && !said {
        let part = Part {
            heading: format!("🎯 {}", tr(language, "flow-criteria", &[])),
            lines: bounded(language, criteria, 0, CRITERIA_BUDGET),
        };
        left = left.saturating_sub(part.units());
        parts.push(part);
    }
    if !plan.rows.is_empty() {
        let part = checklist(language, plan, left);
        left = left.saturating_sub(part.units());
        parts.push(part);
    }
    let prose: Vec<Part> = plan.sections.iter().filter_map(prose_part).collect();
    let whole = prose.iter().map(Part::units).sum::<usize>() <= left;
    if whole {
        parts.extend(prose);
    } else {
        parts.extend(summary(language, &plan.sections, left));
    }
    (parts, whole)
}

fn checklist(language: &str, plan: &PlanView, budget: usize) -> Part {
    let rows: Vec<Formatted> = plan
        .rows
        .iter()
        .map(|row| {
            let mut text = format!("{} {}", row.mark.sign(), row.title);
            if !row.remark.trim().is_empty() {
                text.push_str(" — ");
                text.push_str(&row.remark);
            }
            Formatted::plain(one_line(&text, ROW_LIMIT))
        })
        .collect();
    // What is still open matters most when not everything fits.
    let open = plan
        .rows
        .iter()
        .position(|row| !matches!(row.mark, RowMark::Completed | RowMark::Skipped))
        .unwrap_or(0);
    Part {
        heading: tr(language, "flow-checklist", &[]),
        lines: bounded(language, rows, open.saturating_sub(1), budget),
    }
}

/// The lines if they fit; else those from `from` on that do, with the counts of those left out.
fn bounded(language: &str, lines: Vec<Formatted>, from: usize, budget: usize) -> Vec<Formatted> {
    let cost = |line: &Formatted| utf16_len(&line.text) + 1;
    if lines.iter().map(cost).sum::<usize>() <= budget {
        return lines;
    }
    let all = lines.len();
    let mut left = budget.saturating_sub(40);
    let shown: Vec<Formatted> = lines
        .into_iter()
        .skip(from)
        .take_while(|line| {
            let fits = cost(line) <= left;
            left = left.saturating_sub(cost(line));
            fits
        })
        .collect();
    let more = |count: usize| {
        let count = count.to_string();
        Formatted::plain(tr(language, "flow-more", &[("count", &count)]))
    };
    let after = all.saturating_sub(from + shown.len());
    let mut kept = Vec::with_capacity(shown.len() + 2);
    if from > 0 {
        kept.push(more(from));
    }
    kept.extend(shown);
    if after > 0 {
        kept.push(more(after));
    }
    kept
}

fn prose_part(section: &PlanSection) -> Option<Part> {
    let lines: Vec<Formatted> = section
        .body
        .lines()
        .map(str::trim_end)
        .filter(|line| !line.trim().is_empty())
        .map(inline)
        .filter(|line| !line.text.trim().is_empty())
        .collect();
    (!lines.is_empty()).then(|| Part {
        heading: section.heading.trim().to_owned(),
        lines,
    })
}

/// The first line of every section, for a plan that is too long for one message.
fn summary(language: &str, sections: &[PlanSection], budget: usize) -> Vec<Part> {
    let mut left = budget;
    let mut parts = Vec::new();
    for part in sections.iter().filter_map(prose_part) {
        let rest = part.lines.len().saturating_sub(1).to_string();
        let mut lines: Vec<Formatted> = part
            .lines
            .iter()
            .take(1)
            .map(|line| Formatted::plain(one_line(&line.text, ROW_LIMIT)))
            .collect();
        if rest != "0" {
            lines.push(Formatted::plain(tr(
                language,
                "flow-more",
                &[("count", &rest)],
            )));
        }
        let part = Part {
            heading: one_line(&part.heading, ROW_LIMIT),
            lines,
        };
        if part.units() > left {
            break;
        }
        left -= part.units();
        parts.push(part);
    }
    parts
}
