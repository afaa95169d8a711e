//! The work of nodes: started, stopped, and taken up again by a process that did not start it.

use std::collections::BTreeMap;
use std::time::Duration;

use antiphon_event::Mode;
use antiphon_flow::function::Failure;
use antiphon_flow::{Attempt, Effect, Input, Waits};
use tokio::time::Instant;

use super::{Driver, Due};
use crate::perform;
use crate::tree::{Task, child};

impl Driver {
    pub(super) fn perform(&mut self, machine: usize, effect: Effect) {
        match effect {
            Effect::Perform(attempt) => self.begin(machine, attempt),
            Effect::Wait(attempt, millis) => {
                self.delayed += 1;
                self.drop_task(machine, attempt.node);
                let at = Instant::now() + Duration::from_millis(millis);
                self.timers.set(at, Due::Retry(machine, attempt));
            }
            Effect::Watch(relay, at) => self.watch(machine, relay, at),
            Effect::Stop(attempt) => self.stop(machine, attempt),
            Effect::Wind(attempt) => self.wind(machine, attempt),
        }
    }

    /// Starts the work of a node.
    pub(super) fn begin(&mut self, machine: usize, attempt: Attempt) {
        let scheduler = &self.tree.machines[machine].scheduler;
        if scheduler.executing(attempt).is_none() {
            return;
        }
        self.time(machine, attempt);
        if self.begin_child(machine, attempt) || self.is_exhausted(machine, attempt) {
            return;
        }
        self.working += 1;
        let abort = perform::start(self, machine, attempt);
        self.tree.machines[machine].tasks.insert(attempt.node, Task { attempt, abort });
    }

    /// The run that is the work of a node.
    pub(super) fn inside(&self, machine: usize, attempt: Attempt) -> Option<usize> {
        self.tree.machines[machine].children.get(&(attempt.node, attempt.execution)).copied()
    }

    /// Begins, or goes on with, the run that is the work of a node; false for other work.
    pub(super) fn begin_child(&mut self, machine: usize, attempt: Attempt) -> bool {
        if let Some(inner) = self.inside(machine, attempt) {
            self.tree.machines[inner].parent = Some((machine, attempt));
            self.try_feed(inner, Input::Resume);
            let limit = self.tree.machines[inner].scheduler.flow().settings().limits.execution_timeout;
            self.limit_after(inner, limit);
            return true;
        }
        let run = self.parts.ids.run();
        let around = &self.tree.machines[machine].scheduler;
        let Some(scheduler) = child(around, attempt, run) else { return false };
        let task = around.input(attempt.node);
        let limit = scheduler.flow().settings().limits.execution_timeout;
        let inner = self.tree.add(scheduler, Some((machine, attempt)));
        match self.feed(inner, Input::Start { task, state: BTreeMap::new() }) {
            Ok(()) => self.limit_after(inner, limit),
            Err(refusal) => {
                let failure = Failure::new(refusal.to_string());
                self.try_feed(machine, Input::Outcome { attempt, result: Err(failure) });
            }
        }
        true
    }

    pub(super) fn stop(&mut self, machine: usize, attempt: Attempt) {
        self.drop_task(machine, attempt.node);
        if let Some(inner) = self.inside(machine, attempt) {
            self.try_feed(inner, Input::Cancel { by: "run".to_owned(), mode: Mode::Now });
        }
    }

    pub(super) fn wind(&mut self, machine: usize, attempt: Attempt) {
        if let Some(inner) = self.inside(machine, attempt) {
            self.try_feed(inner, Input::Cancel { by: "run".to_owned(), mode: Mode::Graceful });
        }
    }

    pub(crate) fn drop_task(&mut self, machine: usize, node: usize) {
        if let Some(task) = self.tree.machines[machine].tasks.remove(node) {
            task.abort.abort();
            self.working -= 1;
            self.forfeit(machine, node);
        }
    }

    pub(super) fn stop_tasks(&mut self) {
        for machine in &mut self.tree.machines {
            for task in machine.tasks.drain() {
                task.abort.abort();
            }
        }
    }

    /// Everything that has no outcome yet is taken up again: by this process, which did not start it.
    pub(crate) fn take_up(&mut self, machine: usize) {
        for (attempt, waits) in self.tree.machines[machine].scheduler.open() {
            let inside = self.inside(machine, attempt).is_some();
            match waits {
                Waits::Person(Some(at)) => {
                    let relay = self.tree.machines[machine].scheduler.relay_of(attempt.node).cloned();
                    if let Some(relay) = relay {
                        self.watch(machine, relay, at);
                    }
                }
                Waits::Person(None) | Waits::Fallback => {}
                Waits::Delay(millis) => {
                    self.delayed += 1;
                    let at = Instant::now() + Duration::from_millis(millis);
                    self.timers.set(at, Due::Retry(machine, attempt));
                }
                Waits::Work if inside => self.time(machine, attempt),
                Waits::Work if self.tree.machines[machine].scheduler.has_run_inside(attempt.node) => {
                    self.effects.push((machine, Effect::Perform(attempt)));
                }
                Waits::Work => self.try_feed(machine, Input::Lost(attempt)),
            }
        }
        let limit = self.tree.machines[machine].scheduler.flow().settings().limits.execution_timeout;
        self.limit_after(machine, limit);
        self.stir(machine);
    }
}
