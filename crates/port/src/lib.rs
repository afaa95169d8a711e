//! What the runtime needs of the outside, one trait for each part of it.
//!
//! A trait states its contract; the conformance suite in `testkit` proves that an adapter keeps it. Nothing here
//! does anything. Start reading at [`Journal`].

mod batch;
mod branch;
mod fault;
mod hash;
mod journal;
mod reply;
mod session;
mod verdict;

pub use batch::Batch;
pub use branch::{Branch, BranchSummary, Fork, Head};
pub use fault::Fault;
pub use hash::{Hash, NotAHash};
pub use journal::{Exported, Journal, Position, READ_MAX, Saved, Sent};
pub use reply::{Ack, Reply};
pub use session::{Claim, Page, SessionSummary};
pub use verdict::{Damage, Verdict, Wrong};
