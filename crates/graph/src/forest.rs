//! [`Forest`]: which tree each node is in, so that an edge that would close a cycle is known at once.

/// Disjoint sets of nodes. Every node has at most one parent, so a set is a tree, and an edge into the root
/// of a tree closes a cycle exactly if it comes from the same set.
#[derive(Debug, Clone, Default)]
pub(crate) struct Forest {
    up: Vec<u32>,
}

impl Forest {
    /// Adds a node as a tree of its own.
    pub(crate) fn plant(&mut self) {
        self.up.push(self.up.len() as u32);
    }

    /// Adds a node under another, in its tree. Nothing else is looked at: among many nodes that would be far away.
    pub(crate) fn plant_under(&mut self, above: u32) {
        self.up.push(above);
    }

    /// Whether two nodes are in one tree.
    pub(crate) fn together(&mut self, a: u32, b: u32) -> bool {
        self.root(a) == self.root(b)
    }

    /// Makes one tree of two: `below` hangs somewhere under `above`.
    pub(crate) fn join(&mut self, above: u32, below: u32) {
        let (above, below) = (self.root(above), self.root(below));
        self.up[below as usize] = above;
    }

    fn root(&mut self, node: u32) -> u32 {
        let mut at = node;
        while self.up[at as usize] != at {
            let next = self.up[at as usize];
            // Halving the path keeps later look-ups short without a second walk.
            self.up[at as usize] = self.up[next as usize];
            at = next;
        }
        at
    }
}
