//! The tree of agents: who started whom, what each did and used, alone and with all below it.
//!
//! In: events with agent metadata, the beginnings and ends of runs, usage. Out: `{agents: [AgentRow]}`, each
//! row naming the place of its parent; children stand in the order of the list. Rows are only ever added, so
//! a place stays what it is. Start reading at [`Agents::apply`](View::apply).

mod descent;
mod place;

use std::collections::BTreeMap;

use antiphon_event::{AgentId, Body, EndReason, Event, NodeStatus};
use serde::{Deserialize, Serialize};
use serde_with::serde_as;

use crate::edit::Edit;
use crate::family::Family;
use crate::forest::Forest;
use crate::{Changes, Tally, View, path};
use descent::RunOf;

/// One agent, or a place kept for one that others name.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentRow {
    /// The agent; absent while it is only known by its place in a chain.
    pub id: Option<AgentId>,
    /// What people call it.
    pub name: Option<String>,
    /// What it was told to be when it joined a mission.
    pub role: Option<String>,
    /// The model it was given when it joined a mission.
    pub model: Option<String>,
    /// Who serves that model.
    pub provider: Option<String>,
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
/// the one whose run caused its first run, else the one its chain names; of one whose run does not say what caused it, or came
/// from a person, the last one seen a level higher. Events without metadata belong to the agent of their run, else to the root;
/// those of a flow to nobody. What an agent uses is added to at most 1,024 agents above it.
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
    /// The first agent without a parent, as it was last found.
    root: Option<usize>,
    /// How many events there were before the first agent that do not show that there is one. They are the root's.
    unclaimed: u64,
    runs: Vec<RunOf>,
    family: Family,
    /// The runs of agents that hang from what will have caused a run, by that run.
    below: BTreeMap<usize, Vec<usize>>,
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

    fn run_began(&mut self, agent: usize, run: usize, changes: &mut Changes) {
        let run = &mut self.runs[run];
        let agent = *run.agent.get_or_insert(agent);
        if std::mem::replace(&mut run.open, true) {
            return;
        }
        let row = &mut self.rows[agent];
        let steps = path!["agents", agent];
        let mut edit = Edit::at(changes, steps);
        edit.count("runs", &mut row.runs);
        edit.count("running", &mut row.running);
        edit.put("status", &mut row.status, AgentStatus::Running);
    }

    fn run_ended(&mut self, run: usize, status: AgentStatus, changes: &mut Changes) {
        let run = &mut self.runs[run];
        let Some(agent) = run.agent else { return };
        let was_open = std::mem::replace(&mut run.open, false);
        let row = &mut self.rows[agent];
        let steps = path!["agents", agent];
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
        let run = self.heard_of(event);
        if let Body::MissionAgentSpawned(spawned) = &event.body {
            self.spawned(event, run, spawned, changes);
        } else if self.rows.is_empty() && event.head.agent.is_none() && shows_no_agent(&event.body) {
            self.unclaimed += 1;
        } else if !run.is_some_and(|run| self.is_of_flow(run, event)) {
            self.took_part(event, run, changes);
        }
        self.adopt(event, changes);
    }

    fn snapshot(&self) -> impl Serialize + '_ {
        Snapshot { agents: &self.rows }
    }
}

impl Agents {
    /// An event of an agent, or of nobody in particular.
    fn took_part(&mut self, event: &Event, run: Option<usize>, changes: &mut Changes) {
        let agent = self.agent_of(event, run, changes);
        let row = &mut self.rows[agent];
        Edit::at(changes, path!["agents", agent]).count("events", &mut row.events);
        let Some(run) = run else { return };
        match &event.body {
            Body::HarnessStart(_) | Body::RunStart(_) | Body::Resumed(_) => {
                self.run_began(agent, run, changes);
            }
            Body::HarnessEnd(end) => {
                let used = self.runs[run].counted.rest_of(end.total_usage.as_ref());
                if used != Tally::default() {
                    self.used(agent, run, used, changes);
                }
                self.run_ended(run, harness_status(end.reason.as_ref()), changes);
            }
            Body::RunEnd(end) => self.run_ended(run, flow_status(end.status.as_ref()), changes),
            Body::Usage(usage) => self.used(agent, run, Tally::of(usage), changes),
            _ => {}
        }
    }

    /// Adds to what a run used, to what its agent did, and to the sums of all above that.
    fn used(&mut self, agent: usize, run: usize, used: Tally, changes: &mut Changes) {
        self.runs[run].counted = self.runs[run].counted.plus(used);
        self.add_usage(agent, used, changes);
    }
}

/// Whether there may be no agent at all where this happens.
fn shows_no_agent(body: &Body) -> bool {
    matches!(
        body,
        Body::SessionCreated(_)
            | Body::BranchCreated(_)
            | Body::Summary(_)
            | Body::ActiveChanged(_)
            | Body::HistoryCompacted(_)
            | Body::Connected(_)
            | Body::User(_)
    )
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
