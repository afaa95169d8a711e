//! Flows whose nodes do nothing, in the shapes that are measured: each takes how many nodes are to run.

use antiphon_flow::{Edge, Flow, Formula, Limits, Node};
use antiphon_runtime::Function;
use serde_json::{Value, json};

/// A shape, and the task that goes with it.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) name: &'static str,
    pub(crate) make: fn(usize) -> Flow,
    pub(crate) task: fn(usize) -> Value,
}

pub(crate) const CHAIN: Shape = Shape { name: "chain", make: chain, task: null };
pub(crate) const FAN: Shape = Shape { name: "fan-out", make: fan, task: null };
pub(crate) const CYCLE: Shape = Shape { name: "cycle", make: cycle, task: null };
pub(crate) const MAP: Shape = Shape { name: "map", make: map, task: list };
pub(crate) const DENSE_SMALL: Shape = Shape { name: "dense 16×16", make: |_| dense(16), task: null };
pub(crate) const DENSE: Shape = Shape { name: "dense 50×50", make: |_| dense(50), task: null };

fn null(_: usize) -> Value {
    Value::Null
}

fn list(size: usize) -> Value {
    json!((0..size).collect::<Vec<_>>())
}

fn nothing() -> Node {
    Node::function(Function::new(|_| async { Ok(()) }))
}

fn chain(count: usize) -> Flow {
    let mut flow = Flow::new("chain");
    for index in 0..count {
        flow = flow.node(format!("n{index}"), nothing());
        if index > 0 {
            flow = flow.edge(Edge::new(format!("n{}", index - 1), format!("n{index}")));
        }
    }
    flow.build().expect("sound")
}

fn fan(count: usize) -> Flow {
    let mut flow = Flow::new("fan").node("first", nothing()).node("last", nothing());
    for index in 0..count.saturating_sub(2) {
        let id = format!("n{index}");
        flow = flow.node(&id, nothing()).edge(Edge::new("first", &id)).edge(Edge::new(&id, "last"));
    }
    flow.build().expect("sound")
}

fn cycle(count: usize) -> Flow {
    let rounds = count as u32 / 2;
    Flow::new("cycle")
        .limits(Limits { max_node_executions: Some(count as u64 + 1), ..Limits::default() })
        .entry("a")
        .node("a", nothing())
        .node("b", nothing())
        .edge(Edge::new("a", "b"))
        .edge(Edge::new("b", "a").when(Formula::closure(move |moment| moment.executions_of("b") < rounds)))
        .build()
        .expect("sound")
}

fn dense(width: usize) -> Flow {
    let mut flow = Flow::new("dense");
    for layer in 0..width {
        for node in 0..width {
            flow = flow.node(format!("n{layer}.{node}"), nothing());
        }
    }
    for layer in 1..width {
        for from in 0..width {
            for to in 0..width {
                flow = flow.edge(Edge::new(format!("n{}.{from}", layer - 1), format!("n{layer}.{to}")));
            }
        }
    }
    flow.build().expect("sound")
}

fn map(_: usize) -> Flow {
    let items = Formula::closure(|moment| moment.task());
    Flow::new("map").node("each", Node::map(items, nothing())).build().expect("sound")
}
