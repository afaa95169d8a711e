//! How the cost of an event grows with the number of events before it, and what a long conversation weighs.
//!
//! In: sizes. Out: a table, or one JSON object with `--json`. Processor time, not wall time: the machine may have
//! other things to do. The input is made beforehand, and letting go of the result is not measured. Events are handed
//! over as they are in use, just made: read from a long list, they would come from main memory, and what is measured
//! would be how fast that is. Start reading at [`main`].

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use antiphon_bench::{Done, Fold, Prepared, Shape, THREAD, Work, Workload, keep_memory, workloads};
use antiphon_event::Event;
use antiphon_testkit::shape;
use anyhow::Context;
use clap::Parser;
use cpu_time::ProcessTime;
use serde::Serialize;

/// A measurement lasts at least this long; small workloads are repeated until it does.
const LASTS: Duration = Duration::from_millis(50);

/// How often a workload is measured; the best counts.
const TRIES: usize = 5;

/// Long workloads are measured no more often than this, once they have taken so long together.
const TRIES_LONG: (usize, Duration) = (3, Duration::from_secs(2));

/// How many events are made at a time: as many as there are in the smallest workload.
const FRESH: usize = 1_000;

/// What is compared with `@ag-ui/client`: its scenario, how many of them, and the same as our events.
const PEERS: &[(&str, usize, Shape, usize)] = &[
    ("text", 10_000, Shape::OneMessage, 10_000),
    ("text", 100_000, Shape::OneMessage, 100_000),
    ("tools", 1_000, Shape::Tools, 5_000),
];

/// Measures how the cost of an event grows.
#[derive(Parser)]
struct Args {
    /// Numbers of events, the smallest first
    #[arg(long, value_delimiter = ',', default_values_t = [1_000, 100_000, 1_000_000])]
    sizes: Vec<usize>,
    /// Only the workload of this name, or those whose name contains this
    only: Option<String>,
    /// One JSON object, for machines
    #[arg(long)]
    json: bool,
    /// Folds so many events and says what that weighs; the bench starts itself with this
    #[arg(long, hide = true)]
    weigh: Option<usize>,
    /// What cargo passes to every bench
    #[arg(long, hide = true)]
    bench: bool,
}

/// Everything that was measured.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    rows: Vec<Row>,
    tenths: Vec<Tenths>,
    memory: Option<Memory>,
    peers: Vec<Peer>,
}

/// A workload at each size.
#[derive(Serialize)]
struct Row {
    name: String,
    points: Vec<Point>,
    /// 1 is linear, 2 is quadratic; nothing for snapshots, which do not go through their events.
    exponent: Option<f64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Point {
    events: usize,
    ns_per_event: f64,
}

/// The last tenth of a stream against the first.
#[derive(Serialize)]
struct Tenths {
    name: String,
    events: usize,
    ratio: f64,
}

/// What a conversation weighs that is held as hypergraph and thread.
#[derive(Serialize)]
struct Memory {
    events: usize,
    bytes: usize,
}

/// The work that `@ag-ui/client` is measured with.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Peer {
    scenario: &'static str,
    n: usize,
    flat_events_per_second: f64,
    thread_events_per_second: f64,
}

fn main() -> anyhow::Result<()> {
    keep_memory();
    let args = Args::parse();
    if let Some(events) = args.weigh {
        println!("{}", weigh(events)?);
        return Ok(());
    }
    let largest = args.sizes.last().copied().context("no sizes")?;
    let chosen_ones = workloads().into_iter().filter(|workload| chosen(&args, &workload.to_string()));
    let report = Report {
        rows: rows(&chosen_ones.collect::<Vec<_>>(), &args.sizes),
        tenths: [Shape::Deltas, Shape::Tools]
            .into_iter()
            .map(|shape| Workload { work: THREAD, shape, core: true })
            .filter(|workload| chosen(&args, &workload.to_string()))
            .map(|workload| tenths(&workload, largest))
            .collect(),
        memory: chosen(&args, "memory").then(|| memory(largest)).transpose()?,
        peers: if chosen(&args, "peers") { PEERS.iter().map(peer).collect() } else { Vec::new() },
    };
    if args.json {
        println!("{}", serde_json::to_string(&report)?);
    } else {
        print(&report, &args.sizes);
    }
    Ok(())
}

fn chosen(args: &Args, name: &str) -> bool {
    let Some(only) = &args.only else {
        return true;
    };
    let exact = workloads().iter().any(|workload| workload.to_string() == *only);
    if exact { name == only } else { name.contains(only.as_str()) }
}

/// Measures all workloads, those of one shape together, so that their events are made once.
fn rows(workloads: &[Workload], sizes: &[usize]) -> Vec<Row> {
    let mut order: Vec<_> = workloads.iter().enumerate().collect();
    order.sort_by_key(|(_, workload)| workload.shape);
    let mut rows: Vec<_> = Vec::new();
    for same in order.chunk_by(|(_, one), (_, other)| one.shape == other.shape) {
        let streams: Vec<_> = sizes.iter().map(|n| (*n, Arc::new(same[0].1.shape.events(*n)))).collect();
        for (place, workload) in same {
            rows.push((*place, row(workload, &streams)));
            let rows_left = workloads.len() - rows.len();
            eprintln!("measured {workload}, {rows_left} to go");
        }
    }
    rows.sort_by_key(|(place, _)| *place);
    rows.into_iter().map(|(_, row)| row).collect()
}

fn row(workload: &Workload, streams: &[(usize, Arc<Vec<Event>>)]) -> Row {
    let points = streams.iter().map(|(n, events)| point(&workload.prepare_from(events), *n));
    let points: Vec<_> = points.collect();
    let is_snapshot = matches!(workload.work, Work::FlatSnapshot | Work::HyperSnapshot);
    let exponent = if is_snapshot { None } else { exponent(&points) };
    Row { name: workload.to_string(), points, exponent }
}

fn point(prepared: &Prepared, n: usize) -> Point {
    let mut best = f64::INFINITY;
    let mut together = Duration::ZERO;
    for tries in 0..TRIES {
        if tries >= TRIES_LONG.0 && together > TRIES_LONG.1 {
            break;
        }
        let (mut spent, mut steps) = (Duration::ZERO, 0);
        while spent < LASTS {
            let (took, done) = once(prepared);
            spent += took;
            steps += done.steps;
        }
        best = best.min(spent.as_secs_f64() * 1e9 / steps as f64);
        together += spent;
    }
    Point { events: n, ns_per_event: best }
}

/// Does the work once; how long that took without making the events.
fn once(prepared: &Prepared) -> (Duration, Done) {
    let Prepared::Events(work, events) = prepared else {
        let start = ProcessTime::now();
        let done = prepared.run();
        return (start.elapsed(), done);
    };
    let mut fold = Fold::begin(*work);
    let mut spent = Duration::ZERO;
    for part in events.chunks(FRESH) {
        let fresh = part.to_vec();
        let start = ProcessTime::now();
        fold.apply(&fresh);
        spent += start.elapsed();
    }
    (spent, Done { steps: events.len(), fold })
}

/// Growth of the whole time from the smallest size to the largest.
fn exponent(points: &[Point]) -> Option<f64> {
    let (first, last) = (points.first()?, points.last()?);
    let whole = |point: &Point| point.ns_per_event * point.events as f64;
    let (time, size) = (whole(last) / whole(first), last.events as f64 / first.events as f64);
    (size > 1.0).then(|| time.ln() / size.ln())
}

fn tenths(workload: &Workload, events: usize) -> Tenths {
    assert!(events >= 100, "too few events to be divided by ten");
    let stream = workload.shape.events(events);
    let tenth = stream.len() / 10;
    let mut best = f64::INFINITY;
    for _ in 0..TRIES {
        let mut fold = Fold::begin(workload.work);
        let times: Vec<_> = stream.chunks_exact(tenth).map(|part| timed(|| fold.apply(part))).collect();
        best = best.min(times[9] / times[0]);
    }
    Tenths { name: workload.to_string(), events, ratio: best }
}

/// Processor time in seconds.
fn timed(work: impl FnOnce()) -> f64 {
    let start = ProcessTime::now();
    work();
    start.elapsed().as_secs_f64()
}

/// In a process of its own, where nothing else was allocated before.
fn memory(events: usize) -> anyhow::Result<Memory> {
    let program = std::env::current_exe().context("finding this bench")?;
    let output = Command::new(program).args(["--weigh", &events.to_string()]).output()?;
    anyhow::ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let bytes = String::from_utf8(output.stdout)?.trim().parse().context("reading what it weighs")?;
    Ok(Memory { events, bytes })
}

/// Resident bytes that a stream of text adds, held as hypergraph and thread; its events are made one at a time.
fn weigh(events: usize) -> anyhow::Result<usize> {
    let before = resident()?;
    let mut fold = Fold::begin(THREAD);
    for event in shape::each_delta(events, events / 1_000) {
        fold.apply([&event]);
    }
    let after = resident()?;
    drop(fold);
    Ok(after.saturating_sub(before))
}

/// How much memory this process holds, in bytes.
fn resident() -> anyhow::Result<usize> {
    let status = std::fs::read_to_string("/proc/self/status").context("reading what the kernel says")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
    let kilobytes: usize = line.trim().trim_end_matches(" kB").parse().context("reading VmRSS")?;
    Ok(kilobytes * 1024)
}

fn peer((scenario, n, shape, events): &(&'static str, usize, Shape, usize)) -> Peer {
    let per_second = |work| {
        let workload = Workload { work, shape: *shape, core: true };
        1e9 / point(&workload.prepare(*events), *events).ns_per_event
    };
    Peer {
        scenario,
        n: *n,
        flat_events_per_second: per_second(Work::Flat),
        thread_events_per_second: per_second(THREAD),
    }
}

fn print(report: &Report, sizes: &[usize]) {
    let head: String = sizes.iter().map(|n| format!("{n:>12}")).collect();
    println!("{:<32}{head}   at the largest  exponent", "ns per event, or per snapshot");
    for row in &report.rows {
        let points: String = row.points.iter().map(|point| format!("{:>12.1}", point.ns_per_event)).collect();
        let rate = row.points.last().map_or(0.0, |point| 1e3 / point.ns_per_event);
        let exponent = row.exponent.map(|exponent| format!("{exponent:.3}")).unwrap_or_default();
        println!("{:<32}{points}   {rate:>9.2} M/s  {exponent:>8}", row.name);
    }
    for Tenths { name, events, ratio } in &report.tenths {
        println!("{name}: last tenth / first tenth of {events}: {ratio:.2}");
    }
    if let Some(Memory { events, bytes }) = &report.memory {
        println!("thread and hypergraph of {events} pieces of text: {:.1} MB", *bytes as f64 / 1e6);
    }
    for peer in &report.peers {
        let (flat, thread) = (peer.flat_events_per_second / 1e6, peer.thread_events_per_second / 1e6);
        println!(
            "as @ag-ui/client, {} {}: flat {flat:.2} M/s, thread {thread:.2} M/s",
            peer.scenario, peer.n
        );
    }
}
