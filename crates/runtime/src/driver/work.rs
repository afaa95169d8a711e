//! The work of nodes: started, stopped, and taken up again by a process that did not start it.

use std::collections::BTreeMap;
use std::time::Duration;

use antiphon_event::Mode;
use antiphon_flow::function::Failure;
use antiphon_flow::{Attempt, Effect, Input, Waits};
use futures_util::future::join_all;
use tokio::time::Instant;

use super::{AROUND, Driver, Due};
use crate::mind::Mind;
use crate::perform::{self, Begun};
use crate::tree::{Task, child};

/// From how many on it is looked which of those that were cut off are gone.
const CUT_OFF_MANY: usize = 64;
/// How long work that was cut off is waited for: as long as it computes without a pause it cannot hear of it.
const LET_GO_MAX: Duration = Duration::from_secs(1);

impl Driver {
    pub(super) fn perform(&mut self, machine: usize, effect: crate::mind::Effect) {
        match effect {
            crate::mind::Effect::Flow(effect) => self.perform_of_flow(machine, effect),
            crate::mind::Effect::Agent(effect) => self.perform_of_agent(machine, effect),
        }
    }

    fn perform_of_flow(&mut self, machine: usize, effect: Effect) {
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
        if !self.tree.machines[machine].mind.executes(attempt) {
            return;
        }
        self.time(machine, attempt);
        if self.begin_child(machine, attempt) || self.is_exhausted(machine, attempt) {
            return;
        }
        let may_try = self.may_try(machine, attempt);
        let begun = perform::start(self, machine, attempt, may_try);
        if may_try {
            self.sprint.tried();
        }
        match begun {
            Begun::Done(result) => self.done.push_back((machine, attempt, result)),
            Begun::Task(work) => {
                self.working += 1;
                self.tree.machines[machine].tasks.insert(attempt.node, Task::new(attempt, work));
            }
        }
    }

    /// The run that is the work of a node.
    pub(super) fn inside(&self, machine: usize, attempt: Attempt) -> Option<usize> {
        let children = &self.tree.machines[machine].children;
        // Most runs have none, and looking for one in a table costs something.
        if children.is_empty() { None } else { children.get(&(attempt.node, attempt.execution)).copied() }
    }

    /// Begins, or goes on with, the run that is the work of a node; false for other work.
    pub(super) fn begin_child(&mut self, machine: usize, attempt: Attempt) -> bool {
        if let Some(inner) =
            self.inside(machine, attempt).filter(|inner| self.tree.machines[*inner].mind.goes_on())
        {
            self.tree.machines[inner].parent = Some((machine, attempt));
            return self.begin_again(inner);
        }
        if self.is_agent(machine, attempt) {
            self.begin_agent(machine, attempt);
            return true;
        }
        let around = self.tree.machines[machine].mind.flow();
        if !around.has_run_inside(attempt.node) {
            return false;
        }
        let run = self.parts.ids.run();
        let Some(mind) = child(around, attempt, run) else { return false };
        let task = around.input(attempt.node);
        let limit = mind.flow().flow().settings().limits.execution_timeout;
        let inner = self.tree.add(mind, Some((machine, attempt)));
        match self.feed(inner, Input::Start { task, state: BTreeMap::new() }) {
            Ok(()) => self.limit_after(inner, limit),
            Err(refusal) => {
                let failure = Failure::of(refusal.code(), refusal.to_string());
                self.try_feed(machine, Input::Outcome { attempt, result: Err(failure) });
            }
        }
        true
    }

    /// Goes on with a run that is the work of a node, and may have ended in an attempt before.
    fn begin_again(&mut self, inner: usize) -> bool {
        match &self.tree.machines[inner].mind {
            Mind::Flow(flow) => {
                let limit = flow.flow().settings().limits.execution_timeout;
                self.try_feed(inner, Input::Resume);
                self.limit_after(inner, limit);
            }
            Mind::Agent(_) => self.take_up_agent(inner),
        }
        true
    }

    pub(super) fn stop(&mut self, machine: usize, attempt: Attempt) {
        self.drop_task(machine, attempt.node);
        if let Some(inner) = self.inside(machine, attempt) {
            self.ask_to_stop(inner, AROUND, &Mode::Now);
        }
    }

    pub(super) fn wind(&mut self, machine: usize, attempt: Attempt) {
        if let Some(inner) = self.inside(machine, attempt) {
            self.ask_to_stop(inner, AROUND, &Mode::Graceful);
        }
    }

    /// Asks a run inside another to stop.
    pub(crate) fn ask_to_stop(&mut self, machine: usize, by: &str, mode: &Mode) {
        let (by, mode) = (by.to_owned(), mode.clone());
        match &self.tree.machines[machine].mind {
            Mind::Flow(_) => self.try_feed(machine, Input::Cancel { by, mode }),
            Mind::Agent(_) => self.stop_agent(machine, by, mode),
        }
    }

    pub(crate) fn drop_task(&mut self, machine: usize, node: usize) {
        if let Some(task) = self.tree.machines[machine].tasks.remove(node) {
            self.cut_off(task);
            self.working -= 1;
            self.forfeit(machine, node);
        }
    }

    /// Cuts work off. It lets go of what it had, such as its processes, when it is next looked at.
    pub(super) fn cut_off(&mut self, task: Task) {
        task.work.abort();
        if self.cut_off.len() >= CUT_OFF_MANY {
            self.cut_off.retain(|work| !work.is_finished());
        }
        self.cut_off.push(task.work);
    }

    /// Cuts everything off, and waits until it has let go of what it had: with the end of the run the process may end.
    pub(super) async fn stop_tasks(&mut self) {
        let tasks: Vec<Task> =
            self.tree.machines.iter_mut().flat_map(|machine| machine.tasks.drain()).collect();
        for task in tasks {
            self.cut_off(task);
        }
        let cut_off = join_all(std::mem::take(&mut self.cut_off));
        let gone = async {
            cut_off.await;
            antiphon_process::settled().await;
        };
        if tokio::time::timeout(LET_GO_MAX, gone).await.is_err() {
            tracing::warn!("work that was cut off goes on");
        }
    }

    /// Everything that has no outcome yet is taken up again: by this process, which did not start it.
    pub(crate) fn take_up(&mut self, machine: usize) {
        if self.tree.machines[machine].mind.as_agent().is_some() {
            return self.take_up_agent(machine);
        }
        for (attempt, waits) in self.tree.machines[machine].mind.flow().open() {
            // An agent that has ended was the work of an earlier attempt.
            let machines = &self.tree.machines;
            let goes_on = |inner: usize| machines[inner].mind.goes_on() && !machines[inner].is_void;
            let inside = self.inside(machine, attempt).is_some_and(goes_on);
            match waits {
                Waits::Person(Some(at)) => {
                    let relay = self.tree.machines[machine].mind.flow().relay_of(attempt.node).cloned();
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
                Waits::Work if self.has_run_inside(machine, attempt) => {
                    self.effects.push((machine, crate::mind::Effect::Flow(Effect::Perform(attempt))));
                }
                Waits::Work => self.try_feed(machine, Input::Lost(attempt)),
            }
        }
        let limit = self.tree.machines[machine].mind.flow().flow().settings().limits.execution_timeout;
        self.limit_after(machine, limit);
        self.stir(machine);
    }

    fn has_run_inside(&self, machine: usize, attempt: Attempt) -> bool {
        let flow = self.tree.machines[machine].mind.flow();
        flow.has_run_inside(attempt.node) || self.is_agent(machine, attempt)
    }
}
