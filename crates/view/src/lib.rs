//! Views: what a person looks at, folded from events one at a time.
//!
//! In: events. Out: a snapshot to begin with and [`Change`]s to keep it up to date. No clock, no I/O.
//! Start reading at [`View`]; each view has a file of its own, and [`catalogue`] lists them all.

mod change;
mod edit;
mod fold;
mod forest;
mod lapse;
mod preview;
mod projection;
mod tally;
mod value;

pub mod agents;
pub mod nested;
pub mod repl;
pub mod risk;
pub mod timeline;
pub mod trace;

pub use agents::Agents;
pub use change::{Change, Changes, Op, Step};
pub use fold::{Fold, View};
pub use nested::Nested;
pub use projection::{Projected, Projection};
pub use repl::Repl;
pub use risk::Risk;
pub use tally::{Dollars, Tally};
pub use timeline::Timeline;
pub use trace::Traces;
