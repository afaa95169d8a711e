//! [`Beside`]: the steps of flow nodes that are open while their run goes on with that of another.
//!
//! In: the node that an event names. Out: the step of its run is that node's. Start reading at [`Conversation::turn_to`].

use std::collections::HashMap;

use antiphon_event::{Event, FlowNodeId, Kind};
use foldhash::fast::FixedState;

use super::step::Step;
use super::{Conversation, Message, is_content};
use crate::list::List;
use crate::node::NOWHERE;
use crate::{Place, Reduced};

/// A step that is open while its run goes on with that of another node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Open {
    pub(crate) message: Place,
    pub(crate) block: Place,
    /// The last block of its message.
    pub(crate) last_block: Place,
    pub(super) counted: bool,
    pub(super) answered: bool,
}

impl Default for Open {
    fn default() -> Self {
        Self { message: NOWHERE, block: NOWHERE, last_block: NOWHERE, counted: false, answered: false }
    }
}

/// The steps that are open beside the one that each run goes on with, by run and node.
#[derive(Debug, Clone, Default)]
pub(crate) struct Beside(HashMap<u32, HashMap<Option<FlowNodeId>, Open, FixedState>, FixedState>);

impl Beside {
    /// Lets a run go on with the open step of a node; `false` if the node has none.
    pub(crate) fn take_up(
        &mut self,
        messages: &List<Message>,
        run: u32,
        step: &mut Step,
        node: Option<&FlowNodeId>,
    ) -> bool {
        let open = self.0.get_mut(&run).and_then(|of_run| of_run.remove(&node.cloned()));
        let Some(mut open) = open else {
            return false;
        };
        // Where several nodes name one message, each of them may have interrupted what another was saying.
        if last_block(messages, open.message) != open.last_block {
            open.block = NOWHERE;
        }
        self.put_aside(messages, run, step, node, open);
        true
    }

    /// Lets a run go on with a step of a node that is still to be opened.
    pub(crate) fn begin(
        &mut self,
        messages: &List<Message>,
        run: u32,
        step: &mut Step,
        node: Option<&FlowNodeId>,
    ) {
        self.put_aside(messages, run, step, node, Open::default());
    }

    fn put_aside(
        &mut self,
        messages: &List<Message>,
        run: u32,
        step: &mut Step,
        node: Option<&FlowNodeId>,
        open: Open,
    ) {
        let (before, mut aside) = step.exchange(node.cloned(), open);
        if aside.message != NOWHERE {
            aside.last_block = last_block(messages, aside.message);
            self.0.entry(run).or_default().insert(before, aside);
        }
    }

    /// Ends the open step of a node.
    pub(crate) fn close(&mut self, run: u32, node: Option<&FlowNodeId>) {
        if let Some(of_run) = self.0.get_mut(&run) {
            of_run.remove(&node.cloned());
        }
    }

    /// Ends all open steps of a run.
    pub(crate) fn close_all(&mut self, run: u32) {
        if !self.0.is_empty() {
            self.0.remove(&run);
        }
    }

    /// All of them in order.
    pub(crate) fn all(&self) -> Vec<(u32, Option<FlowNodeId>, Open)> {
        let of_run = |(run, of_run): (&u32, &HashMap<_, _, _>)| {
            let run = *run;
            let open = of_run
                .iter()
                .map(move |(node, open): (&Option<FlowNodeId>, &Open)| (run, node.clone(), *open));
            open.collect::<Vec<_>>()
        };
        let mut all: Vec<_> = self.0.iter().flat_map(of_run).collect();
        all.sort_unstable_by(|one, other| (one.0, &one.1).cmp(&(other.0, &other.1)));
        all
    }
}

fn last_block(messages: &List<Message>, message: Place) -> Place {
    messages.get(message as usize).map_or(NOWHERE, |message| message.last_block)
}

impl FromIterator<(u32, Option<FlowNodeId>, Open)> for Beside {
    fn from_iter<I: IntoIterator<Item = (u32, Option<FlowNodeId>, Open)>>(all: I) -> Self {
        let mut beside = Self::default();
        for (run, node, open) in all {
            beside.0.entry(run).or_default().insert(node, open);
        }
        beside
    }
}

impl Conversation {
    /// Lets a run go on with the step of the flow node that an event is of. `false` if the event says something about a
    /// node that has no open step, while the step of another is gone on with.
    #[inline]
    pub(super) fn turn_to(
        &mut self,
        run: u32,
        reduced: &Reduced,
        event: &Event,
        call: Option<Place>,
    ) -> bool {
        // Most runs name no nodes, or one.
        if event.kind() != Kind::NodeStart && self.steps[run as usize].node == event.head.node_id {
            return true;
        }
        self.turn_to_other(run, reduced, event, call)
    }

    fn turn_to_other(&mut self, run: u32, reduced: &Reduced, event: &Event, call: Option<Place>) -> bool {
        // What names no node is of the node of what it goes on with.
        let graph = self.reducer.graph();
        let meant = call.or(Some(reduced.place)).and_then(|place| graph.at(place));
        let meant = meant.filter(|node| node.run_place == run).and_then(|node| node.flow_node());
        let node = event.head.node_id.as_ref().or(meant).cloned();
        let (kind, messages) = (event.kind(), &self.hyper.messages);
        let step = &mut self.steps[run as usize];
        if kind == Kind::NodeStart {
            step.is_flow = true;
            if step.node == node {
                step.close();
            }
            self.beside.close(run, node.as_ref());
        }
        if step.node == node || self.beside.take_up(messages, run, step, node.as_ref()) {
            return true;
        }
        if is_content(kind) && (node.is_some() || step.is_flow) {
            self.beside.begin(messages, run, step, node.as_ref());
            return true;
        }
        match node {
            Some(_) => step.node.is_none(),
            None => !is_of_flow(kind),
        }
    }
}

/// Whether events of this type are about a flow and not about one of its nodes.
fn is_of_flow(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::RunStart
            | Kind::RunEnd
            | Kind::LayerStart
            | Kind::LayerEnd
            | Kind::EdgeTransition
            | Kind::Handoff
    )
}
