//! The code of agents: run, its calls made for it, and its outcome told to the agent.

use antiphon_agent::machine::{Input as Hears, Recall};
use antiphon_event::{CallId, ReplId, StreamName};
use antiphon_flow::Attempt;

use super::Driver;
use crate::code::{self, Asking, Evaluated, Evaluation};
use crate::perform::Mouth;
use crate::tree::Task;

impl Driver {
    /// Runs the code that an agent has under way.
    pub(super) fn evaluate(&mut self, machine: usize, id: &ReplId) {
        let slot = self.tree.machines[machine].slot(&CallId::from(id.as_str()));
        let inner = &mut self.tree.machines[machine];
        if inner.tasks.get(slot).is_some() {
            return;
        }
        let Some(agent) =
            inner.mind.as_agent().filter(|agent| agent.code().is_some_and(|code| code.id == *id))
        else {
            return;
        };
        let sandbox = inner.kit.as_ref().and_then(|kit| kit.sandbox.clone());
        let Some(evaluation) = Evaluation::new(agent, inner.session.take(), sandbox) else { return };
        let attempt = Attempt { node: slot, execution: 1, attempt: 1 };
        let work = code::start(evaluation, Mouth::new(machine, attempt, self.wakes.clone(), false));
        self.working += 1;
        self.codes.push((machine, slot));
        self.tree.machines[machine].tasks.insert(slot, Task::new(attempt, work));
    }

    /// How much code is under way that only waits for what it called: that is counted by itself, or is up to people.
    pub(super) fn codes_waiting(&mut self) -> usize {
        let machines = &self.tree.machines;
        self.codes.retain(|(machine, slot)| machines[*machine].tasks.get(*slot).is_some());
        let waits = |(machine, _): &&(usize, usize)| {
            machines[*machine].mind.as_agent().is_some_and(antiphon_agent::Agent::code_waits)
        };
        self.codes.iter().filter(waits).count()
    }

    fn code_at(&self, machine: usize, attempt: Attempt) -> Option<ReplId> {
        let known = self.has_task(machine, attempt);
        let id = self.tree.machines[machine].call_at(attempt.node).filter(|_| known)?;
        Some(ReplId::from(id.as_str()))
    }

    pub(super) fn printed(&mut self, machine: usize, attempt: Attempt, chunks: Vec<(StreamName, String)>) {
        if let Some(code) = self.code_at(machine, attempt) {
            self.try_tell(machine, Hears::Printed(code, chunks));
        }
    }

    /// Makes a call for code, or gives it the answer that the same call had before.
    pub(super) fn called(&mut self, machine: usize, attempt: Attempt, asking: Asking) {
        let Some(code) = self.code_at(machine, attempt) else { return };
        let (call, name, input) = asking.call(&code);
        let Some(agent) = self.agent(machine) else { return };
        // Whoever asked may be gone by now: code that has ended takes no answers.
        match agent.recall(&call, &input) {
            Recall::Given(given) => {
                let _ = asking.reply.send(given);
            }
            Recall::Other => {
                let why = "when this code ran before its process died, it made another call here".to_owned();
                let _ = asking.reply.send(Err(why));
            }
            Recall::Open => {
                self.tree.machines[machine].asking.insert(call, asking.reply);
            }
            Recall::New => {
                self.tree.machines[machine].asking.insert(call.clone(), asking.reply);
                self.try_tell(machine, Hears::Called { code, call, name: name.to_owned(), input });
            }
        }
    }

    /// Tells code what a call of it gave.
    pub(super) fn tell_code(&mut self, machine: usize, call: &CallId) {
        let given = self.agent(machine).and_then(|agent| agent.told(call));
        if let (Some(given), Some(reply)) = (given, self.tree.machines[machine].asking.remove(call)) {
            let _ = reply.send(given);
        }
    }

    pub(super) fn evaluated(&mut self, machine: usize, attempt: Attempt, evaluated: Evaluated) {
        let Some(code) = self.code_at(machine, attempt) else { return };
        self.end_task(machine, attempt.node);
        self.tree.machines[machine].session = evaluated.session;
        self.try_tell(machine, Hears::Evaluated(code, evaluated.ran));
    }

    /// No code waits for anything any more; a run that has ended needs no session.
    pub(super) fn close_code(&mut self, machine: usize) {
        let inner = &mut self.tree.machines[machine];
        inner.asking.clear();
        if inner.mind.has_ended() {
            inner.session = None;
        }
    }
}
