//! A process that dies at every boundary of a plan save. What is found afterwards is the old plan or the
//! new one, never a third thing and never no plan.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use chrono::{DateTime, Utc};
use greenlight::domain::{TurnId, UserId};
use greenlight::plan::lifecycle::{self, Approval, Birth};
use greenlight::plan::model::{Plan, PlanState, PreInitOrigin};
use greenlight::plan::store::{PlanFiles, SaveHook, SavePoint};
use greenlight::plan::template;

use super::design::second_plan;
use crate::support::rig::PLAN;

const SESSION: &str = "4b8f7d52-0c11-4c5e-9a54-7a1b7d1f5f10";
const ROOT: &str = "PLAN_CRASH_ROOT";
const CHANGE: &str = "PLAN_CRASH_CHANGE";
const AT: &str = "PLAN_CRASH_AT";
const TURN: TurnId = TurnId(1);

/// Kills its own process at the n-th boundary.
struct Killer {
    left: AtomicU32,
}

impl SaveHook for Killer {
    fn at(&self, _: SavePoint, _: &Path) -> io::Result<()> {
        if self.left.fetch_sub(1, Ordering::SeqCst) == 0 {
            let me = rustix::process::getpid();
            rustix::process::kill_process(me, rustix::process::Signal::KILL)?;
        }
        Ok(())
    }
}

fn now() -> DateTime<Utc> {
    DateTime::from_timestamp(1_700_000_000, 0).unwrap()
}

fn birth() -> Birth {
    Birth {
        id: "p1".into(),
        session: SESSION.into(),
        now: now(),
        working_directory: None,
    }
}

fn files(root: &Path, hook: Option<u32>) -> PlanFiles {
    match hook {
        Some(left) => PlanFiles::with_hook(
            root,
            &SESSION.into(),
            &[],
            Arc::new(Killer { left: left.into() }),
        ),
        None => PlanFiles::new(root, &SESSION.into(), &[]),
    }
    .unwrap()
}

fn design(md: &str) -> Plan {
    lifecycle::init_design(&PlanState::NoPlan, "Fix the adder", md, birth(), true).unwrap()
}

fn approved(files: &PlanFiles) -> Plan {
    let state = files.peek();
    let PlanState::Editing(editing) = &state else {
        panic!("{state:?}")
    };
    let revision = template::revision(PLAN);
    let approval = Approval {
        plan_id: &editing.plan.id,
        revision: &revision,
        by: UserId(7),
        at: now(),
        note: None,
        max_tasks: 50,
    };
    lifecycle::approve(&state, PLAN, &approval).unwrap()
}

fn seeded(files: &PlanFiles) -> Plan {
    let mut plan = approved(files);
    let task = serde_json::json!({"id": "t1", "title": "Correct the adder", "description": "d"});
    plan.tasks.push(serde_json::from_value(task).unwrap());
    plan
}

/// A change of the plan files: what is there before, and what is done.
struct Change {
    name: &'static str,
    before: fn(&PlanFiles),
    act: fn(&PlanFiles),
}

const CHANGES: &[Change] = &[
    Change {
        name: "plan mode is set",
        before: |_| {},
        act: |files| {
            let plan = lifecycle::pre_init(&PlanState::NoPlan, PreInitOrigin::Slash, birth(), true);
            files.save(&plan.unwrap().unwrap(), None, TURN).unwrap();
        },
    },
    Change {
        name: "a design begins",
        before: |files| (CHANGES[0].act)(files),
        act: |files| files.save(&design(PLAN), Some(PLAN), TURN).unwrap(),
    },
    Change {
        name: "the prose is revised",
        before: |files| files.save(&design(PLAN), Some(PLAN), TURN).unwrap(),
        act: |files| {
            let md = second_plan();
            files.save(&design(&md), Some(&md), TURN).unwrap();
        },
    },
    Change {
        name: "the prose is mirrored",
        before: |files| {
            files.save(&design(PLAN), Some(PLAN), TURN).unwrap();
            std::fs::write(files.md_path(), second_plan()).unwrap();
        },
        act: |files| {
            let mut plan = design(PLAN);
            files.sync_md(&mut plan, now(), TURN).unwrap();
        },
    },
    Change {
        name: "the owner approves",
        before: |files| files.save(&design(PLAN), Some(PLAN), TURN).unwrap(),
        act: |files| files.save(&approved(files), None, TURN).unwrap(),
    },
    Change {
        name: "the checklist is seeded",
        before: |files| files.save(&design(PLAN), Some(PLAN), TURN).unwrap(),
        act: |files| files.save(&seeded(files), None, TURN).unwrap(),
    },
];

/// What counts about a state.
fn face(state: &PlanState) -> String {
    let of = |plan: &Plan| {
        let titles: Vec<&str> = plan.tasks.iter().map(|task| task.title.as_str()).collect();
        format!(
            "{} {titles:?} {:?} {:?}",
            plan.id, plan.approved_revision, plan.revision
        )
    };
    match state {
        PlanState::NoPlan => "none".to_owned(),
        PlanState::PreInit { origin } => format!("plan mode {origin:?}"),
        PlanState::Editing(editing) => format!("editing {} {}", of(&editing.plan), editing.prose),
        PlanState::Active(plan) => format!("active {} {}", of(plan), plan.description),
        PlanState::Corrupt { reason, .. } => format!("corrupt {reason}"),
    }
}

#[test]
fn a_save_that_dies_leaves_the_old_plan_or_the_new_one() {
    for (number, change) in CHANGES.iter().enumerate() {
        let root = tempfile::tempdir().unwrap();
        let sample = files(root.path(), None);
        (change.before)(&sample);
        let old = face(&sample.peek());
        (change.act)(&sample);
        let new = face(&files(root.path(), None).load(now()));
        let mut deaths = 0;
        let mut seen_old = false;
        for at in 0..40 {
            let root = tempfile::tempdir().unwrap();
            (change.before)(&files(root.path(), None));
            let child = Command::new(std::env::current_exe().unwrap())
                .args([
                    "--exact",
                    "whole::crash::a_child_saves_until_it_is_killed",
                    "--nocapture",
                ])
                .env(ROOT, root.path())
                .env(CHANGE, number.to_string())
                .env(AT, at.to_string())
                .output()
                .unwrap();
            let found = face(&files(root.path(), None).load(now()));
            assert!(
                found == old || found == new,
                "{}, boundary {at}: {found}\nold {old}\nnew {new}",
                change.name
            );
            assert!(!found.starts_with("corrupt"), "{found}");
            let left: Vec<_> = std::fs::read_dir(root.path())
                .unwrap()
                .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
                .filter(|name| name.starts_with(".tmp_plan"))
                .collect();
            assert_eq!(
                left,
                Vec::<String>::new(),
                "a temporary file outlived the next load"
            );
            if child.status.success() {
                assert_eq!(found, new, "{}", change.name);
                break;
            }
            assert_eq!(
                child.status.signal(),
                Some(9),
                "{}",
                String::from_utf8_lossy(&child.stderr)
            );
            deaths += 1;
            seen_old |= found == old;
        }
        assert!(
            deaths >= 5 && (seen_old || old == new),
            "{}: {deaths} deaths",
            change.name
        );
    }
}

/// Does nothing unless the test above started it.
#[test]
fn a_child_saves_until_it_is_killed() {
    let (Ok(root), Ok(change), Ok(at)) = (
        std::env::var(ROOT),
        std::env::var(CHANGE),
        std::env::var(AT),
    ) else {
        return;
    };
    let files = files(Path::new(&root), at.parse().ok());
    (CHANGES[change.parse::<usize>().unwrap()].act)(&files);
}
