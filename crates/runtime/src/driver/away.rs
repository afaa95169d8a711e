//! Agents on branches of their own, as the driver of their caller sees them.

use antiphon_agent::machine::{Effect, Input as Hears, Returned};
use antiphon_event::body::request::RelayResolved;
use antiphon_event::{Body, CallId, Event, Json, ParentId, RelayId};
use antiphon_flow::function::Failure;
use antiphon_flow::{Attempt, Refusal};
use serde_json::json;
use tokio::sync::{mpsc, oneshot};

use super::{Driver, agent::failed};
use crate::agent::{Trip, trip};
use crate::away::{Away, Journey, Order, travel};
use crate::perform::{Mouth, Outer};
use crate::run::Standing;

/// How many orders may wait for an agent.
const ORDERS_MAX: usize = 64;

impl Driver {
    /// Sends an agent that is called to the branch it works on, or finds it there; false if that is this one. Where it
    /// works is in the journal before it begins.
    pub(super) fn send_away(&mut self, machine: usize, slot: usize, call: &CallId) -> bool {
        let run = self.parts.ids.run();
        let Some(caller) = self.agent(machine) else { return false };
        let Some(trip) = trip(caller, call, &self.branch, run) else { return false };
        if self.tree.machines[machine].away.contains_key(&slot) {
            return true;
        }
        if self.announced.insert((machine, slot)) {
            let (session, branch) = (&trip.place.session, &trip.place.branch);
            let place = Json::from(json!({"sessionId": session.as_str(), "branchId": branch.as_str()}));
            self.try_tell(machine, Hears::Progress(call.clone(), place));
            self.effects.push((machine, crate::mind::Effect::Agent(Effect::Spawn(call.clone()))));
            return true;
        }
        self.announced.remove(&(machine, slot));
        self.begin_away(machine, slot, call, trip);
        true
    }

    fn begin_away(&mut self, machine: usize, slot: usize, call: &CallId, trip: Trip) {
        let Some(within) = self.tree.machines[machine].kit.as_ref().map(|kit| kit.outfit.policy.clone())
        else {
            return;
        };
        let attempt = Attempt { node: slot, execution: 1, attempt: 1 };
        let journey = Journey {
            parts: self.parts.clone(),
            home: self.branch.clone(),
            place: trip.place,
            call: call.clone(),
            definition: trip.definition,
            origin: trip.origin,
            task: trip.task,
            within,
            grants: self.tree.grants().to_vec(),
            outer: self.outer_of(machine, attempt),
        };
        let is_taken_up = self.tree.machines[machine].taken_up;
        let (orders, received) = mpsc::channel(ORDERS_MAX);
        let mouth = Mouth::new(machine, attempt, self.wakes.clone(), false);
        let task = tokio::spawn(travel(journey, mouth, received));
        let away = Away { orders, relays: Vec::new(), waits: false, is_known: !is_taken_up, task };
        self.tree.machines[machine].away.insert(slot, away);
        self.away_working += 1;
    }

    /// Who counts what an agent on another branch spends, if somebody does.
    fn outer_of(&self, machine: usize, attempt: Attempt) -> Option<Outer> {
        if self.outer.is_some() {
            return self.outer.clone();
        }
        let outer =
            || Outer { machine, attempt, wakes: self.wakes.clone(), is_priced: self.is_priced(machine) };
        self.is_bounded(machine).then(outer)
    }

    fn away(&mut self, machine: usize, attempt: Attempt) -> Option<&mut Away> {
        self.tree.machines[machine].away.get_mut(&attempt.node)
    }

    /// What an agent on another branch comes to is what its call gives.
    pub(super) fn came_back(
        &mut self,
        machine: usize,
        attempt: Attempt,
        call: CallId,
        result: Result<Returned, Failure>,
    ) {
        let Some(away) = self.tree.machines[machine].away.remove(&attempt.node) else { return };
        self.away_working -= usize::from(!away.waits);
        self.try_tell(machine, Hears::Returned(call, result.map_err(failed)));
        // Whoever waits for budget waits until it is known whether this was the last that is needed here.
        self.settle_one(machine);
        self.forfeit(machine, attempt.node);
    }

    /// Only people can get an agent on another branch further.
    pub(super) fn away_waits(&mut self, machine: usize, attempt: Attempt) {
        let Some(away) = self.away(machine, attempt) else { return };
        away.is_known = true;
        if !std::mem::replace(&mut away.waits, true) {
            self.away_working -= 1;
            self.stir(machine);
        }
    }

    /// An agent on another branch has its answer.
    fn away_goes_on(&mut self, machine: usize, attempt: Attempt) {
        let Some(away) = self.away(machine, attempt) else { return };
        if std::mem::replace(&mut away.waits, false) {
            self.away_working += 1;
            self.tree.machines[machine].pause_told = false;
            self.unpark();
            self.stand(Standing::Working);
        }
    }

    /// What an agent on another branch asks people, or was answered, is told here too, for those who watch this one.
    pub(super) fn mirrored(&mut self, machine: usize, attempt: Attempt, mut event: Event, is_new: bool) {
        let Some(call) = self.tree.machines[machine].call_at(attempt.node).cloned() else { return };
        let Some(away) = self.away(machine, attempt) else { return };
        match &event.body {
            Body::Relay(relay) => away.relays.push(relay.id.clone()),
            Body::RelayResolved(resolved) => {
                away.relays.retain(|relay| *relay != resolved.relay_id);
                self.away_goes_on(machine, attempt);
            }
            _ => return,
        }
        if !is_new {
            return;
        }
        let Some(caller) = self.agent(machine) else { return };
        let origin = caller.origin();
        event.head.parent_id = Some(ParentId::from(call.as_str()));
        event.head.event_flow_id.clone_from(&origin.turn);
        event.head.node_id = origin.path.last().cloned();
        event.head.node_path = origin.nested.then(|| origin.path.clone());
        event.head.at = Some(self.at());
        self.batch.push(event);
    }

    /// An answer has reached an agent on another branch, or was refused there.
    pub(super) fn forwarded(
        &mut self,
        machine: usize,
        attempt: Attempt,
        result: Result<(), Refusal>,
        reply: Option<oneshot::Sender<Result<(), Refusal>>>,
    ) {
        if result.is_ok() {
            self.away_goes_on(machine, attempt);
        }
        match (reply, result) {
            // Whoever asked may be gone; what was asked for has happened.
            (Some(reply), result) => drop(reply.send(result)),
            (None, Err(why)) => self.remark(format!("a command from another process was refused: {why}")),
            (None, Ok(())) => {}
        }
    }

    /// Whether an agent on another branch asks this.
    pub(super) fn is_asked_away(&self, relay: &RelayId) -> bool {
        self.asker(relay).is_some()
    }

    fn asker(&self, relay: &RelayId) -> Option<&Away> {
        let mut aways = self.tree.machines.iter().flat_map(|machine| machine.away.values());
        aways.find(|away| away.relays.contains(relay))
    }

    /// Hands an answer to the agent on another branch that asked.
    pub(super) fn forward(&self, answer: RelayResolved, reply: Option<oneshot::Sender<Result<(), Refusal>>>) {
        if let Some(away) = self.asker(&answer.relay_id) {
            // One that has just come to its end takes no more answers; whoever gave this one hears that.
            let _ = away.orders.try_send(Order::Answer(answer, reply));
        }
    }

    /// Whether an agent on another branch may turn out to have asked this: it is still being looked for.
    pub(super) fn may_be_away(&self, relay: &RelayId) -> bool {
        let is_found = self.tree.of_relay(relay).is_some() || self.tree.relays().contains(relay);
        let is_unknown = |machine: usize| {
            let mut aways = self.tree.machines[machine].away.values();
            self.is_being_equipped(machine) || aways.any(|away| !away.is_known)
        };
        !is_found && (!self.announced.is_empty() || (0..self.tree.machines.len()).any(is_unknown))
    }

    /// Stops the agents on other branches that an agent has called.
    pub(super) fn stop_away(&mut self, machine: usize) {
        for (slot, away) in std::mem::take(&mut self.tree.machines[machine].away) {
            self.away_working -= usize::from(!away.waits);
            self.leaving.push(tokio::spawn(async move {
                let _ = away.orders.send(Order::Stop).await;
                let _ = away.task.await;
            }));
            self.forfeit(machine, slot);
        }
    }

    /// Waits for agents on other branches that were stopped, and lets go of those that wait for people.
    pub(super) async fn part(&mut self, is_broken: bool) {
        for leaving in std::mem::take(&mut self.leaving) {
            let _ = leaving.await;
        }
        for machine in &mut self.tree.machines {
            for away in std::mem::take(&mut machine.away).into_values() {
                drop(away.orders);
                if !is_broken {
                    let _ = away.task.await;
                }
            }
        }
    }
}
