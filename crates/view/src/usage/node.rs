//! [`UnderWay`]: whether anything was told of what an execution of a node used before it ended.
//!
//! In: the starts and ends of nodes, what causes runs, and whatever is counted. Start reading at [`UnderWay::end`].

use std::collections::BTreeMap;
use std::sync::Arc;

use antiphon_event::body::flow::{NodeEnd, NodeStart};
use antiphon_event::{Event, FlowNodeId, RunId};
use serde::{Deserialize, Serialize};
use serde_with::serde_as;

use super::node_of;
use crate::forest::CLIMB_MAX;

/// A node of a run of a flow.
type Node = (RunId, FlowNodeId);

/// The latest execution of each node.
#[serde_as]
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct UnderWay {
    #[serde_as(as = "Vec<(_, _)>")]
    nodes: BTreeMap<Node, Execution>,
    /// The nodes that have not ended, by the ids that their starts have in the conversation graph.
    starts: BTreeMap<Arc<str>, Node>,
    /// The nodes that runs are inside.
    inside: BTreeMap<RunId, Node>,
    /// How often something was counted by the path of its node, where nobody said which flow that is of.
    counted: BTreeMap<Arc<str>, u64>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Execution {
    number: u32,
    /// The ids of its starts.
    starts: Vec<Arc<str>>,
    ended: bool,
    /// Whether something was told of what it used.
    told: bool,
    /// How often something was counted by its path before it began.
    before: u64,
}

impl UnderWay {
    /// Notes which node a run is inside, once it says what caused it.
    pub(super) fn heard_of(&mut self, run: &RunId, event: &Event) {
        let cause = event.head.parent_id.as_ref().and_then(|parent| self.starts.get(parent.as_str()));
        if let Some(node) = cause.filter(|(flow, _)| flow != run) {
            self.inside.entry(run.clone()).or_insert_with(|| node.clone());
        }
    }

    /// A node begins, or goes on with another attempt.
    pub(super) fn begin(&mut self, run: &RunId, event: &Event, start: &NodeStart) {
        let Some(id) = &event.head.node_id else { return };
        let node = (run.clone(), id.clone());
        let before = self.counted_at(event);
        let latest = self.nodes.entry(node.clone()).or_default();
        if latest.ended || latest.number != start.execution {
            for start in std::mem::take(&mut latest.starts) {
                self.starts.remove(&start);
            }
            *latest = Execution { number: start.execution, before, ..Execution::default() };
        }
        let mut name = format!("{run}:{id}:{}:start", start.execution);
        if start.attempt > 1 {
            name = format!("{name}:{}", start.attempt);
        }
        let name = Arc::<str>::from(name);
        latest.starts.push(Arc::clone(&name));
        self.starts.insert(name, node);
    }

    /// A node ended: whether something was told of what it used since it began. What its end says is told with that.
    pub(super) fn end(&mut self, run: &RunId, event: &Event, end: &NodeEnd) -> bool {
        let Some(id) = &event.head.node_id else { return false };
        let counted = self.counted_at(event);
        let latest = self.nodes.entry((run.clone(), id.clone())).or_default();
        for start in std::mem::take(&mut latest.starts) {
            self.starts.remove(&start);
        }
        if latest.number != end.execution {
            *latest = Execution { number: end.execution, before: counted, ..Execution::default() };
        }
        latest.ended = true;
        std::mem::replace(&mut latest.told, true) || latest.before < counted
    }

    /// Something is counted, in a run, perhaps at a node.
    pub(super) fn counts(&mut self, run: &RunId, event: &Event, path: Option<&Arc<str>>) {
        let mut is_known = self.inside.contains_key(run);
        let own = event.head.node_id.as_ref().map(|id| (run.clone(), id.clone()));
        if let Some(own) = own.and_then(|own| self.nodes.get_mut(&own)) {
            own.told = true;
            is_known = true;
        }
        let mut above = self.inside.get(run);
        for _ in 0..CLIMB_MAX {
            let Some(node) = above else { break };
            if let Some(around) = self.nodes.get_mut(node) {
                around.told = true;
            }
            above = self.inside.get(&node.0);
        }
        if let Some(path) = path.filter(|_| !is_known) {
            let ends = path.match_indices('/').map(|(end, _)| end).chain([path.len()]);
            for end in ends {
                *self.counted.entry(path[..end].into()).or_default() += 1;
            }
        }
    }

    fn counted_at(&self, event: &Event) -> u64 {
        node_of(event).and_then(|path| self.counted.get(&path).copied()).unwrap_or(0)
    }
}
