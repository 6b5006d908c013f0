//! The store through the program: export and import, while another process holds it or not.

use std::path::Path;
use std::process::{Command, Output};

use greenlight::store::{Batch, Store, Table};

fn greenlight(home: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_greenlight"))
        .args(arguments)
        .current_dir(home)
        .env_clear()
        .env("HOME", home)
        .env("GREENLIGHT_HOME", home)
        .output()
        .unwrap()
}

async fn goal(store: &Store, text: &str) {
    let mut batch = Batch::new();
    batch.put(Table::Goals, b"s", &text).unwrap();
    store.commit(batch).await.unwrap();
}

#[tokio::test]
async fn an_export_of_the_program_is_imported_by_the_program() {
    let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = Store::open(from.path()).await.unwrap();
    goal(&store, "mend the door").await;
    store.stop().await.unwrap();
    drop(store);
    let file = from.path().join("all.jsonl");
    let file = file.to_str().unwrap();
    let output = greenlight(from.path(), &["export", file]);
    assert!(output.status.success(), "{output:?}");
    let output = greenlight(to.path(), &["import", file]);
    assert!(output.status.success(), "{output:?}");
    let store = Store::open(to.path()).await.unwrap();
    let goal: Option<String> = store.get(Table::Goals, b"s").await.unwrap();
    assert_eq!(goal.as_deref(), Some("mend the door"));
}

#[tokio::test]
async fn a_store_in_use_is_exported_from_its_backup_and_imported_at_the_next_start() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path()).await.unwrap();
    goal(&store, "first").await;
    let refused = greenlight(home.path(), &["export", "early.jsonl"]);
    assert!(!refused.status.success(), "{refused:?}");
    assert_eq!(String::from_utf8_lossy(&refused.stderr).lines().count(), 1);

    store.backup_if_dirty().await.unwrap().unwrap();
    let output = greenlight(home.path(), &["export", "all.jsonl"]);
    assert!(output.status.success(), "{output:?}");
    goal(&store, "second").await;
    let output = greenlight(home.path(), &["import", "all.jsonl"]);
    assert!(output.status.success(), "{output:?}");
    drop(store);
    let store = Store::open(home.path()).await.unwrap();
    let goal: Option<String> = store.get(Table::Goals, b"s").await.unwrap();
    assert_eq!(goal.as_deref(), Some("first"));
}

#[test]
fn a_broken_import_is_one_line_and_changes_nothing() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("x.jsonl"), "nonsense\n").unwrap();
    let output = greenlight(home.path(), &["import", "x.jsonl"]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success());
    assert!(
        text.lines().count() == 1 && text.contains("line 1"),
        "{text}"
    );
    assert!(!home.path().join("import.pending.jsonl").exists());
}
