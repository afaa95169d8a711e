//! The page `docs/benchmarks.md`: the figures against what was asked for.
//!
//! In: figures. Out: Markdown. Start reading at [`write`].

use super::figures::{Figures, Growth, Instructions, Machine, Memory, Ours, Peers, Row, Tenths};

/// The whole page.
pub(super) fn write(figures: &Figures) -> String {
    let Figures { machine, growth, instructions, peers } = figures;
    let mut page = head(machine);
    page += &bars(growth, peers.as_ref());
    if let Some(peers) = peers {
        page += &ratios(&growth.peers, peers);
    }
    page += &table(&growth.rows);
    if let Some(instructions) = instructions {
        page += &counts(instructions);
    }
    page + AGAIN
}

fn head(Machine { cores, model, rustc }: &Machine) -> String {
    format!(
        "# Benchmarks\n\n\
        Written by `make bench`: everything on this page was measured in one run on one machine, {cores} cores of\n\
        {model}, {rustc}. Times are processor times, the best of several; making the input and letting\n\
        go of the result are not in them.\n"
    )
}

/// What was asked for and what was reached. A figure that was not measured has no row.
fn bars(growth: &Growth, peers: Option<&Peers>) -> String {
    let rate = |name| last(growth, name).map(|ns| 1e3 / ns);
    let mut rows = Vec::new();
    let mut row = |what: &str, bar: &str, value: Option<f64>, unit: &str, holds: fn(f64) -> bool| {
        if let Some(value) = value {
            let verdict = if holds(value) { "yes" } else { "**no**" };
            rows.push(format!("| {what} | {bar} | {} {unit} | {verdict} |\n", figure(value)));
        }
    };
    row("text deltas into the flat graph", "≥ 5 M/s", rate("flat deltas"), "M/s", |rate| rate >= 5.0);
    row("the same from JSON lines", "≥ 1 M/s", rate("flat deltas from lines"), "M/s", |rate| rate >= 1.0);
    let ratio = peers.and_then(|peers| ratio(&growth.peers, peers, "text", 100_000));
    row("against `@ag-ui/client`, 100 k deltas", "≥ 2,000 ×", ratio, "×", |ratio| ratio >= 2_000.0);
    row("hypergraph and thread, text deltas", "≥ 1 M/s", rate("thread deltas"), "M/s", |rate| rate >= 1.0);
    for Tenths { name, events, ratio } in &growth.tenths {
        let what = format!("last tenth / first tenth, {name}, {} events", grouped(*events));
        row(&what, "≤ 1.2", Some(*ratio), "", |ratio| ratio <= 1.2);
    }
    for (what, name) in [("flat graph", "snapshot flat tools"), ("hypergraph", "snapshot hyper tools")] {
        let what = format!("snapshot of the largest {what}");
        row(&what, "< 1,000 ns", last(growth, name), "ns", |ns| ns < 1e3);
    }
    if let Some(Memory { events, bytes }) = &growth.memory {
        let what = format!("hypergraph and thread of {} text deltas", grouped(*events));
        row(&what, "< 200 MB", Some(*bytes as f64 / 1e6), "MB", |megabytes| megabytes < 200.0);
    }
    if let Some((name, exponent)) = steepest(growth) {
        row(&format!("steepest growth: {name}"), "≤ 1.05", Some(exponent), "", |exponent| exponent <= 1.05);
    }
    format!(
        "\n## Against the bars\n\n| work | bar | measured | reached |\n|---|---|---|---|\n{}",
        rows.concat()
    )
}

fn ratios(ours: &[Ours], peers: &Peers) -> String {
    let compared = |ours: &Ours| {
        let theirs = theirs(peers, &ours.scenario, ours.n)?;
        let what = if ours.scenario == "text" { "text deltas" } else { "tool calls" };
        let side = |rate: f64| format!("{}/s | {} ×", grouped(rate as usize), figure(rate / theirs));
        let (flat, thread) = (side(ours.flat_events_per_second), side(ours.thread_events_per_second));
        let (n, theirs) = (grouped(ours.n), grouped(theirs as usize));
        Some(format!("| {n} {what} | {theirs}/s | {flat} | {thread} |\n"))
    };
    let rows: String = ours.iter().filter_map(compared).collect();
    format!(
        "\n## Against `@ag-ui/client`\n\n\
        {}. Events per second of processor time, ours divided by theirs. A tool call is four events there and\n\
        five here.\n\n\
        | work | theirs | flat graph | ratio | hypergraph and thread | ratio |\n|---|---|---|---|---|---|\n{rows}",
        peers.version
    )
}

fn table(rows: &[Row]) -> String {
    let sizes: Vec<_> =
        rows.first().into_iter().flat_map(|row| &row.points).map(|point| point.events).collect();
    let head: String = sizes.iter().map(|size| format!(" {} |", grouped(*size))).collect();
    let rows: String = rows.iter().map(table_row).collect();
    format!(
        "\n## Every workload\n\n\
        Nanoseconds per event, or per snapshot, at each number of events; the exponent is that of the whole time from\n\
        the smallest size to the largest: 1 is linear, 2 is quadratic. *Watched* means that somebody takes the changes\n\
        after each event.\n\n\
        | workload |{head} per second at the largest | exponent |\n|---|{}---:|---:|\n{rows}",
        "---:|".repeat(sizes.len()),
    )
}

fn table_row(row: &Row) -> String {
    let points: String =
        row.points.iter().map(|point| format!(" {} |", figure(point.ns_per_event))).collect();
    let rate = row.points.last().map_or(0.0, |point| 1e9 / point.ns_per_event);
    let exponent = row.exponent.map_or(String::new(), |exponent| format!("{exponent:.3}"));
    format!("| {} |{points} {} | {exponent} |\n", row.name, grouped(rate as usize))
}

fn counts(instructions: &Instructions) -> String {
    let rows = instructions.rows.iter().flat_map(|row| {
        row.points.iter().map(|count| {
            let (events, each) = (grouped(count.events), grouped(count.instructions_per_event as usize));
            format!("| {} | {events} | {each} |\n", row.name)
        })
    });
    let rows: String = rows.collect();
    format!(
        "\n## Instructions\n\nInstructions per event, counted by callgrind.\n\n\
        | workload | events | per event |\n|---|---:|---:|\n{rows}"
    )
}

const AGAIN: &str = "
## Again

```sh
make bench                      # this page; a few minutes on a quiet machine
make bench PEERS=folder         # with the ratios: the folder holds ag-ui/bench.mjs; npm fetches the client
cargo bench -p antiphon-bench --bench speed        # times by divan
cargo bench -p antiphon-bench --bench growth       # how they grow
cargo bench -p antiphon-bench --bench instructions # counts, by valgrind
```
";

/// Nanoseconds per event of a workload at its largest size.
fn last(growth: &Growth, name: &str) -> Option<f64> {
    let row = growth.rows.iter().find(|row| row.name == name)?;
    row.points.last().map(|point| point.ns_per_event)
}

fn steepest(growth: &Growth) -> Option<(&str, f64)> {
    let exponents = growth.rows.iter().filter_map(|row| Some((row.name.as_str(), row.exponent?)));
    exponents.max_by(|a, b| a.1.total_cmp(&b.1))
}

fn theirs(peers: &Peers, scenario: &str, n: usize) -> Option<f64> {
    let row = peers.rows.iter().find(|row| row.scenario == scenario && row.n == n)?;
    Some(row.events_per_cpu_second)
}

fn ratio(ours: &[Ours], peers: &Peers, scenario: &str, n: usize) -> Option<f64> {
    let ours = ours.iter().find(|ours| ours.scenario == scenario && ours.n == n)?;
    Some(ours.flat_events_per_second / theirs(peers, scenario, n)?)
}

/// A number with as many decimals as it needs.
fn figure(value: f64) -> String {
    match value {
        value if value >= 100.0 => grouped(value.round() as usize),
        value if value >= 10.0 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}

/// A number with a comma after every third digit.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::figures::{Peer, Point};
    use super::*;

    #[test]
    fn figures_stand_beside_what_was_asked_for() {
        let point = |events, ns_per_event| Point { events, ns_per_event };
        let row = |name: &str, exponent| Row {
            name: name.to_owned(),
            points: vec![point(1_000, 100.0), point(1_000_000, 250.0)],
            exponent,
        };
        let ours = Ours {
            scenario: "text".to_owned(),
            n: 100_000,
            flat_events_per_second: 8e6,
            thread_events_per_second: 4e6,
        };
        let theirs = Peer { scenario: "text".to_owned(), n: 100_000, events_per_cpu_second: 2_000.0 };
        let growth = Growth {
            rows: vec![row("flat deltas", Some(1.13)), row("snapshot flat tools", None)],
            tenths: vec![],
            memory: Some(Memory { events: 1_000_000, bytes: 34_400_000 }),
            peers: vec![ours],
        };
        let peers = Peers { version: "client 1".to_owned(), rows: vec![theirs] };
        let page = bars(&growth, Some(&peers)) + &ratios(&growth.peers, &peers) + &table(&growth.rows);
        expect![[r#"

            ## Against the bars

            | work | bar | measured | reached |
            |---|---|---|---|
            | text deltas into the flat graph | ≥ 5 M/s | 4.00 M/s | **no** |
            | against `@ag-ui/client`, 100 k deltas | ≥ 2,000 × | 4,000 × | yes |
            | snapshot of the largest flat graph | < 1,000 ns | 250 ns | yes |
            | hypergraph and thread of 1,000,000 text deltas | < 200 MB | 34.4 MB | yes |
            | steepest growth: flat deltas | ≤ 1.05 | 1.13  | **no** |

            ## Against `@ag-ui/client`

            client 1. Events per second of processor time, ours divided by theirs. A tool call is four events there and
            five here.

            | work | theirs | flat graph | ratio | hypergraph and thread | ratio |
            |---|---|---|---|---|---|
            | 100,000 text deltas | 2,000/s | 8,000,000/s | 4,000 × | 4,000,000/s | 2,000 × |

            ## Every workload

            Nanoseconds per event, or per snapshot, at each number of events; the exponent is that of the whole time from
            the smallest size to the largest: 1 is linear, 2 is quadratic. *Watched* means that somebody takes the changes
            after each event.

            | workload | 1,000 | 1,000,000 | per second at the largest | exponent |
            |---|---:|---:|---:|---:|
            | flat deltas | 100 | 250 | 4,000,000 | 1.130 |
            | snapshot flat tools | 100 | 250 | 4,000,000 |  |
        "#]].assert_eq(&page);
    }
}
