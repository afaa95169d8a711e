//! What time it is, and names nobody else has: what the driver hands to the machines.

use std::time::SystemTime;

use antiphon_event::{RunId, SessionId, Timestamp};
use tokio::time::Instant;
use uuid::Uuid;

/// Tells the time.
pub trait Clock: Send + Sync + 'static {
    /// Now.
    fn now(&self) -> Timestamp;
}

/// Makes names and rolls dice.
pub trait Ids: Send + Sync + 'static {
    /// A run.
    fn run(&self) -> RunId;
    /// A session.
    fn session(&self) -> SessionId;
    /// A number from 0 up to 1.
    fn dice(&self) -> f64;
}

/// The clock of the machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_millis(since.as_millis() as i64)
            .expect("the machine's clock is between the years 1970 and 9999")
    }
}

/// A clock that starts at a given moment and goes as the tasks' own time goes, which a test may speed up.
#[derive(Debug, Clone, Copy)]
pub struct TaskClock {
    epoch: Timestamp,
    start: Instant,
}

impl TaskClock {
    /// A clock that now shows `epoch`.
    pub fn new(epoch: Timestamp) -> Self {
        Self { epoch, start: Instant::now() }
    }
}

impl Clock for TaskClock {
    fn now(&self) -> Timestamp {
        let passed = self.start.elapsed().as_millis() as i64;
        Timestamp::from_millis(self.epoch.millis() + passed)
            .expect("virtual time stays within the years it can tell")
    }
}

/// UUIDs of version 7, which sort by time.
#[derive(Debug, Clone, Copy, Default)]
pub struct UuidIds;

impl Ids for UuidIds {
    fn run(&self) -> RunId {
        RunId::from(Uuid::now_v7().to_string())
    }

    fn session(&self) -> SessionId {
        SessionId::from(Uuid::now_v7().to_string())
    }

    fn dice(&self) -> f64 {
        fastrand::f64()
    }
}
