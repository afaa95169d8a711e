//! When a step is over, and with it what was said in it.
//!
//! A step is one call of the model and what came of it. It is over with the usage of that call, with a result of a call or of
//! code that was begun in it, with its node or its run, or when somebody speaks in its run. In the run of a flow each node
//! has steps of its own. Start reading at [`Transcript::finish`] and [`Transcript::answer`].

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use antiphon_event::{Body, Event, FlowNodeId, RunId};
use serde::{Deserialize, Serialize};
use serde_with::serde_as;

use super::{Transcript, close};
use crate::Changes;

/// The calls and the code of a run that have no result.
#[serde_as]
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Calls {
    /// Those of steps that are not over, with the flow node they were made in.
    current: BTreeMap<Arc<str>, Option<FlowNodeId>>,
    /// The same by that node.
    #[serde_as(as = "Vec<(_, _)>")]
    of_node: BTreeMap<Option<FlowNodeId>, BTreeSet<Arc<str>>>,
    earlier: BTreeSet<Arc<str>>,
}

/// What is over of a run.
enum Part {
    All,
    Node(Option<FlowNodeId>),
    Message(usize),
}

impl Calls {
    /// Notes a call. One that comes again belongs to the step that it was first made in.
    fn note(&mut self, id: Arc<str>, event: &Event) {
        if self.earlier.contains(&id) || self.current.contains_key(&id) {
            return;
        }
        let node = event.head.node_id.clone();
        self.of_node.entry(node.clone()).or_default().insert(Arc::clone(&id));
        self.current.insert(id, node);
    }

    /// A call has a result: what is over with that, if its step is not over anyway.
    fn answered(&mut self, id: &Arc<str>) -> Option<Part> {
        if self.earlier.remove(id) {
            return None;
        }
        let node = self.current.remove(id)?;
        if let Some(calls) = self.of_node.get_mut(&node) {
            calls.remove(id);
        }
        Some(Part::Node(node))
    }

    /// The steps of a node are over, or those of all.
    fn step_is_over(&mut self, node: Option<&Option<FlowNodeId>>) {
        let Some(node) = node else {
            self.of_node.clear();
            return self.earlier.extend(std::mem::take(&mut self.current).into_keys());
        };
        for call in self.of_node.remove(node).unwrap_or_default() {
            self.current.remove(&call);
            self.earlier.insert(call);
        }
    }
}

impl Transcript {
    /// A model calls something, or writes code.
    pub(super) fn called(&mut self, run: &RunId, id: Arc<str>, event: &Event) {
        self.runs.entry(run.clone()).or_default().calls.note(id, event);
    }

    /// A call has a result: the model has spoken, if the step of the call is not over anyway.
    pub(super) fn answer(&mut self, run: &RunId, id: Arc<str>, event: &Event, changes: &mut Changes) {
        let Some(speaker) = self.runs.get_mut(run) else { return };
        let Some(of_node) = speaker.calls.answered(&id) else { return };
        let part = if speaker.is_flow { of_node } else { Part::All };
        self.end_step(run, part, event, changes);
    }

    /// Ends what a run is saying: the message the event names, what it says in the node the event names, or all of it.
    pub(super) fn finish(&mut self, run: &RunId, event: &Event, changes: &mut Changes) {
        let Some(speaker) = self.runs.get(run) else { return };
        if speaker.open.is_empty() && speaker.calls.current.is_empty() {
            return;
        }
        let is_flow = speaker.is_flow;
        let named = match (&event.body, &event.head.message_id) {
            (Body::Usage(_), Some(id)) => self.named(run, id),
            _ => None,
        };
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
        let Some(speaker) = self.runs.get_mut(run) else { return };
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
        speaker.calls.step_is_over(node.as_ref());
        for open in ended {
            if speaker.open.remove(&open) {
                close(&mut self.messages[open.1], open.1, event, changes);
            }
        }
    }
}
