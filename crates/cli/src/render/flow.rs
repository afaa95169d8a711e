//! A flow, drawn: layers from top to bottom, back edges dashed, conditions as labels, kinds as shapes.
//!
//! Start reading at [`text`]; the other pictures are for something else to show.

mod svg;

use std::fmt::Write;

use antiphon_flow::{Flow, When, Work};

use super::{Ink, Line, Page, harmless, paint};

pub(crate) use svg::svg;

/// How many characters of a condition are shown.
const CONDITION_MAX: usize = 60;

/// What an edge says about itself, if it is not simply taken.
fn label(flow: &Flow, edge: usize) -> Option<String> {
    let text = match &flow.edges()[edge].when {
        When::Always => return None,
        When::If(formula) => formula.text().unwrap_or("if …").to_owned(),
        When::Default => "otherwise".to_owned(),
        When::Reroute => "rerouted".to_owned(),
    };
    let text: String = text.chars().map(harmless).collect();
    let is_long = text.chars().count() > CONDITION_MAX;
    Some(if is_long { text.chars().take(CONDITION_MAX - 1).chain(['…']).collect() } else { text })
}

/// The nodes of each layer; those that only take over for others come last.
fn layers(flow: &Flow) -> Vec<Vec<usize>> {
    let mut layers: Vec<Vec<usize>> = Vec::new();
    let mut last = Vec::new();
    for node in 0..flow.nodes().len() {
        match flow.shape().layer(node) {
            Some(layer) => {
                layers.resize(layers.len().max(layer as usize + 1), Vec::new());
                layers[layer as usize].push(node);
            }
            None => last.push(node),
        }
    }
    if !last.is_empty() {
        layers.push(last);
    }
    layers
}

/// Fallbacks: who takes over for whom.
fn fallbacks(flow: &Flow) -> impl Iterator<Item = (usize, usize)> {
    let nodes = flow.nodes().enumerate();
    nodes.filter_map(|(node, what)| Some((node, flow.index(what.fallback.as_deref()?)?)))
}

/// Layers for a terminal: each node with where it leads.
pub(crate) fn text(flow: &Flow, page: Page) -> String {
    let mut lines = vec![Line::new().ink(Ink::Strong, flow.name())];
    for (layer, nodes) in layers(flow).iter().enumerate() {
        for (place, &node) in nodes.iter().enumerate() {
            let number = if place == 0 { format!("{:>3}  ", layer + 1) } else { "     ".to_owned() };
            let kind = format!("  {}", flow.node(node).work.kind());
            let head = Line::new().ink(Ink::Faint, number).ink(Ink::Agent, flow.id(node).as_str());
            lines.push(head.ink(Ink::Faint, kind));
            lines.extend(ways(flow, node).into_iter().map(|line| line.cut(page.width)));
        }
    }
    paint(&lines, page.palette)
}

fn ways(flow: &Flow, node: usize) -> Vec<Line> {
    let shape = flow.shape();
    let mut lines = Vec::new();
    for edge in (0..flow.edges().len()).filter(|edge| shape.ends(*edge).0 == node) {
        let arrow = if shape.leads_back(edge) { "╌▷ " } else { "─▶ " };
        let line =
            Line::new().plain("       ").ink(Ink::Faint, arrow).plain(flow.id(shape.ends(edge).1).as_str());
        lines.push(
            line.ink(Ink::Tool, label(flow, edge).map(|label| format!("  {label}")).unwrap_or_default()),
        );
    }
    for (_, deputy) in fallbacks(flow).filter(|(from, _)| *from == node) {
        let line = Line::new().plain("       ").ink(Ink::Faint, "╌▷ ").plain(flow.id(deputy).as_str());
        lines.push(line.ink(Ink::Tool, "  if it fails"));
    }
    lines
}

/// A Mermaid flowchart.
pub(crate) fn mermaid(flow: &Flow) -> String {
    let mut out = String::from("flowchart TD\n");
    for (index, node) in flow.nodes().enumerate() {
        let (open, close) = match &node.work {
            Work::Router(_) => ("{", "}"),
            Work::Human(_) => ("[/", "/]"),
            Work::Guardrail => ("{{", "}}"),
            Work::Flow(_) | Work::Swarm(_) | Work::Map(_) => ("[[", "]]"),
            Work::Agent(_) => ("([", "])"),
            Work::Function(_) | Work::Expression(_) | Work::Command(_) | Work::Tool(_) => ("[", "]"),
        };
        let text = entities(flow.id(index).as_str());
        writeln!(out, "  n{index}{open}\"{text}<br/>{}\"{close}", node.work.kind()).expect(ANY);
    }
    for edge in 0..flow.edges().len() {
        let (from, to) = flow.shape().ends(edge);
        let arrow = if flow.shape().leads_back(edge) { "-.->" } else { "-->" };
        let label = label(flow, edge).map(|label| format!("|\"{}\"|", entities(&label))).unwrap_or_default();
        writeln!(out, "  n{from} {arrow}{label} n{to}").expect(ANY);
    }
    for (from, to) in fallbacks(flow) {
        writeln!(out, "  n{from} -.->|\"if it fails\"| n{to}").expect(ANY);
    }
    out
}

/// A Graphviz graph.
pub(crate) fn dot(flow: &Flow) -> String {
    let mut out = format!(
        "digraph \"{}\" {{\n  node [fontname=\"sans-serif\", style=rounded];\n",
        escaped(flow.name())
    );
    for (index, node) in flow.nodes().enumerate() {
        let shape = match &node.work {
            Work::Router(_) => "diamond",
            Work::Human(_) => "parallelogram",
            Work::Guardrail => "hexagon",
            Work::Flow(_) | Work::Swarm(_) | Work::Map(_) => "box3d",
            Work::Agent(_) => "ellipse",
            Work::Function(_) | Work::Expression(_) | Work::Command(_) | Work::Tool(_) => "box",
        };
        let text = escaped(flow.id(index).as_str());
        writeln!(out, "  n{index} [label=\"{text}\\n{}\", shape={shape}];", node.work.kind()).expect(ANY);
    }
    for edge in 0..flow.edges().len() {
        let (from, to) = flow.shape().ends(edge);
        let style = if flow.shape().leads_back(edge) { "style=dashed, constraint=false, " } else { "" };
        let label = label(flow, edge).map(|label| escaped(&label)).unwrap_or_default();
        writeln!(out, "  n{from} -> n{to} [{style}label=\"{label}\"];").expect(ANY);
    }
    for (from, to) in fallbacks(flow) {
        writeln!(out, "  n{from} -> n{to} [style=dashed, label=\"if it fails\"];").expect(ANY);
    }
    out + "}\n"
}

const ANY: &str = "a string takes any text";

/// Text within quotes of a Mermaid label.
fn entities(text: &str) -> String {
    let harmless = |c: char| c.is_ascii_alphanumeric() || !c.is_ascii() || " ,:.()/-=?!_".contains(c);
    text.chars().map(|c| if harmless(c) { c.to_string() } else { format!("#{};", u32::from(c)) }).collect()
}

/// Text within quotes of a Graphviz label.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('&', "&amp;")
}
