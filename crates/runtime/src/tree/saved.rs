//! [`Saved`]: the machines of a run as they can be written down, and taken up again without the events that led to them.
//!
//! Runs inside others that are over for good are left out: nothing will ever be asked of them. Start reading at
//! [`Tree::save`].

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use antiphon_agent::Agent;
use antiphon_event::body::flow::RunEnd;
use antiphon_event::body::system::Amounts;
use antiphon_event::{CallId, Event};
use antiphon_flow::budget::Ledger;
use antiphon_flow::{self as flow, Attempt, Flow, Scheduler, Work};
use serde::{Deserialize, Serialize};

use super::{Machine, Tree};
use crate::mind::Mind;

/// The machines of a run, written down.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Saved<'a> {
    /// A position before the first event of the run, and not long before.
    pub(crate) began: u64,
    machines: Vec<Kept<'a>>,
    held: Cow<'a, BTreeMap<String, (usize, Amounts)>>,
    grants: Cow<'a, [Event]>,
    folder: Option<Cow<'a, str>>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Kept<'a> {
    mind: KeptMind<'a>,
    slots: Cow<'a, [CallId]>,
    parent: Option<(usize, Attempt)>,
    /// The runs inside, by node and execution.
    children: Vec<(usize, u32, usize)>,
    agents: Vec<(usize, usize)>,
    end: Option<Cow<'a, RunEnd>>,
    is_void: bool,
    ledger: Option<Cow<'a, Ledger>>,
}

#[derive(Debug, Serialize, Deserialize)]
enum KeptMind<'a> {
    Flow(Box<flow::Saved>),
    Agent(Box<Cow<'a, Agent>>),
}

impl Tree {
    /// Writes the machines down, of a run that began after a position.
    pub(crate) fn save(&self, began: u64) -> Saved<'_> {
        let over = self.over();
        let mut place = vec![None; self.machines.len()];
        let mut places = 0..;
        for machine in (0..self.machines.len()).filter(|machine| !over[*machine]) {
            place[machine] = places.next();
        }
        let machines = self.machines.iter().zip(&place).filter(|(_, place)| place.is_some());
        let held = if over.contains(&true) {
            let moved = |(id, (machine, amounts)): (&String, &(usize, Amounts))| {
                Some((id.clone(), (place[*machine]?, amounts.clone())))
            };
            Cow::Owned(self.held.iter().filter_map(moved).collect())
        } else {
            Cow::Borrowed(&self.held)
        };
        Saved {
            began,
            machines: machines.map(|(machine, _)| machine.save(&place)).collect(),
            held,
            grants: Cow::Borrowed(&self.grants),
            folder: self.folder.as_deref().map(Cow::Borrowed),
        }
    }

    /// About how many bytes that would be where no two nodes are alike; what it costs to look at them is the same if they are.
    pub(crate) fn weight(&self) -> usize {
        let flows = self.machines.iter().filter_map(|machine| Some(machine.mind.as_flow()?.flow()));
        flows.map(|flow| flow.nodes().len() * 12 + flow.edges().len() * 2).sum()
    }

    /// The machines that were written down; nothing if they do not fit the flow that the run is of.
    pub(crate) fn load(saved: Saved<'_>, root: Option<Flow>) -> Option<Self> {
        let mut root = root;
        let mut tree = Self {
            held: saved.held.into_owned(),
            grants: saved.grants.into_owned(),
            folder: saved.folder.map(|folder| folder.into_owned().into_boxed_str()),
            ..Self::default()
        };
        let count = saved.machines.len();
        for kept in saved.machines {
            let mind = match kept.mind {
                KeptMind::Agent(agent) => Mind::Agent(Box::new(agent.into_owned())),
                KeptMind::Flow(saved) => Mind::Flow(Box::new(match kept.parent {
                    None => Scheduler::load(root.take()?, *saved, None)?,
                    Some((around, attempt)) => {
                        inside(tree.machines.get(around)?.mind.as_flow()?, attempt, *saved)?
                    }
                })),
            };
            let children =
                kept.children.into_iter().map(|(node, execution, inner)| ((node, execution), inner));
            let children: HashMap<_, _> = children.collect();
            let agents: HashMap<_, _> = kept.agents.into_iter().collect();
            if children.values().chain(agents.values()).any(|inner| *inner >= count) {
                return None;
            }
            tree.by_run.insert(mind.run().clone(), tree.machines.len());
            let slots = kept.slots.into_owned();
            tree.machines.push(Machine {
                slot_of: slots.iter().cloned().enumerate().map(|(slot, call)| (call, slot)).collect(),
                slots,
                children,
                agents,
                end: kept.end.map(Cow::into_owned),
                is_void: kept.is_void,
                ledger: kept.ledger.map(Cow::into_owned),
                ..Machine::new(mind, kept.parent)
            });
        }
        (!tree.machines.is_empty()).then_some(tree)
    }

    /// Which runs are over for good, with all that is inside them: they have ended, and so has what they were for.
    fn over(&self) -> Vec<bool> {
        let mut over = vec![false; self.machines.len()];
        for machine in 1..self.machines.len() {
            let Some((around, attempt)) = self.machines[machine].parent else { continue };
            over[machine] = self.machines[machine].mind.has_ended()
                && (over[around] || self.machines[around].is_past(attempt));
        }
        for (machine, _) in self.held.values() {
            over[*machine] = false;
        }
        for machine in (1..self.machines.len()).rev() {
            let Machine { parent, children, .. } = &self.machines[machine];
            // The last agent of a node is what the next one goes on from.
            let is_last = parent.is_some_and(|(around, attempt)| {
                !over[around] && self.machines[around].agents.get(&attempt.node) == Some(&machine)
            });
            over[machine] &= !is_last && children.values().all(|inner| over[*inner]);
        }
        over
    }
}

impl Machine {
    fn save(&self, place: &[Option<usize>]) -> Kept<'_> {
        let children = self.children.iter();
        let children =
            children.filter_map(|((node, execution), inner)| Some((*node, *execution, place[*inner]?)));
        let agents = self.agents.iter().filter_map(|(node, inner)| Some((*node, place[*inner]?)));
        let mut kept = Kept {
            mind: match &self.mind {
                Mind::Flow(flow) => KeptMind::Flow(Box::new(flow.save())),
                Mind::Agent(agent) => KeptMind::Agent(Box::new(Cow::Borrowed(agent))),
            },
            slots: Cow::Borrowed(&self.slots),
            parent: self.parent.and_then(|(around, attempt)| Some((place[around]?, attempt))),
            children: children.collect(),
            agents: agents.collect(),
            end: self.end.as_ref().map(Cow::Borrowed),
            is_void: self.is_void,
            ledger: self.ledger.as_ref().map(Cow::Borrowed),
        };
        // The same tree is always written the same way.
        kept.children.sort_unstable();
        kept.agents.sort_unstable();
        kept
    }

    /// Whether nothing more can come of the run inside a node, or of a call.
    fn is_past(&self, attempt: Attempt) -> bool {
        match &self.mind {
            Mind::Flow(flow) => flow.is_past(attempt),
            Mind::Agent(agent) => {
                let call = self.call_at(attempt.node);
                agent.code().is_none() && call.is_some_and(|call| agent.running(call).is_none())
            }
        }
    }
}

/// The run inside a node.
fn inside(around: &Scheduler, attempt: Attempt, saved: flow::Saved) -> Option<Scheduler> {
    // What was written down may be of a flow that had more nodes.
    around.flow().ids().get(attempt.node)?;
    let flow = match &around.flow().node(attempt.node).work {
        Work::Flow(flow) | Work::Swarm(flow) => flow.clone(),
        Work::Map(_) => around.flow().of_items(attempt.node, saved.nodes())?,
        _ => return None,
    };
    Scheduler::load(flow, saved, Some(around))
}
