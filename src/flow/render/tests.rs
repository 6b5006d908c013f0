use crate::domain::{CallId, CallStatus, EndReason, Notice, Progress};
use crate::flow::{Body, Log, Renderer, Stage, View, keyboard, utf16_len};
use crate::plan::view::{PlanFace, PlanRow, PlanSection, PlanView, RowMark};

use super::render;

pub(crate) fn plan(face: PlanFace) -> PlanView {
    let prose = matches!(
        face,
        PlanFace::Editing | PlanFace::Ready | PlanFace::NotReady
    );
    let rows = matches!(face, PlanFace::Running | PlanFace::PartialSeed);
    PlanView {
        id: "p".into(),
        title: if face == PlanFace::Discussing {
            String::new()
        } else {
            "Fix the adder".into()
        },
        face,
        revision: "r1".into(),
        version: 1,
        done: usize::from(rows),
        total: if rows { 3 } else { 0 },
        blocked: usize::from(rows),
        recheck: 0,
        goal: rows.then(|| "calc.py adds".into()),
        criteria: if rows {
            vec!["add(2, 2) is 4".into()]
        } else {
            Vec::new()
        },
        rows: if rows {
            [
                ("t1", "Correct add", RowMark::Completed, ""),
                ("t2", "Note it", RowMark::InProgress, ""),
                ("t3", "Release", RowMark::Blocked, "no access"),
            ]
            .map(|(id, title, mark, remark)| PlanRow {
                id: id.into(),
                title: title.into(),
                mark,
                remark: remark.into(),
            })
            .to_vec()
        } else {
            Vec::new()
        },
        sections: if prose {
            vec![PlanSection {
                heading: "Context".into(),
                body: "- **Problem:** `add` subtracts\n- **Intent:** it adds".into(),
            }]
        } else {
            Vec::new()
        },
        missing: if face == PlanFace::NotReady {
            vec!["flow-log".into()]
        } else {
            Vec::new()
        },
    }
}

pub(crate) fn started(call: &str, argument: &str) -> Progress {
    Progress::ToolStarted {
        call: CallId::from(call),
        tool: "bash".into(),
        label: "flow-log".into(),
        argument: argument.into(),
    }
}

fn log() -> Log {
    let mut log = Log::default();
    for step in [
        Progress::Narration {
            text: "I look at the file first.".into(),
        },
        started("1", "calc.py"),
        Progress::ToolFinished {
            call: CallId::from("1"),
            status: CallStatus::Ok,
            summary: "12 lines".into(),
            duration_ms: 2_100,
        },
        Progress::Notice(Notice {
            key: "flow-recheck".into(),
            arguments: vec![("count".into(), "1".into())],
        }),
        Progress::Notice(Notice {
            key: "flow-recheck".into(),
            arguments: vec![("count".into(), "2".into())],
        }),
        started("2", "# Run it\npython3 calc.py"),
    ] {
        log.fold(step);
    }
    log
}

fn show(
    language: &str,
    stage: &Stage,
    plan: Option<&PlanView>,
    log: &Log,
    renderer: Renderer,
) -> String {
    let view = View {
        language,
        stage,
        log,
        elapsed: 83_000,
        usage: Some((12_400, 200_000)),
        plan,
        detail: true,
    };
    let rendered = render(&view, renderer);
    let running = *stage == Stage::Running;
    let text = match rendered.body {
        Body::Classic(text) => {
            let spans: Vec<String> = text
                .entities
                .iter()
                .map(|entity| format!("{:?} {}+{}", entity.kind, entity.offset, entity.length))
                .collect();
            format!("{}\n-- {}", text.text, spans.join(", "))
        }
        Body::RichHtml { html, .. } => html,
        Body::RichMarkdown { markdown, .. } => markdown,
    };
    let rows: Vec<String> = keyboard(language, plan, running, rendered.prose_whole)
        .rows
        .iter()
        .map(|row| {
            row.iter()
                .map(|b| format!("[{} | {}]", b.label, b.data))
                .collect()
        })
        .collect();
    format!("{text}\n{}", rows.join("\n"))
}

#[test]
fn every_state_reads_well_in_every_language() {
    let faces = [
        PlanFace::Discussing,
        PlanFace::Editing,
        PlanFace::Ready,
        PlanFace::NotReady,
        PlanFace::Seeding,
        PlanFace::SeedFailed,
        PlanFace::PartialSeed,
        PlanFace::Running,
        PlanFace::Corrupt,
    ];
    for language in ["en", "ru", "ar"] {
        let mut out = String::new();
        let settled = Stage::Settled {
            reason: EndReason::Done,
        };
        let empty = Log::default();
        out.push_str(&format!(
            "# no plan, header only\n{}\n",
            show(language, &Stage::Running, None, &empty, Renderer::Classic)
        ));
        out.push_str(&format!(
            "# no plan\n{}\n",
            show(language, &Stage::Running, None, &log(), Renderer::Classic)
        ));
        for reason in [
            EndReason::Done,
            EndReason::Stopped,
            EndReason::TimedOut,
            EndReason::Interrupted,
            EndReason::Question,
            EndReason::Blocked {
                why: "no key".into(),
            },
            EndReason::Incomplete {
                left: vec!["one test".into()],
            },
        ] {
            let stage = Stage::Settled {
                reason: reason.clone(),
            };
            out.push_str(&format!(
                "# {reason:?}\n{}\n",
                show(language, &stage, None, &empty, Renderer::Classic)
            ));
        }
        for face in faces {
            let plan = plan(face);
            for (word, stage) in [("running", &Stage::Running), ("idle", &settled)] {
                out.push_str(&format!(
                    "# {face:?} {word}\n{}\n",
                    show(language, stage, Some(&plan), &log(), Renderer::Classic)
                ));
            }
        }
        insta::assert_snapshot!(format!("states_{language}"), out);
    }
}

#[test]
fn rich_forms_hold_the_same_sections() {
    let plan = plan(PlanFace::Running);
    insta::assert_snapshot!(
        "rich_details",
        show(
            "en",
            &Stage::Running,
            Some(&plan),
            &log(),
            Renderer::RichDetails
        )
    );
    insta::assert_snapshot!(
        "rich_markdown",
        show(
            "en",
            &Stage::Running,
            Some(&plan),
            &log(),
            Renderer::RichMarkdown
        )
    );
}

#[test]
fn a_full_block_leaves_out_the_oldest_entries_and_keeps_its_limits() {
    let mut log = Log::default();
    for n in 0..500 {
        log.fold(started(
            &n.to_string(),
            &format!("file-😀-{n} {}", "x".repeat(200)),
        ));
    }
    let mut plan = plan(PlanFace::Running);
    plan.rows = (0..200)
        .map(|n| PlanRow {
            id: format!("t{n}"),
            title: "w".repeat(200),
            mark: RowMark::Pending,
            remark: String::new(),
        })
        .collect();
    for renderer in [
        Renderer::Classic,
        Renderer::RichDetails,
        Renderer::RichMarkdown,
    ] {
        let view = View {
            language: "en",
            stage: &Stage::Running,
            log: &log,
            elapsed: 0,
            usage: None,
            plan: Some(&plan),
            detail: true,
        };
        let rendered = render(&view, renderer);
        assert!(rendered.shown_from > 0);
        let (classic, rich) = match rendered.body {
            Body::Classic(text) => (text, String::new()),
            Body::RichHtml { html, fallback } => (fallback, html),
            Body::RichMarkdown { markdown, fallback } => (fallback, markdown),
        };
        assert!(
            utf16_len(&classic.text) <= 3_896,
            "{}",
            utf16_len(&classic.text)
        );
        assert!(classic.entities.len() <= 100);
        assert!(rich.chars().count() <= 32_768 && rich.matches("<p>").count() <= 500);
        for entity in &classic.entities {
            assert!(entity.offset + entity.length <= utf16_len(&classic.text) && entity.length > 0);
        }
    }
}

#[test]
fn a_long_plan_becomes_a_summary_that_says_so() {
    let mut plan = plan(PlanFace::Ready);
    plan.sections = (0..5)
        .map(|n| PlanSection {
            heading: format!("Part {n}"),
            body: "word ".repeat(400),
        })
        .collect();
    let stage = Stage::Settled {
        reason: EndReason::PlanReady,
    };
    let empty = Log::default();
    let view = View {
        language: "en",
        stage: &stage,
        log: &empty,
        elapsed: 0,
        usage: None,
        plan: Some(&plan),
        detail: true,
    };
    let rendered = render(&view, Renderer::Classic);
    assert!(!rendered.prose_whole);
    let Body::Classic(text) = rendered.body else {
        panic!("classic")
    };
    assert!(
        text.text.contains("document") && text.text.contains("Part 4"),
        "{}",
        text.text
    );
}
