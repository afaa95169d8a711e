//! [`Ranked`]: elements in the order of their moments, each in a slot that it keeps, shown or hidden.
//!
//! What came later stands later, unless its moment is earlier than that of others: then it stands before those. A reader
//! sees the shown elements only. Adding one and finding where it stands take logarithmic time, whatever comes in which
//! order: it is a balanced tree (AVL) that knows how many shown elements hang from each. Start reading at [`Ranked::push`].

use serde::{Deserialize, Serialize};

const NOWHERE: u32 = u32::MAX;

/// Elements in the order of their moments.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "Saved<T>", into = "Saved<T>")]
#[serde(bound(serialize = "T: Clone + Serialize", deserialize = "T: Deserialize<'de>"))]
pub(crate) struct Ranked<T> {
    items: Vec<T>,
    links: Vec<Link>,
    root: u32,
    /// The slot that stands last.
    last: u32,
}

/// How an element hangs in the tree.
#[derive(Debug, Clone, Copy)]
struct Link {
    moment: i64,
    up: u32,
    left: u32,
    right: u32,
    /// How many are shown of it and of those that hang from it.
    shown: u32,
    is_shown: bool,
    height: u8,
}

/// What is saved: each element with its moment, and whether it is shown.
#[derive(Serialize, Deserialize)]
struct Saved<T>(Vec<(T, i64, bool)>);

impl<T> Default for Ranked<T> {
    fn default() -> Self {
        Self { items: Vec::new(), links: Vec::new(), root: NOWHERE, last: NOWHERE }
    }
}

impl<T> Ranked<T> {
    /// Adds an element, hidden; gives its slot. Without a moment it has that of the element added before it. It never
    /// stands before `after`.
    pub(crate) fn push(&mut self, item: T, moment: Option<i64>, after: Option<usize>) -> usize {
        let moment = moment.or(self.links.last().map(|link| link.moment)).unwrap_or(i64::MIN);
        let moment = after.map_or(moment, |after| moment.max(self.links[after].moment));
        self.items.push(item);
        self.hang(moment)
    }

    /// Shows or hides an element.
    pub(crate) fn show(&mut self, slot: usize, shown: bool) {
        if self.links[slot].is_shown == shown {
            return;
        }
        self.links[slot].is_shown = shown;
        let mut at = slot as u32;
        while let Some(link) = self.links.get_mut(at as usize) {
            link.shown = if shown { link.shown + 1 } else { link.shown - 1 };
            at = link.up;
        }
    }

    pub(crate) fn is_shown(&self, slot: usize) -> bool {
        self.links[slot].is_shown
    }

    pub(crate) fn get(&self, slot: usize) -> &T {
        &self.items[slot]
    }

    pub(crate) fn get_mut(&mut self, slot: usize) -> &mut T {
        &mut self.items[slot]
    }

    /// How many shown elements stand before a slot.
    pub(crate) fn rank(&self, slot: usize) -> usize {
        let mut rank = self.shown_below(self.links[slot].left);
        let mut at = slot as u32;
        while let Some(above) = self.link(self.links[at as usize].up) {
            let up = self.links[at as usize].up;
            if above.right == at {
                rank += self.shown_below(above.left) + u32::from(above.is_shown);
            }
            at = up;
        }
        rank as usize
    }

    /// All elements, in the order of their slots.
    pub(crate) fn all(&self) -> impl Iterator<Item = &T> {
        self.items.iter()
    }

    /// The shown elements, in order. Hidden ones cost next to nothing.
    pub(crate) fn shown(&self) -> impl Iterator<Item = &T> {
        let (mut ahead, mut next) = (Vec::new(), self.root);
        std::iter::from_fn(move || {
            loop {
                while let Some(link) = self.link(next).filter(|link| link.shown > 0) {
                    ahead.push(next);
                    next = link.left;
                }
                let at = ahead.pop()?;
                next = self.links[at as usize].right;
                if self.links[at as usize].is_shown {
                    return Some(&self.items[at as usize]);
                }
            }
        })
    }

    fn link(&self, slot: u32) -> Option<&Link> {
        self.links.get(slot as usize)
    }

    fn shown_below(&self, slot: u32) -> u32 {
        self.link(slot).map_or(0, |link| link.shown)
    }

    fn height(&self, slot: u32) -> u8 {
        self.link(slot).map_or(0, |link| link.height)
    }

    /// Whether a slot stands before another.
    fn is_before(&self, one: u32, other: u32) -> bool {
        (self.links[one as usize].moment, one) < (self.links[other as usize].moment, other)
    }

    /// Adds a link for the latest element.
    fn hang(&mut self, moment: i64) -> usize {
        let slot = self.links.len() as u32;
        let (up, left, right) = (NOWHERE, NOWHERE, NOWHERE);
        self.links.push(Link { moment, up, left, right, shown: 0, is_shown: false, height: 1 });
        // Mostly it stands last.
        let is_last = self.last == NOWHERE || self.is_before(self.last, slot);
        let mut at = if is_last { self.last } else { self.root };
        let mut above = NOWHERE;
        while let Some(link) = self.link(at) {
            above = at;
            at = if self.is_before(at, slot) { link.right } else { link.left };
        }
        self.links[slot as usize].up = above;
        let is_right = above != NOWHERE && self.is_before(above, slot);
        match self.links.get_mut(above as usize) {
            None => self.root = slot,
            Some(link) if is_right => link.right = slot,
            Some(link) => link.left = slot,
        }
        if is_last {
            self.last = slot;
        }
        self.balance(above);
        slot as usize
    }

    /// Puts right what has become too high, from here upwards.
    fn balance(&mut self, from: u32) {
        let mut at = from;
        while let Some(Link { left, right, height, up, .. }) = self.link(at).copied() {
            let (left, right) = (self.height(left), self.height(right));
            if left.abs_diff(right) > 1 {
                return self.turn(at);
            }
            let now = 1 + left.max(right);
            if now == height {
                return;
            }
            self.links[at as usize].height = now;
            at = up;
        }
    }

    /// Brings what hangs too deep on one side up.
    fn turn(&mut self, slot: u32) {
        let sides =
            |this: &Self, slot: u32| (this.links[slot as usize].left, this.links[slot as usize].right);
        let (left, right) = sides(self, slot);
        let is_left = self.height(left) > self.height(right);
        let child = if is_left { left } else { right };
        let (left, right) = sides(self, child);
        let (outer, inner) = if is_left { (left, right) } else { (right, left) };
        if self.height(inner) > self.height(outer) {
            self.raise(inner);
            self.raise(inner);
        } else {
            self.raise(child);
        }
    }

    /// Lets a slot change places with the one above it.
    fn raise(&mut self, slot: u32) {
        let below = self.links[slot as usize].up;
        let top = self.links[below as usize].up;
        let moved = if self.links[below as usize].left == slot {
            let moved = std::mem::replace(&mut self.links[slot as usize].right, below);
            self.links[below as usize].left = moved;
            moved
        } else {
            let moved = std::mem::replace(&mut self.links[slot as usize].left, below);
            self.links[below as usize].right = moved;
            moved
        };
        if let Some(moved) = self.links.get_mut(moved as usize) {
            moved.up = below;
        }
        self.links[below as usize].up = slot;
        self.links[slot as usize].up = top;
        match self.links.get_mut(top as usize) {
            None => self.root = slot,
            Some(top) if top.left == below => top.left = slot,
            Some(top) => top.right = slot,
        }
        self.sum_up(below);
        self.sum_up(slot);
    }

    fn sum_up(&mut self, slot: u32) {
        let Link { left, right, is_shown, .. } = self.links[slot as usize];
        let shown = self.shown_below(left) + self.shown_below(right) + u32::from(is_shown);
        let height = 1 + self.height(left).max(self.height(right));
        let link = &mut self.links[slot as usize];
        (link.shown, link.height) = (shown, height);
    }
}

impl<T> From<Saved<T>> for Ranked<T> {
    fn from(saved: Saved<T>) -> Self {
        let mut ranked = Self::default();
        for (item, moment, shown) in saved.0 {
            let slot = ranked.push(item, Some(moment), None);
            ranked.show(slot, shown);
        }
        ranked
    }
}

impl<T> From<Ranked<T>> for Saved<T> {
    fn from(ranked: Ranked<T>) -> Self {
        let links = ranked.links.iter().map(|link| (link.moment, link.is_shown));
        Self(
            ranked
                .items
                .into_iter()
                .zip(links)
                .map(|(item, (moment, shown))| (item, moment, shown))
                .collect(),
        )
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Steps = Vec<(Option<i64>, usize, bool)>;

    /// The slots in order, as a plain sort has them.
    fn sorted(moments: &[i64]) -> Vec<usize> {
        let mut slots: Vec<_> = (0..moments.len()).collect();
        slots.sort_by_key(|slot| moments[*slot]);
        slots
    }

    fn check(steps: Steps) -> Result<(), TestCaseError> {
        let mut ranked = Ranked::default();
        let (mut moments, mut shown) = (Vec::new(), Vec::new());
        for (moment, other, show) in steps {
            let after = moments.get(other).map(|_| other);
            let slot = ranked.push(moments.len(), moment, after);
            prop_assert_eq!(slot, moments.len());
            let own = moment.or(moments.last().copied()).unwrap_or(i64::MIN);
            moments.push(after.map_or(own, |after| own.max(moments[after])));
            shown.push(false);
            for slot in [slot, other % moments.len()] {
                ranked.show(slot, show);
                shown[slot] = show;
            }
        }
        let loaded: Ranked<usize> =
            serde_json::from_str(&serde_json::to_string(&ranked).expect("JSON")).expect("was saved");
        for ranked in [ranked, loaded] {
            let order: Vec<_> = sorted(&moments).into_iter().filter(|slot| shown[*slot]).collect();
            prop_assert!(ranked.shown().eq(&order));
            for (rank, slot) in order.iter().enumerate() {
                prop_assert_eq!(ranked.rank(*slot), rank);
            }
            let bound = 2 * usize::BITS - moments.len().leading_zeros() * 2 + 1;
            prop_assert!(u32::from(ranked.height(ranked.root)) <= bound);
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn the_order_is_that_of_a_plain_sort(
            steps in prop::collection::vec((prop::option::of(0_i64..40), 0_usize..80, any::<bool>()), 0..80)
        ) {
            check(steps)?;
        }
    }

    #[test]
    fn it_stays_low_whatever_comes_in_which_order() {
        for direction in [1, -1, 0] {
            check((0..2_000).map(|n| (Some(direction * n), 3_000, true)).collect()).expect("the order holds");
        }
    }
}
