//! [`Places`]: a set of places that finds the next one after any, however far away that is.

use crate::Place;

/// How many places one word holds.
const WIDTH: usize = u64::BITS as usize;

/// A set of places: a bit for each, and above every level of words one with a bit for each word that is not empty, up to a
/// single word.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    levels: Vec<Vec<u64>>,
}

impl Default for Places {
    fn default() -> Self {
        Self { levels: vec![Vec::new()] }
    }
}

impl Places {
    pub(crate) fn contains(&self, place: Place) -> bool {
        let word = self.levels[0].get(place as usize / WIDTH);
        word.is_some_and(|word| word & bit(place as usize) != 0)
    }

    /// Puts a place in or takes it out.
    pub(crate) fn set(&mut self, place: Place, is_in: bool) {
        if is_in {
            self.insert(place);
        } else {
            self.remove(place);
        }
    }

    pub(crate) fn insert(&mut self, place: Place) {
        let mut at = place as usize;
        for words in &mut self.levels {
            if words.len() <= at / WIDTH {
                words.resize(at / WIDTH + 1, 0);
            }
            let was = words[at / WIDTH];
            words[at / WIDTH] |= bit(at);
            // A word that was not empty is known above.
            if was != 0 {
                return;
            }
            at /= WIDTH;
        }
        while self.top().len() > 1 {
            self.raise();
        }
    }

    fn top(&self) -> &[u64] {
        self.levels.last().map_or(&[], |words| words)
    }

    /// Adds a level above all others, which says what they hold.
    fn raise(&mut self) {
        let below = self.top();
        let mut words = vec![0; below.len().div_ceil(WIDTH)];
        for at in (0..below.len()).filter(|at| below[*at] != 0) {
            words[at / WIDTH] |= bit(at);
        }
        self.levels.push(words);
    }

    pub(crate) fn remove(&mut self, place: Place) {
        let mut at = place as usize;
        for words in &mut self.levels {
            let Some(word) = words.get_mut(at / WIDTH) else {
                return;
            };
            *word &= !bit(at);
            if *word != 0 {
                return;
            }
            at /= WIDTH;
        }
    }

    /// The first place from one on.
    pub(crate) fn next(&self, from: Place) -> Option<Place> {
        let mut at = from as usize;
        for (level, words) in self.levels.iter().enumerate() {
            let ahead = words.get(at / WIDTH)? & (!0 << (at % WIDTH));
            if ahead != 0 {
                let found = at / WIDTH * WIDTH + ahead.trailing_zeros() as usize;
                return Some(self.lowest(level, found));
            }
            at = at / WIDTH + 1;
        }
        None
    }

    /// The first place under a bit of a level.
    fn lowest(&self, level: usize, at: usize) -> Place {
        let down = self.levels[..level].iter().rev();
        down.fold(at, |at, words| at * WIDTH + words[at].trailing_zeros() as usize) as Place
    }

    /// All places from one on, in order.
    pub(crate) fn from(&self, first: Place) -> impl Iterator<Item = Place> + '_ {
        std::iter::successors(self.next(first), |place| self.next(place + 1))
    }
}

fn bit(at: usize) -> u64 {
    1 << (at % WIDTH)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_what_a_plain_set_is(steps in prop::collection::vec((0_u32..70_000, any::<bool>()), 0..60)) {
            let (mut places, mut plain) = (Places::default(), BTreeSet::new());
            for (place, is_in) in steps {
                places.set(place, is_in);
                if is_in { plain.insert(place) } else { plain.remove(&place) };
                for from in [0, place.saturating_sub(1), place, place + 1, place / 2] {
                    prop_assert_eq!(places.contains(from), plain.contains(&from));
                    prop_assert_eq!(places.next(from), plain.range(from..).next().copied());
                }
            }
            prop_assert!(places.from(0).eq(plain));
        }
    }
}
