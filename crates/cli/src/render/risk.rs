//! What would happen if the process died now: every step, and whether it is safe in the journal.

use antiphon_view::risk::{Counts, Risk, State, Step, Then};

use super::payload::word;
use super::status::status;
use super::unit::{clock, count, short};
use super::{Ink, Line, Page, Side, Table, nothing};

/// Lays out all steps, in the order they began, below a line that counts them.
pub(super) fn lines(risk: &Risk, page: Page) -> Vec<Line> {
    if risk.steps().is_empty() {
        return nothing("nothing was begun outside");
    }
    let columns = [("begun", Side::Left), ("run", Side::Left), ("step", Side::Left), ("state", Side::Left)];
    let mut table = Table::new(&[&columns[..], &[("then", Side::Left), ("why", Side::Left)]].concat());
    for step in risk.steps() {
        table.row(vec![
            Line::new().ink(Ink::Faint, step.started_at.map(clock).unwrap_or_default()),
            Line::new().ink(Ink::Faint, step.run_id.as_ref().map_or("", |run| short(run.as_str()))),
            name(step),
            status(&word(&step.state)),
            step.then.map_or(Line::new(), then),
            Line::new().ink(Ink::Faint, step.why.as_deref().unwrap_or("")),
        ]);
    }
    let mut lines = summary(risk.counts()).wrap(page.width);
    lines.push(Line::new());
    lines.extend(table.lines(page.width));
    lines
}

fn summary(counts: &Counts) -> Line {
    let mut line = Line::new().plain(format!("{} recorded", count(counts.recorded)));
    if counts.unknown > 0 {
        line = line.ink(Ink::Bad, format!(", {} unknown", count(counts.unknown)));
    }
    if counts.in_flight == 0 {
        return line.plain("; nothing is in flight");
    }
    line = line.ink(Ink::Waiting, format!(", {} in flight", count(counts.in_flight))).plain(", of which");
    let fates = [
        (counts.run_again, "would run again"),
        (counts.ask, "a person would be asked about"),
        (counts.resume, "would go on"),
        (counts.wait, "would wait"),
    ];
    let fates = fates.into_iter().filter(|(number, _)| *number > 0);
    let fates = fates.map(|(number, fate)| format!(" {} {fate}", count(number)));
    line.plain(fates.collect::<Vec<_>>().join(","))
}

fn name(step: &Step) -> Line {
    let ink = if step.state == State::Recorded { Ink::Plain } else { Ink::Strong };
    let line = Line::new().ink(Ink::Faint, format!("{} ", word(&step.kind).replace('_', " ")));
    match &step.name {
        Some(name) => line.ink(ink, name).ink(Ink::Faint, format!(" {}", short(&step.id))),
        None => line.ink(ink, short(&step.id)),
    }
}

fn then(then: Then) -> Line {
    let ink = match then {
        Then::Ask => Ink::Bad,
        Then::RunAgain => Ink::Waiting,
        Then::Resume | Then::Wait => Ink::Plain,
    };
    Line::new().ink(ink, word(&then).replace('_', " "))
}
