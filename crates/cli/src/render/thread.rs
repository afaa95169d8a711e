//! The thread: a conversation to read, subagents indented under the call that started them.
//!
//! In: the view's snapshot, taken apart into [`entry`]'s types. Out: lines. Start reading at [`lines`].

mod entry;
mod part;

use antiphon_view::thread::Thread;
use antiphon_view::{Projected, View};
use serde::Deserialize;

use super::prose::prose;
use super::unit::{clock, several};
use super::{Choices, Ink, Line, Page, Screen, begun, nothing, paragraphs};
use entry::{Branch, Entry, Part};

pub(crate) use antiphon_view::thread::Options;

/// A thread without what was chosen to be left out.
pub(super) fn open(choices: Choices) -> Box<dyn Screen> {
    begun(Projected::new(Thread::new(choices.thread)), lines)
}

/// Lays out the whole conversation.
fn lines(thread: &Projected<Thread>, page: Page) -> Vec<Line> {
    let snapshot = serde_json::to_value(thread.snapshot()).expect("snapshots are JSON");
    let thread = Branch::deserialize(snapshot).expect("the snapshot is a thread");
    let lines = entries(&thread.entries, page.width);
    if lines.is_empty() { nothing("nobody said anything") } else { lines }
}

fn entries(entries: &[Entry], width: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    for entry in entries {
        if !lines.is_empty() {
            lines.push(Line::new());
        }
        lines.push(title(entry).cut(width));
        lines.extend(within("  ", body(entry, width.saturating_sub(2))));
    }
    lines
}

fn title(entry: &Entry) -> Line {
    let ink = if entry.role == "user" { Ink::Person } else { Ink::Agent };
    let mut line = match entry.sources.len() {
        0 => Line::new().ink(ink, entry.agent.as_deref().unwrap_or(&entry.role)),
        sources => Line::new().ink(Ink::Strong, format!("summary of {}", several(sources as u64, "message"))),
    };
    if let Some(node) = entry.node_id.as_deref().filter(|node| entry.agent.as_deref() != Some(node)) {
        line = line.ink(Ink::Faint, format!(" in {node}"));
    }
    line = line.ink(Ink::Faint, entry.at.map(|at| format!("  {}", clock(at))).unwrap_or_default());
    line = match entry.status.as_str() {
        "complete" | "" => line,
        "streaming" => line.ink(Ink::Waiting, "  …"),
        "error" => line.ink(Ink::Bad, "  failed"),
        other => line.ink(Ink::Waiting, format!("  {other}")),
    };
    if entry.orphan { line.ink(Ink::Faint, "  (its cause has not been seen)") } else { line }
}

fn body(entry: &Entry, width: usize) -> Vec<Line> {
    let summary = paragraphs(Ink::Plain, entry.text.as_deref().unwrap_or(""), width);
    let has_code = entry.parts.iter().any(|part| part.kind == "code");
    let parts = entry.parts.iter().flat_map(|part| match &part.text {
        Some(text) if has_code && part.kind == "text" => paragraphs(Ink::Plain, &prose(text), width),
        _ => one_part(part, width),
    });
    summary.into_iter().chain(parts).collect()
}

fn one_part(part: &Part, width: usize) -> Vec<Line> {
    let mut lines = part::lines(part, width);
    for branch in &part.branches {
        let inner = entries(&branch.entries, width.saturating_sub(2).max(20));
        lines.extend(within("│ ", inner));
    }
    lines.extend(part::outcome(part, width));
    lines
}

/// Lines behind a guide.
fn within(guide: &str, lines: Vec<Line>) -> Vec<Line> {
    lines.into_iter().map(|line| Line::new().ink(Ink::Faint, guide).join(line)).collect()
}
