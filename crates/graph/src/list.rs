//! [`List`]: a list that grows at its end; clones share with it, and none of them sees what another does later.
//!
//! Full leaves hang in a tree of wide branches; the latest elements stand apart in a leaf of their own, so that
//! reading, changing and adding at the end cost the same however long the list is. Anything else is a walk of two to
//! four steps. Start reading at [`List::push`].

use std::ops::{Index, IndexMut};

// Without weak references: whether anybody else holds a leaf is a plain read, where one of the standard library is taken
// and given back by an atomic write that waits for all writes before it.
use triomphe::Arc;

/// Elements of a leaf, and children of a branch; a power of two.
const WIDTH: usize = 1 << BITS;

const BITS: u32 = 6;

/// Elements in the order they were added.
#[derive(Debug, Clone)]
pub(crate) struct List<T> {
    /// All leaves that are full.
    tree: Arc<Vec<Tree<T>>>,
    /// How many levels of branches the tree has.
    height: u32,
    /// How many elements are in the tree.
    settled: usize,
    /// What came after them, never a whole leaf.
    latest: Arc<Vec<T>>,
}

/// A part of the tree. Cloning it shares it.
#[derive(Debug, Clone)]
enum Tree<T> {
    Branch(Arc<Vec<Tree<T>>>),
    Leaf(Arc<Vec<T>>),
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self { tree: Arc::default(), height: 1, settled: 0, latest: Arc::default() }
    }
}

impl<T> List<T> {
    pub(crate) fn len(&self) -> usize {
        self.settled + self.latest.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn get(&self, at: usize) -> Option<&T> {
        if at >= self.settled {
            return self.latest.get(at - self.settled);
        }
        let (mut branch, mut level) = (&self.tree, self.height);
        loop {
            match &branch[step(at, level)] {
                Tree::Branch(lower) => branch = lower,
                Tree::Leaf(leaf) => return leaf.get(at % WIDTH),
            }
            level -= 1;
        }
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &T> {
        (0..self.len()).map(|at| &self[at])
    }
}

impl<T: Clone> List<T> {
    pub(crate) fn push(&mut self, item: T) {
        let latest = Arc::make_mut(&mut self.latest);
        if latest.capacity() == 0 {
            latest.reserve_exact(if self.settled == 0 { 4 } else { WIDTH });
        }
        latest.push(item);
        if latest.len() == WIDTH {
            let leaf = std::mem::take(&mut self.latest);
            self.settle(Tree::Leaf(leaf));
        }
    }

    /// Hangs a full leaf behind all others.
    fn settle(&mut self, leaf: Tree<T>) {
        if self.settled == 1 << (BITS * (self.height + 1)) {
            let lower = std::mem::take(&mut self.tree);
            self.tree = Arc::new(vec![Tree::Branch(lower)]);
            self.height += 1;
        }
        let mut branch = Arc::make_mut(&mut self.tree);
        for level in (2..=self.height).rev() {
            let at = step(self.settled, level);
            if at == branch.len() {
                branch.push(Tree::Branch(Arc::default()));
            }
            branch = match &mut branch[at] {
                Tree::Branch(lower) => Arc::make_mut(lower),
                Tree::Leaf(_) => unreachable!("leaves hang from the lowest branches only"),
            };
        }
        branch.push(leaf);
        self.settled += WIDTH;
    }

    /// An element to be changed; what clones of the list hold of it is copied first.
    pub(crate) fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        if at >= self.settled {
            // Whoever looks beyond the end must not make a copy of the latest leaf for it.
            let at = at - self.settled;
            return (at < self.latest.len()).then(|| &mut Arc::make_mut(&mut self.latest)[at]);
        }
        let (mut branch, mut level) = (&mut self.tree, self.height);
        loop {
            match &mut Arc::make_mut(branch)[step(at, level)] {
                Tree::Branch(lower) => branch = lower,
                Tree::Leaf(leaf) => return Arc::make_mut(leaf).get_mut(at % WIDTH),
            }
            level -= 1;
        }
    }
}

/// Which child of a branch on this level leads to an element; the lowest branches are level 1.
fn step(at: usize, level: u32) -> usize {
    (at >> (BITS * level)) % WIDTH
}

impl<T> Index<usize> for List<T> {
    type Output = T;

    fn index(&self, at: usize) -> &T {
        self.get(at).expect("places are those of elements that were added")
    }
}

impl<T: Clone> IndexMut<usize> for List<T> {
    fn index_mut(&mut self, at: usize) -> &mut T {
        self.get_mut(at).expect("places are those of elements that were added")
    }
}

impl<T: Clone> FromIterator<T> for List<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut list = Self::default();
        items.into_iter().for_each(|item| list.push(item));
        list
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn it_is_what_a_plain_list_is_at_every_length() {
        let mut list = List::default();
        for n in 0..300_000_usize {
            assert_eq!(list.len(), n);
            list.push(n);
            assert_eq!(list.get(n), Some(&n));
            assert_eq!(list.get(n + 1), None);
            assert_eq!(list[n / 3], n / 3, "{n}");
        }
        assert!(list.iter().copied().eq(0..300_000), "the order is that of adding");
    }

    proptest! {
        #[test]
        fn clones_see_nothing_of_what_happens_to_the_list(
            lengths in prop::collection::vec((0_usize..5000, any::<prop::sample::Index>()), 1..8),
        ) {
            let (mut list, mut plain, mut held) = (List::default(), Vec::new(), Vec::new());
            for (more, changed) in lengths {
                for _ in 0..more {
                    list.push(plain.len());
                    plain.push(plain.len());
                }
                held.push((list.clone(), plain.clone()));
                if !plain.is_empty() {
                    let at = changed.index(plain.len());
                    list[at] += 1;
                    plain[at] += 1;
                }
                prop_assert_eq!(list.get_mut(plain.len()), None);
            }
            held.push((list, plain));
            for (list, plain) in held {
                prop_assert_eq!(list.len(), plain.len());
                prop_assert_eq!(list.is_empty(), plain.is_empty());
                prop_assert!(list.iter().eq(plain.iter()));
            }
        }
    }
}
