//! Checks of names, edges and the graph they make.

use std::collections::{HashMap, HashSet};

use antiphon_event::near;

use super::{Problem, Subject, Subjects};
use crate::builder::reroutes;
use crate::definition::{Join, Settings, When, Work};
use crate::guard::Action;
use crate::shape::Shape;

/// How long the id of a node may be.
const ID_MAX: usize = 200;

/// Ids are sound and unique.
pub(super) fn names(subjects: &mut Subjects<'_>) {
    let flow = subjects.flow;
    if flow.nodes.is_empty() {
        subjects
            .found
            .push(Problem::error(Subject::Flow, "the flow has no nodes").help("add one under `nodes`"));
    }
    let mut seen = HashMap::new();
    for (at, (id, _)) in flow.nodes.iter().enumerate() {
        let sound = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
        if id.is_empty() || id.len() > ID_MAX || !id.chars().all(sound) {
            let shown: String = id.chars().take(40).collect();
            subjects.found.push(
                Problem::error(Subject::Node(at), format!("`{shown}` cannot be the id of a node"))
                    .help(format!("use 1 to {ID_MAX} letters, digits, `_`, `-` and `.`")),
            );
        }
        if seen.insert(id.as_str(), at).is_some() {
            subjects.found.push(
                Problem::error(Subject::Node(at), format!("there are two nodes with the id `{id}`"))
                    .help("give one of them another id"),
            );
        }
    }
}

/// Edges lead from known nodes to known nodes, once.
pub(super) fn edges(subjects: &mut Subjects<'_>) {
    let flow = subjects.flow;
    let mut seen = HashSet::new();
    for (at, edge) in flow.edges.iter().enumerate() {
        for (end, id) in [("from", &edge.from), ("to", &edge.to)] {
            if !subjects.shape.index.has(id) {
                let help = near::help(id, flow.nodes.iter().map(|(id, _)| id.as_str()));
                subjects.found.push(
                    Problem::error(
                        Subject::End(at, end),
                        format!("the edge leads {end} `{id}`, which is no node"),
                    )
                    .maybe(help),
                );
            }
        }
        if !seen.insert((&edge.from, &edge.to)) {
            subjects.found.push(
                Problem::error(
                    Subject::Edge(at),
                    format!("there are two edges from `{}` to `{}`", edge.from, edge.to),
                )
                .help("join their conditions with `||` in one edge"),
            );
        }
        let router = subjects.shape.index.get(&edge.from).map(|node| &flow.nodes[node].1.work);
        if matches!(router, Some(Work::Router(_))) && matches!(edge.when, When::If(_) | When::Default) {
            subjects.found.push(
                Problem::error(
                    Subject::Edge(at),
                    format!("`{}` is a router, and its edges have no condition", edge.from),
                )
                .help("let the router's expression decide"),
            );
        }
    }
}

/// There is somewhere to begin, and what is named as such exists.
pub(super) fn entries(subjects: &mut Subjects<'_>) {
    let flow = subjects.flow;
    for (at, id) in flow.settings.entry.iter().enumerate() {
        if !subjects.shape.index.has(id) {
            let help = near::help(id, flow.nodes.iter().map(|(id, _)| id.as_str()));
            subjects
                .found
                .push(Problem::error(Subject::Entry(at), format!("the entry `{id}` is no node")).maybe(help));
        }
    }
    if subjects.shape.entries.is_empty() && !flow.nodes.is_empty() && flow.settings.entry.is_empty() {
        subjects.found.push(
            Problem::error(Subject::Flow, "the flow has no entry: every node has an incoming edge")
                .help("name the first node under `entry`"),
        );
    }
}

/// Every node can be reached.
pub(super) fn reached(subjects: &mut Subjects<'_>) {
    if subjects.shape.entries.is_empty() {
        return;
    }
    for &node in &subjects.shape.unreachable {
        let id = &subjects.flow.nodes[node].0;
        if subjects.shape.index.get(id) != Some(node) {
            continue;
        }
        subjects.found.push(
            Problem::error(
                Subject::Node(node),
                format!("`{id}` is unreachable: no path leads to it from an entry"),
            )
            .help(format!("add an edge to `{id}`, or name it under `entry`")),
        );
    }
}

/// What goes round is bounded.
pub(super) fn cycles(subjects: &mut Subjects<'_>) {
    let limits = &subjects.flow.settings.limits;
    let bounded = limits.max_node_executions.is_some() || limits.execution_timeout.is_some();
    if bounded {
        return;
    }
    let of = |shape: &Shape| {
        let edge = shape.back.iter().position(|back| *back)?;
        Some((edge, shape.ends[edge]))
    };
    let Some((edge, (from, to))) = of(&subjects.shape).or_else(|| of(&from_everywhere(subjects)?)) else {
        return;
    };
    let (from, to) = (&subjects.flow.nodes[from].0, &subjects.flow.nodes[to].0);
    let subject = if edge < subjects.flow.edges.len() { Subject::Edge(edge) } else { Subject::Flow };
    subjects.found.push(
        Problem::error(
            subject,
            format!("the edge from `{from}` back to `{to}` makes a cycle without a bound"),
        )
        .help("set `limits.max_node_executions` or `limits.execution_timeout`"),
    );
}

/// The shape as if every node were an entry, if some cannot be reached: a cycle among them is one all the same.
fn from_everywhere(subjects: &Subjects<'_>) -> Option<Shape> {
    if subjects.shape.unreachable.is_empty() {
        return None;
    }
    let flow = subjects.flow;
    let entry = flow.nodes.iter().map(|(id, _)| id.clone()).collect();
    let settings = Settings { entry, ..Settings::default() };
    let edges: Vec<_> = flow.edges.iter().cloned().chain(reroutes(&flow.nodes)).collect();
    Some(Shape::of(&settings, &flow.nodes, &edges))
}

/// What takes over exists, has no edges of its own, and does not go round.
pub(super) fn fallbacks(subjects: &mut Subjects<'_>) {
    let flow = subjects.flow;
    for (at, (id, node)) in flow.nodes.iter().enumerate() {
        let mut complain = |member: &str, problem: String, help: Option<String>| {
            let subject = Subject::Member(at, member.into());
            subjects.found.push(Problem::error(subject, problem).maybe(help));
        };
        let known = || flow.nodes.iter().map(|(id, _)| id.as_str());
        if let Some(to) = &node.fallback {
            let touched = flow.edges.iter().any(|edge| edge.from == *to || edge.to == *to);
            if !subjects.shape.index.has(to) {
                complain(
                    "fallback",
                    format!("the fallback `{to}` of `{id}` is no node"),
                    near::help(to, known()),
                );
            } else if touched || flow.settings.entry.contains(to) {
                let help = "remove its edges: it runs only when the other node fails".to_owned();
                complain(
                    "fallback",
                    format!("the fallback `{to}` of `{id}` has edges of its own"),
                    Some(help),
                );
            } else if goes_round(subjects.shape.fallback.as_slice(), at) {
                complain(
                    "fallback",
                    format!("the fallbacks that begin with `{id}` go round in a circle"),
                    Some("let the last of them have none".to_owned()),
                );
            }
        }
        for guard in node.guards.input.iter().chain(&node.guards.output) {
            let Action::Reroute(to) = &guard.action else { continue };
            if !subjects.shape.index.has(to) {
                complain(
                    "guardrails",
                    format!("`{id}` reroutes to `{to}`, which is no node"),
                    near::help(to, known()),
                );
            } else if flow.edges.iter().any(|edge| edge.from == *id && edge.to == *to) {
                let help = "remove the edge, or reroute elsewhere".to_owned();
                complain(
                    "guardrails",
                    format!("`{id}` reroutes to `{to}` and has an edge there"),
                    Some(help),
                );
            }
        }
    }
}

fn goes_round(fallback: &[Option<usize>], start: usize) -> bool {
    let mut at = start;
    for _ in 0..fallback.len() {
        match fallback[at] {
            Some(next) if next == start => return true,
            Some(next) => at = next,
            None => return false,
        }
    }
    true
}

/// A join can be satisfied, and does not wait for what excludes itself.
pub(super) fn joins(subjects: &mut Subjects<'_>) {
    let flow = subjects.flow;
    for (at, (id, node)) in flow.nodes.iter().enumerate() {
        let entering = &subjects.shape.entering[at];
        if let Join::Count(count) = node.join
            && (count == 0 || count as usize > entering.len())
        {
            let help = match entering.len() {
                0 => "leave it out".to_owned(),
                1 => "write `1`, or leave it out".to_owned(),
                most => format!("write a number from 1 to {most}, `any` or `all`"),
            };
            let message = format!("`{id}` waits for {count} of its sources, and it has {}", entering.len());
            subjects.found.push(Problem::error(Subject::Member(at, "join".into()), message).help(help));
        }
        if node.join != Join::All || entering.len() < 2 {
            continue;
        }
        for &edge in entering {
            let conditional = flow.edges.get(edge).is_some_and(|edge| matches!(edge.when, When::If(_)));
            let source = subjects.shape.ends[edge].0;
            if conditional && other_way(subjects, source, edge, at) {
                let from = &flow.nodes[source].0;
                subjects.found.push(
                    Problem::warning(
                        Subject::Edge(edge),
                        format!("if this condition is false, `{id}` is skipped although `{from}` also reaches it another way"),
                    )
                    .help(format!("if `{id}` is to run either way, give it `join: any`")),
                );
            }
        }
    }
}

/// Whether `source` reaches `target` by forward edges without `except`.
fn other_way(subjects: &Subjects<'_>, source: usize, except: usize, target: usize) -> bool {
    let shape = &subjects.shape;
    let mut seen = HashSet::new();
    let mut stack = vec![source];
    while let Some(node) = stack.pop() {
        for &edge in shape.leaving[node].iter().filter(|edge| **edge != except && !shape.back[**edge]) {
            let next = shape.ends[edge].1;
            if next == target {
                return true;
            }
            if seen.insert(next) {
                stack.push(next);
            }
        }
    }
    false
}
