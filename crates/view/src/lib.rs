//! Views: what a person looks at, folded from events one at a time.
//!
//! In: events. Out: a snapshot to begin with and [`Change`]s to keep it up to date. No clock, no I/O.
//! Start reading at [`View`]; each view has a file of its own, and [`catalogue`] lists them all.

mod change;
pub mod dag;
mod fold;
mod projection;
mod value;

pub use change::{Change, Changes, Op, Step};
pub use fold::{Fold, View};
pub use projection::{Projected, Projection};
