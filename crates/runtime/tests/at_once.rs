//! Work that comes to its end at once, which never becomes a task: it is in the journal like any other.

use antiphon_event::{Body, Mode};
use antiphon_flow::{Edge, Flow, Formula, Limits, Node, OnFailure, function::Failure};
use antiphon_runtime::{Call, Engine, Function, Invocation, Outcome, Run};

fn engine() -> Engine {
    Engine::new(antiphon_store::open("memory:").expect("a store in memory"))
}

/// What nodes said, and where they ended.
async fn said(run: &Run) -> Vec<String> {
    let mut tail = run.events();
    let mut said = Vec::new();
    while let Some(page) = tail.next().await.expect("readable") {
        said.extend(page.iter().map(|event| event.body.tag().to_owned()));
    }
    said.retain(|tag| tag == "text" || tag == "node_end");
    said
}

#[tokio::test]
async fn what_is_said_on_the_way_comes_before_the_end() {
    let says = Node::function(Function::new(|call: Call| async move {
        call.say("one").await;
        call.say("two").await;
        Ok(())
    }));
    let flow = Flow::new("says").node("a", says.clone()).node("b", says).edge(Edge::new("a", "b"));
    let mut run = engine().start(flow.build().expect("sound"), Invocation::new("")).await.expect("accepted");
    assert_eq!(run.wait().await.expect("no fault").outcome, Outcome::Completed);
    assert_eq!(said(&run).await, ["text", "text", "node_end", "text", "text", "node_end"]);
}

fn panics(call: &Call, when: &str) {
    assert_ne!(call.task().to_text(), when, "as it was asked to");
}

#[tokio::test]
async fn code_that_panics_fails_its_node_wherever_it_does() {
    for when in ["called", "polled", "later", "never"] {
        let code = Function::new(|call: Call| {
            panics(&call, "called");
            async move {
                panics(&call, "polled");
                tokio::task::yield_now().await;
                panics(&call, "later");
                Ok(())
            }
        });
        let flow = Flow::new("panics").node("a", Node::function(code)).build().expect("sound");
        let mut run = engine().start(flow, Invocation::new(when)).await.expect("accepted");
        let outcome = run.wait().await.expect("no fault").outcome;
        assert_eq!(outcome == Outcome::Completed, when == "never", "{when}: {outcome:?}");
    }
}

#[tokio::test]
async fn a_loop_that_never_waits_hears_that_it_is_to_stop() {
    let node = || Node::function(Function::new(|_| async { Ok(()) }));
    let flow = Flow::new("loop")
        .limits(Limits { max_node_executions: Some(u64::MAX), ..Limits::default() })
        .entry("a")
        .node("a", node())
        .node("b", node())
        .edge(Edge::new("a", "b"))
        .edge(Edge::new("b", "a").when(Formula::closure(|_| true)))
        .build()
        .expect("sound");
    let mut run = engine().start(flow, Invocation::new("")).await.expect("accepted");
    run.cancel("tester", Mode::Now).await.expect("it is under way");
    assert_eq!(run.wait().await.expect("no fault").outcome, Outcome::Cancelled);
}

/// Many times what is appended at once.
const MANY: usize = 40_000;

/// Many nodes side by side whose work ends at once, but the first of which fails; gives how many had started when
/// the first of them ended, and in the end.
async fn started(on_failure: OnFailure) -> (usize, usize) {
    let flow = Flow::new("abreast").on_failure(on_failure).node("first", work(Err("as told")));
    let flow = (1..MANY).fold(flow, |flow, node| flow.node(format!("n{node}"), work(Ok(()))));
    let mut run = engine().start(flow.build().expect("sound"), Invocation::new("")).await.expect("accepted");
    assert_eq!(run.wait().await.expect("no fault").outcome, Outcome::Failed);
    let (mut tail, mut started, mut at_first) = (run.events(), 0, None);
    while let Some(page) = tail.next().await.expect("readable") {
        for event in &page {
            match event.body {
                Body::NodeStart(_) => started += 1,
                Body::NodeEnd(_) => _ = at_first.get_or_insert(started),
                _ => {}
            }
        }
    }
    (at_first.expect("one has ended"), started)
}

fn work(gives: Result<(), &'static str>) -> Node {
    Node::function(Function::new(move |_| async move { gives.map_err(Failure::new) }))
}

#[tokio::test]
async fn what_has_ended_is_taken_in_before_all_others_begin() {
    let (at_first, started_in_all) = started(OnFailure::Graceful).await;
    assert_eq!(started_in_all, MANY);
    assert!(at_first < MANY / 2, "{at_first} had started when the first one ended");
}

#[tokio::test]
async fn what_fails_at_once_keeps_others_from_starting() {
    let (_, started_in_all) = started(OnFailure::FailFast).await;
    assert!(started_in_all < MANY / 2, "{started_in_all} had started");
}
