//! What is due at some moment: retries, answers, and the ends of patience.

use std::time::Duration;

use antiphon_agent::machine::Input as Hears;
use antiphon_event::{RelayId, StopReason, Timestamp};
use antiphon_flow::{Attempt, Input};
use tokio::time::Instant;

use super::{Driver, Due};
use crate::mind::Mind;
use crate::tree::Began;

impl Driver {
    pub(super) fn watch(&mut self, machine: usize, relay: RelayId, at: Timestamp) {
        let left = at.millis().saturating_sub(self.parts.clock.now().millis()).max(0) as u64;
        self.timers.set(Instant::now() + Duration::from_millis(left), Due::Expiry(machine, relay));
    }

    /// Sees to it that an attempt does not take longer than it may.
    pub(super) fn time(&mut self, machine: usize, attempt: Attempt) {
        let Some(timeout) = self.tree.machines[machine].mind.flow().flow().node(attempt.node).timeout else {
            return;
        };
        if let Some(inner) = self.inside(machine, attempt) {
            let worked = self.tree.machines[inner].mind.worked_until(self.parts.clock.now());
            self.tree.machines[inner].worked_before_ms = worked;
        }
        self.timers.set(Instant::now() + timeout, Due::Overrun(machine, attempt));
    }

    /// Sees to it that a run does not work longer than it may. One that has no time left does not begin again.
    pub(crate) fn limit_after(&mut self, machine: usize, limit: Option<Duration>) {
        let Some(limit) = limit else { return };
        let worked = Duration::from_millis(self.tree.machines[machine].mind.flow().worked_ms());
        let left = limit.saturating_sub(worked);
        if left.is_zero() {
            self.overtime(machine);
        } else {
            self.timers.set(Instant::now() + left, Due::Limit(machine));
        }
    }

    pub(super) fn due(&mut self, due: Due) {
        match due {
            Due::Overrun(machine, attempt) => self.overrun(machine, attempt),
            Due::Retry(machine, attempt) => {
                self.delayed -= 1;
                self.overdue.push_back((machine, attempt));
                self.stir(machine);
            }
            Due::Expiry(machine, relay) => match &self.tree.machines[machine].mind {
                Mind::Flow(_) => self.try_feed(machine, Input::Expired(relay)),
                Mind::Agent(_) => self.try_tell(machine, Hears::Expired(relay)),
            },
            Due::Ask(machine, call) => {
                self.delayed -= 1;
                self.ask_model(machine, call);
            }
            Due::Limit(machine) => self.overtime(machine),
        }
    }

    /// Lets the next attempt that a run has waited for begin if there is room for it, before anything else starts there;
    /// whether one did.
    pub(super) fn try_again(&mut self, machine: usize) -> bool {
        let Some(place) = self.overdue.iter().position(|(of, _)| *of == machine) else { return false };
        let flow = self.tree.machines[machine].mind.flow();
        if !flow.has_room() && flow.ended().is_none() {
            return false;
        }
        let (_, attempt) = self.overdue.remove(place).expect("it was just found");
        self.try_feed(machine, Input::Due(attempt));
        true
    }

    /// Cuts an attempt off whose time is over; time that the run inside it did not work does not count.
    pub(super) fn overrun(&mut self, machine: usize, attempt: Attempt) {
        let scheduler = self.tree.machines[machine].mind.flow();
        if scheduler.executing_inside(attempt).is_none() {
            return;
        }
        let timeout = scheduler.flow().node(attempt.node).timeout;
        if let Some(left) = timeout.and_then(|timeout| self.left_in_line(machine, attempt, timeout)) {
            return self.timers.set(Instant::now() + left, Due::Overrun(machine, attempt));
        }
        if let Some((inner, timeout)) = self.inside(machine, attempt).zip(timeout) {
            let inner = &self.tree.machines[inner];
            let worked = inner.mind.worked_until(self.parts.clock.now());
            let worked = Duration::from_millis(worked.saturating_sub(inner.worked_before_ms));
            let left = timeout.saturating_sub(worked);
            if !left.is_zero() {
                return self.defer(inner.mind.is_at_work(), left, Due::Overrun(machine, attempt));
            }
        }
        self.try_feed(machine, Input::Timeout(attempt));
    }

    /// How much of its time work has left at least that had to wait for a place.
    fn left_in_line(&mut self, machine: usize, attempt: Attempt, timeout: Duration) -> Option<Duration> {
        match self.tree.machines[machine].tasks.of(attempt)?.began {
            Began::AtOnce => None,
            Began::InLine => Some(timeout),
            Began::At(moment) => timeout.checked_sub(moment.elapsed()).filter(|left| !left.is_zero()),
        }
    }

    /// Looks again when so much time more can have passed: at the earliest when a run that waits for people goes on.
    pub(super) fn defer(&mut self, at_work: bool, left: Duration, due: Due) {
        if at_work {
            self.timers.set(Instant::now() + left, due);
        } else {
            self.parked.push(due);
        }
    }

    /// Cuts a run off whose time is over; time it did not work does not count.
    pub(super) fn overtime(&mut self, machine: usize) {
        let scheduler = self.tree.machines[machine].mind.flow();
        let Some(limit) = scheduler.flow().settings().limits.execution_timeout else { return };
        if scheduler.ended().is_some() {
            return;
        }
        let worked = Duration::from_millis(scheduler.worked_until(self.parts.clock.now()));
        let left = limit.saturating_sub(worked);
        if left.is_zero() {
            self.try_feed(machine, Input::Limit(StopReason::ExecutionTimeout));
        } else {
            self.defer(scheduler.at_work(), left, Due::Limit(machine));
        }
    }
}
