//! What running a flow costs: its bars and its table.

use super::super::figures::{Figures, FlowPoint, FlowRow, Flows, Weight};
use super::{Bar, STEEP, figure, grouped};

/// What costs what it costs however much there is of it.
const FLAT: f64 = 1.05;

pub(super) fn bars(Figures { flows, .. }: &Figures) -> Vec<Bar> {
    let mut bars = Vec::new();
    for shape in ["chain", "fan-out", "cycle"] {
        let rate = last(flows, &format!("scheduler {shape}")).map(|point| 1e3 / point.best_cpu_nanos);
        let work = format!("scheduler alone, {shape}");
        bars.push(Bar::new(&work, "≥ 2 M nodes/s", "M nodes/s", rate, |rate| rate >= 2.0));
    }
    let dense = last(flows, "scheduler dense 50×50").map(|point| point.best_cpu_nanos / 1e3);
    let work = "scheduler alone, dense 50×50, per node";
    bars.push(Bar::new(work, "≤ 10 µs", "µs", dense, |micros| micros <= 10.0));
    for (shape, nodes) in [("chain", 1_000), ("fan-out", 1_000), ("cycle", 10_000)] {
        let name = format!("memory {shape}");
        let ratio = point(flows, &name, nodes).map(|point| point.best_wall_nanos / bare(flows, &name));
        let work = format!("driver in memory, {shape} of {}, over a bare spawn and join", grouped(nodes));
        bars.push(Bar::new(&work, "≤ 3 ×", "×", ratio, |ratio| ratio <= 3.0));
    }
    for row in &flows.rows {
        let work = format!("growth of {}{}", row.name, span(row));
        bars.push(Bar::new(&work, "≤ 1.05", "", row.exponent, |exponent| exponent <= STEEP));
    }
    bars.extend(weight_bars(&flows.weights));
    bars
}

/// What the tasks of such a flow would cost by themselves: in a chain and a cycle there is one at a time.
fn bare(flows: &Flows, name: &str) -> f64 {
    let alone = name.contains("chain") || name.contains("cycle");
    if alone { flows.spawn_nanos } else { flows.spawn_together_nanos }
}

/// From how many nodes to how many.
fn span(FlowRow { points, .. }: &FlowRow) -> String {
    let ends = points.first().zip(points.last());
    ends.map_or_else(String::new, |(first, last)| {
        format!(", {} → {} nodes", grouped(first.nodes), grouped(last.nodes))
    })
}

fn weight_bars(weights: &[Weight]) -> Vec<Bar> {
    let Some((first, last)) = weights.first().zip(weights.last()) else { return Vec::new() };
    let work = format!("bytes of a step of a run in a file, {} steps", grouped(last.steps));
    let bytes = Some(last.bytes_per_step);
    let grows = format!("the same over one of {} steps", grouped(first.steps));
    let ratio = Some(last.bytes_per_step / first.bytes_per_step);
    vec![
        Bar::new(&work, "≤ 1 kB", "bytes", bytes, |bytes| bytes <= 1e3),
        Bar::new(&grows, "≤ 1.05", "", ratio, |ratio| ratio <= FLAT),
    ]
}

pub(super) fn section(flows: &Flows) -> String {
    let line = |row: &FlowRow, point: &FlowPoint| {
        let FlowPoint { nodes, wall_nanos, cpu_nanos, best_wall_nanos, .. } = point;
        let is_last = row.points.last().is_some_and(|last| last.nodes == *nodes);
        let exponent = row.exponent.filter(|_| is_last).map_or(String::new(), |grows| format!("{grows:.3}"));
        let spawns = figure(best_wall_nanos / bare(flows, &row.name));
        let [wall, best, cpu] = [wall_nanos, best_wall_nanos, cpu_nanos].map(|nanos| figure(nanos / 1e3));
        let nodes = grouped(*nodes);
        format!("| {} | {nodes} | {wall} | {best} | {cpu} | {spawns} | {exponent} |\n", row.name)
    };
    let lines = flows.rows.iter().flat_map(|row| row.points.iter().map(move |point| line(row, point)));
    let lines: String = lines.collect();
    let weight = |weight: &Weight| {
        format!("| {} | {} |\n", grouped(weight.steps), grouped(weight.bytes_per_step as usize))
    };
    let weights: String = flows.weights.iter().map(weight).collect();
    format!(
        "\n## Flows\n\n\
        Microseconds per node that does nothing, medians: *scheduler* decides and performs nothing, *memory* is the driver\n\
        with a journal in memory, *file* with one in SQLite where each step is durable before the next begins. A fan-out\n\
        is one node, many, and one; a cycle is two nodes in turn; a map has one node for each item. The last three are the\n\
        workloads LangGraph measures itself with, whose nodes do something. To spawn a task that does nothing and join it\n\
        takes {} µs of wall time at best, where a thousand are spawned before they are joined, as in a fan-out, {} µs, if\n\
        a task does so, as one starts the runs here; the main function of a program takes {} and {} µs. *Spawns* is the best wall\n\
        time over that of a task, and the exponent is that of the best wall time.\n\n\
        | flow | nodes | wall | best | processor | spawns | exponent |\n|---|---:|---:|---:|---:|---:|---:|\n{lines}\n\
        What a step of a cycle adds to the file:\n\n| steps | bytes per step |\n|---:|---:|\n{weights}",
        figure(flows.spawn_nanos / 1e3),
        figure(flows.spawn_together_nanos / 1e3),
        figure(flows.spawn_from_main_nanos / 1e3),
        figure(flows.spawn_together_from_main_nanos / 1e3)
    )
}

/// A row at a number of nodes.
pub(super) fn point<'f>(flows: &'f Flows, name: &str, nodes: usize) -> Option<&'f FlowPoint> {
    let row = flows.rows.iter().find(|row| row.name == name)?;
    row.points.iter().find(|point| point.nodes == nodes)
}

/// A row at its largest size.
fn last<'f>(flows: &'f Flows, name: &str) -> Option<&'f FlowPoint> {
    flows.rows.iter().find(|row| row.name == name)?.points.last()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A little of everything.
    pub(in super::super) fn figures() -> Flows {
        let point = |nodes, wall_nanos, cpu_nanos| FlowPoint {
            nodes,
            wall_nanos,
            cpu_nanos,
            best_wall_nanos: wall_nanos,
            best_cpu_nanos: cpu_nanos,
        };
        let row = |name: &str, points, exponent| FlowRow { name: name.to_owned(), points, exponent };
        let sizes = vec![point(1_000, 400.0, 400.0), point(100_000, 480.0, 480.0)];
        Flows {
            rows: vec![
                row("scheduler chain", sizes, Some(1.04)),
                row("memory chain", vec![point(1_000, 7_000.0, 8_000.0)], None),
            ],
            weights: [(1_000, 300.0), (10_000, 330.0)]
                .map(|(steps, bytes_per_step)| Weight { steps, bytes_per_step })
                .into(),
            spawn_nanos: 2_000.0,
            spawn_together_nanos: 3_000.0,
            spawn_from_main_nanos: 20_000.0,
            spawn_together_from_main_nanos: 4_000.0,
        }
    }
}
