//! Work that comes to its end at once: it never becomes a task, and what it gives is taken in by the next turn.
//!
//! Only code that waits without blocking is tried, once each, and no longer than [`Sprint`] allows: then everything is
//! a task again, so that work that computes for long runs side by side and the driver goes on listening.

use std::time::Duration;

use antiphon_event::Timestamp;
use antiphon_flow::Attempt;
use antiphon_port::Fault;
use tokio::time::Instant;

use super::{Driver, WAKES_MAX};
use crate::clock::Clock;

/// How many turns may follow each other, and for how long, without a look at wishes and timers. To let others work
/// wakes another thread: after every 64 turns that was a tenth of the time of a chain.
const TURNS_MAX: u32 = 1024;
const TURNS_LAST: u64 = nanos(Duration::from_millis(1));
/// After how many of them readers are told, if nobody else is heard before: to tell them takes as long as a small turn.
const TOLD_EVERY: u32 = 64;
/// How many pieces of work of a turn are timed one by one, and how many of those that follow are timed together: to look
/// at the clock takes as long as a small piece of work.
const TIMED: u32 = 16;
const TIMED_TOGETHER: u32 = 4;
/// Of so many pieces of work or fewer the first is timed from the end of the last one: a small turn takes no time.
const FEW: usize = 4;
/// How long what the clock said is what time it is: times of events are in milliseconds.
const MOMENT_LASTS: u64 = nanos(Duration::from_micros(250));
/// How long one piece of work may take that is tried, or those that are timed together, and all of one turn.
const ONE_MAX: u64 = nanos(Duration::from_micros(100));
const ALL_MAX: u64 = nanos(Duration::from_millis(10));

/// How much may be tried before the next append. Moments are counted in nanoseconds from when it was made: most are only
/// compared with each other.
#[derive(Debug)]
pub(super) struct Sprint {
    made: Instant,
    turns: u32,
    heeded: u64,
    since: u64,
    last: u64,
    tried: u32,
    over: bool,
    /// Whether time has passed since it last looked at the clock.
    has_rested: bool,
    /// What time it was, and when that was asked.
    told: Option<(Timestamp, u64)>,
}

impl Sprint {
    pub(super) fn new() -> Self {
        Self {
            made: Instant::now(),
            turns: 0,
            heeded: 0,
            since: 0,
            last: 0,
            tried: 0,
            over: false,
            has_rested: false,
            told: None,
        }
    }

    fn now(&self) -> u64 {
        nanos(self.made.elapsed())
    }

    /// A turn begins, with so many pieces of work.
    pub(super) fn begin(&mut self, pieces: usize) {
        if self.has_rested || pieces > FEW {
            (self.last, self.has_rested) = (self.now(), false);
        }
        (self.since, self.tried, self.over) = (self.last, 0, false);
    }

    /// What time it is: as it was told shortly before, or else as the clock says.
    fn moment(&mut self, clock: &dyn Clock) -> Timestamp {
        match self.told {
            Some((at, asked)) if !self.has_rested && self.last - asked < MOMENT_LASTS => at,
            _ => {
                let at = clock.now();
                self.told = Some((at, self.last));
                at
            }
        }
    }

    /// Something was tried.
    pub(super) fn tried(&mut self) {
        self.tried += 1;
        if self.tried > TIMED && !self.tried.is_multiple_of(TIMED_TOGETHER) {
            return;
        }
        let now = self.now();
        self.over = now - self.last > ONE_MAX || now - self.since > ALL_MAX;
        self.last = now;
    }

    /// The driver has waited for something, so others want to be heard.
    pub(super) fn waited(&mut self) {
        self.turns = TURNS_MAX;
        self.rested();
    }

    /// Time has passed, and nobody knows how much.
    pub(super) fn rested(&mut self) {
        self.has_rested = true;
        self.told = None;
    }

    /// A turn ends: whether others have waited long enough.
    fn turned(&mut self) -> bool {
        self.turns += 1;
        self.turns >= TURNS_MAX || self.last - self.heeded >= TURNS_LAST
    }

    /// The same where nothing was tried, so that nobody has looked at the clock.
    fn turned_without_work(&mut self) -> bool {
        self.last = self.now();
        self.turned()
    }

    /// Others were heard.
    fn heard(&mut self) {
        let now = self.now();
        (self.turns, self.heeded, self.last) = (0, now, now);
        (self.has_rested, self.told) = (false, None);
    }
}

const fn nanos(time: Duration) -> u64 {
    time.as_nanos() as u64
}

impl Driver {
    /// Whether work may be tried before it becomes a task. What is to be cut off after some time is not.
    pub(super) fn may_try(&self, machine: usize, attempt: Attempt) -> bool {
        let flow = |machine: usize| self.tree.machines[machine].mind.as_flow().map(|flow| flow.flow());
        let timed =
            |machine| flow(machine).is_some_and(|flow| flow.settings().limits.execution_timeout.is_some());
        !self.sprint.over
            && flow(machine).is_some_and(|flow| flow.node(attempt.node).timeout.is_none())
            && !self.tree.outward(machine).any(timed)
    }

    /// Takes in what came to its end at once, and before it what was said on the way.
    pub(super) async fn take_done(&mut self) -> Result<(), Fault> {
        self.moment = Some(self.sprint.moment(&*self.parts.clock));
        self.hear(usize::MAX);
        // Mostly an end and the edge it leads to.
        self.batch.reserve(2 * self.done.len().min(WAKES_MAX));
        for _ in 0..WAKES_MAX {
            let Some((machine, attempt, result)) = self.done.pop_front() else { break };
            self.outcome(machine, attempt, result);
        }
        if self.sprint.turned() {
            return self.listen().await;
        }
        if self.sprint.turns.is_multiple_of(TOLD_EVERY) {
            self.announce();
        }
        Ok(())
    }

    /// Lets others work, and heeds who wants something, if they have waited long enough.
    pub(super) async fn listen_at_times(&mut self) -> Result<(), Fault> {
        if !self.sprint.turned_without_work() {
            return Ok(());
        }
        self.listen().await
    }

    /// Tells readers how far it is, lets others work, and heeds who wants something.
    async fn listen(&mut self) -> Result<(), Fault> {
        self.announce();
        tokio::task::yield_now().await;
        self.moment = None;
        self.run_due().await?;
        while let Ok(asked) = self.wishes.try_recv() {
            self.grant(asked).await?;
        }
        self.sprint.heard();
        Ok(())
    }
}
