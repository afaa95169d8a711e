//! Flows: orchestration graphs, checked when built, and what runs them.
//!
//! In: definitions as Rust or as files, and events that happened. Out: what may run next. No clock, no I/O.
//! Start reading at [`expr`] for the conditions and values a flow writes as text, and at [`state`] for what
//! they work on.

pub mod expr;
pub mod guard;
pub mod retry;
pub mod schema;
pub mod state;
mod suggest;
pub mod time;
