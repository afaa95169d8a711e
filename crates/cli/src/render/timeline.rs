//! The timeline: a table for each flow, with a bar for each attempt at a node and the agents inside.

use antiphon_event::{AgentId, Timestamp};
use antiphon_view::timeline::{Mark, Row, Run, RunKind, Timeline};

use super::bar::{Span, bar, whole};
use super::status::{ink_of, status};
use super::unit::{duration, flat, short};
use super::{Ink, Line, Page, Side, Table, nothing};

/// Lays out every flow, in the order they were heard of.
pub(crate) fn lines(timeline: &Timeline, page: Page) -> Vec<Line> {
    let mut lines: Vec<_> = timeline.marks().iter().map(|mark| told(mark, None, page)).collect();
    for run in timeline.runs().iter().filter(|run| run.kind == RunKind::Flow) {
        if !lines.is_empty() {
            lines.push(Line::new());
        }
        lines.extend(title(run).wrap(page.width));
        lines.extend(rows(timeline, run, page));
        lines.extend(run.marks.iter().map(|mark| told(mark, None, page)));
        for inside in inside(timeline, run).filter(|inside| inside.kind == RunKind::Agent) {
            lines.extend(inside.marks.iter().map(|mark| told(mark, Some(name(inside)), page)));
        }
    }
    if lines.is_empty() { nothing("no flow ran") } else { lines }
}

fn title(run: &Run) -> Line {
    let name = run.graph_id.as_deref().unwrap_or("flow");
    let mut line =
        Line::new().ink(Ink::Strong, name).ink(Ink::Faint, format!(" {}  ", short(run.run_id.as_str())));
    if let Some(within) = &run.within {
        line = line.ink(Ink::Faint, format!("in {}  ", short(within.run_id.as_str())));
    }
    line = line.join(status(run.status.as_str()));
    if let Some(took) = run.duration_ms {
        line = line.plain(format!(" in {}", duration(took)));
    }
    if let Some(reason) = &run.reason {
        line = line.plain(": ").plain(reason.replace('_', " "));
    }
    line
}

fn rows(timeline: &Timeline, run: &Run, page: Page) -> Vec<Line> {
    let columns =
        [("node", Side::Left), ("type", Side::Left), ("status", Side::Left), ("start", Side::Right)];
    let columns = [&columns[..], &[("took", Side::Right), ("", Side::Fixed), ("note", Side::Left)]].concat();
    let mut table = Table::new(&columns);
    let spans = run.rows.iter().filter_map(|row| span(row.started_at, row.ended_at));
    let scale = whole(spans.chain(span(run.started_at, run.ended_at)));
    for row in &run.rows {
        let state = row.status.as_str().to_lowercase();
        table.row(vec![
            Line::new().plain(node(row)),
            Line::new().ink(Ink::Faint, row.node_type.as_deref().unwrap_or("")),
            status(row.status.as_str()),
            since(run.started_at, row.started_at),
            Line::new().plain(row.duration_ms.map(duration).unwrap_or_default()),
            drawn(span(row.started_at, row.ended_at), scale, page, ink_of(&state)),
            note(row),
        ]);
        for inside in row.inside.iter().filter_map(|id| timeline.run(id)) {
            table.row(vec![
                Line::new().ink(Ink::Faint, "└ ").ink(Ink::Agent, name(inside)),
                Line::new().ink(Ink::Faint, if inside.kind == RunKind::Flow { "flow" } else { "agent" }),
                status(inside.status.as_str()),
                since(run.started_at, inside.started_at),
                Line::new().plain(inside.duration_ms.map(duration).unwrap_or_default()),
                drawn(span(inside.started_at, inside.ended_at), scale, page, Ink::Faint),
                Line::new(),
            ]);
        }
    }
    table.lines(page.width)
}

/// What happened at a moment, and where: in a node, or in something that is named.
fn told(mark: &Mark, name: Option<&str>, page: Page) -> Line {
    let node = mark.node_id.as_ref().map(|node| node.as_str());
    let at = name.or(node).map_or(Line::new(), |at| Line::new().ink(Ink::Strong, at).plain(" "));
    Line::new().ink(Ink::Faint, "• ").join(at).plain(flat(&mark.text)).cut(page.width)
}

fn inside<'t>(timeline: &'t Timeline, run: &'t Run) -> impl Iterator<Item = &'t Run> {
    run.rows.iter().flat_map(|row| &row.inside).filter_map(|id| timeline.run(id))
}

/// What people call what ran inside a node.
fn name(run: &Run) -> &str {
    run.graph_id.as_deref().or(run.agent_id.as_ref().map(AgentId::as_str)).unwrap_or("run")
}

fn node(row: &Row) -> String {
    let execution = if row.execution > 1 { format!(" #{}", row.execution) } else { String::new() };
    let attempt = if row.attempt > 1 { format!(" (try {})", row.attempt) } else { String::new() };
    format!("{}{execution}{attempt}", row.node_id)
}

fn note(row: &Row) -> Line {
    if let Some(error) = &row.error {
        return Line::new().ink(Ink::Bad, flat(error));
    }
    let why = row.reason.as_ref().or(row.output.as_ref());
    Line::new().ink(Ink::Faint, why.map(|text| flat(text)).unwrap_or_default())
}

fn span(start: Option<Timestamp>, end: Option<Timestamp>) -> Option<Span> {
    Some(Span { start: start.or(end)?.millis(), end: end.map(Timestamp::millis) })
}

fn drawn(span: Option<Span>, scale: Option<Span>, page: Page, ink: Ink) -> Line {
    let width = (page.width / 4).clamp(10, 40);
    span.zip(scale).map_or(Line::new(), |(span, scale)| bar(span, scale, width, ink))
}

fn since(start: Option<Timestamp>, at: Option<Timestamp>) -> Line {
    let passed = start.zip(at).map(|(start, at)| at.millis().saturating_sub(start.millis()));
    let passed = passed.and_then(|passed| u64::try_from(passed).ok());
    Line::new().ink(Ink::Faint, passed.map(|passed| format!("+{}", duration(passed))).unwrap_or_default())
}
