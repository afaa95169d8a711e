//! [`Slots`]: a list whose elements keep their place while some of them are hidden, and [`Weights`], which say
//! where an element stands in a list that is made of several of different length.
//!
//! A reader sees the shown elements only; where one of them stands among those is found in logarithmic time,
//! however many there are.

use serde::{Deserialize, Serialize};

/// Elements in order, each shown or hidden.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Slots<T> {
    items: Vec<T>,
    /// 1 for each element that is shown, 0 for one that is hidden.
    shown: Weights,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self { items: Vec::new(), shown: Weights::default() }
    }
}

impl<T> Slots<T> {
    /// Adds an element to the end; gives its slot.
    pub(crate) fn push(&mut self, item: T, shown: bool) -> usize {
        self.items.push(item);
        self.shown.push(usize::from(shown));
        self.items.len() - 1
    }

    /// Shows or hides an element; `true` if that changed anything.
    pub(crate) fn show(&mut self, slot: usize, shown: bool) -> bool {
        let changed = self.is_shown(slot) != shown;
        self.shown.set(slot, usize::from(shown));
        changed
    }

    pub(crate) fn is_shown(&self, slot: usize) -> bool {
        self.shown.of(slot) == 1
    }

    pub(crate) fn get(&self, slot: usize) -> &T {
        &self.items[slot]
    }

    pub(crate) fn get_mut(&mut self, slot: usize) -> &mut T {
        &mut self.items[slot]
    }

    /// How many shown elements stand before a slot.
    pub(crate) fn rank(&self, slot: usize) -> usize {
        self.shown.before(slot)
    }

    /// All elements, in order.
    pub(crate) fn all(&self) -> impl Iterator<Item = &T> {
        self.items.iter()
    }

    /// The shown elements, in order.
    pub(crate) fn shown(&self) -> impl Iterator<Item = &T> {
        self.shown_from(0)
    }

    /// The shown elements but for so many at the beginning, in order. Hidden ones cost nothing.
    pub(crate) fn shown_from(&self, rank: usize) -> impl Iterator<Item = &T> {
        let count = self.rank(self.items.len());
        (rank..count).map(|rank| &self.items[self.shown.find(rank)])
    }

    /// Whether any element is shown.
    pub(crate) fn any_shown(&self) -> bool {
        self.rank(self.items.len()) > 0
    }

    /// How many elements there are, shown or not.
    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }
}

/// Numbers in order, and the sum of those before any of them: a Fenwick tree.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Weights {
    weights: Vec<u32>,
    /// At each place the sum of as many numbers up to it as its lowest bit says.
    sums: Vec<u32>,
}

impl Weights {
    pub(crate) fn push(&mut self, weight: usize) {
        self.weights.push(weight as u32);
        let at = self.weights.len();
        let stop = at & (at - 1);
        let mut sum = weight as u32;
        let mut below = at - 1;
        while below > stop {
            sum += self.sums[below - 1];
            below &= below - 1;
        }
        self.sums.push(sum);
    }

    pub(crate) fn set(&mut self, slot: usize, weight: usize) {
        let change = weight as i32 - self.weights[slot] as i32;
        if change == 0 {
            return;
        }
        self.weights[slot] = weight as u32;
        let mut at = slot + 1;
        while at <= self.sums.len() {
            self.sums[at - 1] = self.sums[at - 1].wrapping_add_signed(change);
            at += at & at.wrapping_neg();
        }
    }

    pub(crate) fn of(&self, slot: usize) -> usize {
        self.weights[slot] as usize
    }

    /// The slot at which the sum, its own number included, first comes to be more than this.
    pub(crate) fn find(&self, sum: usize) -> usize {
        let (mut at, mut left) = (0, sum as u32);
        let mut step = self.sums.len().checked_ilog2().map_or(0, |log| 1 << log);
        while step > 0 {
            if let Some(under) = self.sums.get(at + step - 1).filter(|under| **under <= left) {
                at += step;
                left -= under;
            }
            step /= 2;
        }
        at
    }

    /// The sum of those before a slot.
    pub(crate) fn before(&self, slot: usize) -> usize {
        let mut sum = 0;
        let mut at = slot;
        while at > 0 {
            sum += self.sums[at - 1];
            at &= at - 1;
        }
        sum as usize
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
                let shown = |from: usize| (0..plain.len()).filter(|slot| plain[*slot]).skip(from);
                prop_assert!(slots.shown().copied().eq(shown(0)));
                prop_assert!(slots.shown_from(2).copied().eq(shown(2)));
            }
        }
    }
}
