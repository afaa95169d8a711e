//! [`Fault`]: why a journal did not do what it was asked.

use antiphon_event::SessionId;

use crate::Branch;

/// Why a journal did not do what it was asked. Nothing was changed.
///
/// One exception: after [`Fault::Storage`] the outside may have kept what it could not confirm. Asking again with the
/// same expected position is safe: if the events are there after all, that is a [`Fault::Conflict`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The branch does not end where the caller thought: read on from there and decide again.
    #[error("the branch ends at {actual}, not at {expected}: read what was added and try again")]
    Conflict {
        /// Where the caller thought it ends.
        expected: u64,
        /// Where it ends.
        actual: u64,
    },
    /// There is no such session.
    #[error("there is no session {0}")]
    NoSession(SessionId),
    /// There is no such branch.
    #[error("there is no branch {0}")]
    NoBranch(Branch),
    /// It is there already.
    #[error("the branch {0} is there already")]
    Exists(Branch),
    /// A position that the branch has not reached.
    #[error("{branch} ends at {head} and has no position {at}")]
    Beyond {
        /// The branch.
        branch: Branch,
        /// The position asked for.
        at: u64,
        /// Where it ends.
        head: u64,
    },
    /// Another process, or another part of this one, has the session.
    #[error("the session {session} is in use{}", by.map(|id| format!(" by process {id}")).unwrap_or_default())]
    Owned {
        /// The session.
        session: SessionId,
        /// The process that has it, as far as that is known.
        by: Option<u32>,
    },
    /// Branches of other sessions begin in this one.
    #[error("{by} forks from the session {session}: remove that first, or force it")]
    ForkedFrom {
        /// The session.
        session: SessionId,
        /// One of those that would be left without their beginning.
        by: Branch,
    },
    /// An event that could not be read back.
    #[error("event {index} of the batch cannot be kept: {why}")]
    Unfit {
        /// Which one, from 0.
        index: usize,
        /// What is wrong with it.
        why: String,
    },
    /// More bytes than are taken at once.
    #[error("{what} of {bytes} bytes is larger than {max}")]
    TooLarge {
        /// What.
        what: &'static str,
        /// How many there are.
        bytes: usize,
        /// How many there may be.
        max: usize,
    },
    /// More is waiting than is held.
    #[error("{waiting} calls wait for {place} already: try again")]
    Busy {
        /// The journal.
        place: String,
        /// How many wait.
        waiting: usize,
    },
    /// The outside would not have it now: disk full, locked by another program, read-only, an error of the device.
    #[error("{place}: {why}")]
    Storage {
        /// The journal, such as a file.
        place: String,
        /// What went wrong and what to do.
        why: String,
        /// Whether the same call may succeed later, because the cause can go away by itself.
        passing: bool,
    },
    /// What is stored is not a journal, or is damaged, or is of a later version.
    #[error("{place}: {why}")]
    Unreadable {
        /// The journal, such as a file.
        place: String,
        /// What is wrong with it and what to do.
        why: String,
    },
    /// The name of a store that nobody knows.
    #[error("`{0}` is no store: use sqlite:PATH or memory:")]
    NoStore(String),
    /// The journal was closed before it answered.
    #[error("the journal is closed")]
    Closed,
}

impl Fault {
    /// Whether the same call may succeed if it is made again later.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Owned { .. } | Self::Busy { .. } => true,
            Self::Storage { passing, .. } => *passing,
            Self::Conflict { .. }
            | Self::NoSession(_)
            | Self::NoBranch(_)
            | Self::Exists(_)
            | Self::Beyond { .. }
            | Self::ForkedFrom { .. }
            | Self::Unfit { .. }
            | Self::TooLarge { .. }
            | Self::Unreadable { .. }
            | Self::NoStore(_)
            | Self::Closed => false,
        }
    }
}
