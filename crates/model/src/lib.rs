//! Models: vendors spoken to over HTTP, scripts, and recordings.
//!
//! In: a `Prompt`. Out: a stream of `Delta`s in the order in which the vendor sent them.
