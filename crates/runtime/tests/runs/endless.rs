//! Flows that always have something to do by themselves still hear of time and of people.

use std::time::Duration;

use antiphon_event::Mode;
use antiphon_flow::{Class, Edge, Flow, Limits, Node};
use antiphon_runtime::{Engine, Invocation, Outcome};
use serde_json::json;

/// A node that begins again whenever it has ended, without anything outside; and another beside it.
fn endless(limits: Limits, other: Node) -> Flow {
    Flow::new("endless")
        .entry("a")
        .entry("b")
        .node("a", Node::expression("1").expect("an expression"))
        .node("b", other)
        .edge(Edge::new("a", "a"))
        .limits(limits)
        .build()
        .expect("sound")
}

fn engine() -> Engine {
    Engine::new(antiphon_store::open("memory:").expect("a store in memory"))
}

#[tokio::test]
async fn time_ends_a_loop_that_never_waits() {
    let limits = Limits { execution_timeout: Some(Duration::from_secs(1)), ..Limits::default() };
    let waits = Node::command(["sleep", "1000"]).effect(Class::Pure).timeout(Duration::from_millis(20));
    let flow = endless(limits, waits);
    let mut run = engine().start(flow, Invocation::new(json!(null))).await.expect("accepted");
    let report = run.wait().await.expect("no fault");
    assert_eq!(report.outcome, Outcome::Failed);
    assert_eq!(report.reason.as_ref().map(|reason| reason.as_str()), Some("execution_timeout"));
    assert_eq!(report.statuses["b"].to_string(), "FAILED", "its own time was over before");
}

#[tokio::test]
async fn people_end_a_loop_that_never_waits() {
    for mode in [Mode::Graceful, Mode::Now] {
        let limits = Limits { max_node_executions: Some(u64::MAX), ..Limits::default() };
        let flow = endless(limits, Node::expression("2").expect("an expression"));
        let mut run = engine().start(flow, Invocation::new(json!(null))).await.expect("accepted");
        run.cancel("ann", mode).await.expect("it is under way");
        assert_eq!(run.wait().await.expect("no fault").outcome, Outcome::Cancelled);
    }
}
