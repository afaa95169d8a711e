//! What the end of a run makes of what it leaves open, and how that goes on.
//!
//! Nobody will tell the end of what a run left open, so it is unknown how it stands; what a run that was only interrupted left
//! open is interrupted with it. An end that is told all the same counts. Start reading at [`Dag::end_run`].

use antiphon_event::{Body, Event, FlowNodeId, Kind};
use antiphon_graph::{Conversation, Node as GraphNode, Placed};

use super::{Dag, NodeKind, Open, Run, Scope, Spot, Status};
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
        let node = ended_node(conversation, event);
        let run = &mut self.runs[place as usize];
        let open = run.open(node, status);
        if node.is_none() {
            run.left = Some(left);
            self.set_status(self.runs[place as usize].start, status, changes);
        }
        for block in open {
            let node = conversation.block(block).and_then(|block| conversation.node(block.node));
            let kind = node.map(antiphon_graph::Node::kind);
            let is_start = matches!(kind, Some(Kind::HarnessStart | Kind::RunStart));
            self.set_status(block, if is_start { status } else { left }, changes);
        }
    }

    /// Notes whether a block is under way, or may go on, that stood otherwise before.
    pub(super) fn note_open(&mut self, block: u32, before: Option<Status>) {
        let Spot { run, scope, frame, .. } = &self.spots[block as usize];
        let open = &mut self.runs[*run as usize].open;
        let kind = self.layout.nodes[block as usize].kind;
        let is_call = kind == NodeKind::ToolCall;
        let entry = |status| {
            let is_open = match status {
                Some(Status::Running | Status::Interrupted) => true,
                Some(Status::Pending) => is_call,
                _ => false,
            };
            let is_interrupted = status == Some(Status::Interrupted);
            is_open.then(|| Open { is_interrupted, scope: scope.clone(), block })
        };
        let (before, now) = (entry(before), entry(self.layout.nodes[block as usize].status));
        if let Some(span) = self.spans.get_mut(*frame as usize).filter(|_| is_call || kind == NodeKind::Repl)
        {
            span.waiting += u32::from(now.is_some());
            span.waiting -= u32::from(before.is_some());
        }
        if let Some(before) = before {
            open.remove(&before);
        }
        open.extend(now);
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

    /// Notes that a node of a flow begins or ends to speak in the run of the flow.
    pub(super) fn speaks(&mut self, placed: Option<Placed>, event: &Event) {
        let (Some(placed), Some(place), Some(node)) = (placed, self.run_of(placed), &event.head.node_id)
        else {
            return;
        };
        let run = &mut self.runs[place as usize];
        match event.kind() {
            Kind::HarnessStart if run.start != placed.block => _ = run.speaking.insert(node.clone()),
            Kind::HarnessEnd => _ = run.speaking.remove(node),
            _ => {}
        }
    }

    /// How a block stands that has no end of its own.
    pub(super) fn without_end(&self, block: u32) -> Status {
        let run = self.spot(block).and_then(|spot| self.runs.get(spot.run as usize));
        let is_begun = self.spot(block).is_none_or(|spot| spot.begun > 0);
        let waits = !is_begun && self.node(block).kind == NodeKind::ToolCall;
        run.and_then(|run| run.left).unwrap_or(if waits { Status::Pending } else { Status::Running })
    }

    fn run_of(&self, placed: Option<Placed>) -> Option<u32> {
        let spot = self.spot(placed?.block)?;
        Some(spot.run)
    }
}

impl Run {
    /// The blocks that an end may change: those of the run, or of what one node of a flow says in it. The node itself has
    /// an end of its own.
    fn open(&self, node: Option<&FlowNodeId>, status: Status) -> Vec<u32> {
        // What was interrupted is not interrupted again.
        let stands = if status == Status::Interrupted { &[false][..] } else { &[false, true] };
        let mut blocks = Vec::new();
        for is_interrupted in stands.iter().copied() {
            let scope = node.map_or(Scope::None, |node| Scope::Of(node.clone()));
            let open = self.open.range(Open { is_interrupted, scope: scope.clone(), block: 0 }..);
            let meant = open.take_while(|open| {
                open.is_interrupted == is_interrupted && (node.is_none() || open.scope == scope)
            });
            blocks.extend(meant.map(|open| open.block));
        }
        blocks.sort_unstable();
        blocks
    }

    /// How many ends of a node of a flow are sure to come in the run: of what it says, and of itself.
    pub(super) fn ends_to_come(&self, node: &FlowNodeId) -> usize {
        let scope = Scope::Starts(node.clone());
        let has_begun = [false, true].iter().any(|&is_interrupted| {
            let start = Open { is_interrupted, scope: scope.clone(), block: 0 };
            self.open.range(start..).next().is_some_and(|open| open.scope == scope)
        });
        usize::from(has_begun) + usize::from(self.speaking.contains(node))
    }
}

impl Scope {
    /// The node that a block starts, or that it is part of.
    pub(super) fn node(&self) -> Option<&FlowNodeId> {
        match self {
            Self::None => None,
            Self::Starts(node) | Self::Of(node) => Some(node),
        }
    }

    /// What the block of a node of the graph has to do with a flow.
    pub(super) fn of(node: &GraphNode) -> Self {
        match (node.flow_node().cloned(), node.kind()) {
            (None, _) => Self::None,
            (Some(flow_node), Kind::NodeStart) => Self::Starts(flow_node),
            (Some(flow_node), _) => Self::Of(flow_node),
        }
    }
}

/// The node of a flow whose saying an event ends, if it ends no run.
fn ended_node<'a>(conversation: &Conversation, event: &'a Event) -> Option<&'a FlowNodeId> {
    let (Body::HarnessEnd(_), Some(run)) = (&event.body, &event.head.run_id) else {
        return None;
    };
    let node = event.head.node_id.as_ref()?;
    conversation.own(run, &format!("{run}:run_start"), Kind::RunStart).map(|_| node)
}
