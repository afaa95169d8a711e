//! [`Journal`]: where events are kept, for ever and in order.

use antiphon_event::{Event, SessionId};

use crate::{
    Ack, Batch, Branch, BranchSummary, Claim, Fault, Hash, Head, Page, Reply, SessionSummary, Verdict,
};

/// How many events one call reads at most.
pub const READ_MAX: usize = 65_536;

/// Where the events of a batch are: `first` to `last`, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Position of the first event.
    pub first: u64,
    /// Position of the last event, which is where the branch ended then.
    pub last: u64,
}

/// An event with what proves it.
#[derive(Debug, Clone, PartialEq)]
pub struct Exported {
    /// The event.
    pub event: Event,
    /// The hash of everything up to it.
    pub hash: Hash,
    /// Whether it is the first of its batch; the hash covers what the events of a batch share once, here.
    pub opens: bool,
}

/// What a saved fold is a fold of, and how it is written down. One that was written in another version cannot be read,
/// which is as if it were not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Form {
    /// What it is called: of each branch, the folds of one name are kept together.
    pub name: &'static str,
    /// How it is written down; to be raised when that, or what is folded, changes.
    pub version: u32,
}

/// What folds are called that hold a run: those that `checkpoint_saved` speaks of.
pub const RUN_FOLD: &str = "run";

/// A saved fold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saved {
    /// The position it was made at.
    pub seq: u64,
    /// What was saved.
    pub bytes: Vec<u8>,
    /// The hash of these bytes, as they are now.
    pub hash: Hash,
}

/// Something that was left for the owner of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// Grows from one to the next, over all that is ever sent.
    pub number: u64,
    /// JSON text, as it was sent.
    pub text: String,
}

/// Keeps events in branches, each numbered from 1 without gaps, and never changes one.
///
/// **Order.** Calls take effect in the order in which they are made, whether or not their replies are awaited, so
/// that a branch can be created and appended to without waiting in between. Reads see every change that was
/// acknowledged before they were called.
///
/// **Durable.** A reply without a fault means: on disk, whatever happens to the process or the machine. In memory it
/// means: there as long as the journal is.
///
/// **Faults.** A call that failed changed nothing, and may be made again if [`Fault::is_passing`]; see there for the
/// one exception. After any fault the journal goes on working.
///
/// **Once only.** An append that is repeated with the same expected position is a [`Fault::Conflict`] if the first
/// one took effect.
pub trait Journal: Send + Sync + 'static {
    /// Appends the events after position `expected`, all or none. Returns at once.
    ///
    /// The journal gives `seq`, `sessionId` and `branchId`, whatever the events say; everything else is kept as it is,
    /// `at` included. An event that could not be read back is refused ([`Fault::Unfit`]), and so are `connected`,
    /// which is never kept, and a batch beyond the journal's limits ([`Fault::TooLarge`]).
    fn append(&self, branch: &Branch, expected: u64, batch: Batch) -> Ack;

    /// The events after a position, in order, at most `limit` and at most [`READ_MAX`]; fewer if they are large, but
    /// never none while there are more. Empty at the end. A fork reads the events before it as they were written, with
    /// the names of the session and branch that they were written to.
    fn read(&self, branch: &Branch, after: u64, limit: usize) -> Reply<Vec<Event>>;

    /// The same with the hash of each.
    fn export(&self, branch: &Branch, after: u64, limit: usize) -> Reply<Vec<Exported>>;

    /// Where the branch ends.
    fn head(&self, branch: &Branch) -> Reply<Head>;

    /// Begins an empty branch, and the session if it is new.
    fn create(&self, branch: &Branch) -> Reply<Head>;

    /// Begins a branch, and the session if it is new, with these batches in it: all of it or nothing, whatever happens
    /// meanwhile. What is said of [`Journal::append`] holds for each of them.
    fn import(&self, branch: &Branch, batches: Vec<Batch>) -> Reply<Head>;

    /// Begins a branch that has the events of `from` up to `at` and goes its own way from there, without copying
    /// them; in the same session or another, which may be new. `at` may lie within a batch.
    fn fork(&self, from: &Branch, at: u64, into: &Branch) -> Reply<Head>;

    /// Sessions, the one created last first.
    fn sessions(&self, page: Page) -> Reply<Vec<SessionSummary>>;

    /// The branches of a session, in the order in which they were created.
    fn branches(&self, session: &SessionId) -> Reply<Vec<BranchSummary>>;

    /// Removes a session with everything in it. If branches of other sessions begin in it that is refused
    /// ([`Fault::ForkedFrom`]) unless forced, which removes those branches too, and what begins in them.
    fn remove(&self, session: &SessionId, force: bool) -> Reply<()>;

    /// Reads every record of the branch, through its fork points, and says whether they are what was written, and whether
    /// the branches are called what their first events say. Then it compares every fold of a run with the
    /// `checkpoint_saved` of its branch that speaks of it, if there is one.
    fn verify(&self, branch: &Branch) -> Reply<Verdict>;

    /// Takes the right to run what is in the session; [`Fault::Owned`] while somebody has it. The session need not be
    /// there yet. Appending does not need it: the expected position protects the history.
    fn claim(&self, session: &SessionId) -> Result<Claim, Fault>;

    /// Leaves JSON text for the owner of a session, from any process; its number. [`Fault::Busy`] if too much was
    /// left there already.
    fn send(&self, session: &SessionId, text: &str) -> Reply<u64>;

    /// What was left for the owner after number `done`, oldest first. What has a number up to `done` was dealt with
    /// and goes: a command that was handed over to a process that died is handed over again. To be called every
    /// 100 ms or more often; costs no write if there is nothing to remove.
    fn take(&self, session: &SessionId, done: u64) -> Reply<Vec<Sent>>;

    /// Saves a fold of the branch up to `seq`, in the place of one for the same position, and of all that were written
    /// in another version. It is no part of the history: the journal may drop it at any time, and does so when there are
    /// many, such that the newest stay and some of the older ones, spread over the branch.
    ///
    /// The reply is the hash of the bytes: whoever is to rely on them later keeps it in the history, for what is beside it
    /// can be changed and nobody can tell.
    fn save(&self, branch: &Branch, form: Form, seq: u64, bytes: Vec<u8>) -> Reply<Hash>;

    /// The saved fold with the latest position up to this one, of the branch or, up to its fork point, of the one it
    /// left. One that is damaged, or was made of other events than are there now, is not given.
    fn saved(&self, branch: &Branch, form: Form, at: u64) -> Reply<Option<Saved>>;
}
