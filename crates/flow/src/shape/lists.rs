//! [`Lists`]: a list of indices for each node or each edge, all of them one behind the other.
//!
//! Most are short or empty: apart from each other they would take more room for where they are than for what is in them,
//! and a run among many nodes waits for memory.

use std::ops;

/// A list for each of so many places.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lists {
    /// Where each list begins and ends; nothing if all are empty.
    spans: Vec<(u32, u32)>,
    all: Vec<usize>,
}

impl Lists {
    /// Lists for `count` places, of pairs of a place and what its list holds, in the order of the pairs.
    pub(crate) fn of(count: usize, pairs: impl Iterator<Item = (usize, usize)> + Clone) -> Self {
        if pairs.clone().next().is_none() {
            return Self::default();
        }
        let mut spans = vec![(0, 0); count];
        for (place, _) in pairs.clone() {
            spans[place].1 += 1;
        }
        let mut held = 0;
        for (from, to) in &mut spans {
            (*from, held) = (held, held + *to);
            *to = *from;
        }
        let mut all = vec![0; held as usize];
        for (place, item) in pairs {
            let (_, to) = &mut spans[place];
            all[*to as usize] = item;
            *to += 1;
        }
        Self { spans, all }
    }
}

impl ops::Index<usize> for Lists {
    type Output = [usize];

    #[inline]
    fn index(&self, place: usize) -> &[usize] {
        match self.spans.get(place) {
            Some((from, to)) => &self.all[*from as usize..*to as usize],
            None => &[],
        }
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
        assert_eq!((lists[0].len(), lists[999_999].len(), lists.spans.capacity()), (0, 0, 0));
    }
}
