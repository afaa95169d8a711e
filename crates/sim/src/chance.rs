//! Names and dice that come from a seed.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use antiphon_event::{RunId, SessionId};
use antiphon_runtime::Ids;
use fastrand::Rng;

/// Names in order and dice from a seed; one process of the simulation.
pub(crate) struct Chance {
    process: u32,
    named: AtomicU64,
    dice: Mutex<Rng>,
}

impl Chance {
    pub(crate) fn new(seed: u64, process: u32) -> Self {
        Self {
            process,
            named: AtomicU64::new(0),
            dice: Mutex::new(Rng::with_seed(seed ^ u64::from(process))),
        }
    }

    fn name(&self) -> String {
        format!("p{}n{}", self.process, self.named.fetch_add(1, Ordering::Relaxed))
    }
}

impl Ids for Chance {
    fn run(&self) -> RunId {
        RunId::from(self.name())
    }

    fn session(&self) -> SessionId {
        SessionId::from(self.name())
    }

    fn dice(&self) -> f64 {
        self.dice.lock().expect("nobody panics while rolling").f64()
    }
}
