//! Tokens and cost: a table with a part for each way of adding them up, and the total.

use antiphon_view::usage::{Row, Totals, Usage};

use super::unit::{count, dollars, short};
use super::{Ink, Line, Page, Side, Table, nothing};

/// Lays out what models, agents, nodes and runs used.
pub(super) fn lines(usage: &Usage, page: Page) -> Vec<Line> {
    if *usage.total() == Totals::default() {
        return nothing("no model was called");
    }
    let parts = [
        ("model", usage.models()),
        ("agent", usage.agents()),
        ("node", usage.nodes()),
        ("run", usage.runs()),
    ];
    let columns = [("calls", Side::Right), ("input", Side::Right), ("cached", Side::Right)];
    let more = [("output", Side::Right), ("cost", Side::Right), ("unpriced", Side::Right)];
    let mut table = Table::new(&[&[("used by", Side::Left)], &columns[..], &more].concat());
    for (title, rows) in parts.into_iter().filter(|(_, rows)| !rows.is_empty()) {
        for (index, Row { id, name, used }) in rows.iter().enumerate() {
            let title = if index == 0 { title } else { "" };
            let name = Line::new()
                .ink(Ink::Faint, format!("{title:<6}"))
                .plain(name.as_deref().unwrap_or_else(|| short(id)));
            table.row(row(name, used));
        }
    }
    table.row(row(Line::new().ink(Ink::Strong, "all"), usage.total()));
    table.lines(page.width)
}

fn row(name: Line, used: &Totals) -> Vec<Line> {
    let number = |number: u64| Line::new().plain(count(number));
    let unless_none =
        |number: u64| Line::new().plain(if number == 0 { String::new() } else { count(number) });
    let priced = used.calls > used.unpriced;
    vec![
        name,
        number(used.calls),
        number(used.input_tokens),
        unless_none(used.cache_read_tokens),
        number(used.output_tokens),
        Line::new().ink(Ink::Good, if priced { dollars(used.cost_usd.dollars()) } else { String::new() }),
        unless_none(used.unpriced),
    ]
}
