//! Runs: a table, each run under the one that caused it.

use std::collections::HashMap;

use antiphon_event::{FlowNodeId, Timestamp};
use antiphon_view::runs::{Run, Runs};

use super::payload::word;
use super::status::status;
use super::unit::{clock, count, dollars, duration, short};
use super::{Ink, Line, Page, Side, Table, nothing, tree};

/// Lays out all runs, children under their parents, otherwise in the order of their first appearance.
pub(super) fn lines(runs: &Runs, page: Page) -> Vec<Line> {
    if runs.runs().is_empty() {
        return nothing("nothing ran");
    }
    let order = nested(runs.runs());
    let names = tree(order.iter().map(|(depth, run)| (*depth, vec![name(run)])).collect());
    let columns = [("run", Side::Left), ("id", Side::Right), ("status", Side::Left), ("start", Side::Right)];
    let more =
        [("took", Side::Right), ("model calls", Side::Right), ("tokens", Side::Right), ("cost", Side::Right)];
    let spare = ["model calls", "start", "tokens", "took", "id", "cost"];
    let mut table = Table::new(&[&columns[..], &more].concat()).sparing(&spare);
    for (name, (_, run)) in names.into_iter().zip(order) {
        table.row(row(name, run));
    }
    table.lines(page.width)
}

/// Runs depth first, each with its depth.
fn nested(runs: &[Run]) -> Vec<(usize, &Run)> {
    let places: HashMap<_, _> = runs.iter().enumerate().map(|(place, run)| (&run.run_id, place)).collect();
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); runs.len()];
    let mut ahead = Vec::new();
    for (place, run) in runs.iter().enumerate() {
        match run.parent_run_id.as_ref().and_then(|parent| places.get(parent)) {
            Some(parent) => children[*parent].push(place),
            None => ahead.push((0, place)),
        }
    }
    ahead.reverse();
    let mut order = Vec::with_capacity(runs.len());
    while let Some((depth, place)) = ahead.pop() {
        order.push((depth, &runs[place]));
        ahead.extend(children[place].iter().rev().map(|child| (depth + 1, *child)));
    }
    order
}

fn name(run: &Run) -> Line {
    let name =
        run.graph_id.as_deref().or(run.agent.as_deref()).or(run.node_id.as_ref().map(FlowNodeId::as_str));
    let kind = word(&run.kind);
    let ink = if kind == "user" { Ink::Person } else { Ink::Agent };
    Line::new().ink(ink, name.unwrap_or(&kind))
}

fn row(name: Line, run: &Run) -> Vec<Line> {
    let state = if run.waiting { "waiting".to_owned() } else { word(&run.status) };
    let mut state = status(&state);
    if let Some(reason) = run.reason.as_deref().filter(|reason| *reason != "done") {
        state = state.ink(Ink::Faint, format!(" ({})", reason.replace('_', " ")));
    }
    let took = run.started_at.zip(run.ended_at).and_then(|(start, end)| lapse(start, end));
    let used = &run.used;
    let tokens = used.input_tokens.saturating_add(used.output_tokens);
    let unless_none =
        |number: u64| Line::new().plain(if number == 0 { String::new() } else { count(number) });
    let cost = used.cost_usd.dollars();
    vec![
        name,
        Line::new().ink(Ink::Faint, short(run.run_id.as_str())),
        state,
        Line::new().ink(Ink::Faint, run.started_at.map(clock).unwrap_or_default()),
        Line::new().plain(took.map(duration).unwrap_or_default()),
        unless_none(run.iterations),
        unless_none(tokens),
        Line::new().ink(Ink::Good, if cost == 0.0 { String::new() } else { dollars(cost) }),
    ]
}

fn lapse(start: Timestamp, end: Timestamp) -> Option<u64> {
    u64::try_from(end.millis().saturating_sub(start.millis())).ok()
}
