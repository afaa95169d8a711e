//! Views: what a person looks at, folded from events one at a time.
//!
//! In: events. Out: a snapshot to begin with and [`Change`]s to keep it up to date. No clock, no I/O.
//! Start reading at [`View`]; each view has a file of its own, and [`catalogue`] lists them all.

mod change;
mod fold;
mod index;
mod money;
mod value;

pub mod catalogue;
pub mod permissions;
pub mod replay;
pub mod runs;
pub mod tools;
pub mod transcript;
pub mod usage;

pub use change::{Change, Changes, Op, Step};
pub use fold::{Fold, View};
pub use money::Cost;
pub use permissions::Permissions;
pub use replay::Replay;
pub use runs::Runs;
pub use tools::Tools;
pub use transcript::Transcript;
pub use usage::Usage;
