//! What the end of a run makes of what it leaves open, and how that goes on.
//!
//! Nobody will tell the end of what a run left open, so it is unknown how it stands; what a run that was only interrupted left
//! open is interrupted with it. An end that is told all the same counts. Start reading at [`Dag::end_run`].

use antiphon_event::{Body, Event, Kind};
use antiphon_graph::{Conversation, Node as GraphNode, Placed};

use super::{Dag, Status};
use crate::Changes;

impl Dag {
    /// A run has ended: its start says how.
    pub(super) fn end_run(
        &mut self,
        conversation: &Conversation,
        placed: Option<Placed>,
        event: &Event,
        status: Status,
        changes: &mut Changes,
    ) {
        let Some(place) = self.run_of(placed) else {
            return;
        };
        let left = match status {
            Status::Interrupted | Status::Pending | Status::Running => Status::Interrupted,
            _ => Status::Unknown,
        };
        let speaks_here = ends_node(conversation, event);
        let run = &mut self.runs[place as usize];
        let open: Vec<_> = run.running.iter().copied().collect();
        if !speaks_here {
            run.left = Some(left);
            self.set_status(self.runs[place as usize].start, status, changes);
        }
        for block in open {
            let node = conversation.block(block).and_then(|block| conversation.node(block.node));
            let Some(node) = node.filter(|node| !speaks_here || is_of_node(node, event)) else {
                continue;
            };
            let is_start = matches!(node.kind(), Kind::HarnessStart | Kind::RunStart);
            self.set_status(block, if is_start { status } else { left }, changes);
        }
    }

    /// A run goes on.
    pub(super) fn resume(&mut self, placed: Option<Placed>, changes: &mut Changes) {
        if let Some(place) = self.run_of(placed) {
            self.runs[place as usize].left = None;
            self.set_status(self.runs[place as usize].start, Status::Running, changes);
        }
    }

    /// What was left open goes on if it begins again.
    pub(super) fn begin_again(&mut self, placed: Option<Placed>, changes: &mut Changes) {
        let node = placed.and_then(|placed| self.layout.nodes.get(placed.block as usize));
        let status = node.and_then(|node| node.status);
        if let (Some(placed), Some(Status::Unknown | Status::Interrupted)) = (placed, status) {
            self.set_status(placed.block, Status::Running, changes);
        }
    }

    /// How a block stands that has no end of its own.
    pub(super) fn without_end(&self, block: u32) -> Status {
        let run = self.spot(block).and_then(|spot| self.runs.get(spot.run as usize));
        run.and_then(|run| run.left).unwrap_or(Status::Running)
    }

    fn run_of(&self, placed: Option<Placed>) -> Option<u32> {
        let spot = self.spot(placed?.block)?;
        Some(spot.run)
    }
}

/// Whether an event ends no run, but what a node says in the run of its flow.
fn ends_node(conversation: &Conversation, event: &Event) -> bool {
    let (Body::HarnessEnd(_), Some(run), Some(_)) = (&event.body, &event.head.run_id, &event.head.node_id)
    else {
        return false;
    };
    conversation.own(run, &format!("{run}:run_start"), Kind::RunStart).is_some()
}

/// Whether something is part of what the node of an event says. Its start is not: a node has an end of its own.
fn is_of_node(node: &GraphNode, event: &Event) -> bool {
    node.flow_node() == event.head.node_id.as_ref() && node.kind() != Kind::NodeStart
}
