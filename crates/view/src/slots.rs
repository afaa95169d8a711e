//! [`Slots`]: a list whose elements keep their place while some of them are hidden.
//!
//! A reader sees the shown elements only; where one of them stands among those is found in logarithmic time,
//! however many there are.

use serde::{Deserialize, Serialize};

/// Elements in order, each shown or hidden.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Slots<T> {
    items: Vec<(T, bool)>,
    /// A Fenwick tree of how many are hidden; empty as long as none ever was.
    hidden: Vec<u32>,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self { items: Vec::new(), hidden: Vec::new() }
    }
}

impl<T> Slots<T> {
    /// Adds an element to the end; gives its slot.
    pub(crate) fn push(&mut self, item: T, shown: bool) -> usize {
        self.items.push((item, false));
        if !self.hidden.is_empty() {
            self.extend_tree();
        }
        let slot = self.items.len() - 1;
        if shown {
            self.items[slot].1 = true;
        } else {
            self.note(slot, 1);
        }
        slot
    }

    /// Shows or hides an element; `true` if that changed anything.
    pub(crate) fn show(&mut self, slot: usize, shown: bool) -> bool {
        if self.items[slot].1 == shown {
            return false;
        }
        self.items[slot].1 = shown;
        self.note(slot, if shown { -1 } else { 1 });
        true
    }

    pub(crate) fn is_shown(&self, slot: usize) -> bool {
        self.items[slot].1
    }

    pub(crate) fn get(&self, slot: usize) -> &T {
        &self.items[slot].0
    }

    pub(crate) fn get_mut(&mut self, slot: usize) -> &mut T {
        &mut self.items[slot].0
    }

    /// How many shown elements stand before a slot.
    pub(crate) fn rank(&self, slot: usize) -> usize {
        let mut hidden = 0;
        let mut at = slot;
        while at > 0 && !self.hidden.is_empty() {
            hidden += self.hidden[at - 1];
            at &= at - 1;
        }
        slot - hidden as usize
    }

    /// The shown elements, in order.
    pub(crate) fn shown(&self) -> impl Iterator<Item = &T> {
        self.items.iter().filter(|(_, shown)| *shown).map(|(item, _)| item)
    }

    /// Whether any element is shown.
    pub(crate) fn any_shown(&self) -> bool {
        self.rank(self.items.len()) > 0
    }

    fn note(&mut self, slot: usize, change: i32) {
        if self.hidden.is_empty() {
            self.hidden = vec![0; self.items.len()];
        }
        let mut at = slot + 1;
        while at <= self.hidden.len() {
            self.hidden[at - 1] = self.hidden[at - 1].wrapping_add_signed(change);
            at += at & at.wrapping_neg();
        }
    }

    /// The new last node of the tree sums up the nodes below it.
    fn extend_tree(&mut self) {
        let at = self.items.len();
        let stop = at & (at - 1);
        let mut sum = 0;
        let mut below = at - 1;
        while below > stop {
            sum += self.hidden[below - 1];
            below &= below - 1;
        }
        self.hidden.push(sum);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ranks_are_those_of_a_plain_count(steps in prop::collection::vec((any::<bool>(), 0_usize..40, any::<bool>()), 0..80)) {
            let mut slots = Slots::default();
            let mut plain: Vec<bool> = Vec::new();
            for (add, slot, shown) in steps {
                if add || plain.is_empty() {
                    slots.push(plain.len(), shown);
                    plain.push(shown);
                } else {
                    let slot = slot % plain.len();
                    prop_assert_eq!(slots.show(slot, shown), plain[slot] != shown);
                    plain[slot] = shown;
                }
                for slot in 0..plain.len() {
                    prop_assert_eq!(slots.rank(slot), plain[..slot].iter().filter(|shown| **shown).count());
                }
                prop_assert_eq!(slots.any_shown(), plain.contains(&true));
            }
        }
    }
}
