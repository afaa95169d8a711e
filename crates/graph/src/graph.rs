//! [`Graph`]: the conversation as it was at one moment.

use antiphon_event::{NodeId, RunId};
use imbl::OrdMap;

use crate::index::{Index, hash};
use crate::list::List;
use crate::node::{Children, Linked, NOWHERE, Node};

/// The conversation graph at one moment. Cloning it is cheap, and a clone never changes.
///
/// Nodes stand in the order they came. Every node has at most one parent, so the graph is a forest; children
/// stand in the order their edges came.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    pub(crate) nodes: List<Linked>,
    pub(crate) ids: Index,
    pub(crate) runs: List<Run>,
    pub(crate) run_ids: Index,
    /// Children of parents that have not come: under the literal id they gave.
    pub(crate) awaited: OrdMap<NodeId, Children>,
}

/// One run: its nodes are a chain from the last back to the first.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Run {
    pub(crate) id: RunId,
    pub(crate) first: u32,
    pub(crate) last: u32,
}

impl Graph {
    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether nothing has happened.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    pub(crate) fn at(&self, place: u32) -> Option<&Node> {
        self.linked(place).map(|linked| &*linked.node)
    }

    pub(crate) fn linked(&self, place: u32) -> Option<&Linked> {
        if place == NOWHERE {
            return None;
        }
        self.nodes.get(place as usize)
    }

    pub(crate) fn parent_of(&self, place: u32) -> Option<u32> {
        self.linked(place).map(|link| link.parent).filter(|parent| *parent != NOWHERE)
    }

    pub(crate) fn children_of(&self, place: u32) -> impl DoubleEndedIterator<Item = u32> + '_ {
        self.linked(place).into_iter().flat_map(|link| link.children.iter())
    }

    /// The nodes of a run, from the last back to the first.
    pub(crate) fn back_through(&self, run: u32) -> impl Iterator<Item = u32> + '_ {
        let known = |place: u32| (place != NOWHERE).then_some(place);
        let last = self.run(run).and_then(|run| known(run.last));
        std::iter::successors(last, move |place| known(self.linked(*place)?.before))
    }

    pub(crate) fn place(&self, id: &str) -> Option<u32> {
        self.place_hashed(id, hash(id))
    }

    /// The same for an id whose hash is known.
    pub(crate) fn place_hashed(&self, id: &str, hash: u32) -> Option<u32> {
        self.ids.find(hash, |place| self.at(place).is_some_and(|node| node.id == *id))
    }

    pub(crate) fn run_place(&self, id: &str) -> Option<u32> {
        self.run_ids.find(hash(id), |place| self.run(place).is_some_and(|run| run.id == *id))
    }

    pub(crate) fn run(&self, place: u32) -> Option<&Run> {
        self.runs.get(place as usize)
    }
}
