//! [`Dag`]: the conversation as a graph that is laid out, with a box for every block.
//!
//! In: events that the conversation has taken in. Out: a [`Layout`] of boxes, arrows and frames, and the changes
//! that keep it up to date. Runs stand in lanes from left to right, time runs down, and every arrow points down.
//! What is placed stays where it is unless something above it in its lane, or something it hangs from, needs
//! the room; then it moves down. For what is sure to come higher up, room is left. Only where two parts that stood
//! apart are joined by a cause that came late does one of them move up or aside, and it is the smaller one. The
//! pictures [`svg`], [`mermaid`], [`dot`] and [`text`] are drawn from a layout alone. Start reading at the projection's `apply`.

mod adopt;
mod dot;
mod end;
mod island;
mod label;
mod lane;
mod layout;
mod mermaid;
mod place;
mod push;
mod request;
mod saved;
mod status;
mod svg;
mod text;

use std::collections::BTreeSet;

use antiphon_event::{Event, FlowNodeId};
use antiphon_graph::hyper::Summed;
use antiphon_graph::{Change, Conversation, Place, Placed};
use serde::{Deserialize, Serialize};

use crate::{Changes, Projection, path};

use island::Islands;
use lane::Lanes;
use request::Requests;

pub use dot::dot;
pub use layout::{Edge, EdgeKind, Group, Layout, Node, NodeKind, Status};
pub use mermaid::mermaid;
pub use svg::svg;
pub use text::text;

/// Stands for "none" where a number of a block, run or group is kept.
const NONE: u32 = u32::MAX;

/// The laid-out graph of a conversation.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(try_from = "saved::Saved")]
pub struct Dag {
    layout: Layout,
    /// What is known of each box besides, in the same order.
    spots: Vec<Spot>,
    /// The first and the last block of each frame.
    spans: Vec<Span>,
    /// The frame of each message; none for structural ones.
    frames: Vec<u32>,
    runs: Vec<Run>,
    lanes: Lanes,
    /// What arrows hold together; found again from the arrows.
    #[serde(skip)]
    islands: Islands,
    /// The latest block of each node.
    latest: Vec<u32>,
    requests: Requests,
}

/// Where a block stands.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Spot {
    lane: i32,
    /// The blocks right above and right below it in its lane.
    above: u32,
    below: u32,
    /// Its frame.
    frame: u32,
    scope: Scope,
    /// The run that it is part of, and the one whose message it stands in.
    run: u32,
    owner: u32,
    /// The block before it of the same node.
    earlier: u32,
    /// Where its arrows lead.
    out: Vec<u32>,
    /// Whether more text would not change what it says.
    is_cut: bool,
    /// How often it was said of a call that it has begun: each time that it came again, and by each piece of progress.
    begun: u32,
}

/// What a block has to do with the nodes of a flow.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Scope {
    /// Nothing.
    None,
    /// It starts an attempt at this one.
    Starts(FlowNodeId),
    /// It is part of what this one says.
    Of(FlowNodeId),
}

/// A block that is under way, or may go on; those that one end is about stand together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Open {
    is_interrupted: bool,
    scope: Scope,
    block: u32,
}

/// Which blocks a frame goes around: these two and all between them in their lane.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Span {
    first: u32,
    last: u32,
    owner: u32,
    /// How many calls and pieces of code in it wait for what comes of them; found again from how they stand.
    #[serde(skip)]
    waiting: u32,
}

/// Where a run stands.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Run {
    first: u32,
    /// The block that its next one follows.
    tip: u32,
    lane: Option<i32>,
    /// The block that caused it.
    cause: u32,
    /// Whether that makes it somebody's child.
    is_spawned: bool,
    /// Whether its lane is kept for it.
    is_busy: bool,
    /// The block that it says its beginning with.
    start: u32,
    /// The blocks that stand in its messages.
    blocks: Vec<u32>,
    /// The blocks that are part of it and under way, or may go on; found again from how they stand.
    #[serde(skip)]
    open: BTreeSet<Open>,
    /// The nodes of a flow that said in it that they begin to speak, and not that they are done.
    speaking: BTreeSet<FlowNodeId>,
    /// How what it left open stands since it ended.
    left: Option<Status>,
}

impl Default for Run {
    fn default() -> Self {
        Self {
            first: NONE,
            tip: NONE,
            lane: None,
            cause: NONE,
            is_spawned: false,
            is_busy: false,
            start: NONE,
            blocks: Vec::new(),
            open: BTreeSet::new(),
            speaking: BTreeSet::new(),
            left: None,
        }
    }
}

impl Dag {
    /// The graph as it is laid out now.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    fn spot(&self, block: u32) -> Option<&Spot> {
        self.spots.get(block as usize)
    }

    fn node(&self, block: u32) -> &Node {
        &self.layout.nodes[block as usize]
    }

    /// The latest block of a node.
    fn block_of(&self, node: Option<Place>) -> u32 {
        node.and_then(|node| self.latest.get(node as usize).copied()).unwrap_or(NONE)
    }
}

impl Projection for Dag {
    const NAME: &'static str = "dag";

    fn apply(
        &mut self,
        conversation: &Conversation,
        placed: Option<Placed>,
        event: &Event,
        changes: &mut Changes,
    ) {
        if let Some(placed) = placed {
            match (placed.new_block, placed.change) {
                (true, _) => self.place(conversation, placed, event, changes),
                (false, Change::Appended { .. }) if self.is_settled(placed.block) => {}
                (false, _) => self.say(conversation, placed.block, changes),
            }
        }
        self.note_status(conversation, placed, event, changes);
        for summed in conversation.summed() {
            if let Summed::In { summary, source, .. } = *summed {
                self.sum_up(conversation, summary, source, changes);
            }
        }
    }

    fn snapshot<'a>(&'a self, _: &'a Conversation) -> impl Serialize + 'a {
        &self.layout
    }
}

impl Dag {
    /// Whether more text would change nothing.
    fn is_settled(&self, block: u32) -> bool {
        self.spot(block).is_none_or(|spot| spot.is_cut)
    }

    /// Brings what a box says up to date; a box may grow, and then what lies below makes room.
    fn say(&mut self, conversation: &Conversation, block: u32, changes: &mut Changes) {
        let Some(label) = place::label_of(conversation, block) else {
            return;
        };
        let (Some(node), Some(spot)) =
            (self.layout.nodes.get_mut(block as usize), self.spots.get_mut(block as usize))
        else {
            return;
        };
        spot.is_cut = label.is_cut;
        if node.label == label.text {
            return;
        }
        let (_, height) = label::size(node.kind, &label.text);
        node.label = label.text;
        changes.set(path!["nodes", block as usize, "label"], &node.label);
        if height > node.h {
            node.h = height;
            changes.set(path!["nodes", block as usize, "h"], &height);
            self.make_room(block, changes);
        }
    }

    /// A summary stands for a message: its frame says so.
    fn sum_up(&mut self, conversation: &Conversation, summary: Place, source: Place, changes: &mut Changes) {
        let frame = self.frames.get(source as usize).copied().unwrap_or(NONE);
        let (Some(group), Some(message)) =
            (self.layout.groups.get_mut(frame as usize), conversation.message(summary))
        else {
            return;
        };
        group.summary = Some(message.id().clone());
        changes.set(path!["groups", frame as usize, "summary"], message.id());
    }
}
