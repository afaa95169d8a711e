//! The whole runtime on virtual time, with faults, from one number.
//!
//! In: a seed. Out: a flow made from it, run once undisturbed and once with the process dying at appends, and whether
//! both came to the same. Everything that is left to chance is taken from the seed, so that a failure is reported as
//! one. Start reading at [`simulate`].

mod chance;
mod faulty;
mod shape;
mod story;
mod world;

pub use story::{Tally, simulate, simulate_long};
