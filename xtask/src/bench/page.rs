//! The page `docs/benchmarks.md`: the figures against what was asked for.
//!
//! In: figures. Out: Markdown. Start reading at [`write`]; what is measured besides gets a function in [`SECTIONS`] and
//! one in [`BARS`].

mod agents;
mod engines;
mod flows;
mod journal;
mod resume;

use super::figures::{Client, Figures, Growth, Instructions, Machine, Memory, Ours, Row, Tenths};

/// What was asked for, by what was measured.
const BARS: &[fn(&Figures) -> Vec<Bar>] =
    &[speed_bars, growth_bars, flows::bars, agents::bars, engines::bars, journal::bars, resume::bars];

/// The parts of the page below the bars. What was not measured has none.
const SECTIONS: &[fn(&Figures) -> Option<String>] = &[
    |figures| Some(ratios(&figures.growth.peers, figures.peers.client.as_ref()?)),
    engines::section,
    missing,
    |figures| Some(flows::section(&figures.flows)),
    |figures| Some(agents::section(&figures.agents)),
    agents::beside,
    |figures| Some(journal::section(&figures.journal)),
    |figures| Some(resume::section(&figures.resume)),
    |figures| Some(table(&figures.growth.rows)),
    |figures| Some(counts(figures.instructions.as_ref()?)),
];

/// What was asked for, and what was reached.
struct Bar {
    work: String,
    asked: &'static str,
    unit: &'static str,
    /// Nothing if it was not measured; then it has no line.
    measured: Option<f64>,
    reached: fn(f64) -> bool,
}

impl Bar {
    fn new(
        work: &str,
        asked: &'static str,
        unit: &'static str,
        measured: Option<f64>,
        reached: fn(f64) -> bool,
    ) -> Self {
        Self { work: work.to_owned(), asked, unit, measured, reached }
    }
}

/// The whole page.
pub(super) fn write(figures: &Figures) -> String {
    let sections: String = SECTIONS.iter().filter_map(|section| section(figures)).collect();
    head(&figures.machine) + &bars(figures) + &sections + AGAIN
}

fn head(Machine { cores, model, rustc }: &Machine) -> String {
    format!(
        "# Benchmarks\n\n\
        Written by `make bench`: everything on this page was measured in one run on one machine, {cores} cores of\n\
        {model}, {rustc}. Times are processor times, the best of several, unless said otherwise; making\n\
        the input and letting go of the result are not in them. Events are handed over just made, a thousand at a time, as they come from a\n\
        journal or a socket; memory that was let go of is used again.\n"
    )
}

fn bars(figures: &Figures) -> String {
    let line = |bar: Bar| {
        let measured = bar.measured?;
        let verdict = if (bar.reached)(measured) { "yes" } else { "**no**" };
        let measured = format!("{} {}", figure(measured), bar.unit);
        Some(format!("| {} | {} | {} | {verdict} |\n", bar.work, bar.asked, measured.trim_end()))
    };
    let lines: String = BARS.iter().flat_map(|bars| bars(figures)).filter_map(line).collect();
    format!("\n## Against the bars\n\n| work | bar | measured | reached |\n|---|---|---|---|\n{lines}")
}

fn speed_bars(Figures { growth, peers, .. }: &Figures) -> Vec<Bar> {
    let rate = |name| last(growth, name).map(|ns| 1e3 / ns);
    let ratio = peers.client.as_ref().and_then(|client| ratio(&growth.peers, client, "text", 100_000));
    let least_1 = |rate| rate >= 1.0;
    vec![
        Bar::new("text deltas into the flat graph", "≥ 5 M/s", "M/s", rate("flat deltas"), |rate| {
            rate >= 5.0
        }),
        Bar::new("the same from JSON lines", "≥ 1 M/s", "M/s", rate("flat deltas from lines"), least_1),
        Bar::new("against `@ag-ui/client`, 100 k deltas", "≥ 2,000 ×", "×", ratio, |ratio| ratio >= 2e3),
        Bar::new("hypergraph and thread, text deltas", "≥ 1 M/s", "M/s", rate("thread deltas"), least_1),
    ]
}

fn growth_bars(Figures { growth, .. }: &Figures) -> Vec<Bar> {
    let mut bars = Vec::new();
    for Tenths { name, events, ratio } in &growth.tenths {
        let work = format!("last tenth / first tenth, {name}, {} events", grouped(*events));
        bars.push(Bar::new(&work, "≤ 1.2", "", Some(*ratio), |ratio| ratio <= 1.2));
    }
    for (what, name) in [("flat graph", "snapshot flat tools"), ("hypergraph", "snapshot hyper tools")] {
        let work = format!("snapshot of the largest {what}");
        bars.push(Bar::new(&work, "< 1,000 ns", "ns", last(growth, name), |ns| ns < 1e3));
    }
    if let Some(Memory { events, bytes }) = &growth.memory {
        let work = format!("hypergraph and thread of {} text deltas", grouped(*events));
        bars.push(Bar::new(&work, "< 200 MB", "MB", Some(*bytes as f64 / 1e6), |megabytes| {
            megabytes < 200.0
        }));
    }
    for (name, exponent) in steeper(growth) {
        bars.push(Bar::new(&format!("growth of {name}"), "≤ 1.05", "", Some(exponent), |exponent| {
            exponent <= STEEP
        }));
    }
    if let Some((name, exponent)) =
        exponents(growth).max_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, most)| *most <= STEEP)
    {
        bars.push(Bar::new(&format!("steepest growth: {name}"), "≤ 1.05", "", Some(exponent), |exponent| {
            exponent <= STEEP
        }));
    }
    bars
}

fn ratios(ours: &[Ours], client: &Client) -> String {
    let compared = |ours: &Ours| {
        let theirs = theirs(client, &ours.scenario, ours.n)?;
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
        client.version
    )
}

fn missing(figures: &Figures) -> Option<String> {
    let missing = figures.peers.missing.join("; ");
    (!missing.is_empty()).then(|| format!("\nNot measured: {missing}.\n"))
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
        after each event. *Bare map* is no work of ours: the same bodies in a hash map of the standard library, each under\n\
        an id of its own. What it costs more among many than among few is what memory costs.\n\n\
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
make bench                      # this page; about ten minutes on a quiet machine
make bench PEERS=folder         # with the ratios: the folder holds ag-ui, langgraph, strands and agentos, as far as
                                # they are wanted; npm and pip fetch them; about five minutes more
cargo bench -p antiphon-bench --bench speed        # times by divan
cargo bench -p antiphon-bench --bench growth       # how they grow
cargo bench -p antiphon-bench --bench flows        # what running a flow costs
cargo bench -p antiphon-bench --bench agents       # what the agent loop costs
cargo bench -p antiphon-bench --bench journal      # what keeping events costs
cargo bench -p antiphon-bench --bench resume       # what taking up a long run costs
cargo bench -p antiphon-bench --bench instructions # counts, by valgrind
```
";

/// Nanoseconds per event of a workload at its largest size.
fn last(growth: &Growth, name: &str) -> Option<f64> {
    let row = growth.rows.iter().find(|row| row.name == name)?;
    row.points.last().map(|point| point.ns_per_event)
}

/// How fast cost may grow.
const STEEP: f64 = 1.05;

/// How the cost of each workload of ours grows; the bare map is there for comparison.
fn exponents(growth: &Growth) -> impl Iterator<Item = (&str, f64)> {
    let ours = growth.rows.iter().filter(|row| !row.name.starts_with("bare "));
    ours.filter_map(|row| Some((row.name.as_str(), row.exponent?)))
}

/// Those that grow faster than they may.
fn steeper(growth: &Growth) -> impl Iterator<Item = (&str, f64)> {
    exponents(growth).filter(|(_, exponent)| *exponent > STEEP)
}

fn theirs(client: &Client, scenario: &str, n: usize) -> Option<f64> {
    let row = client.rows.iter().find(|row| row.scenario == scenario && row.n == n)?;
    Some(row.events_per_cpu_second)
}

fn ratio(ours: &[Ours], client: &Client, scenario: &str, n: usize) -> Option<f64> {
    let ours = ours.iter().find(|ours| ours.scenario == scenario && ours.n == n)?;
    Some(ours.flat_events_per_second / theirs(client, scenario, n)?)
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

    use super::super::figures::{ClientRow, Peers, Point};
    use super::*;

    #[test]
    #[expect(clippy::too_many_lines, reason = "one page, with a figure of every kind")]
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
        let theirs = ClientRow { scenario: "text".to_owned(), n: 100_000, events_per_cpu_second: 2_000.0 };
        let growth = Growth {
            rows: vec![
                row("bare map tools", Some(1.2)),
                row("flat deltas", Some(1.13)),
                row("flat tools", Some(1.01)),
                row("snapshot flat tools", None),
            ],
            tenths: vec![],
            memory: Some(Memory { events: 1_000_000, bytes: 34_400_000 }),
            peers: vec![ours],
        };
        let client = Client { version: "client 1".to_owned(), rows: vec![theirs] };
        let missing = vec!["AgentOS (its folder is not there)".to_owned()];
        let strands = Some(agents::tests::strands());
        let peers = Peers { client: Some(client), engines: Vec::new(), agents: strands, missing };
        let machine = Machine { cores: 2, model: "a machine".to_owned(), rustc: "rustc 1".to_owned() };
        let (flows, journal) = (flows::tests::figures(), journal::tests::figures());
        let (agents, resume) = (agents::tests::figures(), resume::tests::figures());
        let figures = Figures { machine, growth, instructions: None, flows, journal, resume, agents, peers };
        let page =
            bars(&figures) + &SECTIONS.iter().filter_map(|section| section(&figures)).collect::<String>();
        expect![[r#"

            ## Against the bars

            | work | bar | measured | reached |
            |---|---|---|---|
            | text deltas into the flat graph | ≥ 5 M/s | 4.00 M/s | **no** |
            | against `@ag-ui/client`, 100 k deltas | ≥ 2,000 × | 4,000 × | yes |
            | snapshot of the largest flat graph | < 1,000 ns | 250 ns | yes |
            | hypergraph and thread of 1,000,000 text deltas | < 200 MB | 34.4 MB | yes |
            | growth of flat deltas | ≤ 1.05 | 1.13 | **no** |
            | scheduler alone, chain | ≥ 2 M nodes/s | 2.08 M nodes/s | yes |
            | driver in memory, chain of 1,000, over a bare spawn and join | ≤ 3 × | 3.50 × | **no** |
            | growth of scheduler chain, 1,000 → 100,000 nodes | ≤ 1.05 | 1.04 | yes |
            | bytes of a step of a run in a file, 10,000 steps | ≤ 1 kB | 330 bytes | yes |
            | the same over one of 1,000 steps | ≤ 1.05 | 1.10 | **no** |
            | agent loop, one model call and one tool call | ≤ 100 µs | 40.0 µs | yes |
            | the last steps of 500 over the first ones | ≤ 1.25 × | 1.33 × | **no** |
            | turn of a model that writes code | ≤ 2 ms | 0.30 ms | yes |
            | streamed pieces through loop, SQLite, graph and thread | ≥ 200 k/s | 250 k/s | yes |
            | durable step over a bare SQLite commit, p50 | ≤ 1.5 × | 1.30 × | yes |
            | durable steps of many together | ≥ 20 k/s | 15.0 k/s | **no** |
            | bytes of a step, 10,000 messages | ≤ 1 kB | 420 bytes | yes |
            | small events in batches, durable | ≥ 200 k/s | 300 k/s | yes |
            | open a session of 1,000,000 events | < 1,000 ms | 4.00 ms | yes |
            | take up a run of 1,000,000 events, the first time | < 1,000 ms | 900 ms | yes |
            | the same with a saved fold | < 10 ms | 3.00 ms | yes |
            | look at any position of its past, the slowest of 39 | < 10 ms | 11.0 ms | **no** |

            ## Against `@ag-ui/client`

            client 1. Events per second of processor time, ours divided by theirs. A tool call is four events there and
            five here.

            | work | theirs | flat graph | ratio | hypergraph and thread | ratio |
            |---|---|---|---|---|---|
            | 100,000 text deltas | 2,000/s | 8,000,000/s | 4,000 × | 4,000,000/s | 2,000 × |

            Not measured: AgentOS (its folder is not there).

            ## Flows

            Microseconds per node that does nothing, medians: *scheduler* decides and performs nothing, *memory* is the driver
            with a journal in memory, *file* with one in SQLite where each step is durable before the next begins. A fan-out
            is one node, many, and one; a cycle is two nodes in turn; a map has one node for each item. The last three are the
            workloads LangGraph measures itself with, whose nodes do something. To spawn a task that does nothing and join it
            takes 2.00 µs of wall time at best, where a thousand are spawned before they are joined, as in a fan-out, 3.00 µs, if
            a task does so, as one starts the runs here; the main function of a program takes 20.0 and 4.00 µs. *Spawns* is the best wall
            time over that of a task, and the exponent is that of the best wall time.

            | flow | nodes | wall | best | processor | spawns | exponent |
            |---|---:|---:|---:|---:|---:|---:|
            | scheduler chain | 1,000 | 0.40 | 0.40 | 0.40 | 0.20 |  |
            | scheduler chain | 100,000 | 0.48 | 0.48 | 0.48 | 0.24 | 1.040 |
            | memory chain | 1,000 | 7.00 | 7.00 | 8.00 | 3.50 |  |

            What a step of a cycle adds to the file:

            | steps | bytes per step |
            |---:|---:|
            | 1,000 | 300 |
            | 10,000 | 330 |

            ## Agents

            Around a scripted model and tools that take no time, medians of wall time.

            | work | |
            |---|---:|
            | one model call and one call of a tool, in memory | 40.0 µs |
            | the same near the beginning of a run of 500 | 39.0 µs |
            | the same near its end | 52.0 µs |
            | one turn of a model that writes code, in memory | 300 µs |
            | streamed pieces of an answer, durable in SQLite and read along into graph and thread | 250,000 a second |
            | one agent of a chain of 200 in a flow, in memory | 60.0 µs |
            | one agent by itself that says one word, in memory | 80.0 µs |

            Beside the agents of Strands, sdk 1: each says one word over a model in the same process that answers at
            once. Microseconds of wall time per agent; ours is one of 200 and keeps every event in a journal in memory, theirs
            keep nothing.

            | work | theirs | ours | ratio |
            |---|---:|---:|---:|
            | agent of a chain of 200 | 600 | 60.0 | 10.0 × |
            | agent by itself, one of 200 | 400 | 80.0 | 5.00 × |

            ## Journal

            SQLite with `synchronous=FULL`; wall time, as waiting for the disk is what is measured. The long session has
            1,000,000 events.

            | work | measured |
            |---|---:|
            | in memory, batches of 5, processor time | 100 ns per event |
            | durable, batches of 100 | 300,000 events/s |
            | a durable step of 5 events, p50 | 1,300 µs |
            | a bare SQLite commit of as many bytes, p50 | 1,000 µs |
            | durable steps of 256 branches together | 15,000 steps/s |
            | a step in the file | 420 bytes |
            | a small event in the file, batches of 100 | 20.0 bytes |
            | open a long session | 3.00 ms |
            | read its last 100 events | 1.00 ms |
            | read 100 events in its middle | 2.00 ms |
            | read all of it | 1,000,000 events/s |

            ## Taking up a run

            A run of 1,000,000 events in SQLite that waits for a person; wall time from opening the file until it is ready.

            | work | measured |
            |---|---:|
            | from all its events, as the first time | 900 ms |
            | from its last saved fold | 3.00 ms |
            | only looked at, as it is at its end | 2.00 ms |
            | only looked at, as it was at a position of its past, median | 5.00 ms |
            | the same, the slowest of 39 | 11.0 ms |

            ## Every workload

            Nanoseconds per event, or per snapshot, at each number of events; the exponent is that of the whole time from
            the smallest size to the largest: 1 is linear, 2 is quadratic. *Watched* means that somebody takes the changes
            after each event. *Bare map* is no work of ours: the same bodies in a hash map of the standard library, each under
            an id of its own. What it costs more among many than among few is what memory costs.

            | workload | 1,000 | 1,000,000 | per second at the largest | exponent |
            |---|---:|---:|---:|---:|
            | bare map tools | 100 | 250 | 4,000,000 | 1.200 |
            | flat deltas | 100 | 250 | 4,000,000 | 1.130 |
            | flat tools | 100 | 250 | 4,000,000 | 1.010 |
            | snapshot flat tools | 100 | 250 | 4,000,000 |  |
        "#]].assert_eq(&page);
    }
}
