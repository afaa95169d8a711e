//! Journals: in memory, and in a SQLite file.
//!
//! In: the name of a store. Out: a [`Journal`](antiphon_port::Journal). Start reading at [`open`]; what was exported from
//! one can be proved without it by [`prove`].

mod fold;
mod memory;
mod record;
mod scheme;
mod sqlite;

pub use memory::Memory;
pub use record::prove;
pub use scheme::open;
pub use sqlite::Sqlite;

/// How many bytes a command to the owner of a session may have.
const SENT_MAX: usize = 1024 * 1024;

/// How many commands may wait for the owner of a session.
const INBOX_MAX: usize = 10_000;
