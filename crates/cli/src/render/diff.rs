//! Two histories side by side: what is only in one, what differs, what each cost.

use antiphon_event::Json;
use antiphon_view::diff::{Called, CalledSide, Change, Decided, Diff, Kept, Op, Ran, Role, Said, Spending};

use super::payload::{brief, brief_or_empty};
use super::unit::{count, dollars, flat};
use super::{Ink, Line, Page, Side, Table};

/// Lays out the differences; what is the same is only counted.
pub(crate) fn lines(diff: &Diff, page: Page) -> Vec<Line> {
    let mut lines = vec![Line::new().plain(match (diff.same, diff.common) {
        (true, _) => "the same, but for ids and times".to_owned(),
        (false, 0) => "different from the first event on".to_owned(),
        (false, 1) => "the first event is identical".to_owned(),
        (false, common) => format!("the first {} events are identical", count(common)),
    })];
    let parts = [
        ("said", diff.said.iter().map(|row| (row.change, said(row))).collect()),
        ("called", diff.called.iter().map(|row| (row.change, called(row))).collect()),
        ("decided", diff.decided.iter().map(|row| (row.change, decided(row))).collect()),
        ("ran", diff.ran.iter().map(|row| (row.change, ran(row))).collect()),
        ("state", diff.state.iter().map(|row| (row.change, kept(row))).collect()),
    ];
    for (title, rows) in parts {
        lines.extend(part(title, rows, page));
    }
    lines.extend(spent(diff, page));
    lines
}

/// The rows of one part that differ, each a line and what it was in A and in B.
fn part(title: &'static str, rows: Vec<(Change, Vec<Line>)>, page: Page) -> Vec<Line> {
    if rows.is_empty() {
        return Vec::new();
    }
    let same = rows.iter().filter(|(change, _)| *change == Change::Equal).count();
    let mut head = Line::new().ink(Ink::Strong, title);
    if same > 0 {
        head = head.ink(Ink::Faint, format!("  {same} the same"));
    }
    let mut lines = vec![Line::new(), head];
    for (change, row) in rows.into_iter().filter(|(change, _)| *change != Change::Equal) {
        let mark = match change {
            Change::Equal | Change::Changed => Line::new().ink(Ink::Waiting, "~ "),
            Change::OnlyA => Line::new().ink(Ink::Bad, "- "),
            Change::OnlyB => Line::new().ink(Ink::Good, "+ "),
        };
        for (index, line) in row.into_iter().enumerate() {
            let before = if index == 0 { mark.clone() } else { Line::new().plain("    ") };
            let width = page.width.saturating_sub(before.width());
            let wrapped = line.wrap(width).into_iter().enumerate();
            lines.extend(wrapped.map(|(nth, line)| {
                if nth == 0 {
                    before.clone().join(line)
                } else {
                    Line::new().plain(" ".repeat(before.width())).join(line)
                }
            }));
        }
    }
    lines
}

fn place(turn: u32, who: &str) -> Line {
    let line = Line::new().ink(Ink::Faint, format!("turn {turn} "));
    if who.is_empty() { line } else { line.ink(Ink::Agent, who).plain(" ") }
}

fn said(row: &Said) -> Vec<Line> {
    let (ink, role) = match row.role {
        Role::User => (Ink::Person, "user"),
        Role::Assistant => (Ink::Agent, "assistant"),
        Role::Reasoning => (Ink::Faint, "reasoning"),
    };
    let head = place(row.turn, &row.who).ink(ink, role).plain(format!(" {}", row.position));
    if row.pieces.is_empty() {
        return vec![head, Line::new().plain(flat(&row.text))];
    }
    let mut text = Line::new();
    for piece in &row.pieces {
        text = match piece.op {
            Op::Keep => text.plain(&piece.text),
            Op::Remove => text.ink(Ink::Bad, format!("[-{}-]", piece.text.trim_end())).plain(" "),
            Op::Add => text.ink(Ink::Good, format!("{{+{}+}}", piece.text.trim_end())).plain(" "),
        };
    }
    vec![head, text]
}

fn called(row: &Called) -> Vec<Line> {
    let head = place(row.turn, &row.who).ink(Ink::Tool, &row.name).plain(format!(" {}", row.position));
    let sides = [("A", &row.a), ("B", &row.b)];
    let sides = sides.into_iter().filter_map(|(name, side)| side.as_ref().map(|side| one_call(name, side)));
    std::iter::once(head).chain(sides).collect()
}

fn one_call(name: &str, side: &CalledSide) -> Line {
    let line =
        Line::new().ink(Ink::Faint, format!("{name} ")).plain(brief(&side.input)).ink(Ink::Faint, " → ");
    let ink = if side.failed { Ink::Bad } else { Ink::Plain };
    match &side.output {
        Some(output) => line.ink(ink, brief(output)),
        None => line.ink(Ink::Waiting, "open"),
    }
}

fn decided(row: &Decided) -> Vec<Line> {
    let head = place(row.turn, &row.who).ink(Ink::Strong, &row.about).plain(format!(" {} ", row.position));
    vec![head.join(versus(row.a.as_deref(), row.b.as_deref()))]
}

fn ran(row: &Ran) -> Vec<Line> {
    let node = row.node.as_deref().unwrap_or("run");
    let mut head = place(row.turn, &row.who).ink(Ink::Strong, node);
    if let Some(execution) = row.execution {
        head = head.plain(format!(" #{execution}"));
    }
    let mut lines = vec![head.plain(" ").join(versus(row.a.as_deref(), row.b.as_deref()))];
    for (name, output) in [("A", &row.output_a), ("B", &row.output_b)] {
        lines.extend(output.as_ref().map(|output| output_of(name, output)));
    }
    lines
}

fn output_of(name: &str, output: &Json) -> Line {
    Line::new().ink(Ink::Faint, format!("{name} ")).plain(brief_or_empty(Some(output)))
}

fn kept(row: &Kept) -> Vec<Line> {
    let mut lines = vec![place(row.turn, &row.who).ink(Ink::Strong, &row.key)];
    for (name, written) in
        [("A", &row.a), ("B", &row.b)].into_iter().filter(|(_, written)| !written.is_empty())
    {
        let written = written.iter().map(|one| format!("{} by {}", brief(&one.value), one.by));
        let written = written.collect::<Vec<_>>().join(", ");
        lines.push(Line::new().ink(Ink::Faint, format!("{name} ")).plain(written));
    }
    lines
}

/// What it was in A and what in B, or in the one that has it.
fn versus(a: Option<&str>, b: Option<&str>) -> Line {
    match (a, b) {
        (Some(a), Some(b)) if a != b => Line::new().ink(Ink::Bad, a).ink(Ink::Faint, " → ").ink(Ink::Good, b),
        (a, b) => Line::new().plain(a.or(b).unwrap_or("")),
    }
}

fn spent(diff: &Diff, page: Page) -> Vec<Line> {
    if diff.spent.a == Spending::default() && diff.spent.b == Spending::default() {
        return Vec::new();
    }
    let columns = [("spent", Side::Left), ("", Side::Left), ("calls", Side::Right), ("input", Side::Right)];
    let mut table = Table::new(&[&columns[..], &[("output", Side::Right), ("cost", Side::Right)]].concat());
    let models = diff.spent.models.iter().map(|on| (&*on.model, on.a, on.b));
    for (model, a, b) in models.chain([("all", diff.spent.a, diff.spent.b)]) {
        for (name, side) in [("A", a), ("B", b)] {
            table.row(vec![
                Line::new().ink(Ink::Strong, if name == "A" { model } else { "" }),
                Line::new().ink(Ink::Faint, name),
                Line::new().plain(count(side.calls)),
                Line::new().plain(count(side.tally.input_tokens)),
                Line::new().plain(count(side.tally.output_tokens)),
                Line::new()
                    .plain(side.tally.cost_usd.map(|cost| dollars(cost.dollars())).unwrap_or_default()),
            ]);
        }
    }
    std::iter::once(Line::new()).chain(table.lines(page.width)).collect()
}
