//! What is measured: one table of workloads, for every bench.
//!
//! The benches beside it differ in what they read off: `speed` the time of each, `growth` how it grows with the
//! number of events, `instructions` what a processor executes. Start reading at [`workloads`].

mod workload;

pub use workload::{Done, Fold, Prepared, Shape, THREAD, Watch, Work, Workload, workloads};

/// The allocator of the program, so that what is measured is what is run.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
