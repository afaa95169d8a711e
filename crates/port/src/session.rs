//! Sessions as a journal lists them, and the right to write to one.

use std::fmt;

use antiphon_event::{SessionId, Timestamp};

/// Which part of a list, newest first.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// Those created before this one; from the newest if nothing.
    pub after: Option<SessionId>,
    /// At most so many; 0 gives none.
    pub limit: usize,
}

/// A session, as a list of them shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSummary {
    /// The session.
    pub id: SessionId,
    /// The title of its last `session_created` event that has one.
    pub title: Option<String>,
    /// The earliest `at` among the first events of its branches.
    pub created_at: Option<Timestamp>,
    /// The latest `at` among the last events of its branches.
    pub updated_at: Option<Timestamp>,
    /// How many branches it has.
    pub branches: u64,
    /// Position of the last event of its longest branch.
    pub seq: u64,
}

/// The right to run what is in a session, held by one process at a time. Dropping it gives it up, and so does the
/// end of the process, whichever way it ends.
pub struct Claim(#[expect(dead_code, reason = "it is held to be dropped")] Box<dyn Send + Sync>);

impl Claim {
    /// A claim that is given up when `held` is dropped.
    pub fn new(held: impl Send + Sync + 'static) -> Self {
        Self(Box::new(held))
    }
}

impl fmt::Debug for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Claim")
    }
}
