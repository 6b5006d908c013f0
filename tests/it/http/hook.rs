//! The webhook.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::sync::Notify;

use super::world::{SECRET, World, status};

#[tokio::test]
async fn an_update_is_taken_with_the_right_secret_alone() {
    let world = World::new().await;
    let post = || world.method("POST", "/telegram/hook").body("{}");
    assert_eq!(status(post()).await, 401);
    let wrong = post().header("X-Telegram-Bot-Api-Secret-Token", "hook-secreT");
    assert_eq!(status(wrong).await, 401);
    assert!(world.hook.bodies.lock().unwrap().is_empty());
    let update = r#"{"update_id":1}"#;
    // Behind a proxy the name is the public one.
    let right = world.deliver(update).header("Host", "bot.example.org");
    assert_eq!(status(right).await, 200);
    assert_eq!(*world.hook.bodies.lock().unwrap(), [update.as_bytes()]);
    assert_eq!(status(world.get("/telegram/hook")).await, 405);
}

#[tokio::test]
async fn a_call_succeeds_only_once_the_update_is_stored() {
    let mut world = World::new().await;
    let gate = Arc::new(Notify::new());
    *world.hook.gate.lock().unwrap() = Some(Arc::clone(&gate));
    let call = tokio::spawn(world.deliver("{}").send());
    world.begun.recv().await.unwrap();
    assert!(!call.is_finished() && world.hook.bodies.lock().unwrap().is_empty());
    gate.notify_one();
    assert_eq!(call.await.unwrap().unwrap().status().as_u16(), 200);
    assert_eq!(world.hook.bodies.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_cut_connection_does_not_stop_the_storing() {
    let mut world = World::new().await;
    let gate = Arc::new(Notify::new());
    *world.hook.gate.lock().unwrap() = Some(Arc::clone(&gate));
    let call = tokio::spawn(world.deliver("{}").send());
    world.begun.recv().await.unwrap();
    call.abort();
    call.await.unwrap_err();
    gate.notify_one();
    world.begun.recv().await.unwrap();
    assert_eq!(world.hook.bodies.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_failing_store_refuses_the_call_so_that_it_comes_again() {
    let world = World::new().await;
    world.hook.broken.store(true, Ordering::SeqCst);
    assert_eq!(status(world.deliver("{}")).await, 503);
    world.hook.broken.store(false, Ordering::SeqCst);
    assert_eq!(status(world.deliver("{}")).await, 200);
}

#[tokio::test]
async fn a_body_without_end_is_refused() {
    let world = World::new().await;
    let huge = "x".repeat(2 * 1024 * 1024 + 1);
    assert_eq!(status(world.deliver(&huge)).await, 413);
    assert!(world.hook.bodies.lock().unwrap().is_empty());
}

#[tokio::test]
async fn without_a_webhook_the_path_does_not_exist() {
    let world = World::with(|parts| parts.webhook = None).await;
    let post = world
        .method("POST", "/telegram/hook")
        .header("X-Telegram-Bot-Api-Secret-Token", SECRET);
    assert_eq!(status(post).await, 404);
}
