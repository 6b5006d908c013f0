//! The HTTP server over real sockets.

#[path = "http/events.rs"]
mod events;
#[path = "http/hook.rs"]
mod hook;
#[path = "http/panel.rs"]
mod panel;
#[path = "http/world.rs"]
mod world;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use self::world::{TOKEN, World, json as body, status};

#[tokio::test]
async fn a_plan_is_told_as_steps_and_its_absence_is_no_error() {
    let world = World::new().await;
    assert_eq!(
        body(world.ask("/api/sessions/busy/plan")).await,
        json!({ "session_id": "busy", "version": 3, "found": true, "steps": [
            { "id": "t1", "title": "Read", "status": "done" },
            { "id": "t2", "title": "Write", "status": "in_progress", "note": "half" } ] })
    );
    assert_eq!(
        body(world.ask("/api/sessions/done/plan")).await,
        json!({ "session_id": "done", "version": 9, "found": true, "steps": [] })
    );
    let bare = world.ask("/api/sessions/bare/plan").send().await.unwrap();
    assert_eq!(bare.status().as_u16(), 200);
    assert_eq!(
        bare.json::<serde_json::Value>().await.unwrap(),
        json!({ "session_id": "bare", "version": 0, "found": false, "steps": [] })
    );
}

#[tokio::test]
async fn an_unknown_or_odd_session_is_not_found() {
    let world = World::new().await;
    let long = "a".repeat(65);
    for id in ["nobody", "..%2F..%2Fetc", "a.b", "%00", &long] {
        for path in [
            format!("/api/sessions/{id}/plan"),
            format!("/api/sessions/{id}"),
        ] {
            assert_eq!(status(world.ask(&path)).await, 404, "{path}");
        }
    }
    assert_eq!(
        world.source.asked.load(Ordering::SeqCst),
        2,
        "only the well-formed id was asked for"
    );
    assert_eq!(status(world.ask("/api/nothing")).await, 404);
    assert_eq!(status(world.get("/nothing")).await, 404);
}

#[tokio::test]
async fn nothing_but_get_is_answered_and_nothing_is_changed_by_trying() {
    let world = World::new().await;
    for path in [
        "/api/sessions/busy/plan",
        "/api/sessions/busy",
        "/api/sessions",
        "/api/usage",
        "/api/events",
        "/api/export",
        "/metrics",
        "/healthz",
        "/",
    ] {
        for method in ["POST", "PUT", "PATCH", "DELETE"] {
            let answer = status(world.method(method, path).bearer_auth(TOKEN)).await;
            // The limit of requests may answer first, which changes nothing either.
            assert!(answer == 405 || answer == 429, "{method} {path}: {answer}");
        }
    }
    assert_eq!(world.source.asked.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn sessions_and_usage_are_told_without_null() {
    let world = World::new().await;
    let sessions = body(world.ask("/api/sessions")).await;
    assert_eq!(sessions["sessions"].as_array().unwrap().len(), 3);
    assert_eq!(
        sessions["sessions"][0]["plan"],
        json!({ "face": "running", "title": "Parser", "done": 1, "total": 2 })
    );
    assert_eq!(sessions["sessions"][1].get("plan"), None);
    let two = body(world.ask("/api/sessions?limit=2")).await;
    assert_eq!(two["sessions"].as_array().unwrap().len(), 2);
    let detail = body(world.ask("/api/sessions/busy")).await;
    assert_eq!(detail["plan"]["rows"][0]["checks"][0]["state"], "passed");
    let usage = body(world.ask("/api/usage")).await;
    assert_eq!(
        (
            &usage["plans_created"],
            &usage["plans_updated"],
            &usage["plans_blocked"]
        ),
        (&json!(2), &json!(0), &json!(0))
    );
    for answer in [sessions, detail, usage] {
        assert!(!answer.to_string().contains("null"), "{answer}");
    }
}

#[tokio::test]
async fn a_failing_source_tells_the_reader_nothing_of_the_reason() {
    let world = World::new().await;
    world.source.broken.store(true, Ordering::SeqCst);
    let answer = world.ask("/api/sessions").send().await.unwrap();
    assert_eq!(answer.status().as_u16(), 503);
    assert_eq!(answer.text().await.unwrap(), r#"{"error":"unavailable"}"#);
}

#[tokio::test]
async fn the_api_opens_to_its_token_alone() {
    let world = World::new().await;
    let without = world.get("/api/sessions").send().await.unwrap();
    assert_eq!(without.status().as_u16(), 401);
    assert!(
        without.headers()["www-authenticate"]
            .to_str()
            .unwrap()
            .starts_with("Bearer")
    );
    for wrong in ["panel-toke", "panel-token2", "", "PANEL-TOKEN"] {
        assert_eq!(
            status(world.get("/api/sessions").bearer_auth(wrong)).await,
            401,
            "{wrong}"
        );
    }
    let basic = world.get("/api/sessions").basic_auth("x", Some(TOKEN));
    assert_eq!(status(basic).await, 401);
    assert_eq!(
        status(world.get(&format!("/api/sessions?token={TOKEN}"))).await,
        401
    );
    assert_eq!(world.source.asked.load(Ordering::SeqCst), 0);
    assert_eq!(status(world.ask("/api/sessions")).await, 200);
}

#[tokio::test]
async fn without_a_configured_token_the_api_is_closed() {
    for token in [None, Some("".into())] {
        let world = World::with(|parts| parts.token = token).await;
        let answer = world.ask("/api/sessions").send().await.unwrap();
        assert_eq!(answer.status().as_u16(), 403);
        assert_eq!(
            answer.text().await.unwrap(),
            r#"{"error":"no_token_configured"}"#
        );
        assert_eq!(status(world.get("/").bearer_auth("")).await, 200);
    }
}

#[tokio::test]
async fn who_guesses_too_often_must_wait_even_with_the_right_token() {
    let world = World::new().await;
    for _ in 0..10 {
        assert_eq!(
            status(world.get("/api/usage").bearer_auth("guess")).await,
            401
        );
    }
    for token in ["guess", TOKEN] {
        let answer = world
            .get("/api/usage")
            .bearer_auth(token)
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status().as_u16(), 429);
        assert!(
            answer.headers()["retry-after"]
                .to_str()
                .unwrap()
                .parse::<u64>()
                .unwrap()
                <= 7
        );
    }
}

#[tokio::test]
async fn a_reader_who_asks_all_the_time_is_slowed_down() {
    let world = World::new().await;
    let mut answers = Vec::new();
    for _ in 0..400 {
        answers.push(status(world.ask("/api/usage")).await);
        if answers.last() == Some(&429) {
            break;
        }
    }
    assert_eq!(answers.last(), Some(&429));
    assert!(answers.len() > 60, "{}", answers.len());
    assert_eq!(status(world.get("/healthz")).await, 200);
}

#[tokio::test]
async fn foreign_names_that_point_here_get_nothing() {
    let world = World::with(|parts| parts.hosts = vec!["panel.example.org".to_owned()]).await;
    for path in ["/", "/panel/app.js", "/metrics", "/api/sessions"] {
        let as_host = |host: &str| world.ask(path).header("Host", host);
        assert_eq!(status(as_host("evil.example")).await, 403, "{path}");
        assert_eq!(status(as_host("localhost:1")).await, 200, "{path}");
        assert_eq!(status(as_host("panel.example.org")).await, 200, "{path}");
    }
    assert_eq!(
        status(world.get("/healthz").header("Host", "probe.example")).await,
        200
    );
}

#[tokio::test]
async fn no_answer_may_be_stored_framed_or_sniffed() {
    let world = World::new().await;
    for path in [
        "/",
        "/panel/app.js",
        "/api/sessions",
        "/metrics",
        "/healthz",
        "/nothing",
    ] {
        let answer = world.get(path).send().await.unwrap();
        let header = |name: &str| answer.headers()[name].to_str().unwrap();
        assert_eq!(header("cache-control"), "no-store", "{path}");
        assert_eq!(header("x-content-type-options"), "nosniff");
        assert_eq!(header("x-frame-options"), "DENY");
        assert_eq!(header("referrer-policy"), "no-referrer");
        let policy = header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"));
        assert!(policy.contains("frame-ancestors 'none'"));
    }
}

#[tokio::test]
async fn ready_means_intake_model_and_store() {
    let world = World::new().await;
    assert_eq!(status(world.get("/healthz")).await, 200);
    assert_eq!(
        body(world.get("/readyz")).await,
        json!({ "ready": true, "intake": true, "model": true, "store": true })
    );
    world.intake.store(false, Ordering::SeqCst);
    let answer = world.get("/readyz").send().await.unwrap();
    assert_eq!(answer.status().as_u16(), 503);
    assert_eq!(
        answer.json::<serde_json::Value>().await.unwrap(),
        json!({ "ready": false, "intake": false, "model": true, "store": true })
    );
    world.intake.store(true, Ordering::SeqCst);
    world.model.store(false, Ordering::SeqCst);
    assert_eq!(status(world.get("/readyz")).await, 503);
}

#[tokio::test]
async fn a_store_that_cannot_be_written_is_not_ready_and_not_asked_all_the_time() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&asked);
    let world = World::with(move |parts| {
        parts.health.store = Arc::new(move || {
            counter.fetch_add(1, Ordering::SeqCst);
            Box::pin(async { false })
        });
    })
    .await;
    let tries = [(); 5].map(|()| status(world.get("/readyz")));
    assert_eq!(futures::future::join_all(tries).await, [503; 5]);
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn metrics_are_plain_text() {
    let world = World::new().await;
    let answer = world.get("/metrics").send().await.unwrap();
    assert!(
        answer.headers()["content-type"]
            .to_str()
            .unwrap()
            .starts_with("text/plain")
    );
    assert_eq!(answer.text().await.unwrap(), "greenlight_turns_running 2\n");
}

#[tokio::test]
async fn the_store_is_exported_whole_while_it_is_in_use() {
    let world = World::new().await;
    world.store.probe().await.unwrap();
    assert_eq!(status(world.get("/api/export")).await, 401);
    let text = world
        .ask("/api/export")
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    let lines: Vec<serde_json::Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines[0]["greenlight"], "store");
    let last = lines.last().unwrap();
    assert_eq!(
        (&last["end"], last["rows"].as_u64()),
        (&json!(true), Some(lines.len() as u64 - 2))
    );
    assert_eq!(
        status(world.ask("/api/export")).await,
        200,
        "the next one may begin"
    );
}
