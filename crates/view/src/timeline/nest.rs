//! Which run ran inside which node of which flow.
//!
//! A run is caused by the start of a node if its `parentId` is that start's id in the conversation graph;
//! failing that, its `nodePath` says where it happened. A run that comes before its node waits for it.

use std::collections::BTreeMap;

use antiphon_event::{Body, Event, FlowNodeId, Head, ParentId, RunId};
use serde::{Deserialize, Serialize};
use serde_with::serde_as;

use super::{EndReason, NodeStatus, Row, RowRef, Run, Timeline, Timestamp};
use crate::edit::Edit;
use crate::forest::CLIMB_MAX;
use crate::lapse::lapse;
use crate::{Changes, path};

/// How many nodes deep a path is followed; deeper runs are found by their `parentId`.
const PATH_MAX: usize = 64;

/// A row: the place of its run, and its place there.
type Place = (usize, usize);

#[serde_as]
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Nest {
    /// Rows by the id of their start in the conversation graph.
    starts: BTreeMap<String, Place>,
    /// The latest row of each path of nodes.
    #[serde_as(as = "Vec<(_, _)>")]
    paths: BTreeMap<Vec<FlowNodeId>, Place>,
    links: BTreeMap<RunId, Link>,
    waiting: BTreeMap<ParentId, Vec<RunId>>,
    /// Agents whose node is not known: not in the snapshot.
    hidden: BTreeMap<RunId, Run>,
}

/// What is known about where a run belongs.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Link {
    asked: bool,
    placed: bool,
    /// The nodes around it, from the outermost.
    base: Vec<FlowNodeId>,
}

impl Nest {
    /// The path of the node that an event of a flow is about.
    pub(super) fn path_of(&self, head: &Head, run: &RunId) -> Vec<FlowNodeId> {
        if let Some(path) = head.node_path.as_ref().filter(|path| !path.is_empty()) {
            return path.clone();
        }
        let mut path = self.links.get(run).map(|link| link.base.clone()).unwrap_or_default();
        path.extend(head.node_id.clone());
        path
    }

    /// A run that was hidden until now.
    pub(super) fn unhide(&mut self, run: &RunId) -> Option<Run> {
        self.hidden.remove(run)
    }

    /// Notes a row, and gives the runs that waited for it.
    pub(super) fn row_added(
        &mut self,
        row: &Row,
        run: &RunId,
        path: Vec<FlowNodeId>,
        place: Place,
    ) -> Vec<RunId> {
        let again = if row.attempt > 1 { format!(":{}", row.attempt) } else { String::new() };
        let start = format!("{run}:{}:{}:start{again}", row.node_id, row.execution);
        let waited = self.waiting.remove(start.as_str()).unwrap_or_default();
        self.starts.insert(start, place);
        self.paths.insert(path, place);
        waited
    }
}

impl Timeline {
    /// Notes what an event says about where its run belongs, and how the run of an agent stands.
    pub(super) fn nest_run(&mut self, event: &Event, changes: &mut Changes) {
        let Some(id) = &event.head.run_id else {
            return;
        };
        let link = self.nest.links.entry(id.clone()).or_default();
        if !link.placed {
            let ask = !link.asked && event.head.parent_id.is_some();
            link.asked |= ask;
            self.find_place(id, event, ask, changes);
        }
        self.agent_event(id, event, changes);
    }

    fn find_place(&mut self, id: &RunId, event: &Event, ask: bool, changes: &mut Changes) {
        if !self.places.contains_key(id) && !self.nest.hidden.contains_key(id) {
            self.nest.hidden.insert(id.clone(), Run::new(id.clone(), event.head.at));
        }
        let cause = event.head.parent_id.as_ref().filter(|_| ask);
        let caused = cause.and_then(|cause| self.nest.starts.get(cause.as_str()).copied());
        if let Some(place) = caused.or_else(|| self.around(event)) {
            self.put_inside(id.clone(), place, changes);
        } else if let Some(cause) = cause {
            self.nest.waiting.entry(cause.clone()).or_default().push(id.clone());
        }
    }

    /// The row whose path of nodes is the one an event happened in.
    fn around(&self, event: &Event) -> Option<Place> {
        let mut path = event.head.node_path.as_deref()?;
        let about_own_node = matches!(
            event.body,
            Body::NodeStart(_)
                | Body::NodeEnd(_)
                | Body::NodeSkipped(_)
                | Body::NodeRetry(_)
                | Body::NodeTimeout(_)
        );
        if about_own_node {
            path = &path[..path.len().saturating_sub(1)];
        }
        let id = event.head.run_id.as_ref()?;
        let place = self.nest.paths.get(path).copied()?;
        (self.runs[place.0].run_id != *id).then_some(place)
    }

    /// Puts a run inside a row, unless the row is itself inside the run.
    pub(super) fn put_inside(&mut self, id: RunId, (run, row): Place, changes: &mut Changes) {
        let around = std::iter::successors(Some(run), |run| {
            let within = self.runs[*run].within.as_ref()?;
            self.places.get(&within.run_id).copied()
        });
        if around.take(CLIMB_MAX).any(|around| self.runs[around].run_id == id) {
            return;
        }
        let mut base =
            self.nest.links.get(&self.runs[run].run_id).map(|link| link.base.clone()).unwrap_or_default();
        if base.len() < PATH_MAX {
            base.push(self.runs[run].rows[row].node_id.clone());
        }
        let link = self.nest.links.entry(id.clone()).or_default();
        if std::mem::replace(&mut link.placed, true) {
            return;
        }
        link.base = base;
        let within = Some(RowRef { run_id: self.runs[run].run_id.clone(), row });
        if let Some(hidden) = self.nest.hidden.remove(&id) {
            self.show(Run { within, ..hidden }, changes);
        } else if let Some(place) = self.places.get(&id).copied() {
            let steps = path!["runs", place];
            Edit::at(changes, steps).put("within", &mut self.runs[place].within, within);
        }
        let steps = path!["runs", run, "rows", row];
        Edit::at(changes, steps).push("inside", &mut self.runs[run].rows[row].inside, id);
    }

    fn agent_event(&mut self, id: &RunId, event: &Event, changes: &mut Changes) {
        if !matches!(event.body, Body::HarnessStart(_) | Body::HarnessEnd(_)) {
            return;
        }
        let place = self.places.get(id).copied();
        let run = match place {
            Some(place) => &mut self.runs[place],
            None => match self.nest.hidden.get_mut(id) {
                Some(hidden) => hidden,
                None => return,
            },
        };
        let steps = path!["runs", place.unwrap_or_default()];
        let mut edit = Edit::if_shown(place.is_some(), changes, steps);
        match &event.body {
            Body::HarnessStart(start) => {
                let agent = event.head.agent.as_ref().map(|agent| agent.id.clone());
                edit.fill("agentId", &mut run.agent_id, start.agent_id.clone().or(agent));
            }
            Body::HarnessEnd(end) => agent_end(run, end.reason.as_ref(), event.head.at, &mut edit),
            _ => {}
        }
    }
}

fn agent_end(run: &mut Run, reason: Option<&EndReason>, at: Option<Timestamp>, edit: &mut Edit<'_>) {
    let status = match reason {
        None | Some(EndReason::Done | EndReason::MaxIterations | EndReason::Other(_)) => {
            NodeStatus::Completed
        }
        Some(EndReason::Error | EndReason::Budget) => NodeStatus::Failed,
        Some(EndReason::Cancelled) => NodeStatus::Cancelled,
        Some(EndReason::Interrupted) => NodeStatus::Interrupted,
    };
    edit.put("status", &mut run.status, status);
    edit.take("endedAt", &mut run.ended_at, at);
    edit.take("durationMs", &mut run.duration_ms, lapse(run.started_at, at));
    edit.take("reason", &mut run.reason, reason.map(ToString::to_string));
}
