//! Work that waits for the file system or keeps a processor busy, off the threads that everything else runs on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use antiphon_port::ToolFault;

/// Tells work whether anybody still wants it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wanted(Arc<AtomicBool>);

impl Wanted {
    /// Whether the call was cancelled.
    pub(crate) fn is_over(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Refuses to go on after the call was cancelled.
    pub(crate) fn check(&self) -> Result<(), ToolFault> {
        if self.is_over() { Err(ToolFault::new("the call was cancelled")) } else { Ok(()) }
    }
}

/// Says so when the call is dropped.
struct Caller(Wanted);

impl Drop for Caller {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

/// Does work on a thread of its own. Dropped, work that has not begun never does, and work that asks is told to stop.
pub(crate) async fn run<T: Send + 'static>(
    work: impl FnOnce(&Wanted) -> Result<T, ToolFault> + Send + 'static,
) -> Result<T, ToolFault> {
    let wanted = Wanted::default();
    let _caller = Caller(wanted.clone());
    let done = tokio::task::spawn_blocking(move || wanted.check().and_then(|()| work(&wanted))).await;
    done.unwrap_or_else(|error| Err(ToolFault::new(format!("the tool broke down: {error}"))))
}
