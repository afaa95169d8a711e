//! Traces: spans inside spans, each with the time it took drawn as a bar.

use antiphon_event::Timestamp;
use antiphon_view::trace::{Annotation, Span, SpanKind, SpanStatus, Trace, Traces};

use super::bar::{self, bar};
use super::unit::{clock, duration};
use super::{Ink, Line, Page, nothing, tree};

/// Columns for the time in figures.
const TOOK: usize = 9;

/// Lays out all traces, one after another, on a scale of time each.
pub(super) fn lines(traces: &Traces, page: Page) -> Vec<Line> {
    if traces.traces().is_empty() {
        return nothing("no event has a trace");
    }
    let mut spans = vec![Vec::new(); traces.traces().len()];
    for (depth, span) in traces.walk() {
        spans[span.trace].push((depth, span));
    }
    let mut lines = Vec::new();
    for (trace, spans) in traces.traces().iter().zip(&spans) {
        if !lines.is_empty() {
            lines.push(Line::new());
        }
        lines.extend(one(trace, spans, page));
    }
    lines
}

fn one(trace: &Trace, spans: &[(usize, &Span)], page: Page) -> Vec<Line> {
    let mut title = Line::new().ink(Ink::Strong, "trace ").ink(Ink::Faint, trace.trace_id.to_string());
    if let Some(at) = trace.started_at {
        title = title.ink(Ink::Faint, format!("  {}", clock(at)));
    }
    title = title.plain(trace.duration_ms.map(|took| format!("  {}", duration(took))).unwrap_or_default());
    let mut lines = vec![title.cut(page.width)];
    let width = page.width / 3;
    let names = page.width - width - TOOK - 3;
    let scale = bar::whole(spans.iter().filter_map(|(_, span)| time(span)).chain(whole_trace(trace)));
    let drawn = tree(spans.iter().map(|(depth, span)| (*depth, vec![name(span)])).collect());
    for (name, (_, span)) in drawn.into_iter().zip(spans) {
        let took = span.duration_ms.map(duration).unwrap_or_default();
        let line = name.cut(names).fill(names).plain(format!(" {took:>TOOK$}  "));
        let bar = time(span).zip(scale).map(|(time, scale)| bar(time, scale, width, ink(span)));
        lines.push(line.join(bar.unwrap_or_default()));
    }
    lines.extend(trace.annotations.iter().map(|note| Line::new().join(annotation(note)).cut(page.width)));
    lines
}

fn name(span: &Span) -> Line {
    let kind = match span.kind {
        Some(SpanKind::Input) => ("", Ink::Person),
        Some(SpanKind::Tool) => ("tool ", Ink::Tool),
        Some(SpanKind::Iteration) => ("model call", Ink::Plain),
        Some(SpanKind::Node) => ("node ", Ink::Strong),
        Some(SpanKind::Turn) => ("", Ink::Agent),
        None => ("", Ink::Faint),
    };
    let unnamed = || match span.kind {
        Some(SpanKind::Turn) => "run".to_owned(),
        Some(SpanKind::Input | SpanKind::Tool | SpanKind::Iteration | SpanKind::Node) => String::new(),
        None => span.span_id.to_string(),
    };
    let mut line = Line::new().ink(Ink::Faint, kind.0).ink(kind.1, span.name.clone().unwrap_or_else(unnamed));
    if span.status == SpanStatus::Error {
        line = line.ink(Ink::Bad, " ✗");
    }
    for note in &span.annotations {
        line = line.plain("  ").join(annotation(note));
    }
    line
}

fn annotation(note: &Annotation) -> Line {
    let times = if note.count > 1 { format!(" ×{}", note.count) } else { String::new() };
    Line::new().ink(Ink::Faint, format!("• {}{times}", note.kind))
}

fn ink(span: &Span) -> Ink {
    match span.status {
        SpanStatus::Open => Ink::Waiting,
        SpanStatus::Ok => Ink::Good,
        SpanStatus::Error => Ink::Bad,
    }
}

/// From when to when; nothing for a span that others only name.
fn time(span: &Span) -> Option<bar::Span> {
    span.kind?;
    Some(bar::Span { start: span.started_at?.millis(), end: span.ended_at.map(Timestamp::millis) })
}

fn whole_trace(trace: &Trace) -> Option<bar::Span> {
    Some(bar::Span { start: trace.started_at?.millis(), end: trace.last_at.map(Timestamp::millis) })
}
