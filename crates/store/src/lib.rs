//! Journals: in memory, and in a SQLite file.
//!
//! In: the name of a store. Out: a [`Journal`](antiphon_port::Journal). Start reading at [`open`].

mod memory;
mod record;
mod scheme;

pub use memory::Memory;
pub use scheme::open;

/// How many saved folds of one name are kept for a branch.
const SAVED_MAX: usize = 16;
