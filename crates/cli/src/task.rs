//! [`wait`]: work that waits without blocking, from a command that does not.

use std::time::Duration;

use anyhow::{Context, Result};

/// How long what is left behind may take to go: a tool that reads something that never ends holds nobody up.
const PARTING: Duration = Duration::from_secs(2);

/// Runs work to its end. What it leaves behind is dropped: a run that goes on is in the journal.
pub(crate) fn wait<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime = builder.worker_threads(2).enable_all().build().context("no threads can be started")?;
    let done = runtime.block_on(work);
    // What the programs that ended with it have left behind is looked for as long as this process lives.
    runtime.block_on(antiphon_process::settled());
    // Whoever drops the store last closes its file, which is not to be left to a process that is gone by then.
    runtime.shutdown_timeout(PARTING);
    done
}
