//! The whole runtime on virtual time, with faults, from one number.
//!
//! In: a seed. Out: a flow made from it, run once undisturbed and then with the process dying at appends, here and there
//! or at each of them, and whether all came to the same. Everything that is left to chance is taken from the seed, so that a failure is reported as
//! one. Start reading at [`simulate`],
//! then [`simulate_everywhere`].

mod chance;
mod everywhere;
mod faulty;
mod ledger;
mod shape;
mod story;
mod world;

pub use everywhere::{simulate_everywhere, simulate_forks};
pub use story::{Tally, simulate, simulate_long};
