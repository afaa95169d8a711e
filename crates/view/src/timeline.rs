//! The timeline: what every flow did, node by node, and what ran inside its nodes.
//!
//! In: the events of flows, and the beginnings and ends of the runs inside them. Out: `{runs: [Run], marks: [Mark]}`; the
//! JSON of a run is [`Run`]. Runs, rows, layers, edges and marks are only ever added, so a place in a list
//! stays what it is. Start reading at [`Timeline::apply`](View::apply).

mod nest;
mod row;
mod run;

use std::collections::{BTreeMap, BTreeSet};

use antiphon_event::body::flow;
use antiphon_event::{Body, EndReason, Event, FlowNodeId, NodeStatus, RunId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_with::serde_as;

use crate::brief::preview;
use crate::edit::Edit;
use crate::lapse::lapse;
use crate::{Changes, View, path};

use nest::Nest;
pub use row::{Counts, Edge, Layer, Mark, Row, RowRef, Run, RunKind};

/// What every flow did, in order of time. A `node_end` without a start makes a row too; a second start of a
/// row that has ended opens the next attempt.
#[serde_as]
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Timeline {
    runs: Vec<Run>,
    /// What happened at a moment and in no run that is shown.
    marks: Vec<Mark>,
    places: BTreeMap<RunId, usize>,
    /// The latest row of each node of each run.
    #[serde_as(as = "Vec<(_, _)>")]
    latest: BTreeMap<(usize, FlowNodeId), usize>,
    #[serde_as(as = "Vec<(_, _)>")]
    rows: BTreeMap<(usize, FlowNodeId, u32, u32), usize>,
    /// Rows whose start was never told.
    headless: BTreeSet<(usize, usize)>,
    /// The open pass through each layer of each run.
    #[serde_as(as = "Vec<(_, _)>")]
    passes: BTreeMap<(usize, u32), usize>,
    /// The lowest layer a node can be in, as far as its sources have told.
    #[serde_as(as = "Vec<(_, _)>")]
    floors: BTreeMap<(usize, FlowNodeId), u32>,
    nest: Nest,
    /// The run of the latest event of a flow: where marks go that name no run.
    last: Option<usize>,
}

impl Timeline {
    /// The runs: flows in the order they were heard of, agents from when their node is known.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// What happened at a moment and in no run that is shown: of voices and missions, and before the first flow.
    pub fn marks(&self) -> &[Mark] {
        &self.marks
    }

    /// A run by its id.
    pub fn run(&self, id: &RunId) -> Option<&Run> {
        self.places.get(id).map(|place| &self.runs[*place])
    }

    /// The run an event of a flow belongs to, which it makes known.
    fn flow_run(&mut self, event: &Event, changes: &mut Changes) -> Option<usize> {
        let id = event.head.run_id.as_ref()?;
        let known = self.places.get(id).copied();
        let run = known.unwrap_or_else(|| {
            let hidden = self.nest.unhide(id).unwrap_or_else(|| Run::new(id.clone(), event.head.at));
            self.show(Run { kind: RunKind::Flow, ..hidden }, changes)
        });
        let steps = path!["runs", run];
        Edit::at(changes, steps).put("kind", &mut self.runs[run].kind, RunKind::Flow);
        self.last = Some(run);
        Some(run)
    }

    fn show(&mut self, run: Run, changes: &mut Changes) -> usize {
        let place = self.runs.len();
        changes.append(path!["runs"], &run);
        self.places.insert(run.run_id.clone(), place);
        self.runs.push(run);
        place
    }

    /// Changes a row, and the counts of its run with it.
    fn edit_row(
        &mut self,
        run: usize,
        row: usize,
        changes: &mut Changes,
        edit: impl FnOnce(&mut Row, &mut Edit<'_>),
    ) {
        let Run { rows, counts, .. } = &mut self.runs[run];
        let row_before = counts.of(&rows[row]).map(|count| *count -= 1).is_some();
        let status = (rows[row].status.clone(), rows[row].retry_after_ms.is_some());
        let steps = path!["runs", run, "rows", row];
        edit(&mut rows[row], &mut Edit::at(changes, steps));
        let row_after = counts.of(&rows[row]).map(|count| *count += 1).is_some();
        let moved = status != (rows[row].status.clone(), rows[row].retry_after_ms.is_some());
        if moved && (row_before || row_after) {
            changes.set(path!["runs", run, "counts"], counts);
        }
    }

    fn add_row(&mut self, run: usize, row: Row, path_of: Vec<FlowNodeId>, changes: &mut Changes) -> usize {
        let place = self.runs[run].rows.len();
        let key = (run, row.node_id.clone(), row.execution, row.attempt);
        self.latest.insert((run, row.node_id.clone()), place);
        let waited = self.nest.row_added(&row, &self.runs[run].run_id, path_of, (run, place));
        let counted = self.runs[run].counts.of(&row).map(|count| *count += 1).is_some();
        Edit::at(changes, path!["runs", run]).push("rows", &mut self.runs[run].rows, row);
        if counted {
            changes.set(path!["runs", run, "counts"], &self.runs[run].counts);
        }
        self.rows.insert(key, place);
        for inside in waited {
            self.put_inside(inside, (run, place), changes);
        }
        place
    }

    /// The row an event about a node means: the one it names, unless that has ended and a later one is open.
    fn find_row(&self, run: usize, node: &FlowNodeId, execution: u32, attempt: u32) -> Option<usize> {
        let rows = &self.runs[run].rows;
        let named = self.rows.get(&(run, node.clone(), execution, attempt)).copied();
        let latest = self.open_row(run, node);
        match named {
            Some(named) if rows[named].is_open() => Some(named),
            Some(named) => latest.or(Some(named)),
            None => latest.filter(|open| rows[*open].execution == execution && rows[*open].attempt > attempt),
        }
    }

    fn open_row(&self, run: usize, node: &FlowNodeId) -> Option<usize> {
        let latest = *self.latest.get(&(run, node.clone()))?;
        self.runs[run].rows[latest].is_open().then_some(latest)
    }

    fn new_row(&mut self, run: usize, node: &FlowNodeId, execution: u32, attempt: u32) -> Row {
        Row {
            node_id: node.clone(),
            execution,
            attempt,
            node_type: None,
            layer: self.layer_of(run, node),
            status: NodeStatus::Executing,
            started_at: None,
            ended_at: None,
            duration_ms: None,
            output: None,
            error: None,
            reason: None,
            retry_after_ms: None,
            timeout_ms: None,
            inside: Vec::new(),
        }
    }

    /// A node keeps the layer of its first row. Before that, what its sources told is exact, as a back edge
    /// cannot have been decided yet; a node without sources is in the layer that began last.
    fn layer_of(&self, run: usize, node: &FlowNodeId) -> Option<u32> {
        let key = (run, node.clone());
        if let Some(first) = self.latest.get(&key) {
            return self.runs[run].rows[*first].layer;
        }
        let begun = self.runs[run].layers.last()?.layer;
        Some(
            self.floors
                .get(&key)
                .copied()
                .filter(|floor| self.passes.contains_key(&(run, *floor)))
                .unwrap_or(begun),
        )
    }

    fn node_start(&mut self, event: &Event, start: &flow::NodeStart, changes: &mut Changes) -> Option<()> {
        let run = self.flow_run(event, changes)?;
        let node = event.head.node_id.as_ref()?;
        let mut attempt = start.attempt;
        if let Some(row) = self.rows.get(&(run, node.clone(), start.execution, attempt)).copied() {
            if self.headless.remove(&(run, row)) || self.runs[run].rows[row].is_open() {
                self.edit_row(run, row, changes, |row, edit| {
                    edit.fill(
                        "nodeType",
                        &mut row.node_type,
                        start.node_type.as_ref().map(ToString::to_string),
                    );
                    edit.fill("startedAt", &mut row.started_at, event.head.at);
                    if row.is_open() {
                        edit.put("status", &mut row.status, NodeStatus::Executing);
                        edit.clear("reason", &mut row.reason);
                    }
                });
                return Some(());
            }
            let latest =
                self.latest.get(&(run, node.clone())).map(|latest| self.runs[run].rows[*latest].attempt);
            attempt = latest.unwrap_or(attempt).saturating_add(1);
        }
        let mut row = self.new_row(run, node, start.execution, attempt);
        row.node_type = start.node_type.as_ref().map(ToString::to_string);
        row.started_at = event.head.at;
        let path_of = self.nest.path_of(&event.head, &self.runs[run].run_id);
        self.add_row(run, row, path_of, changes);
        Some(())
    }

    fn node_end(&mut self, event: &Event, end: &flow::NodeEnd, changes: &mut Changes) -> Option<()> {
        let run = self.flow_run(event, changes)?;
        let node = event.head.node_id.as_ref()?;
        let row = self.row_for(run, event, (end.execution, end.attempt), changes)?;
        if !self.runs[run].rows[row].is_open() {
            return None;
        }
        self.edit_row(run, row, changes, |row, edit| {
            edit.put("status", &mut row.status, end.status.clone());
            edit.clear("reason", &mut row.reason);
            edit.take("endedAt", &mut row.ended_at, event.head.at);
            edit.put("durationMs", &mut row.duration_ms, Some(end.duration_ms));
            edit.take("output", &mut row.output, preview(&end.output));
            edit.take("error", &mut row.error, end.error.as_ref().map(|error| error.message.clone()));
        });
        if let Some(layer) = self.runs[run].rows[row].layer {
            for edge in end.edges.iter().filter(|edge| edge.to != *node) {
                let floor = self.floors.entry((run, edge.to.clone())).or_default();
                *floor = (*floor).max(layer.saturating_add(1));
            }
        }
        Some(())
    }

    /// The row an event is about; made if there is none.
    fn row_for(
        &mut self,
        run: usize,
        event: &Event,
        (execution, attempt): (u32, u32),
        changes: &mut Changes,
    ) -> Option<usize> {
        let node = event.head.node_id.as_ref()?;
        if let Some(row) = self.find_row(run, node, execution, attempt) {
            return Some(row);
        }
        let row = self.new_row(run, node, execution, attempt);
        let path_of = self.nest.path_of(&event.head, &self.runs[run].run_id);
        let row = self.add_row(run, row, path_of, changes);
        self.headless.insert((run, row));
        Some(row)
    }

    fn node_skipped(
        &mut self,
        event: &Event,
        skipped: &flow::NodeSkipped,
        changes: &mut Changes,
    ) -> Option<()> {
        let run = self.flow_run(event, changes)?;
        let row = self.row_for(run, event, (skipped.execution, 1), changes)?;
        if self.runs[run].rows[row].is_open() {
            self.edit_row(run, row, changes, |row, edit| {
                edit.put("status", &mut row.status, NodeStatus::Skipped);
                edit.take("endedAt", &mut row.ended_at, event.head.at);
                edit.put("reason", &mut row.reason, Some(skipped.reason.clone()));
            });
        }
        Some(())
    }

    fn node_retry(&mut self, event: &Event, retry: &flow::NodeRetry, changes: &mut Changes) -> Option<()> {
        let run = self.flow_run(event, changes)?;
        let row = self.row_for(run, event, (retry.execution, retry.attempt), changes)?;
        self.edit_row(run, row, changes, |row, edit| {
            edit.put("status", &mut row.status, NodeStatus::Failed);
            edit.fill("endedAt", &mut row.ended_at, event.head.at);
            edit.fill("durationMs", &mut row.duration_ms, lapse(row.started_at, event.head.at));
            edit.put("error", &mut row.error, Some(retry.error.message.clone()));
            edit.put("retryAfterMs", &mut row.retry_after_ms, Some(retry.delay_ms));
        });
        Some(())
    }

    fn node_timeout(&mut self, event: &Event, timeout_ms: u64, changes: &mut Changes) -> Option<()> {
        let run = self.flow_run(event, changes)?;
        let node = event.head.node_id.as_ref()?;
        let row = *self.latest.get(&(run, node.clone()))?;
        self.edit_row(run, row, changes, |row, edit| {
            edit.put("timeoutMs", &mut row.timeout_ms, Some(timeout_ms));
        });
        Some(())
    }

    fn interrupt(&mut self, event: &Event, reason: &str, changes: &mut Changes) -> Option<()> {
        let run = self.flow_run(event, changes)?;
        let row = self.open_row(run, event.head.node_id.as_ref()?)?;
        self.edit_row(run, row, changes, |row, edit| {
            edit.put("status", &mut row.status, NodeStatus::Interrupted);
            edit.put("reason", &mut row.reason, Some(reason.to_owned()));
        });
        Some(())
    }
}

impl View for Timeline {
    const NAME: &'static str = "timeline";

    fn apply(&mut self, event: &Event, changes: &mut Changes) {
        self.nest_run(event, changes);
        match &event.body {
            Body::RunStart(start) => self.run_start(event, &start.graph_id, changes),
            Body::NodeStart(start) => self.node_start(event, start, changes),
            Body::NodeEnd(end) => self.node_end(event, end, changes),
            Body::NodeSkipped(skipped) => self.node_skipped(event, skipped, changes),
            Body::NodeRetry(retry) => self.node_retry(event, retry, changes),
            Body::NodeTimeout(timeout) => self.node_timeout(event, timeout.timeout_ms, changes),
            Body::Interrupt(interrupt) => self.interrupt(event, &interrupt.reason, changes),
            Body::EdgeTransition(edge) => self.edge(event, edge, changes),
            Body::LayerStart(start) => self.layer_start(event, start.layer, changes),
            Body::LayerEnd(end) => self.layer_end(event, end.layer, changes),
            Body::Resumed(_) => self.resumed(event, changes),
            Body::RunEnd(end) => self.run_end(event, end, changes),
            _ => self.mark(event, changes),
        };
    }

    fn snapshot(&self) -> impl Serialize + '_ {
        Snapshot { runs: &self.runs, marks: &self.marks }
    }
}

#[derive(Serialize)]
struct Snapshot<'a> {
    runs: &'a [Run],
    marks: &'a [Mark],
}
