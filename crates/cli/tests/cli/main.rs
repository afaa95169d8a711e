//! The real binary, run as people run it.
//!
//! Start reading at [`door`], the one way in; then one file for each thing a user can rely on.

mod door;
mod explain;
mod input;
mod safety;
mod stream;
mod tour;
mod views;
