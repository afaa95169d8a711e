//! [`Forest`]: which row hangs from which, kept flat.
//!
//! In: rows by their place, and the place of what they hang from. Out: a walk in order, without recursion.
//! There are never cycles. Children stand in the order in which the rows came, whenever they were hung.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// How far up anybody looks: for cycles, and to add up what a subtree used.
pub(crate) const CLIMB_MAX: usize = 1024;

/// Trees of rows; a row is its place in the list that holds it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(from = "Vec<Option<usize>>", into = "Vec<Option<usize>>")]
pub(crate) struct Forest {
    parents: Vec<Option<usize>>,
    children: Vec<BTreeSet<usize>>,
    roots: BTreeSet<usize>,
}

impl Forest {
    /// Adds the next row, under another or as a root, and gives its place.
    pub(crate) fn add(&mut self, parent: Option<usize>) -> usize {
        let place = self.parents.len();
        self.parents.push(parent);
        self.children.push(BTreeSet::new());
        self.siblings(parent).insert(place);
        place
    }

    /// Hangs a row, with all that hangs from it, under another.
    ///
    /// `false`, and nothing is changed, if that would close a cycle, or if the new parent is so deep that
    /// nobody can tell.
    #[must_use]
    pub(crate) fn adopt(&mut self, child: usize, parent: usize) -> bool {
        if child == parent || (!self.children[child].is_empty() && !self.clear_of(parent, child)) {
            return false;
        }
        self.siblings(self.parents[child]).remove(&child);
        self.parents[child] = Some(parent);
        self.siblings(Some(parent)).insert(child);
        true
    }

    /// What a row hangs from.
    pub(crate) fn parent(&self, place: usize) -> Option<usize> {
        self.parents[place]
    }

    /// The rows that hang from nothing, in order.
    pub(crate) fn roots(&self) -> impl Iterator<Item = usize> + '_ {
        self.roots.iter().copied()
    }

    /// The rows above a row, the nearest first, at most [`CLIMB_MAX`].
    pub(crate) fn above(&self, place: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.parent(place), |place| self.parent(*place)).take(CLIMB_MAX)
    }

    /// All rows depth first, each with its depth.
    pub(crate) fn walk(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let mut ahead: Vec<_> = self.roots.iter().rev().map(|root| (0, *root)).collect();
        std::iter::from_fn(move || {
            let (depth, place) = ahead.pop()?;
            ahead.extend(self.children[place].iter().rev().map(|child| (depth + 1, *child)));
            Some((depth, place))
        })
    }

    fn siblings(&mut self, parent: Option<usize>) -> &mut BTreeSet<usize> {
        match parent {
            Some(parent) => &mut self.children[parent],
            None => &mut self.roots,
        }
    }

    /// Whether `place` certainly does not hang from `from`.
    fn clear_of(&self, place: usize, from: usize) -> bool {
        let mut steps = 0;
        self.above(place).inspect(|_| steps += 1).all(|above| above != from) && steps < CLIMB_MAX
    }
}

impl From<Vec<Option<usize>>> for Forest {
    fn from(parents: Vec<Option<usize>>) -> Self {
        let mut forest = Self { children: vec![BTreeSet::new(); parents.len()], ..Self::default() };
        for (place, parent) in parents.iter().enumerate() {
            forest.siblings(*parent).insert(place);
        }
        forest.parents = parents;
        forest
    }
}

impl From<Forest> for Vec<Option<usize>> {
    fn from(forest: Forest) -> Self {
        forest.parents
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(forest: &Forest) -> String {
        forest
            .walk()
            .map(|(depth, place)| format!("{}{place}", ".".repeat(depth)))
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn children_stand_in_the_order_of_their_rows() {
        let mut forest = Forest::default();
        for parent in [None, Some(0), None, Some(0), Some(1)] {
            forest.add(parent);
        }
        assert_eq!(drawn(&forest), "0 .1 ..4 .3 2");
        assert!(forest.adopt(2, 0));
        assert_eq!(drawn(&forest), "0 .1 ..4 .2 .3");
        assert_eq!(drawn(&Forest::from(Vec::from(forest))), "0 .1 ..4 .2 .3");
    }

    #[test]
    fn what_would_close_a_cycle_is_not_adopted() {
        let mut forest = Forest::default();
        for parent in [None, Some(0), Some(1)] {
            forest.add(parent);
        }
        assert!(!forest.adopt(0, 2));
        assert!(!forest.adopt(0, 0));
        assert_eq!(drawn(&forest), "0 .1 ..2");
    }

    #[test]
    fn depth_has_no_end() {
        let mut forest = Forest::default();
        let root = forest.add(None);
        let deepest = (0..100_000).fold(root, |above, _| forest.add(Some(above)));
        assert_eq!(forest.walk().last(), Some((100_000, deepest)));
        assert!(!forest.adopt(root, deepest), "nobody can tell in time");
    }
}
