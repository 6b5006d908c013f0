//! Plans of older and foreign programs.

use super::*;

#[test]
fn older_statuses_map_onto_ours_and_unknown_fields_survive() {
    let tasks = serde_json::json!([
        old_task(1, "Completed", serde_json::json!([])),
        old_task(
            2,
            "Pending",
            serde_json::json!(["00000000-0000-4000-8000-000000000001"])
        ),
        old_task(3, "Pending", serde_json::json!([1, 2]))
    ]);
    for (status, md, list, editing) in [
        ("Draft", true, false, true),
        ("PendingApproval", true, false, true),
        ("Rejected", true, false, true),
        ("Approved", false, true, false),
        ("InProgress", false, true, false),
        ("Draft", false, true, false),
        ("Draft", true, true, true),
    ] {
        let home = tempfile::tempdir().unwrap();
        let list = if list {
            tasks.clone()
        } else {
            serde_json::json!([])
        };
        plant(
            home.path(),
            "session",
            ".greenlight_plan_",
            serde_json::json!({"status": status, "tasks": list}),
        );
        let files = files(home.path());
        if md {
            fs::write(files.md_path(), MD).unwrap();
        }
        match files.load(now()) {
            PlanState::Editing(state) => {
                assert!(editing && state.plan.tasks.is_empty(), "{status}");
                assert_eq!(state.prose, MD);
                assert_eq!(
                    state.plan.other["x_root"],
                    serde_json::json!({"kept": [1, 2]})
                );
            }
            PlanState::Active(plan) => {
                assert!(!editing, "{status}");
                let ids: Vec<_> = plan.tasks.iter().map(|task| task.id.clone()).collect();
                assert_eq!(ids, ["t1", "t2", "t3"]);
                assert_eq!(plan.tasks[2].dependencies, ["t1", "t2"]);
                assert_eq!(plan.tasks[0].other["task_type"], "Edit");
                files.save(&plan, None, T).unwrap();
                let saved: serde_json::Value =
                    serde_json::from_str(&fs::read_to_string(files.json_path()).unwrap()).unwrap();
                assert_eq!(
                    (&saved["status"], &saved["x_root"]["kept"][1]),
                    (&"Active".into(), &2.into())
                );
                assert!(saved.as_object().unwrap().contains_key("x_null"));
            }
            PlanState::NoPlan | PlanState::PreInit { .. } | PlanState::Corrupt { .. } => {
                panic!("{status}")
            }
        }
    }
}

#[test]
fn finished_and_cancelled_older_plans_leave_at_a_boundary() {
    for (status, archived) in [("Completed", 1), ("Cancelled", 0)] {
        let home = tempfile::tempdir().unwrap();
        let files = files(home.path());
        let path = plant(
            home.path(),
            "session",
            ".greenlight_plan_",
            serde_json::json!({"status": status}),
        );
        assert_eq!(files.peek(), PlanState::NoPlan);
        assert!(path.exists(), "looking moves nothing");
        assert_eq!(files.load(now()), PlanState::NoPlan);
        assert!(!path.exists());
        assert_eq!(files.list().unwrap().len(), archived);
    }
}

#[test]
fn a_foreign_plan_is_taken_over_once_and_its_directory_stays_as_it_is() {
    let home = tempfile::tempdir().unwrap();
    let path = plant(
        home.path(),
        "old",
        ".opencrabs_plan_",
        serde_json::json!({"status": "Approved", "tasks": [old_task(1, "Pending", serde_json::json!([]))]}),
    );
    fs::write(path.with_extension("md"), MD).unwrap();
    let before = fs::read(&path).unwrap();
    let files = files(home.path());
    let PlanState::Active(plan) = files.load(now()) else {
        panic!("active")
    };
    assert!(
        !files.json_path().exists(),
        "nothing is written before a change"
    );
    files.save(&plan, None, T).unwrap();
    assert_eq!(files.read_md().unwrap().as_deref(), Some(MD));
    files.fence(T);
    files.discard(now()).unwrap();
    assert_eq!(
        files.load(now()),
        PlanState::NoPlan,
        "it does not come back"
    );
    assert_eq!(fs::read(&path).unwrap(), before);
    plant(
        home.path(),
        "old",
        ".opencrabs_plan_",
        serde_json::json!({"status": "Approved", "title": "New"}),
    );
    assert!(
        matches!(files.load(now()), PlanState::Active(_)),
        "another plan there is a new one"
    );
}
