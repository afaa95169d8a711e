//! The tree of agents: who started whom, what each did and used, alone and with all below it.
//!
//! In: events with agent metadata, the beginnings and ends of runs, usage. Out: `{agents: [AgentRow]}`, each
//! row naming the place of its parent; children stand in the order of the list. Rows are only ever added, so
//! a place stays what it is. Start reading at [`Agents::apply`](View::apply).

mod place;

use std::collections::{BTreeMap, BTreeSet};

use antiphon_event::{AgentId, Body, EndReason, Event, NodeStatus, RunId};
use serde::{Deserialize, Serialize};
use serde_with::serde_as;

use crate::edit::Edit;
use crate::forest::Forest;
use crate::{Changes, Tally, View, path};

/// One agent, or a place kept for one that others name.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentRow {
    /// The agent; absent while it is only known by its place in a chain.
    pub id: Option<AgentId>,
    /// What people call it.
    pub name: Option<String>,
    /// The place of its parent in the list.
    pub parent: Option<usize>,
    /// How deep it says it is nested.
    pub depth: u32,
    /// Whether it was only named by others so far.
    pub placeholder: bool,
    /// What it does.
    pub status: AgentStatus,
    /// Events it took part in.
    pub events: u64,
    /// Runs it began.
    pub runs: u64,
    /// Of these, runs that have not ended.
    pub running: u64,
    /// What it used itself.
    pub own: Tally,
    /// What it and all agents below it used.
    pub tree: Tally,
}

/// What an agent does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentStatus {
    /// It has not run.
    #[default]
    Idle,
    /// At least one of its runs has not ended.
    Running,
    /// Its last run came to a good end.
    Done,
    /// Its last run failed.
    Failed,
    /// Its last run was cancelled.
    Cancelled,
    /// Its last run waits for somebody.
    Interrupted,
}

/// The agents of a session.
///
/// An agent is known by its id, else by its place in a chain of names. Its parent is the agent it names, else
/// the one its chain names, else the last one seen a level higher. Events without metadata belong to the
/// agent of their run, else to the root; those of a flow to nobody. What an agent uses is added to at most 1,024 agents above it.
#[serde_as]
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Agents {
    rows: Vec<AgentRow>,
    tree: Forest,
    ids: BTreeMap<AgentId, usize>,
    /// Agents by their parent and name.
    #[serde_as(as = "Vec<(_, _)>")]
    names: BTreeMap<(Option<usize>, String), usize>,
    /// The last agent seen at each depth.
    #[serde_as(as = "Vec<(_, _)>")]
    depths: BTreeMap<u32, usize>,
    /// Where events belong that name nobody, until somebody turns out to be the root.
    nobody: Option<usize>,
    runs: BTreeMap<RunId, RunOf>,
    /// Runs of flows, which are nobody's.
    flows: BTreeSet<RunId>,
}

/// A run: whose it is, and whether it is under way.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct RunOf {
    agent: usize,
    open: bool,
}

impl Agents {
    /// All agents, in the order they were heard of.
    pub fn agents(&self) -> &[AgentRow] {
        &self.rows
    }

    /// An agent by its id.
    pub fn agent(&self, id: &AgentId) -> Option<&AgentRow> {
        self.ids.get(id).map(|place| &self.rows[*place])
    }

    /// All agents depth first, each with its depth in the tree.
    pub fn walk(&self) -> impl Iterator<Item = (usize, &AgentRow)> {
        self.tree.walk().map(|(depth, place)| (depth, &self.rows[place]))
    }

    /// Adds to what an agent used, and to the sums of all above it.
    fn add_usage(&mut self, agent: usize, used: Tally, changes: &mut Changes) {
        let row = &mut self.rows[agent];
        Edit::at(changes, path!["agents", agent]).add("own", &mut row.own, used);
        self.add_to_tree(agent, used, changes);
        self.add_above(agent, used, changes);
    }

    fn add_above(&mut self, agent: usize, used: Tally, changes: &mut Changes) {
        let above: Vec<_> = self.tree.above(agent).collect();
        for place in above {
            self.add_to_tree(place, used, changes);
        }
    }

    fn add_to_tree(&mut self, agent: usize, used: Tally, changes: &mut Changes) {
        let row = &mut self.rows[agent];
        Edit::at(changes, path!["agents", agent]).add("tree", &mut row.tree, used);
    }

    /// Whether an event is one of a flow itself.
    fn is_of_flow(&mut self, event: &Event) -> bool {
        let Some(run) = event.head.run_id.as_ref().filter(|_| event.head.agent.is_none()) else {
            return false;
        };
        if matches!(event.body, Body::RunStart(_)) && !self.runs.contains_key(run) {
            self.flows.insert(run.clone());
        }
        self.flows.contains(run)
    }

    fn run_began(&mut self, agent: usize, run: &RunId, changes: &mut Changes) {
        let known = self.runs.entry(run.clone()).or_insert(RunOf { agent, open: false });
        if std::mem::replace(&mut known.open, true) {
            return;
        }
        let row = &mut self.rows[known.agent];
        let steps = path!["agents", known.agent];
        let mut edit = Edit::at(changes, steps);
        edit.count("runs", &mut row.runs);
        edit.count("running", &mut row.running);
        edit.put("status", &mut row.status, AgentStatus::Running);
    }

    fn run_ended(&mut self, run: &RunId, status: AgentStatus, changes: &mut Changes) {
        let Some(known) = self.runs.get_mut(run) else {
            return;
        };
        let was_open = std::mem::replace(&mut known.open, false);
        let row = &mut self.rows[known.agent];
        let steps = path!["agents", known.agent];
        let mut edit = Edit::at(changes, steps);
        let running = row.running - u64::from(was_open);
        edit.put("running", &mut row.running, running);
        if running == 0 {
            edit.put("status", &mut row.status, status);
        }
    }
}

impl View for Agents {
    const NAME: &'static str = "agents";

    fn apply(&mut self, event: &Event, changes: &mut Changes) {
        if self.is_of_flow(event) {
            return;
        }
        let agent = self.agent_of(event, changes);
        let row = &mut self.rows[agent];
        Edit::at(changes, path!["agents", agent]).count("events", &mut row.events);
        let Some(run) = &event.head.run_id else {
            return;
        };
        match &event.body {
            Body::HarnessStart(_) | Body::RunStart(_) | Body::Resumed(_) => {
                self.run_began(agent, run, changes);
            }
            Body::HarnessEnd(end) => self.run_ended(run, harness_status(end.reason.as_ref()), changes),
            Body::RunEnd(end) => self.run_ended(run, flow_status(end.status.as_ref()), changes),
            Body::Usage(usage) => self.add_usage(agent, Tally::of(usage), changes),
            _ => {}
        }
    }

    fn snapshot(&self) -> impl Serialize + '_ {
        Snapshot { agents: &self.rows }
    }
}

#[derive(Serialize)]
struct Snapshot<'a> {
    agents: &'a [AgentRow],
}

fn harness_status(reason: Option<&EndReason>) -> AgentStatus {
    match reason {
        None | Some(EndReason::Done | EndReason::MaxIterations | EndReason::Other(_)) => AgentStatus::Done,
        Some(EndReason::Error | EndReason::Budget) => AgentStatus::Failed,
        Some(EndReason::Cancelled) => AgentStatus::Cancelled,
        Some(EndReason::Interrupted) => AgentStatus::Interrupted,
    }
}

fn flow_status(status: Option<&NodeStatus>) -> AgentStatus {
    match status {
        Some(NodeStatus::Failed) => AgentStatus::Failed,
        Some(NodeStatus::Cancelled | NodeStatus::Skipped) => AgentStatus::Cancelled,
        Some(NodeStatus::Interrupted | NodeStatus::Pending | NodeStatus::Executing) => {
            AgentStatus::Interrupted
        }
        None | Some(NodeStatus::Completed | NodeStatus::Other(_)) => AgentStatus::Done,
    }
}
