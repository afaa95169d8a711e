//! Why something happened: the event first, then its causes one below the other, back to the first.

use antiphon_view::Tally;
use antiphon_view::why::{Cause, Causes, What, Why};

use super::payload::word;
use super::unit::{clock, duration, flat, several, used};
use super::{Ink, Line, Page, Side, Table, nothing};

/// Columns for the position.
const INDENT: usize = 6;

/// Lays out a chain of causes, and what it took in all.
pub(crate) fn lines(why: &Why, page: Page) -> Vec<Line> {
    let at = why.causes.first().and_then(|cause| cause.at);
    let mut lines: Vec<Line> = at.map(|at| Line::new().ink(Ink::Faint, clock(at))).into_iter().collect();
    for cause in &why.causes {
        if let Some(link) = link(cause) {
            lines.push(link.cut(page.width));
        }
        lines.extend(fact(cause, page));
    }
    if why.cut {
        lines.push(Line::new().ink(Ink::Faint, "   ⋮ and further back"));
    }
    lines.push(Line::new());
    lines.push(total(why).cut(page.width));
    lines
}

/// Lays out everything that happened, with what caused it.
pub(super) fn facts(causes: &Causes, page: Page) -> Vec<Line> {
    let facts = causes.facts();
    if facts.is_empty() {
        return nothing("nothing happened");
    }
    let columns = [("", Side::Right), ("what", Side::Left), ("", Side::Left), ("because of", Side::Left)];
    let mut table = Table::new(&columns);
    for fact in facts {
        let what = fact.what.tag();
        let cause = fact.cause.and_then(|cause| facts.get(cause as usize)).and_then(|cause| cause.seq);
        let relation = fact.relation.map(|relation| word(&relation).replace('_', " ")).unwrap_or_default();
        table.row(vec![
            Line::new().ink(Ink::Strong, fact.seq.map(|seq| format!("#{seq}")).unwrap_or_default()),
            Line::new().ink(if fact.what == What::Step { Ink::Agent } else { ink(what) }, what),
            Line::new().plain(flat(&fact.text)),
            Line::new()
                .ink(Ink::Faint, relation)
                .plain(cause.map(|seq| format!(" #{seq}")).unwrap_or_default()),
        ]);
    }
    table.lines(page.width)
}

/// How the line above comes from the line below.
fn link(cause: &Cause) -> Option<Line> {
    let relation = word(&cause.relation?).replace('_', " ");
    let mut line = Line::new().ink(Ink::Faint, "   ↑ ").plain(relation);
    if let Some(passed) = cause.until_ms.and_then(|passed| u64::try_from(passed).ok()) {
        line = line.ink(Ink::Faint, format!(", {} later", duration(passed)));
    }
    if !cause.also.is_empty() {
        let also: Vec<String> = cause.also.iter().map(|seq| format!("#{seq}")).collect();
        line = line.ink(Ink::Faint, format!("; also because of {}", also.join(" ")));
    }
    Some(line)
}

fn fact(cause: &Cause, page: Page) -> Vec<Line> {
    let seq = cause.seq.map(|seq| format!("#{seq}")).unwrap_or_default();
    let mut head = Line::new().ink(Ink::Strong, format!("{seq:<5} "));
    if cause.what == What::Step {
        head = head.ink(Ink::Agent, flat(&cause.text));
    } else {
        head = head.ink(ink(cause.what.tag()), cause.what.tag()).plain("  ").plain(flat(&cause.text));
    }
    if let Some(spent) = &cause.spent {
        head = head.ink(Ink::Faint, format!("  {}", used(spent)));
    }
    let mut lines = head.wrap(page.width.saturating_sub(INDENT)).into_iter();
    let first = lines.next().into_iter();
    first.chain(lines.map(|line| Line::new().plain(" ".repeat(INDENT)).join(line))).collect()
}

fn ink(tag: &str) -> Ink {
    match tag {
        "user" | "relay_resolved" => Ink::Person,
        "text" | "reasoning" | "harness_start" | "harness_end" => Ink::Agent,
        "error" => Ink::Bad,
        _ => Ink::Tool,
    }
}

fn total(why: &Why) -> Line {
    let steps = why.causes.len() - 1;
    let mut line = Line::new().ink(Ink::Strong, format!("{} back", several(steps as u64, "step")));
    if let Some(took) = why.total_ms.and_then(|took| u64::try_from(took).ok()) {
        line = line.plain(format!(", {}", duration(took)));
    }
    if why.spent != Tally::default() {
        line = line.plain(format!(", {}", used(&why.spent)));
    }
    line
}
