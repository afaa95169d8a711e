//! [`Runs`]: every run with its state, what started it and what it used.
//!
//! In: any event of a run. Rows stand in the order of their first appearance and never move.
//! Start reading at [`Run`], then [`Runs::apply`]; who started whom is in `runs/descent.rs`.

mod descent;

use std::collections::{BTreeMap, BTreeSet};

use antiphon_event::body::lifecycle::HarnessEnd;
use antiphon_event::body::request::RelayResolved;
use antiphon_event::{AgentId, Body, EndReason, Event, FlowNodeId, NodeStatus, ParentId, RunId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::family::Family;
use crate::request::Requests;
use crate::usage::Totals;
use crate::value::{agent_name, fill, put};
use crate::{Changes, View, path};
use descent::Descent;

/// All runs, with their state.
///
/// A run is active until an event says otherwise. A run without lifecycle events is a bare model call, and is
/// completed when its usage is there. A run whose parent is not known is an orphan until that arrives.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Runs {
    rows: Vec<Run>,
    waits: Vec<Waits>,
    requests: Requests,
    /// The run that asked, by the number of the request.
    asked_by: BTreeMap<usize, usize>,
    family: Family,
    descent: Descent,
}

/// One run.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    /// The run.
    pub run_id: RunId,
    /// What runs.
    pub kind: Kind,
    /// How it goes.
    pub status: Status,
    /// Whether it waits for a person.
    pub waiting: bool,
    /// Why it ended, in the word of the event that said so.
    pub reason: Option<String>,
    /// What caused it, as it was said.
    pub parent_id: Option<ParentId>,
    /// The run that caused it; absent where that is not known, or would make a circle.
    pub parent_run_id: Option<RunId>,
    /// Whether what caused it has not been seen.
    pub orphan: bool,
    /// The agent that runs.
    pub agent: Option<String>,
    /// The flow node it runs in.
    pub node_id: Option<FlowNodeId>,
    /// The flow that runs.
    pub graph_id: Option<String>,
    /// When it was first heard of.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// Model calls.
    pub iterations: u64,
    /// What its own model calls used, without those of its children.
    pub used: Totals,
    /// Runs it caused, without people's answers to it.
    pub children: u64,
}

/// What runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A bare model call, or a run that has not said what it is.
    Provider,
    /// A person spoke.
    User,
    /// An agent.
    Agent,
    /// A flow.
    Flow,
}

/// How a run goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It goes on, or waits.
    Active,
    /// It came to its end.
    Completed,
    /// It came to a bad end.
    Failed,
    /// Somebody stopped it.
    Cancelled,
    /// It was cut off and may be resumed.
    Interrupted,
}

/// What a run waits for.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Waits {
    /// Open requests, with the node each is for.
    requests: BTreeMap<usize, Option<FlowNodeId>>,
    nodes: BTreeSet<FlowNodeId>,
}

impl View for Runs {
    const NAME: &'static str = "runs";

    fn apply(&mut self, event: &Event, changes: &mut Changes) {
        for (request, _) in self.requests.settle(event) {
            self.settled(request, changes);
        }
        match (&event.body, &event.head.run_id) {
            (Body::RelayResolved(answer), run) => self.answered(run.as_ref(), answer, changes),
            // A wish that a run may stop does not show that there is one.
            (Body::CancelRequested(_), _) | (_, None) => {}
            (_, Some(run)) => {
                let place = self.place(run, event, changes);
                self.describe(place, event, changes);
                self.family.know_content(run, place, &event.body);
                self.go_on(place, event, changes);
                self.adopt(run, event, changes);
            }
        }
    }

    fn snapshot(&self) -> impl Serialize + '_ {
        #[derive(Serialize)]
        struct Snapshot<'a> {
            runs: &'a [Run],
        }
        Snapshot { runs: &self.rows }
    }
}

impl Runs {
    /// All runs, in the order of their first appearance.
    pub fn runs(&self) -> &[Run] {
        &self.rows
    }

    /// The row of a run, new if it was not heard of before.
    fn place(&mut self, run: &RunId, event: &Event, changes: &mut Changes) -> usize {
        if let Some(place) = self.family.run(run) {
            return place;
        }
        let place = self.family.add(run);
        let row = Run {
            run_id: run.clone(),
            kind: Kind::Provider,
            status: Status::Active,
            waiting: false,
            reason: None,
            parent_id: None,
            parent_run_id: None,
            orphan: false,
            agent: None,
            node_id: None,
            graph_id: None,
            started_at: event.head.at,
            ended_at: None,
            iterations: 0,
            used: Totals::default(),
            children: 0,
        };
        changes.append(path!["runs"], &row);
        self.rows.push(row);
        self.waits.push(Waits::default());
        place
    }

    /// Notes what an event of any type says about its run.
    fn describe(&mut self, place: usize, event: &Event, changes: &mut Changes) {
        let run = &mut self.rows[place];
        let kind = run.kind.max(kind_shown_by(&event.body));
        let looked_over = match run.status {
            Status::Completed => true,
            Status::Failed => run.kind == Kind::Provider,
            Status::Active | Status::Cancelled | Status::Interrupted => false,
        };
        // What looked like a model call that was over has turned out to be more than that.
        if kind > run.kind && kind > Kind::User && looked_over {
            reopen(run, place, changes);
            self.wait(place, changes);
        }
        let run = &mut self.rows[place];
        put(&mut run.kind, kind, changes, path!["runs", place, "kind"]);
        if run.agent.is_none() {
            fill(&mut run.agent, agent_name(event), changes, path!["runs", place, "agent"]);
        }
        if run.node_id.is_none() && kind != Kind::Flow {
            let node = event.head.node_id.clone();
            fill(&mut run.node_id, node, changes, path!["runs", place, "nodeId"]);
        }
        if let (None, Some(parent)) = (&run.parent_id, &event.head.parent_id) {
            let parent = Some(parent.clone());
            fill(&mut run.parent_id, parent, changes, path!["runs", place, "parentId"]);
            self.link(place, changes);
        }
    }

    /// Does what the event means for its run.
    fn go_on(&mut self, place: usize, event: &Event, changes: &mut Changes) {
        let run = &mut self.rows[place];
        match &event.body {
            Body::User(_) if run.kind == Kind::User => {
                self.end(place, Status::Completed, None, event, changes);
            }
            Body::HarnessStart(start) => {
                let agent = start.agent_id.as_ref().map(AgentId::to_string);
                fill(&mut run.agent, agent, changes, path!["runs", place, "agent"]);
            }
            Body::RunStart(start) => {
                let graph = Some(start.graph_id.clone());
                fill(&mut run.graph_id, graph, changes, path!["runs", place, "graphId"]);
            }
            Body::Usage(used) => {
                run.used.add(&Totals::of(used));
                changes.set(path!["runs", place, "used"], &run.used);
                let iterations = run.iterations + 1;
                put(&mut run.iterations, iterations, changes, path!["runs", place, "iterations"]);
                self.end_if_bare(place, Status::Completed, event, changes);
            }
            Body::Error(_) => self.end_if_bare(place, Status::Failed, event, changes),
            Body::HarnessEnd(end) => {
                self.count(place, end, changes);
                let status = status_of_reason(end.reason.as_ref());
                self.end(place, status, end.reason.as_ref().map(ToString::to_string), event, changes);
            }
            Body::RunEnd(end) => {
                let status = status_of_flow(end.status.as_ref(), end.reason.is_some());
                self.end(place, status, end.reason.as_ref().map(ToString::to_string), event, changes);
            }
            Body::Resumed(_) => {
                reopen(run, place, changes);
                self.waits[place].nodes.clear();
                self.wait(place, changes);
            }
            Body::Relay(relay) => {
                let (request, waits) = self.requests.ask(&run.run_id, relay);
                self.asked_by.insert(request, place);
                if waits {
                    self.waits[place].requests.insert(request, event.head.node_id.clone());
                    self.wait(place, changes);
                }
            }
            Body::Interrupt(_) | Body::NodeStart(_) | Body::NodeEnd(_) | Body::NodeSkipped(_) => {
                self.node_waits(place, event, changes);
            }
            _ => {}
        }
    }

    fn answered(&mut self, run: Option<&RunId>, answer: &RelayResolved, changes: &mut Changes) {
        let (request, _) = self.requests.answer(run, &answer.relay_id);
        self.settled(request, changes);
    }

    /// A run does not wait for a request any more, nor does the node that made it.
    fn settled(&mut self, request: usize, changes: &mut Changes) {
        let Some(place) = self.asked_by.get(&request).copied() else { return };
        let waits = &mut self.waits[place];
        if let Some(Some(node)) = waits.requests.remove(&request) {
            waits.nodes.remove(&node);
        }
        self.wait(place, changes);
    }

    fn node_waits(&mut self, place: usize, event: &Event, changes: &mut Changes) {
        let Some(node) = &event.head.node_id else { return };
        let nodes = &mut self.waits[place].nodes;
        match &event.body {
            Body::Interrupt(_) => nodes.insert(node.clone()),
            _ => nodes.remove(node),
        };
        self.wait(place, changes);
    }

    /// Says whether the run waits. One that is over waits for nothing.
    fn wait(&mut self, place: usize, changes: &mut Changes) {
        let (run, waits) = (&mut self.rows[place], &self.waits[place]);
        let over = matches!(run.status, Status::Completed | Status::Failed | Status::Cancelled);
        let waiting = !over && (!waits.requests.is_empty() || !waits.nodes.is_empty());
        put(&mut run.waiting, waiting, changes, path!["runs", place, "waiting"]);
    }

    fn end(
        &mut self,
        place: usize,
        status: Status,
        reason: Option<String>,
        event: &Event,
        changes: &mut Changes,
    ) {
        let run = &mut self.rows[place];
        reopen(run, place, changes);
        put(&mut run.status, status, changes, path!["runs", place, "status"]);
        fill(&mut run.reason, reason, changes, path!["runs", place, "reason"]);
        fill(&mut run.ended_at, event.head.at, changes, path!["runs", place, "endedAt"]);
        self.wait(place, changes);
    }

    /// A run that has no lifecycle events ends with its model call.
    fn end_if_bare(&mut self, place: usize, status: Status, event: &Event, changes: &mut Changes) {
        let run = &self.rows[place];
        if run.kind == Kind::Provider && run.status == Status::Active {
            self.end(place, status, None, event, changes);
        }
    }

    /// Takes what the end of a harness says it used beyond what its model calls said.
    fn count(&mut self, place: usize, end: &HarnessEnd, changes: &mut Changes) {
        let run = &mut self.rows[place];
        let iterations = end.iterations.map_or(run.iterations, u64::from);
        put(&mut run.iterations, iterations, changes, path!["runs", place, "iterations"]);
        if let Some(rest) = run.used.rest_of(end) {
            run.used.add(&rest);
            changes.set(path!["runs", place, "used"], &run.used);
        }
    }
}

fn reopen(run: &mut Run, place: usize, changes: &mut Changes) {
    put(&mut run.status, Status::Active, changes, path!["runs", place, "status"]);
    if run.reason.take().is_some() {
        changes.remove(path!["runs", place, "reason"]);
    }
    if run.ended_at.take().is_some() {
        changes.remove(path!["runs", place, "endedAt"]);
    }
}

fn status_of_reason(reason: Option<&EndReason>) -> Status {
    match reason {
        None | Some(EndReason::Done | EndReason::MaxIterations | EndReason::Other(_)) => Status::Completed,
        Some(EndReason::Budget | EndReason::Error) => Status::Failed,
        Some(EndReason::Cancelled) => Status::Cancelled,
        Some(EndReason::Interrupted) => Status::Interrupted,
    }
}

/// A flow of another system may not say how it ended; then a reason for stopping early is a bad one.
fn status_of_flow(status: Option<&NodeStatus>, stopped: bool) -> Status {
    match status {
        Some(NodeStatus::Failed) => Status::Failed,
        Some(NodeStatus::Cancelled) => Status::Cancelled,
        Some(NodeStatus::Pending | NodeStatus::Executing | NodeStatus::Interrupted) => Status::Interrupted,
        None if stopped => Status::Failed,
        None | Some(NodeStatus::Completed | NodeStatus::Skipped | NodeStatus::Other(_)) => Status::Completed,
    }
}

/// What a run must be at least, if it has an event like this.
fn kind_shown_by(body: &Body) -> Kind {
    match body {
        Body::User(_) => Kind::User,
        Body::HarnessStart(_) | Body::HarnessEnd(_) => Kind::Agent,
        Body::RunStart(_)
        | Body::RunEnd(_)
        | Body::NodeStart(_)
        | Body::NodeEnd(_)
        | Body::NodeSkipped(_)
        | Body::NodeRetry(_)
        | Body::NodeTimeout(_)
        | Body::EdgeTransition(_)
        | Body::LayerStart(_)
        | Body::LayerEnd(_)
        | Body::Interrupt(_) => Kind::Flow,
        _ => Kind::Provider,
    }
}
