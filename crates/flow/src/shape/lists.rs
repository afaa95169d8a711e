//! [`Lists`]: a list of indices for each node or each edge, all of them one behind the other.
//!
//! Most are short or empty: apart from each other they would take more room for where they are than for what is in them,
//! and a run among many nodes waits for memory.

use std::ops;

/// A list for each of so many places.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lists {
    /// Where each list begins, and where the last one ends; nothing if all are empty.
    starts: Vec<u32>,
    all: Vec<usize>,
}

impl Lists {
    /// Lists for `count` places, of pairs of a place and what its list holds, in the order of the pairs.
    pub(crate) fn of(count: usize, pairs: impl Iterator<Item = (usize, usize)> + Clone) -> Self {
        let mut starts = vec![0; count + 1];
        for (place, _) in pairs.clone() {
            starts[place + 1] += 1;
        }
        for place in 0..count {
            starts[place + 1] += starts[place];
        }
        let held = starts[count] as usize;
        if held == 0 {
            return Self::default();
        }
        let (mut next, mut all) = (starts.clone(), vec![0; held]);
        for (place, item) in pairs {
            all[next[place] as usize] = item;
            next[place] += 1;
        }
        Self { starts, all }
    }
}

impl ops::Index<usize> for Lists {
    type Output = [usize];

    fn index(&self, place: usize) -> &[usize] {
        if self.starts.is_empty() {
            return &[];
        }
        &self.all[self.starts[place] as usize..self.starts[place + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_has_what_is_its_own_in_the_order_it_came() {
        let lists = Lists::of(4, [(2, 7), (0, 5), (2, 3), (3, 9), (2, 8)].into_iter());
        let each: Vec<&[usize]> = (0..4).map(|place| &lists[place]).collect();
        assert_eq!(each, [&[5][..], &[], &[7, 3, 8], &[9]]);
    }

    #[test]
    fn lists_of_nothing_take_no_room() {
        let lists = Lists::of(1_000_000, std::iter::empty());
        assert_eq!((lists[0].len(), lists[999_999].len(), lists.starts.capacity()), (0, 0, 0));
    }
}
