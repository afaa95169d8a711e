//! Budgets of a tree of runs: what somebody wants to spend is set aside before, and settled with what it really was.

use std::collections::{HashMap, HashSet, VecDeque};

use antiphon_agent::machine::Input as Hears;
use antiphon_event::body::system::{Amounts, BudgetReserved, BudgetSettled, Usage};
use antiphon_event::{Body, ErrorCode, StopReason};
use antiphon_flow::budget::{Room, nothing};
use antiphon_flow::function::Failure;
use antiphon_flow::{Attempt, Input};
use tokio::sync::oneshot;

use crate::driver::Driver;
use crate::mind::Mind;
use crate::tree::{Machine, Reached};

/// Somebody who wants to spend something.
#[derive(Debug)]
pub(crate) struct Want {
    pub(crate) machine: usize,
    pub(crate) attempt: Attempt,
    pub(crate) amounts: Amounts,
    pub(crate) reply: oneshot::Sender<String>,
}

/// What is lent out and who waits for something.
#[derive(Debug, Default)]
pub(crate) struct Purse {
    /// Those who wait, the first one first.
    pub(crate) waiting: VecDeque<Want>,
    /// Those whose reservation is about to become durable.
    granted: Vec<(oneshot::Sender<String>, String)>,
    /// The reservations of work that is under way, by run and node.
    open: HashMap<(usize, usize), Vec<String>>,
    /// Work that has settled what it was lent and has neither ended nor asked for more: it may be about to end well.
    between: HashSet<(usize, usize)>,
    lent: u64,
}

impl Driver {
    /// How many more nodes of a run may start, as far as it and those around it say.
    pub(crate) fn steps_left(&self, machine: usize) -> Option<u64> {
        let ledgers =
            self.tree.outward(machine).filter_map(|machine| self.tree.machines[machine].ledger.as_ref());
        ledgers.filter_map(antiphon_flow::budget::Ledger::steps_left).min()
    }

    /// The flow around a run whose budget of steps is used up, if the run wants to take another.
    pub(crate) fn out_of_steps(&self, machine: usize) -> Option<usize> {
        self.tree.machines[machine].mind.as_flow().filter(|flow| flow.wants_to_start())?;
        self.tree.outward(machine).skip(1).find(|around| {
            let Machine { mind, ledger, .. } = &self.tree.machines[*around];
            let steps = ledger.as_ref().and_then(antiphon_flow::budget::Ledger::steps_left);
            steps == Some(0) && mind.as_flow().is_some_and(|flow| flow.ended().is_none())
        })
    }

    /// Somebody wants to spend something.
    pub(crate) fn wants(&mut self, want: Want) {
        self.purse.between.remove(&(want.machine, want.attempt.node));
        self.purse.waiting.push_back(want);
        self.lend();
    }

    /// Somebody settles what it was lent, or has spent something without asking.
    pub(crate) fn settles(&mut self, machine: usize, id: Option<String>, amounts: Amounts) {
        let holds = |ids: &Vec<String>| id.as_ref().is_some_and(|id| ids.contains(id));
        let place = self.purse.open.iter().find(|(_, ids)| holds(ids)).map(|(place, _)| *place);
        self.purse.between.extend(place);
        self.spent(machine, id, amounts);
    }

    /// Lends to those who wait, as far as there is room; who can never get what it wants is refused.
    pub(crate) fn lend(&mut self) {
        let mut still = VecDeque::new();
        while let Some(want) = self.purse.waiting.pop_front() {
            if !self.tree.machines[want.machine].mind.executes(want.attempt) {
                continue;
            }
            match self.room(want.machine, &want.amounts) {
                Ok(Room::Enough) => self.reserve(want),
                Ok(_) => still.push_back(want),
                Err(_) if !self.purse.between.is_empty() => still.push_back(want),
                Err((around, reason)) => self.refuse(&want, around, reason),
            }
        }
        self.purse.waiting = still;
    }

    /// Whether an amount fits into the budgets of a run and of those around it; the one that says never.
    fn room(&self, machine: usize, amounts: &Amounts) -> Result<Room, (usize, StopReason)> {
        let mut room = Room::Enough;
        for around in self.tree.outward(machine) {
            match self.tree.machines[around].ledger.as_ref().map(|ledger| ledger.room(amounts)) {
                Some(Room::None(reason)) => return Err((around, reason)),
                Some(Room::Later) => room = Room::Later,
                Some(Room::Enough) | None => {}
            }
        }
        Ok(room)
    }

    fn reserve(&mut self, want: Want) {
        self.purse.lent += 1;
        let run = self.tree.machines[want.machine].mind.run();
        let id = format!("{run}/{}:{}", self.seq, self.purse.lent);
        self.purse.open.entry((want.machine, want.attempt.node)).or_default().push(id.clone());
        let reserved = BudgetReserved { id: id.clone(), amounts: want.amounts };
        self.note(want.machine, Some(want.attempt), Body::BudgetReserved(Box::new(reserved)));
        self.purse.granted.push((want.reply, id));
    }

    /// Tells those whose reservation is durable now.
    pub(crate) fn hand_over(&mut self) {
        for (reply, id) in std::mem::take(&mut self.purse.granted) {
            if reply.send(id.clone()).is_err() {
                self.spent_nothing(id);
            }
        }
    }

    /// Whoever wanted it is gone before it was lent.
    fn spent_nothing(&mut self, id: String) {
        if let Some((machine, _)) = self.tree.held.get(&id) {
            self.spent(*machine, Some(id), nothing());
        }
    }

    /// The node fails for want of budget, and with it the run whose budget it is.
    fn refuse(&mut self, want: &Want, around: usize, reason: StopReason) {
        self.drop_task(want.machine, want.attempt.node);
        self.exhaust(want.machine, want.attempt, around, reason);
    }

    fn exhaust(&mut self, machine: usize, attempt: Attempt, around: usize, reason: StopReason) {
        let message = format!("what it needs is more than is left: {reason}");
        // Whoever goes on from the next event on has to know what is about to end, and why.
        let bound = self.tree.bound(machine, around, &reason);
        match &self.tree.machines[machine].mind {
            Mind::Flow(_) => {
                let failure = Failure::of(ErrorCode::BudgetExhausted, message);
                let failure = Failure { bound: bound.map(Box::new), ..failure };
                self.try_feed(machine, Input::Outcome { attempt, result: Err(failure) });
            }
            Mind::Agent(_) => {
                let limit = bound.map(|bound| (bound.reason, bound.around));
                self.try_tell(machine, Hears::Spent { message, limit });
                // The node whose work it is hears of it before the run is cut off.
                self.settle_one(machine);
            }
        }
        self.tree.reached.retain(|reached| reached.whose != around);
        self.limit(around, reason);
    }

    /// Ends the runs whose bounds were reached further in, as they do not know it yet.
    pub(crate) fn heed_reached(&mut self) {
        while let Some(Reached { by, whose, reason }) = self.tree.reached.pop() {
            if self.tree.machines[by].mind.as_agent().is_some() {
                // The node whose work it is hears of it before the run is cut off.
                self.settle_one(by);
            }
            self.tree.reached.retain(|reached| reached.whose != whose);
            self.limit(whose, reason);
        }
    }

    /// A run has reached a bound of its own.
    fn limit(&mut self, machine: usize, reason: StopReason) {
        match &self.tree.machines[machine].mind {
            Mind::Flow(_) => self.try_feed(machine, Input::Limit(reason)),
            Mind::Agent(_) => {
                let message = format!("more is spent than may be: {reason}");
                self.try_tell(machine, Hears::Spent { message, limit: None });
            }
        }
    }

    /// Whether an attempt may not begin because a budget is spent; it has failed then.
    pub(crate) fn is_exhausted(&mut self, machine: usize, attempt: Attempt) -> bool {
        let Some((around, reason)) = self.overspent(machine) else { return false };
        self.exhaust(machine, attempt, around, reason);
        true
    }

    /// The run, this one or one around it, that has spent more than it may.
    fn overspent(&self, machine: usize) -> Option<(usize, StopReason)> {
        let spent = |around: usize| Some((around, self.tree.machines[around].ledger.as_ref()?.overspent()?));
        self.tree.outward(machine).find_map(spent)
    }

    /// Settles a reservation, or writes down what was spent without one.
    pub(crate) fn spent(&mut self, machine: usize, id: Option<String>, amounts: Amounts) {
        if !self.is_bounded(machine) {
            return;
        }
        self.purse.lent += 1;
        let run = self.tree.machines[machine].mind.run();
        let id = id.unwrap_or_else(|| format!("{run}/{}:{}", self.seq, self.purse.lent));
        self.note(machine, None, Body::BudgetSettled(Box::new(BudgetSettled { id, amounts })));
        if let Some((around, reason)) = self.overspent(machine) {
            self.limit(around, reason);
        }
        self.lend();
    }

    /// Whether a run, or one around it, has a budget.
    pub(crate) fn is_bounded(&self, machine: usize) -> bool {
        self.outer.is_some()
            || self.tree.outward(machine).any(|machine| self.tree.machines[machine].ledger.is_some())
    }

    /// Whether a run, or one around it, has a budget in money.
    pub(crate) fn is_priced(&self, machine: usize) -> bool {
        let ledgers =
            self.tree.outward(machine).filter_map(|machine| self.tree.machines[machine].ledger.as_ref());
        self.outer.as_ref().is_some_and(|outer| outer.is_priced)
            || ledgers.into_iter().any(antiphon_flow::budget::Ledger::bounds_cost)
    }

    /// What was set aside for work that is cut off counts as spent: nobody knows better.
    pub(crate) fn forfeit(&mut self, machine: usize, node: usize) {
        // Most runs have no budget, and looking for something in a table costs something.
        if self.purse.open.is_empty() && self.purse.between.is_empty() {
            return;
        }
        for id in self.purse.open.remove(&(machine, node)).unwrap_or_default() {
            self.settle_held(id);
        }
        if self.purse.between.remove(&(machine, node)) {
            self.lend();
        }
    }

    /// The same for all that an earlier process had set aside.
    pub(crate) fn forfeit_all(&mut self) {
        for id in self.tree.held.keys().cloned().collect::<Vec<_>>() {
            self.settle_held(id);
        }
    }

    fn settle_held(&mut self, id: String) {
        if let Some((machine, amounts)) = self.tree.held.get(&id).cloned() {
            self.spent(machine, Some(id), amounts);
        }
    }

    fn note(&mut self, machine: usize, attempt: Option<Attempt>, body: Body) {
        let event = self.tree.machines[machine].mind.event(self.at(), attempt, body);
        self.tree.note(machine, &event);
        self.batch.push(event);
    }
}

/// What a model call used, as a budget counts it.
pub(crate) fn spending(usage: &Usage) -> Amounts {
    Amounts {
        tokens: Some(usage.input_tokens.saturating_add(usage.output_tokens)),
        cost_usd: usage.cost_usd,
        steps: Some(1),
        ..nothing()
    }
}
