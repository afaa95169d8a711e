//! [`Hypergraph`]: the conversation in three tiers, as it was at one moment.
//!
//! A chunk is one event's content. A block is a run of chunks of one content stream. A message is what a user
//! said, or one step of an agent: what the model said, its calls, their results. Tiers are linked by places, and
//! hyperedges are read off those links, so there are never more of them than events.

mod active;
mod answer;
mod beside;
mod conversation;
mod edge;
mod link;
mod read;
mod saved;
mod stage;
mod step;
mod write;

use std::sync::Arc;

use crate::list::List;
use antiphon_event::{Kind, MessageId, NodeId, RunId};

pub use active::{Active, Item};
pub use conversation::{Conversation, Placed};
pub use edge::{Hyperedge, Relation, Role};
pub use stage::Summed;

use crate::index::{Index, hash};
use crate::node::NOWHERE;
use crate::{Graph, Node, Place};

/// The conversation in three tiers at one moment. Cloning it is cheap, and a clone never changes.
#[derive(Debug, Clone, Default)]
pub struct Hypergraph {
    pub(crate) graph: Graph,
    pub(crate) chunks: List<Chunk>,
    pub(crate) blocks: List<Block>,
    pub(crate) messages: List<Message>,
    pub(crate) message_ids: Index,
    /// The latest block of each node.
    pub(crate) block_of: List<Place>,
    /// The latest block of each run.
    pub(crate) last_block_of: List<Place>,
    pub(crate) active: Active,
}

/// One event's content: a piece of its block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunk {
    /// The block it is part of.
    pub block: Place,
    /// The chunk before it in the block.
    pub(crate) before: Place,
    /// Which bytes of a stream it brought; nothing for content that is no stream.
    pub(crate) from: u32,
    pub(crate) to: u32,
}

/// Contiguous chunks of one content stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// The node of the flat graph that it shows, or a part of.
    pub node: Place,
    /// The message it is part of.
    pub message: Place,
    /// Which block of its node, from 1: a stream that was interrupted has several.
    pub nth: u32,
    /// Which bytes of the node's text it covers.
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) last_chunk: Place,
    /// The block before it in its message.
    pub(crate) before: Place,
    /// The block before it in its run.
    pub(crate) before_in_run: Place,
    /// The block before it of the same node.
    pub(crate) before_of_node: Place,
    /// One further back, so chosen that any block of the node is found in few steps.
    pub(crate) far_before: Place,
}

/// A user message, an agent's step, a summary, or what a run did besides speaking.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    pub(crate) id: MessageId,
    /// Whose it is.
    pub speaker: Speaker,
    /// The run it belongs to; none for a summary.
    pub run: Option<RunId>,
    /// The message it answers.
    pub(crate) parent: Place,
    pub(crate) last_block: Place,
    /// The message before it in its run.
    pub(crate) before: Place,
    /// The summary that stands for it.
    pub(crate) replaced_by: Place,
    pub(crate) summary: Option<Arc<Summary>>,
}

/// Whose a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Speaker {
    /// Somebody who uses the system.
    User,
    /// An agent.
    Assistant,
    /// Nobody: a text that stands for other messages.
    Summary,
    /// Nobody: lifecycle, flow and usage events outside of any step.
    Structural,
}

/// A text that stands for other messages.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Summary {
    /// The text, which is what a model sees in their place.
    pub text: Arc<str>,
    /// The messages, in the order they came. A copy shares with it: what is taken in later costs the same however many
    /// there are.
    pub(crate) sources: imbl::Vector<Place>,
}

impl Message {
    /// Its id, `msg:` and the message id.
    pub fn id(&self) -> &MessageId {
        &self.id
    }

    /// The text of a summary.
    pub fn summary(&self) -> Option<&str> {
        self.summary.as_ref().map(|summary| &*summary.text)
    }
}

impl Hypergraph {
    /// The flat graph that the tiers are made of.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// What of it is active.
    pub fn active(&self) -> &Active {
        &self.active
    }

    /// How many chunks there are.
    pub fn chunk_count(&self) -> usize {
        self.chunks.len()
    }

    /// How many blocks there are.
    pub fn block_count(&self) -> usize {
        self.blocks.len()
    }

    /// All messages in the order they began, structural ones included.
    pub fn messages(&self) -> impl ExactSizeIterator<Item = &Message> {
        self.messages.iter()
    }

    /// The message at a place.
    pub fn message(&self, place: Place) -> Option<&Message> {
        self.messages.get(place as usize)
    }

    /// The place of a message, by its id with or without `msg:`.
    pub fn message_place(&self, id: &str) -> Option<Place> {
        self.message_exact(id).or_else(|| self.message_exact(&format!("msg:{id}")))
    }

    pub(crate) fn message_exact(&self, id: &str) -> Option<Place> {
        self.message_ids.find(hash(id), |place| self.message(place).is_some_and(|message| message.id == *id))
    }

    /// The message that a message answers.
    pub fn parent_message(&self, place: Place) -> Option<Place> {
        let parent = self.message(place)?.parent;
        (parent != NOWHERE).then_some(parent)
    }

    /// The blocks of a message, in time order.
    pub fn blocks_of(&self, message: Place) -> Vec<Place> {
        let last = self.message(message).map_or(NOWHERE, |message| message.last_block);
        self.back_from(last, |block| block.before)
    }

    /// The blocks of a run, in time order: what one harness invocation did.
    pub fn blocks_of_run(&self, run: &str) -> Vec<Place> {
        self.graph.run_place(run).map(|run| self.blocks_of_run_at(run)).unwrap_or_default()
    }

    pub(crate) fn blocks_of_run_at(&self, run: u32) -> Vec<Place> {
        let last = self.last_block_of.get(run as usize).copied().unwrap_or(NOWHERE);
        self.back_from(last, |block| block.before_in_run)
    }

    /// The blocks of a node, in time order.
    pub fn blocks_of_node(&self, node: Place) -> Vec<Place> {
        let last = self.block_of.get(node as usize).copied().unwrap_or(NOWHERE);
        self.back_from(last, |block| block.before_of_node)
    }

    /// The nth block of a node.
    pub(crate) fn nth_block_of(&self, node: Place, nth: u32) -> Option<Place> {
        let mut at = self.block_of.get(node as usize).copied()?;
        loop {
            let block = self.block(at)?;
            if block.nth <= nth {
                return (block.nth == nth).then_some(at);
            }
            let leap = self.block(block.far_before).is_some_and(|far| far.nth >= nth);
            at = if leap { block.far_before } else { block.before_of_node };
        }
    }

    /// How far back one can go at once from a block whose node had this one before it: over two stretches of equal length,
    /// if it has such behind it, else by one block.
    fn far_before(&self, before: Place) -> Place {
        // Most blocks are the only ones of their nodes.
        if before == NOWHERE {
            return NOWHERE;
        }
        let number = |place: Place| self.block(place).map_or(0, |block| block.nth);
        let far = |place: Place| self.block(place).map_or(NOWHERE, |block| block.far_before);
        let (one, two) = (far(before), far(far(before)));
        // Numbers that somebody else saved may be any.
        let equal = number(before).wrapping_sub(number(one)) == number(one).wrapping_sub(number(two));
        if equal { two } else { before }
    }

    fn back_from(&self, last: Place, before: impl Fn(&Block) -> Place) -> Vec<Place> {
        let known = |place: Place| self.blocks.get(place as usize).map(|_| place);
        let step = |place: &Place| self.blocks.get(*place as usize).and_then(|block| known(before(block)));
        let mut blocks: Vec<_> = std::iter::successors(known(last), step).collect();
        blocks.reverse();
        blocks
    }

    /// The block at a place.
    pub fn block(&self, place: Place) -> Option<&Block> {
        self.blocks.get(place as usize)
    }

    /// The id of a block: `block:` and its node's id, with `~2` and so on from the second of a node.
    pub fn block_id(&self, block: &Block) -> String {
        Self::name_block(self.node_of(block), block)
    }

    fn name_block(node: Option<&Node>, block: &Block) -> String {
        let node = node.map_or("", |node| node.id.as_str());
        match block.nth {
            1 => format!("block:{node}"),
            nth => format!("block:{node}~{nth}"),
        }
    }

    /// The node a block shows.
    pub fn node_of(&self, block: &Block) -> Option<&Node> {
        self.graph.at(block.node)
    }

    /// The part of its node's text that a block covers.
    pub fn text_of(&self, block: &Block) -> Option<String> {
        let text = self.node_of(block)?.text()?;
        Some(text.slice(block.from as usize, block.to as usize))
    }

    /// The chunks of a block, in order.
    pub fn chunks_of(&self, block: Place) -> Vec<Place> {
        let last = self.block(block).map_or(NOWHERE, |block| block.last_chunk);
        let known = |place: Place| self.chunks.get(place as usize).map(|_| place);
        let step = |place: &Place| self.chunks.get(*place as usize).and_then(|chunk| known(chunk.before));
        let mut chunks: Vec<_> = std::iter::successors(known(last), step).collect();
        chunks.reverse();
        chunks
    }

    /// The chunk at a place.
    pub fn chunk(&self, place: Place) -> Option<&Chunk> {
        self.chunks.get(place as usize)
    }

    /// The id of a chunk: `chunk:` and its number from 1.
    pub fn chunk_id(place: Place) -> String {
        format!("chunk:{}", place + 1)
    }

    /// The ids of the messages a summary stands for.
    pub fn sources_of(&self, message: Place) -> impl Iterator<Item = &MessageId> {
        stage::sources(self, message).filter_map(|place| self.message(*place)).map(|message| &message.id)
    }

    /// What led to a run: the node its first node hangs from.
    pub fn cause_of(&self, run: &str) -> Option<&Node> {
        let first = self.graph.run(self.graph.run_place(run)?)?.first;
        self.graph.parent_of(first).and_then(|parent| self.graph.at(parent))
    }

    /// Whether a run was started by a call, a piece of code or a node of a flow, and not by a user.
    pub fn is_spawned(&self, run: &str) -> bool {
        self.cause_of(run).is_some_and(|cause| is_spawner(cause.kind()))
    }

    /// The id of the node a block shows.
    pub fn node_id_of(&self, block: &Block) -> Option<&NodeId> {
        self.node_of(block).map(|node| &node.id)
    }
}

/// Whether a run that hangs from such a node is somebody's child, and no reply.
pub(crate) fn is_spawner(kind: Kind) -> bool {
    matches!(kind, Kind::ToolCall | Kind::ReplInput | Kind::NodeStart)
}

/// Whether an event has content, or only says how things went.
pub(crate) fn is_content(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::User
            | Kind::Text
            | Kind::Reasoning
            | Kind::ToolCall
            | Kind::ToolProgress
            | Kind::ToolResult
            | Kind::Relay
            | Kind::Error
            | Kind::ReplInput
            | Kind::ReplProgress
            | Kind::ReplOutput
    )
}
