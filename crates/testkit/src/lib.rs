//! For tests: histories written as text tables, and streams that nobody wrote.
//!
//! Start reading at [`history`]; [`stream()`] for properties, [`shape`] for size.

mod history;
pub mod shape;
mod stream;

pub use history::{history, numbered};
pub use stream::stream;
