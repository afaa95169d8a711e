//! Agents that write code: turn by turn, what they thought, wrote, and what that printed.

use antiphon_view::repl::{Phase, Repl, ReplRun, Turn};

use super::payload::word;
use super::prose::prose;
use super::status::status;
use super::unit::{duration, flat, short};
use super::{Ink, Line, Page, nothing, paragraphs};

/// How far runs that code called are indented at most.
const DEPTH_MAX: usize = 8;

/// Lays out all runs, those that code called under the run that called them.
pub(super) fn lines(repl: &Repl, page: Page) -> Vec<Line> {
    let mut lines = Vec::new();
    for (depth, run) in repl.walk() {
        if !lines.is_empty() {
            lines.push(Line::new());
        }
        let indent = "│ ".repeat(depth.min(DEPTH_MAX));
        let inner = Page { width: page.width.saturating_sub(depth.min(DEPTH_MAX) * 2), ..page };
        let run = one(run, inner);
        lines.extend(run.into_iter().map(|line| Line::new().ink(Ink::Faint, &indent).join(line)));
    }
    if lines.is_empty() { nothing("no code was run") } else { lines }
}

fn one(run: &ReplRun, page: Page) -> Vec<Line> {
    let name = run.agent_id.as_ref().map_or("run", |id| id.as_str());
    let mut title =
        Line::new().ink(Ink::Agent, name).ink(Ink::Faint, format!(" {}  ", short(run.run_id.as_str())));
    title = title.join(status(&run.status));
    title = title.plain(run.duration_ms.map(|took| format!(" in {}", duration(took))).unwrap_or_default());
    let mut lines = vec![title.cut(page.width)];
    for turn in &run.turns {
        lines.extend(one_turn(turn, page));
    }
    if !run.answer.is_empty() {
        lines.push(Line::new().ink(Ink::Strong, "answer"));
        lines.extend(indented("  ", Ink::Plain, &run.answer, page));
    }
    lines
}

fn one_turn(turn: &Turn, page: Page) -> Vec<Line> {
    let mut head = Line::new().ink(Ink::Strong, format!("turn {}  ", turn.iteration)).join(phase(turn));
    if let Some(took) = turn.output.as_ref().and_then(|output| output.duration_ms) {
        head = head.ink(Ink::Faint, format!(" in {}", duration(took)));
    }
    let mut lines = vec![head];
    lines.extend(indented("  ", Ink::Faint, &turn.reasoning, page));
    let said = if turn.code.is_some() { prose(&turn.text) } else { turn.text.clone() };
    lines.extend(indented("  ", Ink::Plain, &said, page));
    lines.extend(indented("  › ", Ink::Tool, turn.code.as_deref().unwrap_or(""), page));
    let printed = turn.output.as_ref().map_or(&turn.stdout, |output| &output.stdout);
    lines.extend(indented("  │ ", Ink::Plain, printed, page));
    if turn.output.as_ref().is_some_and(|output| output.truncated) {
        lines.push(Line::new().ink(Ink::Faint, "  │ … cut"));
    }
    lines.extend(indented("  │ ", Ink::Bad, &turn.stderr, page));
    let failed = turn.output.as_ref().and_then(|output| output.error.as_deref());
    for error in failed.into_iter().chain(turn.error.as_deref()) {
        lines.extend(indented("  ✗ ", Ink::Bad, error, page));
    }
    for (id, pending) in &turn.pending {
        let what = [pending.tool.as_deref(), pending.prompt.as_deref()].into_iter().flatten();
        let what = flat(&what.collect::<Vec<_>>().join(" "));
        lines.push(
            Line::new()
                .ink(Ink::Waiting, "  ▶ waiting ")
                .ink(Ink::Strong, id.as_str())
                .plain(format!(" {what}"))
                .cut(page.width),
        );
    }
    lines
}

fn phase(turn: &Turn) -> Line {
    match turn.phase {
        Phase::Permission => status("waiting"),
        Phase::Thinking | Phase::Executing | Phase::Done | Phase::Error => status(&word(&turn.phase)),
    }
}

fn indented(indent: &str, ink: Ink, text: &str, page: Page) -> Vec<Line> {
    let lines = paragraphs(ink, text, page.width.saturating_sub(indent.chars().count()));
    lines.into_iter().map(|line| Line::new().ink(Ink::Faint, indent).join(line)).collect()
}
