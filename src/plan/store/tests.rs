use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::Mutex;

use super::*;
use crate::plan::legacy;
use crate::plan::lifecycle::{self, Birth};
use crate::plan::model::{PreInitOrigin, TaskStatus};

mod older;

const SESSION: &str = "4b8f7d52-0c11-4c5e-9a54-7a1b7d1f5f10";
const T: TurnId = TurnId(1);
const MD: &str = "# T\n\n## Context\n- **Problem:** a\n";

fn now() -> DateTime<Utc> {
    DateTime::from_timestamp(1_700_000_000, 0).unwrap()
}

fn birth() -> Birth {
    Birth {
        id: "p".into(),
        session: SESSION.into(),
        now: now(),
        working_directory: None,
    }
}

fn checklist(title: &str) -> Plan {
    let task = serde_json::from_value(serde_json::json!({"id": "t1", "title": title})).unwrap();
    lifecycle::init_checklist(&PlanState::NoPlan, title, vec![task], birth(), 50).unwrap()
}

fn design() -> Plan {
    lifecycle::init_design(&PlanState::NoPlan, "T", MD, birth(), true).unwrap()
}

fn files(dir: &Path) -> PlanFiles {
    PlanFiles::new(&dir.join("session"), &SESSION.into(), &[dir.join("old")]).unwrap()
}

fn plant(dir: &Path, folder: &str, prefix: &str, sidecar: serde_json::Value) -> PathBuf {
    let dir = dir.join(folder);
    fs::create_dir_all(&dir).unwrap();
    let path = dir.join(format!("{prefix}{SESSION}.json"));
    let mut base = serde_json::json!({"id": "old", "session_id": SESSION, "title": "Old", "description": "", "tasks": [],
        "created_at": "2024-05-01T10:00:00Z", "updated_at": "2024-05-01T10:00:00Z", "x_root": {"kept": [1, 2]}, "x_null": null});
    for (key, value) in sidecar.as_object().unwrap() {
        base[key] = value.clone();
    }
    fs::write(&path, base.to_string()).unwrap();
    path
}

fn old_task(n: usize, status: &str, deps: serde_json::Value) -> serde_json::Value {
    serde_json::json!({"id": format!("00000000-0000-4000-8000-00000000000{n}"), "order": n, "title": format!("Task {n}"),
        "description": "d", "task_type": "Edit", "dependencies": deps, "complexity": 2, "status": status, "notes": null,
        "artifacts": []})
}

#[test]
fn a_plan_is_saved_private_and_loads_as_it_was() {
    let home = tempfile::tempdir().unwrap();
    let files = files(home.path());
    assert_eq!(files.load(now()), PlanState::NoPlan);
    let plan = checklist("One");
    files.save(&plan, None, T).unwrap();
    assert_eq!(files.load(now()), PlanState::Active(Box::new(plan)));
    let mode = fs::metadata(files.json_path())
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(
        fs::read_dir(home.path().join("session")).unwrap().count(),
        1,
        "no temporary file stays"
    );
}

#[test]
fn preinit_lasts_and_prose_is_mirrored() {
    let home = tempfile::tempdir().unwrap();
    let files = files(home.path());
    let flag = lifecycle::pre_init(&PlanState::NoPlan, PreInitOrigin::Slash, birth(), true)
        .unwrap()
        .unwrap();
    files.save(&flag, None, T).unwrap();
    assert_eq!(
        files.load(now()),
        PlanState::PreInit {
            origin: PreInitOrigin::Slash
        }
    );
    let mut plan = design();
    files.save(&plan, Some(MD), T).unwrap();
    assert!(!files.sync_md(&mut plan, now(), T).unwrap());
    fs::write(files.md_path(), "# Other\n").unwrap();
    assert!(files.sync_md(&mut plan, now(), T).unwrap());
    assert_eq!(
        (plan.description.as_str(), plan.revision.clone()),
        ("# Other\n", template::revision("# Other\n"))
    );
    assert_eq!(
        fs::metadata(files.md_path()).unwrap().permissions().mode() & 0o777,
        0o600
    );
    fs::write(files.md_path(), "# Third\n").unwrap();
    let PlanState::Editing(editing) = files.load(now()) else {
        panic!("editing")
    };
    assert_eq!(
        (editing.prose.as_str(), editing.plan.description.as_str()),
        ("# Third\n", "# Third\n")
    );
    assert!(
        fs::read_to_string(files.json_path())
            .unwrap()
            .contains("# Third")
    );
    fs::remove_file(files.md_path()).unwrap();
    assert!(matches!(files.load(now()), PlanState::Editing(_)));
    assert_eq!(
        files.read_md().unwrap().as_deref(),
        Some("# Third\n"),
        "lost prose comes back from the record"
    );
}

/// Stops the save at its n-th step.
struct StopAt(Mutex<usize>);

impl SaveHook for StopAt {
    fn at(&self, _point: SavePoint, _path: &Path) -> io::Result<()> {
        let mut left = self.0.lock().unwrap();
        if *left == 0 {
            return Err(io::Error::other("stopped"));
        }
        *left -= 1;
        Ok(())
    }
}

#[test]
fn a_save_that_dies_anywhere_leaves_the_old_or_the_new_plan() {
    let mut seen = Vec::new();
    for stop in 0..=10 {
        let home = tempfile::tempdir().unwrap();
        let old = checklist("Old");
        files(home.path()).save(&old, None, T).unwrap();
        let hook = Arc::new(StopAt(Mutex::new(stop)));
        let dying =
            PlanFiles::with_hook(&home.path().join("session"), &SESSION.into(), &[], hook).unwrap();
        let new = design();
        let result = dying.save(&new, Some(MD), T);
        assert_eq!(result.is_ok(), stop == 10);
        match files(home.path()).load(now()) {
            PlanState::Active(plan) => {
                assert!(stop < 8, "step {stop}");
                assert_eq!(plan.title, "Old");
            }
            PlanState::Editing(editing) => {
                assert!(stop >= 8, "step {stop}");
                assert_eq!((*editing.plan, editing.prose.as_str()), (new, MD));
            }
            PlanState::NoPlan | PlanState::PreInit { .. } | PlanState::Corrupt { .. } => {
                panic!("step {stop}")
            }
        }
        seen.push(stop);
    }
    assert_eq!(seen.len(), 11);
}

#[test]
fn a_superseded_turn_cannot_write_what_was_discarded() {
    let home = tempfile::tempdir().unwrap();
    let files = files(home.path());
    let mut plan = design();
    files.begin(TurnId(3));
    files.save(&plan, Some(MD), TurnId(3)).unwrap();
    files.fence(TurnId(3));
    files.discard(now()).unwrap();
    for turn in [2, 3] {
        assert!(matches!(
            files.save(&plan, None, TurnId(turn)),
            Err(PlanStoreError::Superseded { .. })
        ));
        assert!(files.sync_md(&mut plan, now(), TurnId(turn)).is_err());
        assert!(files.archive(&plan, now(), TurnId(turn)).is_err());
    }
    assert_eq!(files.load(now()), PlanState::NoPlan);
    assert_eq!(files.read_md().unwrap(), None);
    files.save(&plan, Some(MD), TurnId(4)).unwrap();
}

#[test]
fn finished_plans_are_archived_side_by_side_and_listed() {
    let home = tempfile::tempdir().unwrap();
    let files = files(home.path());
    let mut plan = checklist("One");
    plan.tasks[0].status = TaskStatus::Completed;
    for _ in 0..3 {
        files.save(&plan, Some(MD), T).unwrap();
        files.archive(&plan, now(), T).unwrap();
    }
    // A turn that died before its archive is healed at the next boundary, and only there.
    files.save(&plan, None, T).unwrap();
    assert_eq!(files.peek(), PlanState::NoPlan);
    assert!(files.json_path().exists());
    assert_eq!(files.load(now()), PlanState::NoPlan);
    assert!(!files.json_path().exists());
    let listed = files.list().unwrap();
    assert_eq!(
        listed
            .iter()
            .map(|one| (one.number, one.md.is_some()))
            .collect::<Vec<_>>(),
        [(3, false), (2, true), (1, true), (0, true)]
    );
    let name = listed[3]
        .json
        .file_name()
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned();
    assert_eq!(
        name,
        format!("greenlight_plan_{SESSION}-20231114-221320.json")
    );
    fs::write(home.path().join("session/archive/other.json"), "{}").unwrap();
    assert_eq!(
        list_archived(&home.path().join("session"), None)
            .unwrap()
            .len(),
        4
    );
}

#[test]
fn what_cannot_be_read_is_corrupt_and_only_discard_moves_it() {
    let long = "x".repeat(201);
    let cases = [
        ("{\"status\": \"Active\", \"tasks\": [".to_owned(), "plan-corrupt-json"),
        ("[]".to_owned(), "plan-corrupt-json"),
        ("{\"status\": \"Galactic\"}".to_owned(), "plan-corrupt-status"),
        ("{}".to_owned(), "plan-corrupt-status"),
        (format!("{{\"status\": \"Active\", \"title\": \"{long}\"}}"), "plan-corrupt-bound"),
        ("{\"status\": \"Active\", \"tasks\": [{\"id\": \"a\", \"title\": \"a\", \"dependencies\": [\"b\"]}]}".to_owned(), "plan-corrupt-bound"),
        ("{\"status\": \"Active\", \"session_id\": \"other\"}".to_owned(), "plan-corrupt-session"),
    ];
    for (text, reason) in cases {
        let home = tempfile::tempdir().unwrap();
        let files = files(home.path());
        fs::create_dir_all(home.path().join("session")).unwrap();
        fs::write(files.json_path(), &text).unwrap();
        assert_eq!(
            files.load(now()),
            PlanState::Corrupt {
                path: files.json_path(),
                reason: reason.to_owned()
            },
            "{text}"
        );
        assert_eq!(fs::read_to_string(files.json_path()).unwrap(), text);
        files.discard(now()).unwrap();
        assert_eq!(files.load(now()), PlanState::NoPlan);
        let aside = format!("{}.corrupt-20231114-221320", files.json_path().display());
        assert_eq!(fs::read_to_string(aside).unwrap(), text);
    }
}

#[test]
fn links_large_files_and_bad_names_are_refused() {
    let home = tempfile::tempdir().unwrap();
    let files = files(home.path());
    fs::create_dir_all(home.path().join("session")).unwrap();
    let secret = home.path().join("secret");
    fs::write(&secret, "{}").unwrap();
    symlink(&secret, files.json_path()).unwrap();
    assert!(
        matches!(files.load(now()), PlanState::Corrupt { reason, .. } if reason == "plan-corrupt-link")
    );
    assert!(matches!(
        files.save(&checklist("x"), None, T),
        Err(PlanStoreError::NotAFile(_))
    ));
    files.discard(now()).unwrap();
    assert_eq!(fs::read_to_string(&secret).unwrap(), "{}");
    assert_eq!(files.load(now()), PlanState::NoPlan);
    fs::File::create(files.json_path())
        .unwrap()
        .set_len(MAX_BYTES + 1)
        .unwrap();
    assert!(
        matches!(files.load(now()), PlanState::Corrupt { reason, .. } if reason == "plan-corrupt-size")
    );
    for bad in [
        "",
        "..",
        "x/../y",
        "4B8F7D52-0c11-4c5e-9a54-7a1b7d1f5f10",
        "4b8f7d520c114c5e9a547a1b7d1f5f10",
    ] {
        assert!(
            PlanFiles::new(home.path(), &bad.into(), &[]).is_err(),
            "{bad:?}"
        );
    }
    assert!(matches!(
        read_import(Path::new("rel.json")),
        Err(PlanStoreError::NotAbsolute(_))
    ));
    let link = home.path().join("link.json");
    symlink(&secret, &link).unwrap();
    assert!(matches!(
        read_import(&link),
        Err(PlanStoreError::NotAFile(_))
    ));
    assert_eq!(read_import(&secret).unwrap(), "{}");
}

#[test]
fn only_the_canonical_md_path_matches() {
    let home = tempfile::tempdir().unwrap();
    let files = files(home.path());
    let dir = home.path().join("session");
    assert!(
        !files.is_plan_md(&files.md_path()),
        "the directory does not exist yet"
    );
    fs::create_dir_all(&dir).unwrap();
    let md = dir.join(format!(".greenlight_plan_{SESSION}.md"));
    assert!(files.is_plan_md(&md), "a file that does not exist yet");
    fs::write(&md, "x").unwrap();
    assert!(files.is_plan_md(&md));
    assert!(files.is_plan_md(&dir.join("../session").join(md.file_name().unwrap())));
    let alias = home.path().join("alias");
    symlink(&dir, &alias).unwrap();
    assert!(files.is_plan_md(&alias.join(md.file_name().unwrap())));
    let elsewhere = home.path().join(md.file_name().unwrap());
    assert!(!files.is_plan_md(&elsewhere));
    assert!(!files.is_plan_md(&home.path().join("missing").join(md.file_name().unwrap())));
    assert!(!files.is_plan_md(&dir.join("archive/..")));
    fs::remove_file(&md).unwrap();
    symlink(home.path().join("nowhere"), &md).unwrap();
    assert!(!files.is_plan_md(&md), "a link in its place");
}

#[test]
fn a_loaded_record_is_read_by_one_map() {
    let text = serde_json::to_string(&checklist("x")).unwrap();
    assert!(legacy::read(&text, &SESSION.into(), false).is_ok());
}
