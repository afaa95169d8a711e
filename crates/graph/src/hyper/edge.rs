//! [`Hyperedge`]: how chunks, blocks and messages are linked, for those who want the links as a list.

use serde::Serialize;

use super::{Block, Hypergraph, is_spawner};
use crate::Place;
use crate::node::NOWHERE;

/// One link, with the part that each of its ends plays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Hyperedge {
    /// What kind of link.
    #[serde(rename = "type")]
    pub relation: Relation,
    /// The ends, by the part they play.
    pub roles: Vec<(Role, Vec<String>)>,
}

/// What kind of link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// Chunks make up a block.
    ChunkToBlock,
    /// Blocks make up a message.
    BlockToMessage,
    /// A message answers another.
    ParentMessage,
    /// One comes after the other in the same run.
    Sequence,
    /// A call, a piece of code or a node of a flow started a run.
    Spawn,
    /// A message stands for others.
    Summary,
}

/// The part that an end of a link plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// One of those that make up the whole.
    Part,
    /// What the parts make up.
    Whole,
    /// What is answered.
    Parent,
    /// What answers.
    Reply,
    /// What comes first.
    Predecessor,
    /// What comes next.
    Successor,
    /// What started the run.
    Trigger,
    /// The first of the run.
    Invocation,
    /// What is stood for.
    Source,
    /// What stands for it.
    Result,
}

impl Hypergraph {
    /// All links. At most one of each kind for every block and message, so never more than a few per event.
    pub fn hyperedges(&self) -> impl Iterator<Item = Hyperedge> + '_ {
        let blocks = (0..self.blocks.len() as Place).flat_map(|place| self.edges_of_block(place));
        blocks.chain((0..self.messages.len() as Place).flat_map(|place| self.edges_of_message(place)))
    }

    fn edges_of_block(&self, place: Place) -> Vec<Hyperedge> {
        let Some(block) = self.block(place) else {
            return Vec::new();
        };
        let id = self.block_id(block);
        let chunks = self.chunks_of(place).into_iter().map(Self::chunk_id).collect();
        let mut edges =
            vec![edge(Relation::ChunkToBlock, [(Role::Part, chunks), (Role::Whole, vec![id.clone()])])];
        if let Some(before) = self.block(block.before_in_run)
            && !self.is_cut_off(block)
        {
            edges.push(pair(
                Relation::Sequence,
                (Role::Predecessor, self.block_id(before)),
                (Role::Successor, id.clone()),
            ));
        }
        if let Some(trigger) = self.trigger(place) {
            edges.push(pair(Relation::Spawn, (Role::Trigger, trigger), (Role::Invocation, id)));
        }
        edges
    }

    /// Whether a block begins a node that hangs from nothing though its run goes on: what came before it in the
    /// run hangs from it, so a link from there would close a circle.
    fn is_cut_off(&self, block: &Block) -> bool {
        let link = self.graph.linked(block.node);
        block.before_of_node == NOWHERE && link.is_some_and(|link| link.parent != link.before)
    }

    /// The block that started the run whose first block this is.
    fn trigger(&self, place: Place) -> Option<String> {
        let block = self.block(place)?;
        let link = self.graph.linked(block.node)?;
        if block.before_of_node != NOWHERE || link.before != NOWHERE {
            return None;
        }
        self.graph.at(link.parent).filter(|cause| is_spawner(cause.kind()))?;
        let trigger = self.blocks_of_node(link.parent).into_iter().next()?;
        self.block(trigger).map(|trigger| self.block_id(trigger))
    }

    fn edges_of_message(&self, place: Place) -> Vec<Hyperedge> {
        let Some(message) = self.message(place) else {
            return Vec::new();
        };
        let id = message.id.to_string();
        let blocks: Vec<_> =
            self.blocks_of(place).into_iter().filter_map(|place| self.block(place)).collect();
        let mut edges = Vec::new();
        if !blocks.is_empty() {
            let parts = blocks.into_iter().map(|block| self.block_id(block)).collect();
            edges
                .push(edge(Relation::BlockToMessage, [(Role::Part, parts), (Role::Whole, vec![id.clone()])]));
        }
        if let Some(parent) = self.message(message.parent) {
            edges.push(pair(
                Relation::ParentMessage,
                (Role::Parent, parent.id.to_string()),
                (Role::Reply, id.clone()),
            ));
        }
        if let Some(before) = self.message(message.before) {
            edges.push(pair(
                Relation::Sequence,
                (Role::Predecessor, before.id.to_string()),
                (Role::Successor, id.clone()),
            ));
        }
        if message.summary.is_some() {
            let sources = self.sources_of(place).map(ToString::to_string).collect();
            edges.push(edge(Relation::Summary, [(Role::Source, sources), (Role::Result, vec![id])]));
        }
        edges
    }
}

fn edge(relation: Relation, roles: [(Role, Vec<String>); 2]) -> Hyperedge {
    Hyperedge { relation, roles: roles.into() }
}

fn pair(relation: Relation, from: (Role, String), to: (Role, String)) -> Hyperedge {
    edge(relation, [(from.0, vec![from.1]), (to.0, vec![to.1])])
}
