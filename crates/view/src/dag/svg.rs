//! A layout as an SVG picture that stands on its own, for light and dark surroundings.

use std::fmt::Write;

use super::label::{CAPTION, LINE, WIDTH, lines};
use super::place::PADDING;
use super::{Edge, EdgeKind, Group, Layout, Node, NodeKind, Status};

const STYLE: &str = include_str!("svg.css");

/// How far from the boxes of a lane the arrows between lanes go down.
const CHANNEL: i64 = PADDING + 14;
/// How round the corners of arrows are.
const ROUND: i64 = 8;

/// Draws a layout as SVG. Everything from outside is escaped; nothing is fetched.
pub fn svg(layout: &Layout) -> String {
    let (x, y, width, height) = (layout.x, layout.y, layout.width.max(1), layout.height.max(1));
    let mut out = String::with_capacity(1024 + layout.nodes.len() * 600);
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"dag\" width=\"{width}\" height=\"{height}\" viewBox=\"{x} {y} {width} {height}\" role=\"img\">"
    );
    out.push_str("<title>Conversation</title>\n<style>\n");
    out.push_str(STYLE);
    out.push_str("</style>\n<defs>");
    for kind in [EdgeKind::Sequence, EdgeKind::Reply, EdgeKind::Spawn, EdgeKind::Return] {
        let _ = write!(
            out,
            "<marker id=\"dag-{0}\" class=\"{0}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0 .5 7.5 4 0 7.5z\"/></marker>",
            kind.name()
        );
    }
    let corner = if (x, y) == (0, 0) { String::new() } else { format!(" x=\"{x}\" y=\"{y}\"") };
    let _ = writeln!(out, "</defs>\n<rect class=\"paper\"{corner} width=\"100%\" height=\"100%\"/>");
    layout.groups.iter().for_each(|group| frame(&mut out, group));
    arrows(&mut out, layout);
    layout.nodes.iter().for_each(|node| square(&mut out, node));
    out.push_str("</svg>\n");
    out
}

fn frame(out: &mut String, group: &Group) {
    let Group { x, y, w, h, label, summary, .. } = group;
    let class = super::mermaid::speaker(group.speaker);
    let summed = if summary.is_some() { " summed" } else { "" };
    let _ = write!(
        out,
        "<g class=\"group {class}{summed}\"><title>{}</title><rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" rx=\"14\"/>",
        escape(group.id.as_str())
    );
    let note = if summary.is_some() { " · summarized" } else { "" };
    let _ = writeln!(out, "<text x=\"{}\" y=\"{}\">{}{note}</text></g>", x + PADDING, y + 20, escape(label));
}

/// Arrows behind the boxes: straight down to the next box of a lane, around what lies between, or along the
/// lane of a child.
fn arrows(out: &mut String, layout: &Layout) {
    let nodes = super::mermaid::numbers(layout);
    let next = next_in_lane(&layout.nodes);
    for Edge { from, to, kind } in &layout.edges {
        let (Some(from), Some(to)) = (nodes.get(&**from), nodes.get(&**to)) else {
            continue;
        };
        let is_next = next[*from] == Some(*to);
        let route = route(&layout.nodes[*from], &layout.nodes[*to], is_next);
        let kind = kind.name();
        let _ = writeln!(out, "<path class=\"edge {kind}\" d=\"{route}\" marker-end=\"url(#dag-{kind})\"/>");
    }
}

/// For each box, the one right below it.
fn next_in_lane(nodes: &[Node]) -> Vec<Option<usize>> {
    let mut order: Vec<_> = (0..nodes.len()).collect();
    order.sort_by_key(|at| (middle(&nodes[*at]), nodes[*at].y));
    let mut next = vec![None; nodes.len()];
    for pair in order.windows(2) {
        if middle(&nodes[pair[0]]) == middle(&nodes[pair[1]]) {
            next[pair[0]] = Some(pair[1]);
        }
    }
    next
}

fn middle(node: &Node) -> i64 {
    node.x + node.w / 2
}

fn route(from: &Node, to: &Node, is_next: bool) -> String {
    let (x, target) = (middle(from), middle(to));
    let (start, end) = (from.y + from.h / 2, to.y + to.h / 2);
    if is_next {
        return format!("M{x} {}V{}", from.bottom(), to.y - 1);
    }
    let (right, left) = (from.x + from.w, to.x - 1);
    if x == target {
        // Past what lies between, inside the lane and its frames.
        let side = right.max(to.x + to.w).max(x + WIDTH / 2) + 7;
        return bent(&[(right, start), (side, start), (side, end), (to.x + to.w + 1, end)]);
    }
    if x < target {
        let channel = target - WIDTH / 2 - CHANNEL;
        return bent(&[(right, start), (channel, start), (channel, end), (left, end)]);
    }
    let channel = x - WIDTH / 2 - CHANNEL - 12;
    bent(&[(from.x, start), (channel, start), (channel, end), (to.x + to.w + 1, end)])
}

/// A path along points, each straight across or straight down from the one before, with round corners.
fn bent(points: &[(i64, i64)]) -> String {
    let mut path = format!("M{} {}", points[0].0, points[0].1);
    for corner in points.windows(3) {
        let [before, at, after] = [corner[0], corner[1], corner[2]];
        let (near, far) = (toward(at, before), toward(at, after));
        let _ = write!(path, "L{} {}Q{} {} {} {}", near.0, near.1, at.0, at.1, far.0, far.1);
    }
    let end = points[points.len() - 1];
    let _ = write!(path, "L{} {}", end.0, end.1);
    path
}

/// The point a little way from a corner toward another.
fn toward(at: (i64, i64), other: (i64, i64)) -> (i64, i64) {
    let step = |from: i64, to: i64| {
        from + (to - from).clamp(-ROUND, ROUND).clamp(-(to - from).abs() / 2, (to - from).abs() / 2)
    };
    (step(at.0, other.0), step(at.1, other.1))
}

fn square(out: &mut String, node: &Node) {
    let Node { x, y, w, h, label, kind, .. } = node;
    let status = node.status.map_or("", Status::name);
    let class = super::mermaid::class(*kind);
    let title = match node.status {
        Some(status) => format!("{} · {}\n{label}\n{}", kind.name(), status.name(), node.id),
        None => format!("{}\n{label}\n{}", kind.name(), node.id),
    };
    let _ = write!(
        out,
        "<g class=\"node {class} {status}\"><title>{}</title><rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" rx=\"{}\"/>",
        escape(&title),
        if *kind == NodeKind::Structural { 11 } else { 8 }
    );
    if *kind == NodeKind::Structural {
        let _ = writeln!(
            out,
            "<text class=\"small\" x=\"{}\" y=\"{}\">{}</text></g>",
            x + w / 2,
            y + 15,
            escape(label)
        );
        return;
    }
    let _ = write!(out, "<path class=\"bar\" d=\"M{} {}v{}\"/>", x + 8, y + 9, h - 18);
    let _ = write!(out, "<text class=\"kind\" x=\"{}\" y=\"{}\">{}</text>", x + 18, y + 18, kind.name());
    if let Some(status) = node.status {
        let _ = write!(
            out,
            "<text class=\"status\" x=\"{}\" y=\"{}\">{}</text>",
            x + w - 10,
            y + 18,
            status.name()
        );
    }
    out.push_str("<text class=\"says\">");
    for (at, line) in lines(*kind, label).iter().enumerate() {
        let _ = write!(
            out,
            "<tspan x=\"{}\" y=\"{}\">{}</tspan>",
            x + 18,
            y + CAPTION + 8 + LINE * at as i64,
            escape(line)
        );
    }
    out.push_str("</text></g>\n");
}

/// Text as XML takes it. Control characters, which XML cannot hold, are shown as a dot.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' => out.push('\n'),
            c if c.is_control()
                || matches!(c, '\u{fffe}' | '\u{ffff}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}') =>
            {
                out.push('·');
            }
            c => out.push(c),
        }
    }
    out
}
