//! [`Trees`]: which runs hang together, so that a link that would close a circle is known at once.

use serde::{Deserialize, Serialize};

/// Disjoint sets of runs. A run is hung once, with all that hangs from it, so a set is a tree, and hanging its
/// root somewhere closes a circle exactly if that is in the same set.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Trees(Vec<u32>);

impl Trees {
    /// Whether two runs hang together.
    pub(super) fn together(&mut self, one: u32, other: u32) -> bool {
        self.top(one) == self.top(other)
    }

    /// Hangs the root of a tree from a run of another tree.
    pub(super) fn hang(&mut self, root: u32, from: u32) {
        let (below, above) = (self.top(root), self.top(from));
        assert_eq!(below, root, "a run is hung once");
        assert_ne!(below, above, "nothing hangs from itself");
        self.0[below as usize] = above;
    }

    fn top(&mut self, run: u32) -> u32 {
        // Runs that were not heard of yet are trees of their own.
        self.0.extend(self.0.len() as u32..=run);
        let mut at = run;
        while self.0[at as usize] != at {
            let next = self.0[at as usize];
            // Halving the path keeps later look-ups short without a second walk.
            self.0[at as usize] = self.0[next as usize];
            at = next;
        }
        at
    }
}
