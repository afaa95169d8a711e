//! For tests: histories written as text tables, streams that nobody wrote, and what every adapter must pass.
//!
//! Start reading at [`history`]; [`stream()`] for properties, [`shape`] for size, [`journal`] for the contract of a
//! journal.

mod history;
pub mod journal;
pub mod shape;
mod stream;

pub use history::{history, numbered};
pub use stream::stream;
