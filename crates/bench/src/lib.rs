//! What is measured: one table of workloads, for every bench.
//!
//! The benches beside it differ in what they read off: `speed` the time of each, `growth` how it grows with the
//! number of events, `instructions` what a processor executes. Start reading at [`workloads`].

mod workload;

use std::process::{Command, exit};

pub use workload::{Done, Fold, Prepared, Shape, THREAD, Watch, Work, Workload, workloads};

/// The allocator of the program, so that what is measured is what is run.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Tells the allocator to give no memory back: pages of the kernel are cleared the first time they are touched, which
/// costs more than all else here and is paid by whoever comes first. What is small is measured without it, too.
const KEEP_MEMORY: (&str, &str) = ("MIMALLOC_PURGE_DELAY", "-1");

/// Starts the bench anew with an allocator that uses memory again that was let go of, as a program does that runs for
/// long; the allocator looks at its settings once, before anything else.
pub fn keep_memory() {
    if std::env::var_os(KEEP_MEMORY.0).is_none() {
        let program = std::env::current_exe().expect("a bench is a file");
        let mut again = Command::new(program);
        again.args(std::env::args_os().skip(1)).env(KEEP_MEMORY.0, KEEP_MEMORY.1);
        let status = again.status().expect("what runs can be started again");
        exit(status.code().unwrap_or(1));
    }
}
