//! Work that comes to its end at once, which never becomes a task: it is in the journal like any other.

use antiphon_event::Mode;
use antiphon_flow::{Edge, Flow, Formula, Limits, Node};
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
