//! [`Verdict`]: whether a branch is what was written.

use std::fmt;

use crate::{Branch, Head};

/// What looking through every record of a branch found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Everything is as it was written; to be compared with a head that was kept elsewhere.
    Whole(Head),
    /// The first record that is not, or is not there.
    Broken(Damage),
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
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Changed => "changed",
            Self::Removed => "removed",
            Self::Moved => "moved",
            Self::Added => "added",
        })
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { branch, first, last, wrong, why } = self;
        if first == last {
            write!(f, "event {first} of {branch} was {wrong}: {why}")
        } else {
            write!(f, "the record of events {first} to {last} of {branch} was {wrong}: {why}")
        }
    }
}
