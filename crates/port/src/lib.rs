//! What the runtime needs of the outside, one trait for each part of it.
//!
//! A trait states its contract; the conformance suite in `testkit` proves that an adapter keeps it. Nothing here
//! does anything. Start reading at [`Journal`], then [`Model`] and [`Tool`].

mod batch;
mod branch;
mod environment;
mod fault;
mod hash;
mod journal;
mod model;
mod repl;
mod reply;
mod session;
mod tool;
mod verdict;

pub use batch::Batch;
pub use branch::{Branch, BranchSummary, Fork, Head};
pub use environment::environment;
pub use fault::Fault;
pub use hash::{Hash, NotAHash};
pub use journal::{Exported, Form, Journal, Position, READ_MAX, RUN_FOLD, Saved, Sent};
pub use model::Model;
pub use repl::{Host, Opening, Repl, ReplLimits, Sandbox, Turn};
pub use reply::{Ack, Reply};
pub use session::{Claim, Page, SessionSummary};
pub use tool::{Future, Progress, Reach, Tool, ToolCall, ToolFault, ToolReply};
pub use verdict::{Damage, Verdict, Wrong};
