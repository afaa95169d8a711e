//! [`Counts`]: how many nodes of each type a run has.

use antiphon_event::Kind;

/// A number for each of a few types, in the order they came. Most runs have no more than two that are numbered, which
/// need no memory of their own.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Counts {
    first: [Option<(Kind, u32)>; 2],
    more: Vec<(Kind, u32)>,
}

impl Counts {
    pub(crate) fn of(&self, kind: Kind) -> u32 {
        self.iter().find(|(counted, _)| *counted == kind).map_or(0, |(_, n)| n)
    }

    /// Counts one more.
    pub(crate) fn count(&mut self, kind: Kind) {
        for place in &mut self.first {
            let (counted, n) = place.get_or_insert((kind, 0));
            if *counted == kind {
                *n += 1;
                return;
            }
        }
        match self.more.iter_mut().find(|(counted, _)| *counted == kind) {
            Some((_, n)) => *n += 1,
            None => self.more.push((kind, 1)),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (Kind, u32)> + '_ {
        self.first.iter().flatten().chain(&self.more).copied()
    }
}

impl FromIterator<(Kind, u32)> for Counts {
    fn from_iter<I: IntoIterator<Item = (Kind, u32)>>(counts: I) -> Self {
        let mut counts = counts.into_iter();
        Self { first: [counts.next(), counts.next()], more: counts.collect() }
    }
}
