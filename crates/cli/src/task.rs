//! [`wait`]: work that waits without blocking, from a command that does not.

use anyhow::{Context, Result};

/// Runs work to its end. What it leaves behind is dropped: a run that goes on is in the journal.
pub(crate) fn wait<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime = builder.worker_threads(2).enable_all().build().context("no threads can be started")?;
    let done = runtime.block_on(work);
    // A thread that reads the terminal ends with the process.
    runtime.shutdown_background();
    done
}
