//! [`Islands`]: which runs are held together by arrows, and so have to move together.
//!
//! Two islands never lean on each other, so one of them can be shifted as a whole and nothing in it changes. When
//! a late cause joins two, the smaller one moves: no block is moved more often than the logarithm of how many
//! there are, in whatever order they come.

/// Disjoint sets of runs. Each knows its members and how many blocks stand in their messages.
#[derive(Debug, Clone, Default)]
pub(super) struct Islands {
    moorings: Vec<Mooring>,
}

/// What a run knows of its island.
#[derive(Debug, Clone, Copy)]
struct Mooring {
    /// The run that stands for all of the island.
    leader: u32,
    /// Another run of the island; all of them in a ring.
    next: u32,
    /// How many blocks the island has, if this is the leader.
    size: u32,
}

impl Islands {
    /// Takes in all runs up to this one, each an island of its own with nothing on it.
    pub(super) fn enter(&mut self, run: u32) {
        let known = self.moorings.len() as u32;
        self.moorings.extend((known..=run).map(|run| Mooring { leader: run, next: run, size: 0 }));
    }

    /// A run has one more block.
    pub(super) fn grow(&mut self, run: u32) {
        let leader = self.leader(run);
        self.moorings[leader as usize].size += 1;
    }

    /// How many blocks there are on the island of a run.
    pub(super) fn size(&self, run: u32) -> usize {
        self.moorings[self.leader(run) as usize].size as usize
    }

    /// Whether two runs are on one island.
    pub(super) fn together(&self, a: u32, b: u32) -> bool {
        self.leader(a) == self.leader(b)
    }

    /// Makes one island of two.
    pub(super) fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.leader(a), self.leader(b));
        if a == b {
            return;
        }
        let (large, small) = if self.size(a) < self.size(b) { (b, a) } else { (a, b) };
        for run in self.runs(small) {
            self.moorings[run as usize].leader = large;
        }
        let Mooring { next, size, .. } = self.moorings[small as usize];
        self.moorings[small as usize].next = std::mem::replace(&mut self.moorings[large as usize].next, next);
        self.moorings[large as usize].size += size;
    }

    /// The runs of the island of a run.
    pub(super) fn runs(&self, run: u32) -> Vec<u32> {
        let mut runs = vec![run];
        let mut next = self.moorings[run as usize].next;
        while next != run {
            runs.push(next);
            next = self.moorings[next as usize].next;
        }
        runs
    }

    fn leader(&self, run: u32) -> u32 {
        self.moorings[run as usize].leader
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn islands_that_join_know_all_their_runs_and_blocks() {
        let mut islands = Islands::default();
        islands.enter(5);
        for run in [0, 1, 1, 2, 3, 3, 3] {
            islands.grow(run);
        }
        for (a, b) in [(0, 1), (2, 3), (0, 1), (1, 2), (4, 4)] {
            islands.join(a, b);
        }
        let mut runs = islands.runs(2);
        runs.sort_unstable();
        assert_eq!((runs, islands.size(0)), (vec![0, 1, 2, 3], 7));
        assert!(islands.together(0, 3) && !islands.together(0, 4));
        assert_eq!((islands.runs(5), islands.size(5)), (vec![5], 0));
    }
}
