//! Questions to a [`Conversation`] while it grows, for the views that follow it event by event.

use antiphon_event::{Kind, RunId};

use super::stage::{self, Summed};
use super::{Active, Block, Conversation, Hypergraph, Message};
use crate::node::NOWHERE;
use crate::{Node, Place};

impl Conversation {
    /// The flat graph as it is now.
    pub fn graph(&self) -> &crate::Graph {
        self.reducer.graph()
    }

    /// The block at a place.
    pub fn block(&self, place: Place) -> Option<&Block> {
        self.hyper.block(place)
    }

    /// The message at a place.
    pub fn message(&self, place: Place) -> Option<&Message> {
        self.hyper.message(place)
    }

    /// The message that a message answers.
    pub fn parent_message(&self, place: Place) -> Option<Place> {
        self.hyper.parent_message(place)
    }

    /// How many messages there are.
    pub fn message_count(&self) -> usize {
        self.hyper.messages.len()
    }

    /// The place of a message, by its id with or without `msg:`.
    pub fn message_place(&self, id: &str) -> Option<Place> {
        self.hyper.message_place(id)
    }

    /// The latest block of a node.
    pub fn block_of(&self, node: Place) -> Option<Place> {
        self.hyper.block_of.get(node as usize).copied().filter(|block| *block != NOWHERE)
    }

    /// What of it is active.
    pub fn active(&self) -> &Active {
        &self.hyper.active
    }

    /// Whether a message is active: spoken, not switched off, and not stood for by a summary.
    pub fn is_active(&self, message: Place) -> bool {
        self.stage.counts(&self.hyper, message)
    }

    /// What is seen in the slot of a message: it, a summary that begins with it, or nothing.
    #[inline]
    pub fn seen_in(&self, slot: Place) -> Option<Place> {
        self.stage.seen_in(slot)
    }

    /// The slot in which a message is seen, if it is.
    pub fn seen_at(&self, message: Place) -> Option<Place> {
        self.stage.seen_at(&self.hyper, message)
    }

    /// The slot of a message, in which it is seen if it is active and summaries stand in the place of their sources: its
    /// own, or that of the first message it stands for.
    pub fn slot_of(&self, message: Place) -> Place {
        self.stage.slot_of(message)
    }

    /// The slots in which the latest event lets something else be seen, in order; but for that of a new message.
    #[inline]
    pub fn shifted(&self) -> &[Place] {
        self.stage.shifted()
    }

    /// What the latest event did about summaries, in order.
    #[inline]
    pub fn summed(&self) -> &[Summed] {
        self.stage.summed()
    }

    /// The messages a summary stands for, in the order they came.
    pub fn sources_of(&self, summary: Place) -> impl Iterator<Item = Place> + '_ {
        stage::sources(&self.hyper, summary).copied()
    }

    /// The node of this type that a run means by an id: its own, or else anybody's.
    pub fn resolve(&self, run: &RunId, id: &str, kind: Kind) -> Option<Place> {
        self.reducer.resolve(run, id, kind)
    }

    /// The node of this type that a run has under an id, whatever it is called.
    pub fn own(&self, run: &RunId, id: &str, kind: Kind) -> Option<Place> {
        self.reducer.own(run, id, kind)
    }

    /// The place of the node with this id.
    pub fn node_place(&self, id: &str) -> Option<Place> {
        self.reducer.graph().place(id)
    }

    /// The node at a place.
    pub fn node(&self, place: Place) -> Option<&Node> {
        self.reducer.graph().at(place)
    }

    /// The node that a node hangs from.
    pub fn parent_of(&self, node: Place) -> Option<Place> {
        self.reducer.graph().parent_of(node)
    }

    /// The nodes that hang from a node, in order.
    pub fn children_of(&self, node: Place) -> impl Iterator<Item = Place> + '_ {
        self.reducer.graph().children_of(node)
    }

    /// The place of a run, by its id.
    pub fn run_place(&self, run: &str) -> Option<u32> {
        self.reducer.graph().run_place(run)
    }

    /// The first node of a run.
    pub fn first_of_run(&self, run: u32) -> Option<Place> {
        self.reducer.graph().run(run).map(|run| run.first)
    }

    /// The runs whose first node hangs from a node of this run.
    pub fn runs_caused_by(&self, run: u32) -> Vec<u32> {
        let graph = self.reducer.graph();
        let children = graph.back_through(run).flat_map(|node| graph.children_of(node));
        let children = children.filter_map(|child| graph.at(child));
        children.map(|child| child.run_place).filter(|child| *child != run).collect()
    }

    /// The active messages, in the order of the walk.
    pub fn walk_messages(&self) -> impl Iterator<Item = Place> + '_ {
        self.stage.walk(0)
    }

    /// The part of its node's text that a block covers.
    pub fn text_of(&self, block: &Block) -> Option<String> {
        let text = self.node(block.node)?.text()?;
        Some(text.slice(block.from as usize, block.to as usize))
    }

    /// The id of a block.
    pub fn block_id(&self, block: &Block) -> String {
        Hypergraph::name_block(self.node(block.node), block)
    }

    /// The blocks of a node, in time order.
    pub fn blocks_of_node(&self, node: Place) -> Vec<Place> {
        self.hyper.blocks_of_node(node)
    }

    /// The blocks of a run, in time order.
    pub fn blocks_of_run(&self, run: u32) -> Vec<Place> {
        self.hyper.blocks_of_run_at(run)
    }

    /// The blocks of a message, in time order.
    pub fn blocks_of(&self, message: Place) -> Vec<Place> {
        self.hyper.blocks_of(message)
    }
}
