//! Flows made from a seed: layers of nodes with conditions, loops, maps, nested flows and people.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use antiphon_flow::retry::Retry;
use antiphon_flow::schema::Schema;
use antiphon_flow::state::{Key, Reduce};
use antiphon_flow::{Builder, Class, Edge, Flow, Formula, Human, Join, Limits, Node};
use fastrand::Rng;
use serde_json::{Value, json};

use crate::world::{Deed, World};

/// Compiled once: it takes longer than running most of these flows.
static INTEGER: LazyLock<Schema> =
    LazyLock::new(|| Schema::compile(json!({"type": "integer"})).expect("a schema"));

/// A flow and what is known about its nodes.
pub(crate) struct Made {
    pub(crate) flow: Flow,
    /// What each node does, by id, for those whose work is code; ids are unique over all nested flows.
    pub(crate) deeds: HashMap<String, Deed>,
}

struct Maker<'a> {
    rng: Rng,
    world: &'a Arc<World>,
    deeds: HashMap<String, Deed>,
    named: u32,
    /// Whether nodes may race, so that the result depends on who is first.
    races: bool,
}

/// Edges of one flow, from and to.
type Ways = [(String, String)];

/// Makes a flow that is gone through so many times. With `races` nodes may start at the first of their sources, and a loop
/// may go round while something outside is still on its way into it, so that what comes out depends on time.
pub(crate) fn make(seed: u64, races: bool, rounds: u32, world: &Arc<World>) -> Made {
    let mut maker = Maker { rng: Rng::with_seed(seed), world, deeds: HashMap::new(), named: 0, races };
    let flow = maker.flow(0);
    let flow = if rounds > 1 { again(flow, rounds) } else { flow };
    Made { flow, deeds: maker.deeds }
}

/// A flow that goes through another so many times.
fn again(flow: Flow, rounds: u32) -> Flow {
    let more = Formula::closure(move |moment| moment.executions_of("round") < rounds);
    Flow::new("rounds")
        .limits(Limits { max_node_executions: Some(u64::MAX), ..Limits::default() })
        .node("round", Node::flow(flow))
        .node("next", Node::expression("input").expect("an expression"))
        .entry("round")
        .edge(Edge::new("round", "next"))
        .edge(Edge::new("next", "round").when(more))
        .build()
        .expect("what is made here is sound")
}

impl Maker<'_> {
    fn flow(&mut self, depth: u32) -> Flow {
        let mut layers: Vec<Vec<String>> = Vec::new();
        let mut builder = Flow::new(format!("depth {depth}"))
            .state(Key {
                name: "sum".into(),
                schema: INTEGER.clone(),
                default: Some(json!(0)),
                reduce: Reduce::Sum,
            })
            .limits(Limits {
                max_node_executions: Some(10_000),
                max_concurrency: self.rng.bool().then(|| self.rng.usize(1..5)),
                ..Limits::default()
            });
        for _ in 0..self.rng.usize(1..5) {
            let mut layer = Vec::new();
            for _ in 0..self.rng.usize(1..4) {
                let id = self.name();
                let mut node = self.node(&id, depth);
                if !layers.is_empty() && self.races && self.rng.u8(0..4) == 0 {
                    node = node.join(Join::Any);
                }
                builder = builder.node(&id, node);
                layer.push(id);
            }
            layers.push(layer);
        }
        builder = self.edges(builder, &layers);
        builder.build().expect("what is made here is sound")
    }

    fn name(&mut self) -> String {
        self.named += 1;
        format!("n{}", self.named)
    }

    fn node(&mut self, id: &str, depth: u32) -> Node {
        let node = match self.rng.u8(0..12) {
            0 if depth < 2 => Node::flow(self.flow(depth + 1)),
            1 => {
                let count = self.rng.usize(0..6);
                let inner_id = format!("{id}.item");
                let inner = self.code(&inner_id);
                let items: Vec<Value> = (0..count).map(|item| json!(item)).collect();
                let over = Formula::closure(move |_| Value::Array(items.clone()));
                let node = Node::map(over, inner.set("sum", Formula::closure(|moment| moment.output())));
                if self.rng.bool() { node.max_parallel(2) } else { node }
            }
            2 => Node::human(Human { prompt: "Go on?".into(), ..Human::default() }),
            3 => Node::expression("size(string(input))").expect("an expression"),
            _ => self.code(id),
        };
        if self.rng.bool() { node.set("sum", Formula::closure(|_| 1)) } else { node }
    }

    /// A node whose work is code that takes time, may fail some times, and may be dangerous to repeat.
    fn code(&mut self, id: &str) -> Node {
        let deed = Deed {
            takes: if self.rng.bool() { 0 } else { self.rng.u64(1..1000) },
            fails: if self.rng.u8(0..4) == 0 { self.rng.u32(1..3) } else { 0 },
            writes: self.rng.bool(),
            salt: self.rng.u64(..),
        };
        self.deeds.insert(id.to_owned(), deed);
        let delay = Duration::from_millis(self.rng.u64(0..50));
        let node = Node::function(self.world.function(deed)).retry(Retry { delay, ..Retry::new(3) });
        if deed.writes { node } else { node.effect(Class::Pure) }
    }

    /// Every node but those of the first layer has an edge from an earlier one; some have several, some lead back.
    fn edges(&mut self, mut builder: Builder, layers: &[Vec<String>]) -> Builder {
        let (mut last, mut ways) = (None, Vec::new());
        for index in 1..layers.len() {
            for to in &layers[index] {
                for (source, from) in layers[index - 1].iter().enumerate() {
                    if source == 0 || self.rng.bool() {
                        builder = builder.edge(self.edge(from, to));
                        ways.push((from.clone(), to.clone()));
                    }
                }
            }
            last = Some(index);
        }
        let Some(last) = last.filter(|_| self.rng.u8(0..3) == 0) else { return builder };
        let (from, to) = (layers[last][0].clone(), layers[self.rng.usize(0..last)][0].clone());
        let times = self.rng.u32(1..4);
        if !self.races && is_entered_aside(&to, &ways) {
            return builder;
        }
        let source = from.clone();
        let entries = layers[0].clone();
        let back =
            Edge::new(from, to).when(Formula::closure(move |moment| moment.executions_of(&source) <= times));
        builder = entries.into_iter().fold(builder, Builder::entry);
        builder.edge(back)
    }

    fn edge(&mut self, from: &str, to: &str) -> Edge {
        let edge = Edge::new(from, to);
        match self.rng.u8(0..5) {
            0 => {
                let odd = self.rng.u64(0..2);
                edge.when(Formula::closure(move |moment| moment.output().as_u64().unwrap_or(odd) % 2 == odd))
            }
            1 => edge.otherwise(),
            _ => edge,
        }
    }
}

/// Whether something that a loop does not wait for leads to what lies beyond the node it goes back to: then it depends on
/// time in which of its rounds that comes in.
fn is_entered_aside(target: &str, ways: &Ways) -> bool {
    let beyond = reached(target, |(from, to)| (from, to), ways);
    let before = reached(target, |(from, to)| (to, from), ways);
    ways.iter().any(|(from, to)| {
        let from = from.as_str();
        beyond.contains(to.as_str()) && !beyond.contains(from) && !before.contains(from)
    })
}

/// All that is reached from a node, itself included, by edges in the direction that `turned` gives them.
fn reached<'w>(
    start: &'w str,
    turned: fn(&'w (String, String)) -> (&'w String, &'w String),
    ways: &'w Ways,
) -> HashSet<&'w str> {
    let mut found = HashSet::from([start]);
    let mut open = vec![start];
    while let Some(node) = open.pop() {
        let next = ways.iter().map(turned).filter(|(from, _)| from.as_str() == node);
        open.extend(next.map(|(_, to)| to.as_str()).filter(|to| found.insert(*to)));
    }
    found
}
