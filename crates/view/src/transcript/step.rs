//! When a step is over, and with it what was said in it.
//!
//! A step is one call of the model and what came of it. It is over with the usage of that call, with a result of a call or of
//! code that was begun in it, with its node or its run, or when somebody speaks in its run. In the run of a flow each node
//! has steps of its own. Start reading at [`Transcript::finish`] and [`Transcript::answer`].

use std::collections::BTreeMap;
use std::sync::Arc;

use antiphon_event::{Body, Event, FlowNodeId, RunId};
use serde::{Deserialize, Serialize};

use super::{Transcript, close};
use crate::Changes;
use crate::index::Index;

/// The calls and the code of all runs, by number in the order they came.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Calls {
    numbers: Index<(RunId, Arc<str>)>,
    count: usize,
    /// The flow nodes of those that name one.
    nodes: BTreeMap<usize, FlowNodeId>,
}

/// Which calls of a run belong to steps that are over: those before a number.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Over {
    all: usize,
    /// Those of single nodes.
    of_node: BTreeMap<Option<FlowNodeId>, usize>,
}

/// What is over of a run.
enum Part {
    All,
    Node(Option<FlowNodeId>),
    Message(usize),
}

impl Calls {
    /// Notes a call. One that comes again belongs to the step that it was first made in.
    pub(super) fn note(&mut self, run: &RunId, id: Arc<str>, event: &Event) {
        let key = (run.clone(), id);
        if self.numbers.get(&key).is_some() {
            return;
        }
        if let Some(node) = &event.head.node_id {
            self.nodes.insert(self.count, node.clone());
        }
        self.numbers.insert(key, self.count);
        self.count += 1;
    }
}

impl Over {
    fn includes(&self, call: usize, node: Option<&FlowNodeId>) -> bool {
        call < self.all || self.of_node.get(&node.cloned()).is_some_and(|before| call < *before)
    }
}

impl Transcript {
    /// A call has a result: the model has spoken, if the step of the call is not over anyway.
    pub(super) fn answer(&mut self, run: &RunId, id: Arc<str>, event: &Event, changes: &mut Changes) {
        let Some(call) = self.calls.numbers.get(&(run.clone(), id)) else { return };
        let node = self.calls.nodes.get(&call).cloned();
        let speaker = self.runs.entry(run.clone()).or_default();
        if speaker.over.includes(call, node.as_ref()) {
            return;
        }
        let part = if speaker.is_flow { Part::Node(node) } else { Part::All };
        self.end_step(run, part, event, changes);
    }

    /// Ends what a run is saying: the message the event names, what it says in the node the event names, or all of it.
    pub(super) fn finish(&mut self, run: &RunId, event: &Event, changes: &mut Changes) {
        let named = match (&event.body, &event.head.message_id) {
            (Body::Usage(_), Some(id)) => self.named(run, id),
            _ => None,
        };
        let is_flow = self.runs.get(run).is_some_and(|speaker| speaker.is_flow);
        let part = match (named, &event.head.node_id) {
            (Some(place), _) => Part::Message(place),
            (None, Some(node)) if is_flow && !matches!(event.body, Body::RunEnd(_)) => {
                Part::Node(Some(node.clone()))
            }
            (None, _) => Part::All,
        };
        self.end_step(run, part, event, changes);
    }

    fn end_step(&mut self, run: &RunId, part: Part, event: &Event, changes: &mut Changes) {
        let speaker = self.runs.entry(run.clone()).or_default();
        let ended: Vec<_> = match &part {
            Part::All => speaker.open.iter().cloned().collect(),
            Part::Node(node) => {
                speaker.open.range((node.clone(), 0)..=(node.clone(), usize::MAX)).cloned().collect()
            }
            Part::Message(place) => vec![(self.messages[*place].node_id.clone(), *place)],
        };
        let node = match part {
            Part::Node(node) => Some(node),
            Part::Message(place) => speaker.is_flow.then(|| self.messages[place].node_id.clone()),
            Part::All => None,
        };
        match node {
            Some(node) => _ = speaker.over.of_node.insert(node, self.calls.count),
            None => speaker.over.all = self.calls.count,
        }
        for open in ended {
            if speaker.open.remove(&open) {
                close(&mut self.messages[open.1], open.1, event, changes);
            }
        }
    }
}
