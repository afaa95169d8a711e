//! What nodes and edges of a flow are caused by.

use std::sync::Arc;

use antiphon_event::body::flow::{EdgeDecision, NodeStart};
use antiphon_event::{Body, Event, FlowNodeId};

use super::ledger::Link;
use super::{Causes, Node, Relation};
use crate::Changes;

impl Causes {
    /// Remembers an event of a flow; one that is no cause of another is a part of what is going on around it.
    pub(super) fn flow(&mut self, event: &Event, changes: &mut Changes) -> u32 {
        match &event.body {
            Body::NodeStart(start) => self.node_start(event, start, changes),
            Body::NodeEnd(end) => self.node_end(event, &end.edges, changes),
            Body::NodeSkipped(_) => {
                let (link, also) = self.reached(event, |_| true, Relation::SkippedAfter);
                let fact = self.push_also(event, link, also, changes);
                self.settle_node(event, fact, &[]);
                fact
            }
            Body::NodeRetry(_) => {
                let fact = self.note(event, None, changes);
                if let Some(node) = self.node(event) {
                    node.retry = Some(fact);
                }
                fact
            }
            Body::NodeTimeout(_) | Body::Interrupt(_) => {
                let fact = self.note(event, None, changes);
                let work = self.node_work(event);
                self.advance(work, fact);
                fact
            }
            Body::EdgeTransition(edge) => self.edge(event, &edge.source_id, &edge.target_id, changes),
            Body::Handoff(handoff) => self.edge(event, &handoff.from_node_id, &handoff.to_node_id, changes),
            Body::Resumed(_) => self.resumed(event, changes),
            // These lead to nothing that could be told apart.
            _ => self.note(event, None, changes),
        }
    }

    /// A run goes on from where it stood.
    fn resumed(&mut self, event: &Event, changes: &mut Changes) -> u32 {
        let run = event.head.run_id.as_ref().and_then(|run| self.runs.get(run));
        let link = run.and_then(|run| run.last).map(|last| (last, Relation::Follows));
        let fact = self.note(event, link, changes);
        if let Some(run) = event.head.run_id.as_ref().and_then(|run| self.runs.get_mut(run)) {
            run.resumed = Some(fact);
        }
        fact
    }

    fn node_start(&mut self, event: &Event, start: &NodeStart, changes: &mut Changes) -> u32 {
        let retry = self.node(event).and_then(|node| node.retry.take());
        let (link, also) = match retry {
            Some(retry) => (Some((retry, Relation::Retries)), Vec::new()),
            None => self.reached(event, |live| live, Relation::ReachedBy),
        };
        let fact = self.push_also(event, link, also, changes);
        let work = self.begin_named(work_name(event, start), fact, changes);
        if let Some(node) = self.node(event) {
            node.work = Some(work);
        }
        fact
    }

    fn node_end(&mut self, event: &Event, edges: &[EdgeDecision], changes: &mut Changes) -> u32 {
        let fact = self.finish_work(event, self.node_work(event), changes);
        self.settle_node(event, fact, edges);
        fact
    }

    /// Notes how a node settled and what it decided about its edges.
    fn settle_node(&mut self, event: &Event, fact: u32, edges: &[EdgeDecision]) {
        let (Some(run), Some(source)) = (&event.head.run_id, &event.head.node_id) else {
            return;
        };
        let run = self.runs.entry(run.clone()).or_default();
        run.nodes.entry(source.clone()).or_default().ended = Some(fact);
        run.unanswered = vec![fact];
        for edge in edges {
            let target = run.nodes.entry(edge.to.clone()).or_default();
            target.decided.insert(source.clone(), (fact, edge.live));
        }
    }

    fn edge(&mut self, event: &Event, from: &FlowNodeId, to: &FlowNodeId, changes: &mut Changes) -> u32 {
        let run = event.head.run_id.as_ref().and_then(|run| self.runs.get(run));
        let source = run.and_then(|run| run.nodes.get(from));
        let running = self.tip(source.and_then(|node| node.work), Relation::Leaves);
        let ended = source.and_then(|node| node.ended).map(|ended| (ended, Relation::Leaves));
        let fact = self.note(event, ended.or(running), changes);
        if let Some(run) = event.head.run_id.as_ref().and_then(|run| self.runs.get_mut(run)) {
            run.nodes.entry(to.clone()).or_default().decided.insert(from.clone(), (fact, true));
        }
        fact
    }

    /// What led to a node since it last settled: the last decision first, or the start of the flow.
    fn reached(&mut self, event: &Event, counts: fn(bool) -> bool, relation: Relation) -> (Link, Vec<u32>) {
        let run = event.head.run_id.as_ref().and_then(|run| self.runs.get(run));
        let first = run.and_then(|run| run.first).map(|first| (first, Relation::EntryOf));
        let resumed = run.and_then(|run| run.resumed).map(|resumed| (resumed, Relation::Retries));
        let decided = self.node(event).map(|node| std::mem::take(&mut node.decided)).unwrap_or_default();
        let mut facts: Vec<u32> =
            decided.into_values().filter(|(_, live)| counts(*live)).map(|(fact, _)| fact).collect();
        facts.sort_unstable();
        match facts.pop() {
            Some(last) => (Some((last, relation)), facts),
            None => (resumed.or(first), Vec::new()),
        }
    }

    fn node(&mut self, event: &Event) -> Option<&mut Node> {
        let run = self.runs.get_mut(event.head.run_id.as_ref()?)?;
        Some(run.nodes.entry(event.head.node_id.clone()?).or_default())
    }
}

/// The id of the node's start in the conversation graph, by which runs inside it name it as their parent.
fn work_name(event: &Event, start: &NodeStart) -> Arc<str> {
    let run = event.head.run_id.as_ref().map_or("", |run| run.as_str());
    let node = event.head.node_id.as_ref().map_or("", |node| node.as_str());
    let mut name = format!("{run}:{node}:{}:start", start.execution);
    if start.attempt > 1 {
        name = format!("{name}:{}", start.attempt);
    }
    name.into()
}
