//! What other processes leave for a run reaches it, also if it is about to rest or was never at rest in between.

use std::sync::Arc;

use antiphon_event::body::request::RelayResolved;
use antiphon_event::{Body, Event};
use antiphon_flow::{Flow, Human, Node, Refusal};
use antiphon_port::{Branch, Journal};
use antiphon_runtime::{Engine, Function, Invocation, Outcome};
use serde_json::json;

use crate::hands::yes;

/// Leaves a yes to what is asked in the only session there is, as another process would.
async fn leave_a_yes(journal: &Arc<dyn Journal>) {
    let page = antiphon_port::Page { after: None, limit: 1 };
    let session = journal.sessions(page).await.expect("readable").remove(0).id;
    let events = journal.read(&Branch::main(session.clone()), 0, usize::MAX).await.expect("readable");
    let asked = events.into_iter().find_map(|event| match event.body {
        Body::Relay(relay) => Some((event.head.run_id.clone()?, relay.id)),
        _ => None,
    });
    let (run, relay) = asked.expect("a person is asked before the other node is done");
    let answer = Event::new(run, Body::RelayResolved(Box::new(yes(relay))));
    journal.send(&session, &answer.to_json()).await.expect("there is room");
}

fn gate() -> Node {
    Node::human(Human { prompt: "go?".into(), ..Human::default() })
}

fn asking() -> Flow {
    Flow::new("asking").node("gate", gate()).build().expect("sound")
}

#[tokio::test]
async fn a_run_looks_once_more_before_it_rests() {
    let journal = antiphon_store::open("memory:").expect("a store in memory");
    let other = Arc::clone(&journal);
    let leaves = Function::new(move |_| {
        let journal = Arc::clone(&other);
        async move {
            leave_a_yes(&journal).await;
            Ok(json!(null))
        }
    });
    let flow = Flow::new("both").node("gate", gate()).node("other", Node::function(leaves));
    let engine = Engine::new(journal).inbox();
    let mut run =
        engine.start(flow.build().expect("sound"), Invocation::new(json!(null))).await.expect("accepted");
    assert_eq!(run.wait().await.expect("no fault").outcome, Outcome::Completed);
}

#[tokio::test]
async fn who_goes_on_takes_what_was_left_for_the_one_before() {
    let journal = antiphon_store::open("memory:").expect("a store in memory");
    let engine = Engine::new(Arc::clone(&journal)).inbox();
    let mut run = engine.start(asking(), Invocation::new(json!(null))).await.expect("accepted");
    assert_eq!(run.wait().await.expect("no fault").outcome, Outcome::Paused);
    let branch = run.branch().clone();
    drop(run);
    leave_a_yes(&journal).await;
    // It is let go of by a task.
    let mut run = loop {
        match engine.resume(branch.clone(), Some(asking())).await {
            Ok(run) => break run,
            Err(_) => tokio::task::yield_now().await,
        }
    };
    assert_eq!(run.wait().await.expect("no fault").outcome, Outcome::Completed);
}

#[tokio::test]
async fn an_answer_that_was_left_goes_before_one_that_is_given_after_it() {
    let journal = antiphon_store::open("memory:").expect("a store in memory");
    let engine = Engine::new(Arc::clone(&journal)).inbox();
    let mut run = engine.start(asking(), Invocation::new(json!(null))).await.expect("accepted");
    let relay = run.wait().await.expect("no fault").relays[0].clone();
    leave_a_yes(&journal).await;
    let no = RelayResolved { approved: Some(false), ..yes(relay.clone()) };
    assert_eq!(run.answer(no).await, Err(Refusal::NotPending(relay)));
    assert_eq!(run.wait().await.expect("no fault").output.value()["approved"], json!(true));
}
