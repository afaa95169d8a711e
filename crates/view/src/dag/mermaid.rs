//! A layout as a Mermaid flowchart, with a subgraph for every message.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use antiphon_graph::hyper::Speaker;

use super::{Edge, EdgeKind, Layout, Node, NodeKind};

/// Draws a layout as Mermaid. Labels are written so that nothing in them is taken for Mermaid or for HTML.
pub fn mermaid(layout: &Layout) -> String {
    let mut out = String::from("flowchart TD\n");
    let numbers = numbers(layout);
    let mut loose = Vec::new();
    for (group, members) in grouped(layout) {
        let Some(group) = group else {
            loose = members;
            continue;
        };
        let label = escape(&layout.groups[group].label);
        let _ = writeln!(out, "  subgraph g{group}[\"{label}\"]");
        for at in members {
            node(&mut out, "    ", at, &layout.nodes[at]);
        }
        out.push_str("  end\n");
    }
    for at in loose {
        node(&mut out, "  ", at, &layout.nodes[at]);
    }
    for Edge { from, to, kind } in &layout.edges {
        let (Some(from), Some(to)) = (numbers.get(&**from), numbers.get(&**to)) else {
            continue;
        };
        let arrow = match kind {
            EdgeKind::Sequence | EdgeKind::Reply => "-->",
            EdgeKind::Spawn => "==>",
            EdgeKind::Return => "-.->",
        };
        let _ = writeln!(out, "  n{from} {arrow} n{to}");
    }
    out
}

fn node(out: &mut String, indent: &str, at: usize, node: &Node) {
    let (open, close) = match node.kind {
        NodeKind::User => ("([", "])"),
        NodeKind::ToolCall | NodeKind::Repl => ("[[", "]]"),
        NodeKind::Relay => ("{{", "}}"),
        NodeKind::Structural => ("(", ")"),
        NodeKind::Text
        | NodeKind::ReplOutput
        | NodeKind::Reasoning
        | NodeKind::ToolProgress
        | NodeKind::ToolResult
        | NodeKind::Error => ("[", "]"),
    };
    let _ = writeln!(out, "{indent}n{at}{open}\"{}\"{close}", escape(&caption(node)));
}

/// What a box says after what it is.
pub(super) fn caption(node: &Node) -> String {
    match (node.kind, node.status) {
        (NodeKind::Structural, _) => node.label.clone(),
        (kind, Some(status)) => format!("{} ({}): {}", kind.name(), status.name(), node.label),
        (kind, None) => format!("{}: {}", kind.name(), node.label),
    }
}

/// The number of each box, by its id.
pub(super) fn numbers(layout: &Layout) -> HashMap<&str, usize> {
    layout.nodes.iter().enumerate().map(|(at, node)| (&*node.id, at)).collect()
}

/// The boxes in each frame, in order; those in none under `None`.
pub(super) fn grouped(layout: &Layout) -> BTreeMap<Option<usize>, Vec<usize>> {
    let groups: HashMap<&str, usize> =
        layout.groups.iter().enumerate().map(|(at, group)| (group.id.as_str(), at)).collect();
    let mut members: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
    for (at, node) in layout.nodes.iter().enumerate() {
        members.entry(groups.get(node.message_id.as_str()).copied()).or_default().push(at);
    }
    members
}

/// The name of a kind of box as it is written in a snapshot.
pub(super) fn class(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::User => "user",
        NodeKind::Text => "text",
        NodeKind::Reasoning => "reasoning",
        NodeKind::ToolCall => "tool_call",
        NodeKind::ToolProgress => "tool_progress",
        NodeKind::ToolResult => "tool_result",
        NodeKind::Relay => "relay",
        NodeKind::Repl => "repl",
        NodeKind::ReplOutput => "repl_output",
        NodeKind::Error => "error",
        NodeKind::Structural => "structural",
    }
}

/// The name of a speaker as it is written in a snapshot.
pub(super) fn speaker(speaker: Speaker) -> &'static str {
    match speaker {
        Speaker::User => "user",
        Speaker::Assistant => "assistant",
        Speaker::Summary => "summary",
        Speaker::Structural => "structural",
    }
}

/// Mermaid reads quotation marks, entities, HTML and Markdown in labels: all that could be one is written as a
/// number, and what does not print as a dot.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if c.is_control() => out.push('·'),
            c if c.is_ascii_alphanumeric() || !c.is_ascii() || " ,:.()/-=?!".contains(c) => out.push(c),
            c => {
                let _ = write!(out, "#{};", u32::from(c));
            }
        }
    }
    out
}
