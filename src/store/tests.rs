//! Tests of the store with real files.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::care::Care;
use super::*;

async fn put(store: &Store, table: Table, key: &[u8], value: &str) {
    let mut batch = Batch::new();
    batch.put(table, key, &value).unwrap();
    store.commit(batch).await.unwrap();
}

async fn text(store: &Store, table: Table, key: &[u8]) -> Option<String> {
    store.get(table, key).await.unwrap()
}

fn named(dir: &Path, prefix: &str) -> Vec<PathBuf> {
    std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.file_name()
                .unwrap()
                .to_string_lossy()
                .starts_with(prefix)
        })
        .collect()
}

fn damage(home: &Path) {
    let db = home.join("db/db");
    let len = std::fs::metadata(&db).unwrap().len();
    std::fs::write(db, vec![0xA5; usize::try_from(len).unwrap()]).unwrap();
    std::fs::write(home.join("db/conf"), b"no configuration at all").unwrap();
}

#[tokio::test]
async fn a_second_process_is_refused_with_a_clear_error() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path()).await.unwrap();
    let error = Store::open(home.path()).await.unwrap_err();
    assert!(matches!(error, StoreError::Locked(_)));
    assert_eq!(error.fault().key, "store-locked");
    drop(store);
    Store::open(home.path()).await.unwrap();
}

#[tokio::test]
async fn everything_on_disk_is_for_its_owner_only() {
    let outer = tempfile::tempdir().unwrap();
    let home = outer.path().join("fresh");
    let store = Store::open(&home).await.unwrap();
    put(&store, Table::Goals, b"k", &"x".repeat(100_000)).await;
    store.stop().await.unwrap();
    let mut todo = vec![home];
    while let Some(path) = todo.pop() {
        let meta = std::fs::metadata(&path).unwrap();
        let mode = meta.permissions().mode() & 0o777;
        let right = if meta.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode, right, "{}", path.display());
        if meta.is_dir() {
            todo.extend(named(&path, ""));
        }
    }
}

#[tokio::test]
async fn a_damaged_database_is_set_aside_and_the_newest_whole_backup_restored() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path()).await.unwrap();
    put(&store, Table::Goals, b"small", "kept").await;
    put(&store, Table::Goals, b"large", &"y".repeat(50_000)).await;
    let whole = store.backup_if_dirty().await.unwrap().unwrap();
    assert_eq!(store.backup_if_dirty().await.unwrap(), None);
    put(&store, Table::Goals, b"late", "lost").await;
    drop(store);
    // A newer backup that was cut off must not be taken.
    let cut = std::fs::read(&whole).unwrap();
    let newer = home.path().join("backups/store-29990101T000000000Z.jsonl");
    std::fs::write(newer, &cut[..cut.len() / 2]).unwrap();
    damage(home.path());

    let store = Store::open(home.path()).await.unwrap();
    let quarantine = store.report().quarantined.clone().unwrap();
    assert_eq!(quarantine.restored_from, Some(whole));
    assert!(quarantine.moved_to.join("db").exists());
    assert_eq!(named(home.path(), "db.corrupt-").len(), 1);
    assert_eq!(text(&store, Table::Goals, b"small").await.unwrap(), "kept");
    assert_eq!(
        text(&store, Table::Goals, b"large").await.unwrap().len(),
        50_000
    );
    assert_eq!(text(&store, Table::Goals, b"late").await, None);
    put(&store, Table::Goals, b"after", "works").await;
}

#[tokio::test]
async fn a_damaged_database_without_a_backup_starts_empty_and_is_kept() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path()).await.unwrap();
    put(&store, Table::Goals, b"k", "v").await;
    drop(store);
    damage(home.path());
    let store = Store::open(home.path()).await.unwrap();
    let quarantine = store.report().quarantined.clone().unwrap();
    assert_eq!((quarantine.restored_from, quarantine.rows), (None, 0));
    assert_eq!(text(&store, Table::Goals, b"k").await, None);
}

#[tokio::test]
async fn an_acknowledged_batch_survives_a_reopening_and_a_clean_stop_backs_up() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path()).await.unwrap();
    put(&store, Table::Inbox, b"1", "first").await;
    store.stop().await.unwrap();
    assert!(Store::newest_backup(home.path()).is_some());
    assert_eq!(std::fs::read(home.path().join("lock")).unwrap(), b"");
    drop(store);
    let store = Store::open(home.path()).await.unwrap();
    assert_eq!(text(&store, Table::Inbox, b"1").await.unwrap(), "first");
    assert_eq!(store.report(), &OpenReport::default());
}

#[tokio::test]
async fn only_the_newest_24_backups_stay_and_unused_large_values_go() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path()).await.unwrap();
    for round in 0..26 {
        let value = format!("{round}{}", "z".repeat(40_000));
        put(&store, Table::Goals, b"k", &value).await;
        store.backup_if_dirty().await.unwrap().unwrap();
    }
    assert_eq!(named(&home.path().join("backups"), "store-").len(), 24);
    assert_eq!(named(&home.path().join("blobs"), "").len(), 1);
}

#[tokio::test]
async fn an_export_moves_a_whole_store_to_another_home() {
    let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = Store::open(from.path()).await.unwrap();
    put(&store, Table::Sessions, b"\x00\xff", "binary key").await;
    put(&store, Table::Transcript, b"big", &"ж".repeat(30_000)).await;
    let file = from.path().join("all.jsonl");
    let exported = store.export(&file).await.unwrap();
    assert_eq!(exported.skipped, 0);

    let target = Store::open(to.path()).await.unwrap();
    put(&target, Table::Goals, b"old", "gone").await;
    // Staging works while the store is in use and takes effect at the next start.
    Store::stage_import(to.path(), &file).await.unwrap();
    drop(target);
    let target = Store::open(to.path()).await.unwrap();
    assert_eq!(target.report().imported, Some(exported.rows));
    let key = b"\x00\xff";
    assert_eq!(
        text(&target, Table::Sessions, key).await.unwrap(),
        "binary key"
    );
    assert_eq!(
        text(&target, Table::Transcript, b"big").await.unwrap(),
        "ж".repeat(30_000)
    );
    assert_eq!(text(&target, Table::Goals, b"old").await, None);
    assert_eq!(named(to.path(), "db.replaced-").len(), 1);
}

#[tokio::test]
async fn a_file_that_is_no_whole_export_is_refused_and_changes_nothing() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("x.jsonl");
    for (content, line) in [
        ("", 1),
        ("{}\n", 1),
        (
            "{\"greenlight\":\"store\",\"schema\":1,\"created\":\"2026-01-01T00:00:00Z\"}\nnonsense\n",
            2,
        ),
        (
            "{\"greenlight\":\"store\",\"schema\":1,\"created\":\"2026-01-01T00:00:00Z\"}\n{\"end\":true,\"rows\":3}\n",
            2,
        ),
    ] {
        std::fs::write(&file, content).unwrap();
        let error = Store::stage_import(home.path(), &file).await.unwrap_err();
        assert!(
            matches!(error, StoreError::Format { line: at, .. } if at == line),
            "{error}"
        );
    }
    assert!(!home.path().join("import.pending.jsonl").exists());
}

#[tokio::test]
async fn a_full_disk_is_a_clear_error_and_nothing_is_acknowledged() {
    let home = tempfile::tempdir().unwrap();
    let care = Care {
        reserve: u64::MAX,
        ..Care::default()
    };
    let store = Store::open_with(home.path(), care).await.unwrap();
    let mut batch = Batch::new();
    batch.put(Table::Inbox, b"1", &"x").unwrap();
    let error = store.commit(batch).await.unwrap_err();
    assert_eq!(error.fault().key, "store-full");
    assert_eq!(text(&store, Table::Inbox, b"1").await, None);
    // Room can still be made.
    let mut batch = Batch::new();
    batch.delete(Table::Inbox, b"1");
    store.commit(batch).await.unwrap();
}

#[tokio::test]
async fn a_mostly_dead_database_is_compacted_at_start_and_an_interrupted_swap_mended() {
    let home = tempfile::tempdir().unwrap();
    let care = Care {
        compact_floor: 1,
        ..Care::default()
    };
    let store = Store::open(home.path()).await.unwrap();
    for round in 0..200 {
        put(
            &store,
            Table::Goals,
            b"k",
            &format!("{round}{}", "w".repeat(20_000)),
        )
        .await;
    }
    drop(store);
    let store = Store::open_with(home.path(), care).await.unwrap();
    let (before, after) = store.report().compacted.unwrap();
    assert!(after <= before);
    let value = text(&store, Table::Goals, b"k").await.unwrap();
    assert!(value.starts_with("199w"));
    drop(store);

    std::fs::rename(home.path().join("db"), home.path().join("db.new")).unwrap();
    std::fs::create_dir(home.path().join("db.old")).unwrap();
    let store = Store::open(home.path()).await.unwrap();
    assert_eq!(text(&store, Table::Goals, b"k").await, Some(value));
    assert!(!home.path().join("db.old").exists());
}

#[tokio::test]
async fn a_store_of_a_newer_release_is_left_alone() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path()).await.unwrap();
    let mut batch = Batch::new();
    batch.put(Table::Meta, b"schema", &99).unwrap();
    store.commit(batch).await.unwrap();
    drop(store);
    let error = Store::open(home.path()).await.unwrap_err();
    assert!(matches!(error, StoreError::Newer { found: 99, .. }));
}

#[tokio::test]
async fn a_directory_that_cannot_be_used_is_named() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("file");
    std::fs::write(&file, "").unwrap();
    let error = Store::open(&file.join("home")).await.unwrap_err();
    assert!(matches!(error, StoreError::Io { .. }), "{error}");
}
