//! One part of a message: what was said, a call and what came of it, a request, an error.

use serde_json::Value;

use super::super::payload::{self, full};
use super::super::status::{ink_of, status};
use super::super::unit::flat;
use super::super::{Ink, Line, paragraphs};
use super::entry::{Part, Relay};

/// Lines of what went into a call that are shown.
const INPUT_LINES: usize = 3;
/// Lines of what came out that are shown.
const OUTPUT_LINES: usize = 6;

/// What stands before the runs that a part started: what was said, or the call and what it was given.
pub(super) fn lines(part: &Part, width: usize) -> Vec<Line> {
    match part.kind.as_str() {
        "text" => paragraphs(Ink::Plain, part.text.as_deref().unwrap_or(""), width),
        "reasoning" => paragraphs(Ink::Faint, part.text.as_deref().unwrap_or(""), width),
        "error" => behind("✗ ", Ink::Bad, part.message.as_deref().unwrap_or(""), width, usize::MAX),
        "code" => code(part, width),
        "relay" => request(part, width),
        _ => call(part, width),
    }
}

/// What stands behind them: what came of it.
pub(super) fn outcome(part: &Part, width: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    let progress = part.progress.as_ref().or(part.content.as_ref()).filter(|_| part.output.is_none());
    if let Some(progress) = progress {
        lines.extend(behind("  … ", Ink::Faint, &progress_text(progress), width, usize::MAX));
    }
    match &part.output {
        Some(output) if part.kind == "code" => lines.extend(printed(output, width)),
        Some(output) => {
            let failed = part.is_error || matches!(part.status.as_deref(), Some("error" | "denied"));
            let ink = if failed { Ink::Bad } else { Ink::Plain };
            lines.extend(behind("  → ", ink, &full(output), width, OUTPUT_LINES));
        }
        None => {}
    }
    lines
}

/// What code printed, and what went wrong.
fn printed(output: &Value, width: usize) -> Vec<Line> {
    let text = |name: &str| output.get(name).and_then(Value::as_str).unwrap_or("");
    let mut lines = behind("  → ", Ink::Plain, text("stdout"), width, OUTPUT_LINES);
    lines.extend(behind("  ✗ ", Ink::Bad, text("error"), width, OUTPUT_LINES));
    lines
}

fn call(part: &Part, width: usize) -> Vec<Line> {
    let state = part.status.as_deref().unwrap_or("");
    let ink = if state == "complete" { Ink::Good } else { ink_of(state) };
    let mut head = Line::new().ink(ink, "● ").ink(Ink::Tool, part.name.as_deref().unwrap_or(&part.kind));
    if state != "complete" {
        head = head.plain("  ").join(status(state));
    }
    let mut lines = vec![head.cut(width)];
    let input = part.input.as_ref().map(full).unwrap_or_default();
    lines.extend(behind("  ", Ink::Plain, &input, width, INPUT_LINES));
    lines.extend(part.relay.iter().map(|relay| relay_line(relay).cut(width)));
    lines
}

fn code(part: &Part, width: usize) -> Vec<Line> {
    let mut lines = behind("› ", Ink::Tool, part.code.as_deref().unwrap_or(""), width, usize::MAX);
    lines.extend(part.relay.iter().map(|relay| relay_line(relay).cut(width)));
    lines
}

/// A request that belongs to no call.
fn request(part: &Part, width: usize) -> Vec<Line> {
    let prompt = part.prompt.as_deref().or(part.name.as_deref()).unwrap_or("");
    let mut lines = behind("? ", Ink::Waiting, prompt, width, usize::MAX);
    let input = part.input.as_ref().map(full).unwrap_or_default();
    lines.extend(behind("  ", Ink::Plain, &input, width, INPUT_LINES));
    if !part.options.is_empty() {
        lines.push(Line::new().plain("  ").ink(Ink::Faint, part.options.join(" · ")).cut(width));
    }
    lines.extend(part.relay.iter().map(|relay| relay_line(relay).cut(width)));
    lines
}

fn relay_line(relay: &Relay) -> Line {
    if relay.status == "pending" {
        let line = Line::new().ink(Ink::Waiting, format!("  ▶ waiting for {} ", relay.kind));
        let prompt = relay.prompt.as_deref().map(|text| format!(" {}", flat(text))).unwrap_or_default();
        let line = line.ink(Ink::Strong, &relay.id).plain(prompt);
        return if relay.options.is_empty() {
            line
        } else {
            line.plain(" ").ink(Ink::Faint, relay.options.join(" · "))
        };
    }
    let mut line = Line::new().plain("  ").join(status(&relay.status));
    if let Some(answer) = &relay.answer {
        line = line.plain(format!(" {}", flat(&full(answer))));
    }
    if let Some(by) = &relay.by {
        line = line.plain(format!(" by {by}"));
    }
    match &relay.reason {
        Some(reason) => line.plain(format!(": {}", flat(reason))),
        None => line,
    }
}

/// Progress of a tool is a list, that of code a text.
fn progress_text(progress: &Value) -> String {
    match progress {
        Value::Array(list) => end(&payload::progress(list, full)),
        other => end(&full(other)),
    }
}

/// The last lines of a text.
fn end(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end_matches('\n').lines().collect();
    let before = lines.len().saturating_sub(OUTPUT_LINES);
    let shown = lines[before..].join("\n");
    if before > 0 { format!("({before} lines before)\n{shown}") } else { shown }
}

/// Text with a mark before its first line, folded to so many lines.
fn behind(mark: &str, ink: Ink, text: &str, width: usize, most: usize) -> Vec<Line> {
    let indent = mark.chars().count();
    let mut lines = paragraphs(ink, text, width.saturating_sub(indent));
    let more = lines.len().saturating_sub(most);
    if more > 1 {
        lines.truncate(most);
        lines.push(Line::new().ink(Ink::Faint, format!("… {more} more lines")));
    }
    let marked = |(index, line)| {
        let before = if index == 0 { mark.to_owned() } else { " ".repeat(indent) };
        Line::new().ink(if ink == Ink::Plain { Ink::Faint } else { ink }, before).join(line)
    };
    lines.into_iter().enumerate().map(marked).collect()
}
