//! What happens to a run as a whole: its beginning and end, layers, edges, marks.

use antiphon_event::body::flow;
use antiphon_event::{Event, NodeStatus};

use super::{Counts, Edge, Layer, Mark, Timeline};
use crate::brief::preview;
use crate::edit::Edit;
use crate::moment;
use crate::{Changes, path};

impl Timeline {
    pub(super) fn layer_start(&mut self, event: &Event, layer: u32, changes: &mut Changes) -> Option<()> {
        let run = self.flow_run(event, changes)?;
        let pass = self.runs[run].layers.len();
        let layer_row = Layer { layer, started_at: event.head.at, ended_at: None, ended: false };
        Edit::at(changes, path!["runs", run]).push("layers", &mut self.runs[run].layers, layer_row);
        self.passes.insert((run, layer), pass);
        Some(())
    }

    pub(super) fn layer_end(&mut self, event: &Event, layer: u32, changes: &mut Changes) -> Option<()> {
        let run = self.flow_run(event, changes)?;
        let pass = *self.passes.get(&(run, layer))?;
        let row = &mut self.runs[run].layers[pass];
        let steps = path!["runs", run, "layers", pass];
        let mut edit = Edit::at(changes, steps);
        edit.fill("endedAt", &mut row.ended_at, event.head.at);
        edit.put("ended", &mut row.ended, true);
        Some(())
    }

    pub(super) fn edge(
        &mut self,
        event: &Event,
        edge: &flow::EdgeTransition,
        changes: &mut Changes,
    ) -> Option<()> {
        let run = self.flow_run(event, changes)?;
        let edge = Edge {
            from: edge.source_id.clone(),
            to: edge.target_id.clone(),
            edge_type: edge.edge_type.to_string(),
            condition: edge.condition.as_deref().cloned(),
            at: event.head.at,
        };
        Edit::at(changes, path!["runs", run]).push("edges", &mut self.runs[run].edges, edge);
        Some(())
    }

    pub(super) fn run_start(&mut self, event: &Event, graph_id: &str, changes: &mut Changes) -> Option<()> {
        let run = self.flow_run(event, changes)?;
        let steps = path!["runs", run];
        let row = &mut self.runs[run];
        let mut edit = Edit::at(changes, steps);
        edit.fill("graphId", &mut row.graph_id, Some(graph_id.to_owned()));
        edit.fill("startedAt", &mut row.started_at, event.head.at);
        Some(())
    }

    pub(super) fn run_end(&mut self, event: &Event, end: &flow::RunEnd, changes: &mut Changes) -> Option<()> {
        let run = self.flow_run(event, changes)?;
        let row = &mut self.runs[run];
        let implied = match row.counts {
            Counts { failed: 1.., .. } => NodeStatus::Failed,
            Counts { cancelled: 1.., .. } => NodeStatus::Cancelled,
            _ => NodeStatus::Completed,
        };
        let steps = path!["runs", run];
        let mut edit = Edit::at(changes, steps);
        edit.put("status", &mut row.status, end.status.clone().unwrap_or(implied));
        edit.take("endedAt", &mut row.ended_at, event.head.at);
        edit.put("durationMs", &mut row.duration_ms, Some(end.total_duration_ms));
        edit.take("reason", &mut row.reason, end.reason.as_ref().map(ToString::to_string));
        edit.take("output", &mut row.output, preview(&end.final_output));
        Some(())
    }

    /// A run goes on; agents that nobody knows to be in a flow do so, too.
    pub(super) fn resumed(&mut self, event: &Event, changes: &mut Changes) -> Option<()> {
        let run = *self.places.get(event.head.run_id.as_ref()?)?;
        let row = &mut self.runs[run];
        let steps = path!["runs", run];
        let mut edit = Edit::at(changes, steps);
        edit.put("status", &mut row.status, NodeStatus::Executing);
        edit.count("resumed", &mut row.resumed);
        edit.clear("endedAt", &mut row.ended_at);
        edit.clear("durationMs", &mut row.duration_ms);
        edit.clear("reason", &mut row.reason);
        edit.clear("output", &mut row.output);
        Some(())
    }

    /// What names no run is marked in the flow that was last heard of. Voices and missions need no flow.
    pub(super) fn mark(&mut self, event: &Event, changes: &mut Changes) -> Option<()> {
        let mark = Mark {
            text: moment::text(&event.body)?,
            kind: event.body.tag().to_owned(),
            node_id: event.head.node_id.clone(),
            at: event.head.at,
        };
        let run = match &event.head.run_id {
            Some(id) => self.places.get(id).copied(),
            None => self.last,
        };
        if let Some(run) = run {
            Edit::at(changes, path!["runs", run]).push("marks", &mut self.runs[run].marks, mark);
        } else if event.head.run_id.is_none() || moment::needs_no_flow(&event.body) {
            changes.append(path!["marks"], &mark);
            self.marks.push(mark);
        }
        Some(())
    }
}
