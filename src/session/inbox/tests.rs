use serde_json::json;

use super::*;

fn message(id: u32, date: i64) -> Value {
    json!({"update_id": id, "message": {"message_id": id, "date": date}})
}

async fn inbox(home: &std::path::Path, bot: i64) -> StoreInbox {
    StoreInbox::open(Store::open(home).await.unwrap(), bot, 0)
        .await
        .unwrap()
}

#[tokio::test]
async fn an_update_is_accepted_once_and_open_until_closed() {
    let home = tempfile::tempdir().unwrap();
    let first = inbox(home.path(), 1).await;
    let accepted = first
        .accept(vec![message(7, 0), message(7, 0), message(8, 0)], 10)
        .await
        .unwrap();
    assert_eq!((accepted.fresh.len(), accepted.repeated), (2, 1));
    assert_eq!(first.offset().await, 9);
    first.close(&[UpdateId(7)], 11).await.unwrap();
    let store = first.store.clone();
    drop(first);

    let again = StoreInbox::open(store.clone(), 1, 20).await.unwrap();
    assert_eq!(again.offset().await, 9);
    let open: Vec<UpdateId> = again
        .open_rows()
        .await
        .unwrap()
        .into_iter()
        .map(|(id, _)| id)
        .collect();
    assert_eq!(open, [UpdateId(8)]);
    assert_eq!(
        again
            .accept(vec![message(7, 0), message(8, 0)], 21)
            .await
            .unwrap()
            .fresh,
        []
    );

    let other = StoreInbox::open(store, 2, 20).await.unwrap();
    assert_eq!(other.offset().await, 0);
    assert_eq!(
        other
            .accept(vec![message(7, 0)], 21)
            .await
            .unwrap()
            .fresh
            .len(),
        1
    );
}

#[tokio::test]
async fn the_fifth_failure_makes_a_dead_letter() {
    let home = tempfile::tempdir().unwrap();
    let inbox = inbox(home.path(), 1).await;
    inbox.accept(vec![message(7, 0)], 0).await.unwrap();
    for _ in 0..4 {
        assert!(
            inbox
                .failed(UpdateId(7), "panic", 1)
                .await
                .unwrap()
                .is_some()
        );
    }
    assert_eq!(inbox.failed(UpdateId(7), "panic", 1).await.unwrap(), None);
    assert!(inbox.open_rows().await.unwrap().is_empty());
    let dead = dead_letters(&inbox.store).await.unwrap();
    assert_eq!(
        (dead.len(), dead[0].0, dead[0].1.reason.as_str()),
        (1, UpdateId(7), "panic")
    );
}

#[tokio::test]
async fn what_is_older_than_a_day_is_counted_but_a_migration_is_not() {
    let home = tempfile::tempdir().unwrap();
    let inbox = inbox(home.path(), 1).await;
    let moved = json!({"update_id": 3, "message": {"date": 0, "migrate_to_chat_id": -5}});
    let now = BACKLOG_SECONDS + 1;
    let accepted = inbox
        .accept(vec![message(1, 0), message(2, 1), moved], now)
        .await
        .unwrap();
    let fresh: Vec<UpdateId> = accepted.fresh.into_iter().map(|(id, _)| id).collect();
    assert_eq!((fresh, accepted.stale), (vec![UpdateId(2), UpdateId(3)], 1));
}

#[tokio::test]
async fn ids_that_restart_lower_move_the_offset_back() {
    let home = tempfile::tempdir().unwrap();
    let inbox = inbox(home.path(), 1).await;
    inbox.accept(vec![message(900, 0)], 0).await.unwrap();
    inbox.accept(vec![message(5, 0)], 0).await.unwrap();
    assert_eq!(inbox.offset().await, 6);
}

#[test]
fn memory_for_dedup_is_bounded() {
    let mut state = State {
        seen: (0..30_000).map(|id| (id, i64::from(id))).collect(),
        ..State::default()
    };
    prune(&mut state, &mut Batch::new(), 1, 30_000);
    assert_eq!(state.seen.len(), SEEN_LIMIT);
    assert!(!state.seen.contains_key(&0) && state.seen.contains_key(&29_999));
}

#[tokio::test]
async fn ends_of_the_program_count_apart_from_failures_and_are_many() {
    let home = tempfile::tempdir().unwrap();
    let inbox = inbox(home.path(), 1).await;
    inbox
        .accept(vec![message(7, 0), message(8, 0)], 0)
        .await
        .unwrap();
    for _ in 0..CUTS_LIMIT {
        inbox.cut(&[UpdateId(7)], 1).await.unwrap();
    }
    assert!(inbox.still_open(UpdateId(7)).await.unwrap().is_some());
    inbox.cut(&[UpdateId(7), UpdateId(8)], 1).await.unwrap();
    assert_eq!(inbox.still_open(UpdateId(7)).await.unwrap(), None);
    assert!(inbox.still_open(UpdateId(8)).await.unwrap().is_some());
    assert_eq!(dead_letters(&inbox.store).await.unwrap().len(), 1);
}
