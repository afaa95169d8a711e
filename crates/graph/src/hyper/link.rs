//! [`Links`]: from a node to another, beside the nodes and in their order.

use crate::Place;
use crate::node::NOWHERE;

/// One link at most from each node. Neighbours stand side by side: nodes that are linked in turn are near each other,
/// where a hash would scatter them over all memory.
#[derive(Debug, Clone, Default)]
pub(super) struct Links(Vec<Place>);

impl Links {
    pub(super) fn get(&self, from: Place) -> Option<Place> {
        self.0.get(from as usize).copied().filter(|to| *to != NOWHERE)
    }

    pub(super) fn set(&mut self, from: Place, to: Place) {
        if self.0.len() <= from as usize {
            self.0.resize(from as usize + 1, NOWHERE);
        }
        self.0[from as usize] = to;
    }

    /// Sets a link unless there is one.
    pub(super) fn fill(&mut self, from: Place, to: Place) {
        if self.get(from).is_none() {
            self.set(from, to);
        }
    }

    /// All links, in the order of the nodes they lead from.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Place, Place)> + '_ {
        (0..self.0.len() as Place).filter_map(|from| Some((from, self.get(from)?)))
    }
}
