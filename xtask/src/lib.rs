//! What `cargo xtask` does, as a library, so that `tidy` is a test too.
//!
//! Start reading at [`tidy::check`]; the allowed arrows between crates are in [`arrows`].

pub mod arrows;
pub mod bench;
pub mod fuzz;
pub mod generate;
pub mod tidy;
