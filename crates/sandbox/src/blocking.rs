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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::sync::oneshot;

    use super::run;

    #[tokio::test]
    async fn work_that_nobody_wants_is_told_so() {
        let (begun, has_begun) = oneshot::channel();
        let (ended, has_ended) = oneshot::channel();
        let work = run(move |wanted| {
            let _ = begun.send(());
            while !wanted.is_over() {
                std::thread::yield_now();
            }
            let _ = ended.send(());
            Ok(())
        });
        tokio::select! {
            _ = work => panic!("it ends only when it is told"),
            _ = has_begun => {}
        }
        tokio::time::timeout(Duration::from_secs(10), has_ended).await.expect("in time").expect("it ended");
    }
}
