//! [`Branch`]: which line of history, where it ends, and where it began.

use std::fmt;

use antiphon_event::{BranchId, SessionId, Timestamp};

use crate::Hash;

/// One line of history. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Branch {
    /// The session it belongs to.
    pub session: SessionId,
    /// Its name within the session.
    pub branch: BranchId,
}

impl Branch {
    /// A branch by its names.
    pub fn new(session: impl Into<SessionId>, branch: impl Into<BranchId>) -> Self {
        Self { session: session.into(), branch: branch.into() }
    }

    /// The first branch of a session.
    pub fn main(session: impl Into<SessionId>) -> Self {
        Self::new(session, "main")
    }
}

impl fmt::Display for Branch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.session, self.branch)
    }
}

/// Where a branch ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Position of the last event; 0 for none.
    pub seq: u64,
    /// The hash of everything up to there.
    pub hash: Hash,
}

/// Where a branch leaves another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fork {
    /// The branch it left.
    pub from: Branch,
    /// The last position that both have.
    pub seq: u64,
    /// The hash of everything up to there.
    pub hash: Hash,
}

/// A branch, as a list of them shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchSummary {
    /// Its name within the session.
    pub branch: BranchId,
    /// Where it leaves another; nothing for one that began empty.
    pub fork: Option<Fork>,
    /// Position of its last event.
    pub seq: u64,
    /// The `at` of the last event that was appended to it; nothing if there is none.
    pub updated_at: Option<Timestamp>,
}
