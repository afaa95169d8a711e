//! [`Verdict`]: whether a branch is what was written.

use std::fmt;

use crate::{Branch, Head};

/// What looking through every record of a branch found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Everything is as it was written.
    Whole {
        /// Where the branch ends, to be compared with a head that was kept elsewhere.
        head: Head,
        /// How many saved folds of runs the history vouches for.
        vouched: u64,
    },
    /// The first record that is not, or is not there.
    Broken(Damage),
}

impl Verdict {
    /// Where the branch ends if it is whole.
    pub fn head(&self) -> Option<Head> {
        match self {
            Self::Whole { head, .. } => Some(*head),
            Self::Broken(_) => None,
        }
    }
}

/// The first place at which a history is not what was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The branch that the record was written to, which for a fork may be another than the one asked about.
    pub branch: Branch,
    /// The first position concerned.
    pub first: u64,
    /// The last position concerned.
    pub last: u64,
    /// What is wrong.
    pub wrong: Wrong,
    /// How it was noticed.
    pub why: String,
}

/// What can be wrong with a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrong {
    /// Its bytes are others.
    Changed,
    /// It is not there.
    Removed,
    /// It is there, and was written somewhere else.
    Moved,
    /// It is there, and was never written.
    Added,
    /// The records are as they were; the branch has another name.
    Renamed,
    /// The records are as they were; the fold that was saved at its position is not.
    Saved,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Changed | Self::Saved => "changed",
            Self::Renamed => "renamed",
            Self::Removed => "removed",
            Self::Moved => "moved",
            Self::Added => "added",
        })
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { branch, first, last, wrong, why } = self;
        if *wrong == Wrong::Saved {
            write!(f, "what was saved of {branch} at event {first} was {wrong}: {why}")
        } else if *wrong == Wrong::Renamed {
            write!(f, "{branch} was {wrong}: {why}")
        } else if first == last {
            write!(f, "event {first} of {branch} was {wrong}: {why}")
        } else {
            write!(f, "the record of events {first} to {last} of {branch} was {wrong}: {why}")
        }
    }
}
