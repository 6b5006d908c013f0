//! The event stream.

use std::time::Duration;

use futures::StreamExt;
use futures::stream::BoxStream;
use greenlight::domain::{SessionId, TurnId};
use greenlight::http::EventBody;
use serde_json::Value;
use tokio::time::timeout;

use super::world::{World, noon, status};

const PATIENCE: Duration = Duration::from_secs(10);

/// A reader of server-sent events.
struct Reader {
    body: BoxStream<'static, reqwest::Result<axum::body::Bytes>>,
    text: String,
}

impl Reader {
    async fn new(world: &World, last: Option<u64>) -> Self {
        let mut request = world.ask("/api/events");
        if let Some(last) = last {
            request = request.header("Last-Event-ID", last.to_string());
        }
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status().as_u16(), 200);
        assert_eq!(answer.headers()["content-type"], "text/event-stream");
        Self {
            body: answer.bytes_stream().boxed(),
            text: String::new(),
        }
    }

    /// The next event's name and data; `None` at the end.
    async fn next(&mut self) -> Option<(String, Value)> {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let field = |name: &str| {
                    block
                        .lines()
                        .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
                        .unwrap_or_default()
                        .to_owned()
                };
                let found = (
                    field("event"),
                    serde_json::from_str(&field("data")).unwrap(),
                );
                self.text = rest.to_owned();
                return Some(found);
            }
            let piece = timeout(PATIENCE, self.body.next()).await.unwrap()?.unwrap();
            self.text.push_str(std::str::from_utf8(&piece).unwrap());
        }
    }
}

fn publish(world: &World, version: u64) {
    world.events.publish(
        noon(),
        &SessionId::from("busy"),
        Some(TurnId(3)),
        EventBody::PlanCreated { steps: 2, version },
    );
}

#[tokio::test]
async fn every_reader_hears_of_events_in_order() {
    let world = World::new().await;
    let mut readers = [
        Reader::new(&world, None).await,
        Reader::new(&world, None).await,
    ];
    publish(&world, 1);
    publish(&world, 2);
    for reader in &mut readers {
        let (name, first) = reader.next().await.unwrap();
        let (_, second) = reader.next().await.unwrap();
        assert_eq!(name, "");
        assert_eq!(
            first,
            serde_json::json!({ "schema": "greenlight.event/v1", "id": first["id"], "at": "2027-01-15T08:00:00Z",
                "session_id": "busy", "turn": 3, "type": "plan_created", "data": { "steps": 2, "version": 1 } })
        );
        assert_eq!(second["id"].as_u64(), first["id"].as_u64().map(|id| id + 1));
    }
}

#[tokio::test]
async fn a_reader_continues_where_it_left_off() {
    let world = World::new().await;
    let mut reader = Reader::new(&world, None).await;
    publish(&world, 1);
    let last = reader.next().await.unwrap().1["id"].as_u64();
    drop(reader);
    publish(&world, 2);
    let mut reader = Reader::new(&world, last).await;
    publish(&world, 3);
    for version in [2, 3] {
        let (_, event) = reader.next().await.unwrap();
        assert_eq!(event["data"]["version"], version);
    }
    let mut foreign = Reader::new(&world, Some(7)).await;
    assert_eq!(foreign.next().await.unwrap().0, "reset");
}

#[tokio::test]
async fn a_reader_who_cannot_keep_up_is_told_to_read_anew() {
    let world = World::new().await;
    let mut reader = Reader::new(&world, None).await;
    // Nothing else runs between these, so that the reader falls behind.
    for version in 0..600 {
        publish(&world, version);
    }
    assert_eq!(reader.next().await.unwrap().0, "reset");
    assert!(reader.next().await.unwrap().1["data"]["version"].as_u64() > Some(0));
}

#[tokio::test]
async fn only_so_many_may_read_at_one_time() {
    let world = World::new().await;
    let mut readers = Vec::new();
    for _ in 0..32 {
        readers.push(Reader::new(&world, None).await);
    }
    assert_eq!(status(world.ask("/api/events")).await, 503);
}

#[tokio::test]
async fn a_stop_ends_open_streams_and_the_server() {
    let world = World::new().await;
    let mut reader = Reader::new(&world, None).await;
    world.cancel.cancel();
    assert_eq!(reader.next().await, None);
    drop(reader);
    timeout(PATIENCE, world.server)
        .await
        .unwrap()
        .unwrap()
        .unwrap();
}
