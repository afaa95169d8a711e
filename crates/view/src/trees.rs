//! [`Trees`]: which things hang together, so that a link that would close a circle is known at once.

use serde::{Deserialize, Serialize};

/// Disjoint sets of things by number. As long as each is hung once, with all that hangs from it, a set is a tree, and
/// hanging its root somewhere closes a circle exactly if that is in the same set. Where things are hung anew, those in two
/// sets have certainly nothing to do with each other.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Trees(Vec<u32>);

impl Trees {
    /// Whether two hang together.
    pub(crate) fn together(&mut self, one: u32, other: u32) -> bool {
        self.top(one) == self.top(other)
    }

    /// Hangs the root of a tree from what is in another.
    pub(crate) fn hang(&mut self, root: u32, from: u32) {
        let (below, above) = (self.top(root), self.top(from));
        assert_eq!(below, root, "a root is hung once");
        assert_ne!(below, above, "nothing hangs from itself");
        self.0[below as usize] = above;
    }

    /// Makes one set of two.
    pub(crate) fn join(&mut self, below: u32, above: u32) {
        let (below, above) = (self.top(below), self.top(above));
        self.0[below as usize] = above;
    }

    fn top(&mut self, one: u32) -> u32 {
        // What was not heard of yet is a tree of its own.
        self.0.extend(self.0.len() as u32..=one);
        let mut at = one;
        while self.0[at as usize] != at {
            let next = self.0[at as usize];
            // Halving the path keeps later look-ups short without a second walk.
            self.0[at as usize] = self.0[next as usize];
            at = next;
        }
        at
    }
}
