//! Tool calls: one row each, with what went in and what came out.

use antiphon_view::tools::{Call, Tools};
use serde_json::Value;

use super::payload::{brief, brief_or_empty, brief_value, progress, word};
use super::status::status;
use super::unit::{duration, flat};
use super::{Ink, Line, Page, Side, Table, nothing};

/// How much is shown of what a call that runs has said: its end.
const PROGRESS_MAX: usize = 200;

/// Lays out all calls, in the order of their first appearance.
pub(super) fn lines(tools: &Tools, page: Page) -> Vec<Line> {
    if tools.calls().is_empty() {
        return nothing("no tool was called");
    }
    let names = [("agent", Side::Left), ("tool", Side::Left), ("status", Side::Left), ("took", Side::Right)];
    let mut table = Table::new(&[&names[..], &[("input", Side::Left), ("output", Side::Left)]].concat());
    for call in tools.calls() {
        let state = word(&call.status);
        table.row(vec![
            Line::new().ink(Ink::Agent, call.agent.as_deref().unwrap_or("")),
            Line::new().ink(Ink::Tool, call.name.as_deref().unwrap_or("?")),
            status(if call.discarded { "discarded" } else { &state }),
            Line::new().plain(call.duration_ms.map(duration).unwrap_or_default()),
            Line::new().plain(brief_or_empty(call.input.as_ref())),
            outcome(call, &state),
        ]);
    }
    table.lines(page.width)
}

/// What came out, or the latest word of what is still running.
fn outcome(call: &Call, state: &str) -> Line {
    let ink = if matches!(state, "error" | "denied") { Ink::Bad } else { Ink::Plain };
    match &call.output {
        Some(output) => Line::new().ink(ink, brief(output)),
        None if call.progress.is_empty() => Line::new(),
        None => {
            let said: Vec<Value> = call.progress.iter().map(|said| said.content.value()).collect();
            let said = progress(&said, brief_value);
            let from = said.char_indices().rev().nth(PROGRESS_MAX).map_or(0, |(from, _)| from);
            Line::new().ink(Ink::Faint, format!("… {}", flat(said[from..].trim())))
        }
    }
}
