//! [`Gate`]: whether the code of a turn may go on.
//!
//! In: when it works, when it waits, whether anybody still wants it. Out: a word to the engine, which asks every few
//! thousand steps. Start reading at [`Gate::shut`].

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long an engine may take to come back once it should, besides the time it had, before it counts as stuck.
const PATIENCE: Duration = Duration::from_secs(2);

/// One turn's permission to work, looked at from three threads: the engine's, the caller's and the watch.
#[derive(Debug)]
pub(super) struct Gate {
    stopped: AtomicBool,
    clock: Mutex<Clock>,
}

#[derive(Debug)]
struct Clock {
    left: Duration,
    phase: Phase,
}

#[derive(Debug, Clone, Copy)]
enum Phase {
    /// Handed over and not begun.
    Queued { since: Instant },
    /// The engine is at work.
    Working { since: Instant },
    /// The engine waits for the host.
    Waiting,
    /// The time is spent, by decision and not by the clock: nothing may run.
    Shut { since: Instant },
    /// The turn is over.
    Over,
}

impl Gate {
    /// A gate for so much time at work.
    pub(super) fn new(time: Duration) -> Self {
        let clock = Clock { left: time, phase: Phase::Queued { since: Instant::now() } };
        Self { stopped: AtomicBool::new(false), clock: Mutex::new(clock) }
    }

    /// Nobody wants the turn any more.
    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Whether nobody wants the turn any more.
    pub(super) fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Whether the time is spent.
    pub(super) fn spent(&self) -> bool {
        self.clock(|clock| match clock.phase {
            Phase::Working { since } => since.elapsed() >= clock.left,
            Phase::Shut { .. } => true,
            Phase::Queued { .. } | Phase::Waiting | Phase::Over => clock.left.is_zero(),
        })
    }

    /// Whether code has to end here.
    pub(super) fn shut(&self) -> bool {
        self.stopped() || self.spent()
    }

    /// The engine begins to work, or goes on.
    pub(super) fn work(&self) {
        self.clock(|clock| clock.phase = Phase::Working { since: Instant::now() });
    }

    /// The engine waits for the host: the clock stands.
    pub(super) fn wait(&self) {
        self.clock(|clock| {
            if let Phase::Working { since } = clock.phase {
                clock.left = clock.left.saturating_sub(since.elapsed());
            }
            clock.phase = Phase::Waiting;
        });
    }

    /// Nothing that is left over may run.
    pub(super) fn close(&self) {
        self.clock(|clock| clock.phase = Phase::Shut { since: Instant::now() });
    }

    /// A little time to tidy up, for a turn that is wanted or not.
    pub(super) fn reopen(&self, time: Duration) {
        self.stopped.store(false, Ordering::Relaxed);
        self.clock(|clock| *clock = Clock { left: time, phase: Phase::Working { since: Instant::now() } });
    }

    /// The turn is over.
    pub(super) fn end(&self) {
        self.clock(|clock| clock.phase = Phase::Over);
    }

    /// Whether the turn is over.
    pub(super) fn over(&self) -> bool {
        self.clock(|clock| matches!(clock.phase, Phase::Over))
    }

    /// Whether the engine is in something that it does not come back from.
    pub(super) fn stuck(&self) -> bool {
        self.clock(|clock| match clock.phase {
            Phase::Working { since } => since.elapsed() >= 2 * clock.left + PATIENCE,
            Phase::Queued { since } | Phase::Shut { since } => since.elapsed() >= PATIENCE,
            Phase::Waiting | Phase::Over => false,
        })
    }

    fn clock<T>(&self, with: impl FnOnce(&mut Clock) -> T) -> T {
        with(&mut self.clock.lock().expect("nothing panics while it holds the clock"))
    }
}

/// Shuts the gate when the caller goes away.
#[derive(Debug)]
pub(super) struct Hold(pub(super) std::sync::Arc<Gate>);

impl Drop for Hold {
    fn drop(&mut self) {
        self.0.stop();
    }
}
