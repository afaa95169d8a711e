//! Branches as recorded: positions, turns, what kinds of events, what is missing.

use antiphon_event::Timestamp;
use antiphon_view::replay::{Branch, Replay, Turn};

use super::unit::{clock, count, duration, several, short};
use super::{Ink, Line, Page, Side, Table, nothing};

/// Lays out all branches, in the order of their first appearance.
pub(super) fn lines(replay: &Replay, page: Page) -> Vec<Line> {
    let mut lines = Vec::new();
    for (place, branch) in replay.branches().iter().enumerate() {
        if !lines.is_empty() {
            lines.push(Line::new());
        }
        lines.extend(title(branch).wrap(page.width));
        lines.extend(summary(branch, replay.messages(place).len()).wrap(page.width));
        for gap in &branch.gaps {
            let missing = format!("positions {} to {} are missing", gap.from, gap.to);
            lines.push(Line::new().ink(Ink::Bad, missing).cut(page.width));
        }
        lines.extend(types(branch).wrap(page.width));
        if !branch.turns.is_empty() {
            lines.push(Line::new());
            lines.extend(turns(&branch.turns, page));
        }
    }
    if lines.is_empty() { nothing("no event has a position") } else { lines }
}

fn title(branch: &Branch) -> Line {
    let session = branch.session_id.as_ref().map_or("", |session| short(session.as_str()));
    let name = branch.branch_id.as_ref().map_or("", |branch| branch.as_str());
    let mut line = Line::new().ink(Ink::Strong, branch.title.as_deref().unwrap_or("session"));
    line = line.ink(Ink::Faint, format!(" {session} ")).ink(Ink::Agent, name);
    if let Some(from) = &branch.from {
        line = line.ink(Ink::Faint, format!(", from {} at {}", from.branch_id, from.seq));
    }
    line
}

fn summary(branch: &Branch, messages: usize) -> Line {
    let positions = format!("positions {} to {}", count(branch.first_seq), count(branch.last_seq));
    let mut line = Line::new().plain(format!("{positions}, {}", several(branch.events, "event")));
    line = line.plain(format!(", {}", several(messages as u64, "message")));
    match branch.started_at.zip(branch.ended_at).and_then(|(start, end)| lapse(start, end)) {
        Some(took) => line.plain(format!(", {}", duration(took))),
        None => line,
    }
}

fn types(branch: &Branch) -> Line {
    let types: Vec<String> =
        branch.types.iter().map(|(name, number)| format!("{name} {}", count(*number))).collect();
    Line::new().ink(Ink::Faint, types.join(" · "))
}

fn turns(turns: &[Turn], page: Page) -> Vec<Line> {
    let columns =
        [("turn", Side::Left), ("first", Side::Right), ("last", Side::Right), ("events", Side::Right)];
    let mut table = Table::new(&[&columns[..], &[("start", Side::Right), ("took", Side::Right)]].concat());
    for turn in turns {
        let took = turn.started_at.zip(turn.ended_at).and_then(|(start, end)| lapse(start, end));
        table.row(vec![
            Line::new().plain(short(turn.event_flow_id.as_str())),
            Line::new().plain(count(turn.first_seq)),
            Line::new().plain(count(turn.last_seq)),
            Line::new().plain(count(turn.events)),
            Line::new().ink(Ink::Faint, turn.started_at.map(clock).unwrap_or_default()),
            Line::new().plain(took.map(duration).unwrap_or_default()),
        ]);
    }
    table.lines(page.width)
}

fn lapse(start: Timestamp, end: Timestamp) -> Option<u64> {
    u64::try_from(end.millis().saturating_sub(start.millis())).ok()
}
