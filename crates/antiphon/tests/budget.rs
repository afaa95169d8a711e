//! Budgets hold for a tree of runs, before the money is spent.

use std::collections::BTreeSet;

use antiphon::{Body, Engine, Event, Flow, Invocation, Node, Outcome, Report, Wardrobe, Workspace};
use antiphon_flow::{Edge, Limits};
use serde_json::json;

fn agent(cost_usd: f64) -> Node {
    let reply =
        json!([{"text": "done"}, {"delay": 10}, {"usage": {"input": 10, "output": 5, "cost_usd": cost_usd}}]);
    Node::agent("agent", json!({"model": {"provider": "scripted", "replies": [reply]}}))
}

async fn run(flow: Flow) -> (Report, Vec<Event>) {
    let wardrobe = Wardrobe::new(Workspace::new(".").expect("a folder"));
    let engine = Engine::new(antiphon::open_store("memory:").expect("a store in memory")).agents(wardrobe);
    let mut run = engine.start(flow, Invocation::new("go")).await.expect("accepted");
    let report = run.wait().await.expect("no fault");
    let mut tail = run.events();
    let mut events = Vec::new();
    while let Some(page) = tail.next().await.expect("readable") {
        events.extend(page);
    }
    (report, events)
}

fn spent(events: &[Event]) -> f64 {
    let costs = events.iter().filter_map(|event| match &event.body {
        Body::Usage(usage) => usage.cost_usd,
        _ => None,
    });
    costs.sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parallel_branches_cannot_overspend_together_when_they_race_for_the_last_cent() {
    for _ in 0..20 {
        let mut flow = Flow::new("race").limits(Limits { max_cost_usd: Some(0.05), ..Limits::default() });
        for index in 0..10 {
            flow = flow.node(format!("a{index}"), agent(0.01));
        }
        let (report, events) = run(flow.build().expect("sound")).await;
        assert_eq!(report.outcome, Outcome::Failed);
        assert_eq!(report.reason.as_ref().map(|reason| reason.as_str()), Some("budget_cost"));
        assert!(spent(&events) < 0.05 + 1e-9, "{} spent of 0.05", spent(&events));
        let done = report.outputs.values().filter(|output| output.to_text() == "done").count();
        assert_eq!(done, 5, "what fits is done");
        let exhausted = events.iter().any(|event| match &event.body {
            Body::NodeEnd(end) => end.error.as_ref().is_some_and(|error| {
                error.code.as_ref().is_some_and(|code| code.as_str() == "budget_exhausted")
            }),
            _ => false,
        });
        assert!(exhausted, "the one that was refused says so");
    }
}

#[tokio::test]
async fn a_child_draws_on_its_parents_budget() {
    let inner = || {
        Flow::new("inner")
            .node("x", agent(0.02))
            .node("y", agent(0.02))
            .edge(Edge::new("x", "y"))
            .build()
            .expect("sound")
    };
    let flow = Flow::new("outer")
        .limits(Limits { max_cost_usd: Some(0.07), ..Limits::default() })
        .node("one", Node::flow(inner()))
        .node("two", Node::flow(inner()))
        .edge(Edge::new("one", "two"))
        .build()
        .expect("sound");
    let (report, events) = run(flow).await;
    assert_eq!(report.reason.as_ref().map(|reason| reason.as_str()), Some("budget_cost"));
    assert!((spent(&events) - 0.06).abs() < 1e-9, "{}", spent(&events));
    let of_budget = |event: &&Event| matches!(event.body, Body::BudgetReserved(_) | Body::BudgetSettled(_));
    let ways: BTreeSet<_> = events.iter().filter(of_budget).map(way).collect();
    assert_eq!(ways, ["one/x", "one/y", "two/x"].map(str::to_owned).into());
}

/// The flow nodes an event names from the outermost flow.
fn way(event: &Event) -> String {
    event.head.node_path.iter().flatten().map(AsRef::as_ref).collect::<Vec<&str>>().join("/")
}

#[tokio::test]
async fn tokens_steps_and_agents_are_bounded_the_same_way() {
    let rows: [(Limits, &str); 3] = [
        (Limits { max_tokens: Some(40), ..Limits::default() }, "budget_tokens"),
        (Limits { max_steps: Some(3), ..Limits::default() }, "budget_steps"),
        (Limits { max_agents: Some(2), ..Limits::default() }, "budget_agents"),
    ];
    for (limits, expected) in rows {
        let mut flow = Flow::new("chain").limits(limits);
        for index in 0..6 {
            flow = flow.node(format!("a{index}"), agent(0.0));
            if index > 0 {
                flow = flow.edge(Edge::new(format!("a{}", index - 1), format!("a{index}")));
            }
        }
        let (report, events) = run(flow.build().expect("sound")).await;
        assert_eq!(report.reason.as_ref().map(|reason| reason.as_str()), Some(expected));
        let calls = events.iter().filter(|event| matches!(event.body, Body::Usage(_))).count();
        assert!(calls <= 2, "{expected}: {calls} calls");
    }
}

#[tokio::test]
async fn every_reservation_is_settled_with_what_was_used() {
    let flow = Flow::new("one")
        .limits(Limits { max_tokens: Some(100), ..Limits::default() })
        .node("a", agent(0.0))
        .build()
        .expect("sound");
    let (report, events) = run(flow).await;
    assert_eq!(report.outcome, Outcome::Completed);
    let told: Vec<String> = events
        .iter()
        .filter_map(|event| match &event.body {
            Body::BudgetReserved(reserved) => Some(format!("reserved {:?}", reserved.amounts.tokens)),
            Body::BudgetSettled(settled) => Some(format!("settled {:?}", settled.amounts.tokens)),
            _ => None,
        })
        .collect();
    assert_eq!(told, ["reserved Some(15)", "settled Some(15)"]);
}

#[tokio::test]
async fn what_is_told_of_a_budget_is_in_the_trace_and_layers_end_before_the_run() {
    for max_tokens in [10, 20, 100] {
        let flow = Flow::new("two")
            .limits(Limits { max_tokens: Some(max_tokens), ..Limits::default() })
            .node("a", agent(0.0))
            .node("b", agent(0.0))
            .edge(Edge::new("a", "b"))
            .build()
            .expect("sound");
        let (_, events) = run(flow).await;
        for event in events.iter().filter(|event| event.head.run_id.is_some()) {
            let traced = event.head.trace_id.is_some() && event.head.span_id.is_some();
            assert!(traced, "{}", event.to_json());
        }
        let count = |tag: &str| events.iter().filter(|event| event.body.tag() == tag).count();
        assert_eq!(count("layer_start"), count("layer_end"), "{max_tokens} tokens");
    }
}

#[tokio::test]
async fn steps_that_run_out_inside_end_the_run_whose_budget_they_are() {
    let step = || Node::expression("1").expect("an expression");
    let inner = Flow::new("inner").node("x", step()).node("y", step()).edge(Edge::new("x", "y"));
    let flow = Flow::new("outer")
        .limits(Limits { max_steps: Some(2), ..Limits::default() })
        .node("in", Node::flow(inner.build().expect("sound")))
        .build()
        .expect("sound");
    let (report, events) = run(flow).await;
    assert_eq!(report.reason.as_ref().map(|reason| reason.as_str()), Some("budget_steps"));
    let last = events.last().expect("it began");
    assert!(
        matches!(last.body, Body::RunEnd(_)) && last.head.node_path.is_none(),
        "it ends with its own end"
    );
}

#[tokio::test]
async fn agents_that_agents_call_are_counted() {
    let call = json!([{"tool_call": {"name": "agent", "input": {"agent": "helper", "task": "help"}}}]);
    let model = json!({"provider": "scripted", "replies": [call, call, call, [{"text": "done"}]]});
    let helper = json!({"provider": "scripted", "replies": [[{"text": "helped"}]]});
    let lead = json!({
        "model": model, "permissions": [{"allow": "agent"}], "agents": {"helper": {"model": helper}},
    });
    let flow = Flow::new("team")
        .limits(Limits { max_agents: Some(2), ..Limits::default() })
        .node("lead", Node::agent("agent", lead))
        .build()
        .expect("sound");
    let (report, events) = run(flow).await;
    assert_eq!(report.reason.as_ref().map(|reason| reason.as_str()), Some("budget_agents"));
    let asked = events.iter().filter(|event| matches!(event.body, Body::Usage(_))).count();
    assert!(asked <= 3, "the agent that was one too many asked no model: {asked}");
}

#[tokio::test]
async fn who_is_refused_what_ends_the_run_is_not_tried_again() {
    let retry = antiphon_flow::retry::Retry::new(2);
    let flow = Flow::new("two")
        .limits(Limits { max_tokens: Some(20), ..Limits::default() })
        .node("a", agent(0.0))
        .node("b", agent(0.0).retry(retry))
        .edge(Edge::new("a", "b"))
        .build()
        .expect("sound");
    let (report, events) = run(flow).await;
    assert_eq!(report.reason.as_ref().map(|reason| reason.as_str()), Some("budget_tokens"));
    assert!(!events.iter().any(|event| matches!(event.body, Body::NodeRetry(_))));
    let refused = events.iter().find_map(|event| match &event.body {
        Body::NodeEnd(end) => end.error.as_ref().map(|error| format!("{} {:?}", end.status, error.code)),
        _ => None,
    });
    assert_eq!(refused.as_deref(), Some("FAILED Some(BudgetExhausted)"));
}
