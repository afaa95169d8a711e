//! [`Ledger`]: what a run and all runs inside it may spend, have set aside and have spent.
//!
//! In: what somebody wants to spend. Out: whether that fits. A fold of `budget_reserved`, `budget_settled` and
//! `node_start` events; it decides nothing by itself and forgets nothing.

use std::collections::BTreeMap;

use antiphon_event::body::system::Amounts;
use antiphon_event::{Body, NodeType, StopReason};
use serde::{Deserialize, Serialize};
use serde_json::Map;

use crate::definition::Limits;

/// What a run and all runs inside it may spend, have set aside and have spent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Ledger {
    limits: Sum,
    used: Sum,
    held: BTreeMap<String, Sum>,
}

/// Whether an amount fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Room {
    /// It does.
    Enough,
    /// It would if what others hold turns out not to be needed.
    Later,
    /// It never will.
    None(StopReason),
}

/// Amounts of each kind; as a limit, one that is absent bounds nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
struct Sum {
    tokens: Option<u64>,
    /// Money is counted in billionths of a dollar, so that sums are exact.
    cost: Option<u64>,
    steps: Option<u64>,
    agents: Option<u64>,
}

impl Sum {
    fn of(amounts: &Amounts) -> Self {
        Self {
            tokens: amounts.tokens,
            cost: amounts.cost_usd.map(nanodollars),
            steps: amounts.steps,
            agents: amounts.agents,
        }
    }

    fn plus(self, other: Self) -> Self {
        let add = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or(0).saturating_add(b.unwrap_or(0))),
        };
        Self {
            tokens: add(self.tokens, other.tokens),
            cost: add(self.cost, other.cost),
            steps: add(self.steps, other.steps),
            agents: add(self.agents, other.agents),
        }
    }

    /// The first kind of which there is more than the limit allows.
    fn over(self, limits: Self) -> Option<StopReason> {
        let rows = [
            (self.tokens, limits.tokens, StopReason::BudgetTokens),
            (self.cost, limits.cost, StopReason::BudgetCost),
            (self.steps, limits.steps, StopReason::BudgetSteps),
            (self.agents, limits.agents, StopReason::BudgetAgents),
        ];
        let over =
            |used: Option<u64>, limit: Option<u64>| limit.is_some_and(|limit| used.unwrap_or(0) > limit);
        rows.into_iter().find(|(used, limit, _)| over(*used, *limit)).map(|(_, _, reason)| reason)
    }
}

/// A price that is no number, or less than nothing, costs nothing; the smallest part is rounded up.
fn nanodollars(dollars: f64) -> u64 {
    if dollars.is_finite() && dollars > 0.0 { (dollars * 1e9).ceil() as u64 } else { 0 }
}

impl Ledger {
    /// The ledger of a run with these limits; `None` if they bound no spending.
    pub fn new(limits: &Limits) -> Option<Self> {
        let limits = Sum {
            tokens: limits.max_tokens,
            cost: limits.max_cost_usd.map(nanodollars),
            steps: limits.max_steps,
            agents: limits.max_agents,
        };
        (limits != Sum::default()).then(|| Self { limits, ..Self::default() })
    }

    /// Whether this much more fits beside what is spent and set aside.
    pub fn room(&self, amounts: &Amounts) -> Room {
        let wanted = self.used.plus(Sum::of(amounts));
        if let Some(reason) = wanted.over(self.limits) {
            return Room::None(reason);
        }
        let held = self.held.values().fold(Sum::default(), |sum, held| sum.plus(*held));
        if wanted.plus(held).over(self.limits).is_some() { Room::Later } else { Room::Enough }
    }

    /// The limit that what was really spent has gone beyond.
    pub fn overspent(&self) -> Option<StopReason> {
        self.used.over(self.limits)
    }

    /// Whether money is bounded.
    pub fn bounds_cost(&self) -> bool {
        self.limits.cost.is_some()
    }

    /// How many more steps there are.
    pub fn steps_left(&self) -> Option<u64> {
        self.limits.steps.map(|limit| limit.saturating_sub(self.used.steps.unwrap_or(0)))
    }

    /// Takes in an event of the run or of one inside it.
    pub fn apply(&mut self, body: &Body) {
        match body {
            Body::BudgetReserved(reserved) => {
                self.held.insert(reserved.id.clone(), Sum::of(&reserved.amounts));
            }
            Body::BudgetSettled(settled) => {
                self.held.remove(&settled.id);
                self.used = self.used.plus(Sum::of(&settled.amounts));
            }
            Body::NodeStart(start) if start.attempt == 1 => {
                let agents = (start.node_type == Some(NodeType::Agent)).then_some(1);
                self.used = self.used.plus(Sum { steps: Some(1), agents, ..Sum::default() });
            }
            // An agent that another one calls; one that is the work of a node is counted with it.
            Body::HarnessStart(start) if start.depth.is_some_and(|depth| depth > 0) => {
                self.used = self.used.plus(Sum { agents: Some(1), ..Sum::default() });
            }
            _ => {}
        }
    }
}

/// Amounts of nothing, to be filled in.
pub fn nothing() -> Amounts {
    Amounts { tokens: None, cost_usd: None, time_ms: None, steps: None, agents: None, extra: Map::new() }
}

#[cfg(test)]
mod tests {
    use antiphon_event::body::system::{BudgetReserved, BudgetSettled};

    use super::*;

    fn cents(cents: f64) -> Amounts {
        Amounts { cost_usd: Some(cents / 100.0), ..nothing() }
    }

    fn ledger(cents: f64) -> Ledger {
        Ledger::new(&Limits { max_cost_usd: Some(cents / 100.0), ..Limits::default() }).expect("a bound")
    }

    fn reserve(ledger: &mut Ledger, id: &str, amounts: Amounts) {
        ledger.apply(&Body::BudgetReserved(Box::new(BudgetReserved { id: id.into(), amounts })));
    }

    fn settle(ledger: &mut Ledger, id: &str, amounts: Amounts) {
        ledger.apply(&Body::BudgetSettled(Box::new(BudgetSettled { id: id.into(), amounts })));
    }

    #[test]
    fn what_is_set_aside_is_not_there_for_others_until_it_turns_out_not_to_be_needed() {
        let mut ledger = ledger(3.0);
        assert_eq!(ledger.room(&cents(2.0)), Room::Enough);
        reserve(&mut ledger, "a", cents(2.0));
        assert_eq!(ledger.room(&cents(2.0)), Room::Later);
        settle(&mut ledger, "a", cents(1.0));
        assert_eq!(ledger.room(&cents(2.0)), Room::Enough);
        settle(&mut ledger, "b", cents(1.5));
        assert_eq!(ledger.room(&cents(1.0)), Room::None(StopReason::BudgetCost));
    }

    #[test]
    fn sums_of_money_are_exact() {
        let mut ledger = ledger(30.0);
        for turn in 0..3 {
            reserve(&mut ledger, &turn.to_string(), cents(10.0));
            settle(&mut ledger, &turn.to_string(), cents(10.0));
        }
        assert_eq!((ledger.overspent(), ledger.room(&cents(0.0))), (None, Room::Enough));
        assert_eq!(ledger.room(&cents(0.000_001)), Room::None(StopReason::BudgetCost));
    }

    #[test]
    fn a_run_without_bounds_needs_no_ledger() {
        assert_eq!(Ledger::new(&Limits::default()), None);
    }
}
