//! A layout drawn as text, the way version control shows branches: a row per block, a column per lane.

use std::collections::HashMap;
use std::fmt::Write;

use super::label::cut;
use super::mermaid::numbers;
use super::place::PITCH;
use super::{EdgeKind, Layout, Node, NodeKind, Status};

/// Draws a layout as text, at most so many columns wide. Lanes may use up to half of that; those further to the
/// right share the last column.
pub fn text(layout: &Layout, width: usize) -> String {
    let numbers = numbers(layout);
    let mut incoming: HashMap<usize, Vec<(usize, EdgeKind)>> = HashMap::new();
    let mut leaving = vec![0_u32; layout.nodes.len()];
    for edge in &layout.edges {
        if let (Some(from), Some(to)) = (numbers.get(&*edge.from), numbers.get(&*edge.to)) {
            incoming.entry(*to).or_default().push((*from, edge.kind));
            leaving[*from] += 1;
        }
    }
    let mut order: Vec<_> = (0..layout.nodes.len()).collect();
    order.sort_by_key(|at| (layout.nodes[*at].y, layout.nodes[*at].x));
    let lane = |node: &Node| ((node.x + node.w / 2 - layout.x) / PITCH).max(0) as usize;
    let lanes = layout.nodes.iter().map(lane).max().map_or(0, |lane| lane + 1);
    let mut graph = Graph { open: vec![0; lanes.min((width / 4).max(1))] };
    let mut out = String::new();
    for at in order {
        let own = graph.column(lane(&layout.nodes[at]));
        let mut arriving = incoming.remove(&at).unwrap_or_default();
        arriving.sort_by_key(|(from, _)| graph.column(lane(&layout.nodes[*from])) == own);
        for (from, kind) in arriving {
            let source = graph.column(lane(&layout.nodes[from]));
            graph.open[source] = graph.open[source].saturating_sub(1);
            if source != own {
                push_row(&mut out, &graph.stroke(source, own, kind), width);
            }
        }
        let row = format!("{}{}", graph.row(own, layout.nodes[at].kind), describe(&layout.nodes[at]));
        push_row(&mut out, &row, width);
        graph.open[own] += leaving[at];
    }
    out
}

/// How many arrows are on their way down in each column.
struct Graph {
    open: Vec<u32>,
}

impl Graph {
    fn column(&self, lane: usize) -> usize {
        lane.min(self.open.len() - 1)
    }

    /// The row of a block: a mark in its column, lines in those that go on.
    fn row(&self, own: usize, kind: NodeKind) -> String {
        let mut row = String::new();
        for (column, open) in self.open.iter().enumerate() {
            row.push(match (column == own, *open > 0) {
                (true, _) => mark(kind),
                (false, true) => '│',
                (false, false) => ' ',
            });
            row.push(' ');
        }
        row
    }

    /// The row of an arrow from one column to another.
    fn stroke(&self, from: usize, to: usize, kind: EdgeKind) -> String {
        let line = if kind == EdgeKind::Return { '╌' } else { '─' };
        let (left, right) = (from.min(to), from.max(to));
        let mut row = String::new();
        for (column, open) in self.open.iter().enumerate() {
            let goes_on = *open > 0;
            row.push(match column {
                column if column == from => match (goes_on, from < to) {
                    (true, true) => '├',
                    (true, false) => '┤',
                    (false, true) => '╰',
                    (false, false) => '╯',
                },
                column if column == to => match (goes_on, from < to) {
                    (true, true) => '┤',
                    (true, false) => '├',
                    (false, true) => '╮',
                    (false, false) => '╭',
                },
                column if left < column && column < right => {
                    if goes_on {
                        '┼'
                    } else {
                        line
                    }
                }
                _ => {
                    if goes_on {
                        '│'
                    } else {
                        ' '
                    }
                }
            });
            row.push(if (left..right).contains(&column) { line } else { ' ' });
        }
        row
    }
}

fn mark(kind: NodeKind) -> char {
    match kind {
        NodeKind::User => '◆',
        NodeKind::Text | NodeKind::Reasoning => '●',
        NodeKind::ToolCall | NodeKind::Repl => '▶',
        NodeKind::ToolProgress | NodeKind::ToolResult | NodeKind::ReplOutput => '◀',
        NodeKind::Relay => '?',
        NodeKind::Error => '✗',
        NodeKind::Structural => '○',
    }
}

fn describe(node: &Node) -> String {
    let mut row = String::new();
    let status = node.status.filter(|status| *status != Status::Completed);
    if node.kind != NodeKind::Structural {
        let _ = write!(row, "{:<10}", node.kind.name());
    }
    row.extend(node.label.chars().map(|c| if c.is_control() { '·' } else { c }));
    if let Some(status) = status {
        let _ = write!(row, " [{}]", status.name());
    }
    row
}

/// Adds a row, cut at the width and without spaces at its end.
fn push_row(out: &mut String, row: &str, width: usize) {
    out.push_str(cut(row, width).trim_end());
    out.push('\n');
}
