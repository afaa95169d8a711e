//! For tests: histories written as text tables, and streams that nobody wrote.
//!
//! Start reading at [`history`].

mod history;

pub use history::{history, numbered};
