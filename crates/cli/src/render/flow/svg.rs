//! A flow as an SVG picture that stands on its own.

use std::fmt::Write;

use antiphon_flow::{Flow, Work};
use unicode_width::UnicodeWidthStr;

use super::{ANY, fallbacks, label, layers};

const BOX_HEIGHT: i64 = 48;
const LAYER_GAP: i64 = 64;
const NODE_GAP: i64 = 40;
const MARGIN: i64 = 32;
const WIDTH_MIN: i64 = 110;
/// How wide a character is drawn, about.
const CHARACTER: i64 = 8;

const STYLE: &str = "text{font:13px system-ui,sans-serif;fill:#1c2430;text-anchor:middle}\
.kind{font-size:11px;fill:#66707f}.label{font-size:11px;fill:#3d6b99;paint-order:stroke;stroke:#fff;stroke-width:4px}\
.node{fill:#f5f7fa;stroke:#66707f}.edge{fill:none;stroke:#66707f}.back{stroke-dasharray:5 4}\
@media(prefers-color-scheme:dark){.paper{fill:#14181f}text{fill:#e6eaf0}.node{fill:#222934;stroke:#8b96a8}\
.edge{stroke:#8b96a8}.kind{fill:#9aa4b2}.label{fill:#8bb8e8;stroke:#14181f}}.paper{fill:#fff}";

/// Where a node stands.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    x: i64,
    y: i64,
    w: i64,
}

/// Draws the flow. Everything from outside is escaped; nothing is fetched.
pub(crate) fn svg(flow: &Flow) -> String {
    let (places, width, height) = placed(flow);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\">\n<title>{}</title>\n<style>{STYLE}</style>\n\
         <defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
         orient=\"auto\"><path d=\"M0 .5 7.5 4 0 7.5z\" fill=\"#66707f\"/></marker></defs>\n\
         <rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n",
        escaped(flow.name())
    );
    for edge in 0..flow.edges().len() {
        let (from, to) = flow.shape().ends(edge);
        let text = label(flow, edge).unwrap_or_default();
        arrow(&mut out, places[from], places[to], flow.shape().leads_back(edge), &text);
    }
    for (from, to) in fallbacks(flow) {
        arrow(&mut out, places[from], places[to], true, "if it fails");
    }
    for (index, node) in flow.nodes().enumerate() {
        shape(&mut out, places[index], &node.work, flow.id(index).as_str());
    }
    out + "</svg>\n"
}

/// Layers one below the other, each in the middle.
fn placed(flow: &Flow) -> (Vec<Place>, i64, i64) {
    let layers = layers(flow);
    let wide = |node: usize| (flow.id(node).as_str().width() as i64 * CHARACTER + 36).max(WIDTH_MIN);
    let widths: Vec<i64> = layers
        .iter()
        .map(|layer| layer.iter().map(|node| wide(*node) + NODE_GAP).sum::<i64>() - NODE_GAP)
        .collect();
    // Edges that lead back go around on the right.
    let widest = widths.iter().copied().max().unwrap_or(0);
    let width = widest + 2 * MARGIN + 2 * LAYER_GAP;
    let mut places = vec![Place::default(); flow.nodes().len()];
    for (row, (layer, row_width)) in layers.iter().zip(widths).enumerate() {
        let mut x = MARGIN + LAYER_GAP + (widest - row_width) / 2;
        for &node in layer {
            places[node] = Place { x, y: MARGIN + row as i64 * (BOX_HEIGHT + LAYER_GAP), w: wide(node) };
            x += wide(node) + NODE_GAP;
        }
    }
    let rows = layers.len().max(1) as i64;
    (places, width, 2 * MARGIN + rows * BOX_HEIGHT + (rows - 1) * LAYER_GAP)
}

fn arrow(out: &mut String, from: Place, to: Place, is_back: bool, text: &str) {
    let class = if is_back { "edge back" } else { "edge" };
    let (path, (x, y)) = if to.y > from.y {
        let (x1, y1, x2, y2) = (from.x + from.w / 2, from.y + BOX_HEIGHT, to.x + to.w / 2, to.y - 2);
        let bend = (y2 - y1) / 2;
        let path = format!("M{x1} {y1}C{x1} {} {x2} {} {x2} {y2}", y1 + bend, y2 - bend);
        (path, (i64::midpoint(x1, x2), i64::midpoint(y1, y2) + 4))
    } else {
        let (x1, y1) = (from.x + from.w, from.y + BOX_HEIGHT / 2);
        let (x2, y2) = (to.x + to.w + 2, to.y + BOX_HEIGHT / 2 + 6);
        let side = x1.max(x2) + LAYER_GAP;
        (
            format!("M{x1} {y1}C{side} {y1} {side} {y2} {x2} {y2}"),
            (side - LAYER_GAP / 4, i64::midpoint(y1, y2)),
        )
    };
    writeln!(out, "<path class=\"{class}\" d=\"{path}\" marker-end=\"url(#tip)\"/>").expect(ANY);
    if !text.is_empty() {
        writeln!(out, "<text class=\"label\" x=\"{x}\" y=\"{y}\">{}</text>", escaped(text)).expect(ANY);
    }
}

fn shape(out: &mut String, place: Place, work: &Work, id: &str) {
    let Place { x, y, w } = place;
    let (right, bottom, middle) = (x + w, y + BOX_HEIGHT, y + BOX_HEIGHT / 2);
    match work {
        Work::Router(_) => writeln!(
            out,
            "<path class=\"node\" d=\"M{} {y} {right} {middle} {} {bottom} {x} {middle}z\"/>",
            x + w / 2,
            x + w / 2
        ),
        Work::Human(_) => {
            let (a, b) = (x + 12, right - 12);
            writeln!(out, "<path class=\"node\" d=\"M{a} {y} {right} {y} {b} {bottom} {x} {bottom}z\"/>")
        }
        _ => {
            let round = if matches!(work, Work::Agent(_)) { BOX_HEIGHT / 2 } else { 6 };
            writeln!(out, "<rect class=\"node\" x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{BOX_HEIGHT}\" rx=\"{round}\"/>")
        }
    }
    .expect(ANY);
    let centre = x + w / 2;
    writeln!(out, "<text x=\"{centre}\" y=\"{}\">{}</text>", middle - 2, escaped(id)).expect(ANY);
    writeln!(out, "<text class=\"kind\" x=\"{centre}\" y=\"{}\">{}</text>", middle + 14, work.kind())
        .expect(ANY);
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
