//! The work of agents: models asked, tools called, other agents begun; and all of it stopped or taken up again.

use std::sync::Arc;
use std::time::Duration;

use antiphon_agent::Class;
use antiphon_agent::machine::{
    Agent, Effect, Failure as Failed, Input as Hears, Now as Moment, Open, Returned, World,
};
use antiphon_agent::permission::Subject;
use antiphon_event::{CallId, ErrorCode, Json, Mode};
use antiphon_flow::function::{Failure, Reply};
use antiphon_flow::{Attempt, Input, Work};
use antiphon_port::Reach;
use tokio::time::Instant;

use super::{AROUND, Driver, Due, Wake};
use crate::agent::{of_call, of_node, own_harness};
use crate::mind::{MODEL, Mind};
use crate::model::{self, Answered};
use crate::outfit::Kit;
use crate::perform::Mouth;
use crate::tool;
use crate::tree::Task;

impl Driver {
    pub(super) fn perform_of_agent(&mut self, machine: usize, effect: Effect) {
        match effect {
            Effect::Ask => {
                if let Some(call) = self.agent(machine).map(Agent::model_call) {
                    self.ask_model(machine, call);
                }
            }
            Effect::Wait(millis) => self.ask_later(machine, millis),
            Effect::Run(call) => self.run_tool(machine, &call),
            Effect::Spawn(call) => self.spawn(machine, &call),
            Effect::Evaluate(code) => self.evaluate(machine, &code),
            Effect::Tell(call) => self.tell_code(machine, &call),
            Effect::Watch(relay, at) => self.watch(machine, relay, at),
            Effect::Keep(rule) => {
                if let Some(Err(why)) = self.parts.outfitter.as_ref().map(|outfitter| outfitter.keep(&rule)) {
                    tracing::warn!(why, "the project would not keep a rule");
                }
            }
            Effect::Stop => self.stop_all(machine),
        }
    }

    pub(super) fn agent(&self, machine: usize) -> Option<&Agent> {
        self.tree.machines[machine].mind.as_agent()
    }

    /// Whether the work of a node is an agent that this driver runs itself.
    pub(super) fn is_agent(&self, machine: usize, attempt: Attempt) -> bool {
        let parts = &self.parts;
        match &self.tree.machines[machine].mind.flow().flow().node(attempt.node).work {
            Work::Agent(node) => {
                let own =
                    own_harness(&node.harness).is_some() && !parts.harnesses.contains_key(&node.harness);
                own && parts.stand_in.is_none() && parts.outfitter.is_some()
            }
            _ => false,
        }
    }

    /// Begins the agent that is the work of a node.
    pub(super) fn begin_agent(&mut self, machine: usize, attempt: Attempt) {
        if self.is_exhausted(machine, attempt) {
            return;
        }
        match of_node(&self.tree, machine, attempt, self.parts.ids.run()) {
            Ok(mind) => self.add_agent(mind, machine, attempt),
            Err(why) => {
                let result = Err(Failure::new(why));
                self.try_feed(machine, Input::Outcome { attempt, result });
            }
        }
    }

    /// Begins the agent that another one calls.
    fn spawn(&mut self, machine: usize, call: &CallId) {
        if self.agent(machine).and_then(|agent| agent.running(call)).is_none() {
            return;
        }
        let slot = self.tree.machines[machine].slot(call);
        if self.send_away(machine, slot, call) {
            return;
        }
        let attempt = Attempt { node: slot, execution: 1, attempt: 1 };
        if let Some(inner) = self.inside(machine, attempt) {
            return self.take_up_agent(inner);
        }
        let run = self.parts.ids.run();
        let caller = self.agent(machine).expect("it was just looked at");
        match of_call(caller, call, run) {
            Ok(mind) => self.add_agent(mind, machine, attempt),
            Err(message) => {
                let failed = Failed { code: ErrorCode::Failed, message };
                self.try_tell(machine, Hears::Returned(call.clone(), Err(failed)));
            }
        }
    }

    fn add_agent(&mut self, mind: Mind, machine: usize, attempt: Attempt) {
        let inner = self.tree.add(mind, Some((machine, attempt)));
        self.equip(inner);
    }

    /// Gets an agent what it needs; it goes on when that is there.
    fn equip(&mut self, machine: usize) {
        let Some(outfitter) = self.parts.outfitter.clone() else { return };
        let Some(agent) = self.agent(machine) else { return };
        if self.tree.machines[machine].tasks.get(MODEL).is_some() {
            return;
        }
        let caller = match self.caller(machine).map(|around| &self.tree.machines[around].kit) {
            // It may do no more than its caller, so what that may do comes first; its caller then takes it up.
            Some(None) => return,
            Some(Some(kit)) => Some(kit.outfit.policy.clone()),
            None => None,
        };
        let outfitting = outfitter.outfit(Arc::clone(agent.definition()), caller);
        let wakes = self.wakes.clone();
        let work = tokio::spawn(async move {
            let kit = outfitting.await;
            let _ = wakes.send(Wake::Equipped(machine, kit)).await;
        });
        self.working += 1;
        let attempt = Attempt { node: MODEL, execution: 0, attempt: 1 };
        self.tree.machines[machine].tasks.insert(MODEL, Task::new(attempt, work));
    }

    /// Whether an agent, or the one that called it, waits for what it needs.
    pub(super) fn is_being_equipped(&self, machine: usize) -> bool {
        let waits = |machine: usize| {
            let inner = &self.tree.machines[machine];
            inner.mind.as_agent().is_some() && inner.kit.is_none() && inner.tasks.get(MODEL).is_some()
        };
        self.tree.machines[machine].kit.is_none() && self.tree.outward(machine).any(waits)
    }

    /// The agent that called an agent, if one did.
    fn caller(&self, machine: usize) -> Option<usize> {
        let (around, _) = self.tree.machines[machine].parent?;
        self.agent(around).map(|_| around)
    }

    pub(super) fn equipped(&mut self, machine: usize, kit: Result<Kit, String>) {
        if !self.has_task(machine, Attempt { node: MODEL, execution: 0, attempt: 1 }) {
            return;
        }
        self.end_task(machine, MODEL);
        let kit = match kit {
            Ok(kit) => kit,
            Err(why) => return self.not_equipped(machine, why),
        };
        let inner = &mut self.tree.machines[machine];
        inner.equip(kit, self.parts.outfitter.as_deref());
        if inner.mind.has_started() {
            return self.take_up_agent(machine);
        }
        self.try_tell(machine, Hears::Start);
        // It may be one agent too many.
        self.is_exhausted(machine, Attempt { node: MODEL, execution: 0, attempt: 1 });
    }

    fn not_equipped(&mut self, machine: usize, why: String) {
        let message = format!("the agent cannot begin: {why}");
        match self.tree.machines[machine].parent {
            Some((around, attempt)) => match &self.tree.machines[around].mind {
                Mind::Flow(_) => {
                    let result = Err(Failure::new(message));
                    self.try_feed(around, Input::Outcome { attempt, result });
                }
                Mind::Agent(_) => self.called_agent_ended(around, attempt, Err(Failure::new(message))),
            },
            None => unreachable!("a root is equipped before it is driven"),
        }
    }

    /// A task that ended by itself.
    pub(super) fn end_task(&mut self, machine: usize, slot: usize) {
        if self.tree.machines[machine].tasks.remove(slot).is_some() {
            self.working -= 1;
        }
    }

    /// Asks the model of an agent, unless something else came between.
    pub(super) fn ask_model(&mut self, machine: usize, call: u32) {
        let attempt = Attempt { node: MODEL, execution: call, attempt: 1 };
        let is_earlier = |task: &Task| (1..call).contains(&task.attempt.execution);
        if self.tree.machines[machine].tasks.get(MODEL).is_some_and(is_earlier) {
            // It has said nothing, and somebody said something that it is to hear.
            self.drop_task(machine, MODEL);
        }
        let inner = &self.tree.machines[machine];
        if !inner.mind.executes(attempt)
            || inner.tasks.get(MODEL).is_some()
            || self.is_exhausted(machine, attempt)
        {
            return;
        }
        let inner = &mut self.tree.machines[machine];
        let (Some(agent), Some(kit)) = (inner.mind.as_agent_mut(), &inner.kit) else { return };
        let (model, next) = (Arc::clone(&kit.model), agent.next_ask());
        let mouth = Mouth::new(machine, attempt, self.wakes.clone(), self.is_bounded(machine))
            .drawing_on(self.outer.clone());
        let work = model::start(model, next, mouth, self.is_priced(machine));
        self.working += 1;
        self.tree.machines[machine].tasks.insert(MODEL, Task::new(attempt, work));
    }

    fn ask_later(&mut self, machine: usize, millis: u64) {
        let Some(call) = self.agent(machine).map(Agent::model_call) else { return };
        self.delayed += 1;
        self.timers.set(Instant::now() + Duration::from_millis(millis), Due::Ask(machine, call));
    }

    pub(super) fn answered(&mut self, machine: usize, attempt: Attempt, answered: Answered) {
        if !self.has_task(machine, attempt) {
            return;
        }
        self.end_task(machine, attempt.node);
        let input = match answered {
            Answered::Step(Ok(replied)) => Hears::Replied(replied),
            Answered::Step(Err(fault)) => Hears::Failed(fault),
            Answered::Summary(result) => Hears::Summarized(result),
        };
        self.try_tell(machine, input);
        // Whoever waits for budget waits until it is known whether this was the last that is needed here.
        self.settle_one(machine);
        self.forfeit(machine, attempt.node);
    }

    fn run_tool(&mut self, machine: usize, call: &CallId) {
        let slot = self.tree.machines[machine].slot(call);
        let inner = &self.tree.machines[machine];
        let (Some(agent), Some(kit)) = (inner.mind.as_agent(), &inner.kit) else { return };
        let Some(running) = agent.running(call).filter(|_| inner.tasks.get(slot).is_none()) else { return };
        let Some(tool) = kit.tools.get(&running.name).cloned() else {
            let failed =
                Failed { code: ErrorCode::Failed, message: format!("there is no tool `{}`", running.name) };
            return self.try_tell(machine, Hears::Returned(call.clone(), Err(failed)));
        };
        let attempt = Attempt { node: slot, execution: 1, attempt: 1 };
        let wanted = tool::Wanted {
            tool,
            input: running.input.clone(),
            call: call.clone(),
            key: self.key(call),
            timeout: Duration::from_millis(agent.definition().limits.tool_timeout_ms),
            reach: Reach::new(agent.reach(running, kit)),
        };
        let mouth = Mouth::new(machine, attempt, self.wakes.clone(), false);
        let work = tool::start(wanted, mouth);
        self.working += 1;
        self.tree.machines[machine].tasks.insert(slot, Task::new(attempt, work));
    }

    /// The same for every attempt at a call, and another on another branch.
    fn key(&self, call: &CallId) -> Arc<str> {
        match self.branch.branch.as_str() {
            "main" => call.as_str().into(),
            branch => format!("{branch}/{call}").into(),
        }
    }

    pub(super) fn returned(
        &mut self,
        machine: usize,
        attempt: Attempt,
        call: CallId,
        result: Result<Returned, Failure>,
    ) {
        if self.has_task(machine, attempt) {
            self.end_task(machine, attempt.node);
            self.try_tell(machine, Hears::Returned(call, result.map_err(failed)));
        }
    }

    /// What an agent comes to is what its call gives.
    pub(super) fn called_agent_ended(
        &mut self,
        machine: usize,
        attempt: Attempt,
        result: Result<Reply, Failure>,
    ) {
        let Some(call) = self.tree.machines[machine].call_at(attempt.node).cloned() else { return };
        let called = self.inside(machine, attempt).and_then(|inner| self.agent(inner));
        let provenance = called.and_then(Agent::provenance);
        let result = result.map(|reply| Returned { output: reply.output, provenance });
        self.try_tell(machine, Hears::Returned(call, result.map_err(failed)));
    }

    /// The runs that an effect of the run around them stops.
    pub(super) fn inside_of(&self, machine: usize, effect: &crate::mind::Effect) -> Vec<usize> {
        match effect {
            crate::mind::Effect::Flow(antiphon_flow::Effect::Stop(attempt)) => {
                self.inside(machine, *attempt).into_iter().collect()
            }
            crate::mind::Effect::Agent(Effect::Stop) => {
                self.tree.machines[machine].children.values().copied().collect()
            }
            crate::mind::Effect::Flow(_) | crate::mind::Effect::Agent(_) => Vec::new(),
        }
    }

    /// Stops all that an agent has under way, and the agents it called.
    fn stop_all(&mut self, machine: usize) {
        for task in self.tree.machines[machine].tasks.drain().collect::<Vec<_>>() {
            self.working -= 1;
            self.forfeit(machine, task.attempt.node);
            self.cut_off(task);
        }
        self.close_code(machine);
        self.stop_away(machine);
        let inside: Vec<usize> = self.tree.machines[machine].children.values().copied().collect();
        for inner in inside {
            if !self.tree.machines[inner].mind.has_ended() {
                self.stop_agent(inner, AROUND.to_owned(), Mode::Now);
            }
        }
    }

    /// Stops an agent; if at once, it has ended then.
    pub(crate) fn stop_agent(&mut self, machine: usize, by: String, mode: Mode) {
        let at_once = mode == Mode::Now;
        self.ask_agent_to_stop(machine, by, mode);
        if at_once {
            self.see_off(machine);
        }
    }

    fn ask_agent_to_stop(&mut self, machine: usize, by: String, mode: Mode) {
        let inner = &self.tree.machines[machine];
        match (&inner.mind, &inner.kit) {
            (Mind::Agent(agent), None) if agent.started() => {
                // Nothing else is decided of it yet.
                let now = Moment { at: self.parts.clock.now(), dice: 0.0, world: &Nowhere };
                if let Ok(events) = agent.decide(Hears::Cancel { by, mode }, now) {
                    let from = self.batch.len();
                    self.batch.extend(events);
                    self.take(machine, from);
                    self.stir(machine);
                }
            }
            (Mind::Agent(agent), Some(_)) if agent.started() => {
                self.try_tell(machine, Hears::Cancel { by, mode });
            }
            (Mind::Agent(_) | Mind::Flow(_), _) => self.stop_all(machine),
        }
    }

    /// Goes on with an agent that this process did not begin.
    pub(super) fn take_up_agent(&mut self, machine: usize) {
        if self.tree.machines[machine].mind.has_ended() {
            return self.stir(machine);
        }
        if self.tree.machines[machine].kit.is_none() {
            return self.equip(machine);
        }
        if !self.tree.machines[machine].mind.has_started() {
            return self.try_tell(machine, Hears::Start);
        }
        if !std::mem::replace(&mut self.tree.machines[machine].taken_up, true) {
            self.try_tell(machine, Hears::Resume);
        }
        for open in self.agent(machine).map(Agent::open).unwrap_or_default() {
            match open {
                Open::Ask => self.effects.push((machine, crate::mind::Effect::Agent(Effect::Ask))),
                Open::Wait(millis) => self.ask_later(machine, millis),
                Open::Watch(relay, at) => self.watch(machine, relay, at),
                Open::Agent(call) => {
                    self.effects.push((machine, crate::mind::Effect::Agent(Effect::Spawn(call))));
                }
                Open::Call(call) => self.lost(machine, call),
                Open::Code(code) => {
                    self.effects.push((machine, crate::mind::Effect::Agent(Effect::Evaluate(code))));
                }
            }
        }
        self.stir(machine);
    }

    /// Nobody knows how a call ended: it is made again if that is safe, else a person is asked.
    fn lost(&mut self, machine: usize, call: CallId) {
        let class = self.agent(machine).and_then(|agent| {
            let name = &agent.running(&call)?.name;
            agent.outfit().spec(name).map(|spec| spec.class)
        });
        if class.is_some_and(Class::is_repeatable) {
            self.effects.push((machine, crate::mind::Effect::Agent(Effect::Run(call))));
        } else {
            self.try_tell(machine, Hears::Lost(call));
        }
    }
}

/// Where no tool is at hand.
pub(super) struct Nowhere;

impl World for Nowhere {
    fn subjects(&self, _tool: &str, _input: &Json) -> Vec<Subject> {
        Vec::new()
    }
}

pub(super) fn failed(failure: Failure) -> Failed {
    Failed { code: failure.code, message: failure.message }
}
