//! The nested view: a tree of everything that happened, inside what it belongs to.

use antiphon_view::nested::{Level, Nested, Node};

use super::status::status;
use super::unit::{flat, short};
use super::{Ink, Line, Page, nothing, paragraphs, room, tree_on};

/// Lines of what was said that are shown of each message.
const TEXT_LINES: usize = 4;

/// Lays out the whole tree.
pub(super) fn lines(nested: &Nested, page: Page) -> Vec<Line> {
    let rows: Vec<_> = nested.walk().map(|(depth, node)| (depth, rows(node, depth, page))).collect();
    if rows.is_empty() {
        return nothing("nothing happened");
    }
    tree_on(page.width, rows)
}

fn rows(node: &Node, depth: usize, page: Page) -> Vec<Line> {
    let mut rows = vec![title(node)];
    let width = room(page.width, depth);
    rows.extend(cut(paragraphs(Ink::Faint, &node.reasoning, width), TEXT_LINES / 2));
    rows.extend(cut(paragraphs(Ink::Plain, &node.text, width), TEXT_LINES));
    if let Some(output) = &node.output {
        let ink = if node.status.as_deref() == Some("error") { Ink::Bad } else { Ink::Plain };
        rows.push(Line::new().ink(Ink::Faint, "→ ").ink(ink, flat(output)));
    }
    rows
}

fn title(node: &Node) -> Line {
    let label = node.label.as_deref();
    let id = short(&node.id);
    let mut line = match node.level {
        Level::Scope => Line::new().ink(Ink::Strong, "session ").ink(Ink::Faint, &node.id),
        Level::Flow => Line::new().ink(Ink::Strong, "turn ").ink(Ink::Faint, id),
        Level::Trace => Line::new().ink(Ink::Strong, "trace ").ink(Ink::Faint, id),
        Level::Run => Line::new().ink(Ink::Faint, "run ").ink(Ink::Agent, label.unwrap_or(id)),
        Level::Agent => Line::new().ink(Ink::Agent, label.unwrap_or(id)),
        Level::Workflow => Line::new().ink(Ink::Faint, "flow ").ink(Ink::Strong, label.unwrap_or(id)),
        Level::Node => Line::new().ink(Ink::Faint, "node ").ink(Ink::Strong, label.unwrap_or(id)),
        Level::Message => Line::new().ink(speaker(label), label.unwrap_or("message")),
        Level::Call => Line::new().ink(Ink::Tool, label.unwrap_or(id)),
        Level::Request => Line::new().ink(Ink::Waiting, "? ").ink(Ink::Plain, label.unwrap_or(id)),
        Level::Moment => Line::new().ink(Ink::Faint, "• ").ink(Ink::Plain, label.unwrap_or(&node.id)),
    };
    if let Some(state) = &node.status {
        line = line.plain(" ").join(status(state));
    }
    if let Some(input) = &node.input {
        line = line.plain(" ").plain(flat(input));
    }
    if node.discarded {
        line = line.ink(Ink::Bad, "  discarded");
    }
    if node.orphan { line.ink(Ink::Bad, "  not seen itself") } else { line }
}

fn speaker(label: Option<&str>) -> Ink {
    if label == Some("user") { Ink::Person } else { Ink::Agent }
}

/// The first lines, with an ellipsis if there are more.
fn cut(mut lines: Vec<Line>, most: usize) -> Vec<Line> {
    if lines.len() > most {
        lines.truncate(most);
        lines.push(Line::new().ink(Ink::Faint, "…"));
    }
    lines
}
