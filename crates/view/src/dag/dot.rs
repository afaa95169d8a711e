//! A layout for Graphviz, with a cluster for every message.

use std::fmt::Write;

use super::mermaid::{caption, grouped, numbers};
use super::{Edge, EdgeKind, Layout, Node, NodeKind};

/// Draws a layout as a Graphviz graph. Labels are plain text, also where they look like something else.
pub fn dot(layout: &Layout) -> String {
    let mut out = String::from(
        "digraph conversation {\n  rankdir=TB;\n  node [shape=box, style=\"rounded,filled\", fillcolor=white, fontname=\"sans-serif\", fontsize=11];\n  edge [color=\"#6b7280\", arrowsize=0.7];\n",
    );
    let numbers = numbers(layout);
    for (group, members) in grouped(layout) {
        let indent = if group.is_some() { "    " } else { "  " };
        if let Some(group) = group {
            let label = escape(&layout.groups[group].label);
            let _ = writeln!(
                out,
                "  subgraph cluster_{group} {{\n    label=\"{label}\"; style=\"rounded,filled\"; color=\"#cbd5e1\"; fillcolor=\"#f8fafc\"; fontname=\"sans-serif\"; fontsize=11;"
            );
        }
        for at in members {
            node(&mut out, indent, at, &layout.nodes[at]);
        }
        if group.is_some() {
            out.push_str("  }\n");
        }
    }
    for Edge { from, to, kind } in &layout.edges {
        let (Some(from), Some(to)) = (numbers.get(&**from), numbers.get(&**to)) else {
            continue;
        };
        let look = match kind {
            EdgeKind::Sequence => "",
            EdgeKind::Reply => " [style=bold]",
            EdgeKind::Spawn => " [color=\"#9333ea\"]",
            EdgeKind::Return => " [color=\"#0d9488\", style=dashed]",
        };
        let _ = writeln!(out, "  n{from} -> n{to}{look};");
    }
    out.push_str("}\n");
    out
}

fn node(out: &mut String, indent: &str, at: usize, node: &Node) {
    let color = match node.kind {
        NodeKind::User => "#15803d",
        NodeKind::Text => "#2563eb",
        NodeKind::Reasoning => "#7c3aed",
        NodeKind::ToolCall => "#c2410c",
        NodeKind::ToolProgress | NodeKind::ToolResult | NodeKind::ReplOutput => "#0e7490",
        NodeKind::Relay => "#b45309",
        NodeKind::Repl => "#4f46e5",
        NodeKind::Error => "#dc2626",
        NodeKind::Structural => "#9aa1ab",
    };
    let lines: Vec<_> =
        super::label::wrap(&caption(node), super::label::LINE_MAX).iter().map(|line| escape(line)).collect();
    let _ = writeln!(out, "{indent}n{at} [label=\"{}\", color=\"{color}\"];", lines.join("\\n"));
}

/// In a quoted string only quotation marks and backslashes mean anything.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            // Graphviz reads entities in labels, so an ampersand is written as one.
            '&' => out.push_str("&amp;"),
            c if c.is_control() => out.push('·'),
            c => out.push(c),
        }
    }
    out
}
