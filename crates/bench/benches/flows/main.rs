//! What it costs to run a flow whose nodes do nothing: the scheduler alone, the driver in memory and on a file, and
//! beside them what it costs to spawn and join a task; and the workloads that others measure themselves with.
//!
//! In: sizes, and where to put the files, which should be a real disk. Out: a table, or one JSON object with `--json`.
//! Medians and bests of wall time and of processor time. Start reading at [`main`]; what is measured is in [`shape`] and
//! [`agents`], how in [`measure`].

mod agents;
mod measure;
mod shape;

use std::path::{Path, PathBuf};

use antiphon_bench::keep_memory;
use clap::Parser;
use serde::Serialize;
use tokio::runtime::Runtime;

use agents::{WORKLOADS, Workload};
use measure::{Spawner, Store, Tried, drive, runtime, schedule, spawn, timed, tried, weigh};
use shape::{CHAIN, CYCLE, DENSE, DENSE_SMALL, FAN, MAP, Shape};

/// How often each row is measured, in memory and on a file.
const TRIES: usize = 9;
const FILE_TRIES: usize = 3;

/// How many tasks are spawned and joined, and how many at a time where it is many.
const SPAWNS: usize = 10_000;
const SPAWNS_TOGETHER: usize = 1_000;

/// Measures flows.
#[derive(Parser)]
struct Args {
    /// Numbers of nodes for how cost grows, the smallest first
    #[arg(long, value_delimiter = ',', default_values_t = [1_000, 10_000, 100_000])]
    sizes: Vec<usize>,
    /// Where the files are made; the folder for temporary files if left out
    #[arg(long)]
    folder: Option<PathBuf>,
    /// Only rows whose name contains this
    only: Option<String>,
    /// One JSON object, for machines
    #[arg(long)]
    json: bool,
    /// What cargo passes to every bench
    #[arg(long, hide = true)]
    bench: bool,
}

/// Everything that was measured.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    rows: Vec<Row>,
    weights: Vec<Weight>,
    /// Spawning a task that does nothing and joining it, before the next one and after a thousand of them; the best.
    spawn_nanos: f64,
    spawn_together_nanos: f64,
    /// The same where it is not a task that spawns them.
    spawn_from_main_nanos: f64,
    spawn_together_from_main_nanos: f64,
}

/// One shape of flow at each size.
#[derive(Serialize)]
struct Row {
    name: String,
    points: Vec<Point>,
    exponent: Option<f64>,
}

/// What one node costs among so many.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Point {
    nodes: usize,
    wall_nanos: f64,
    cpu_nanos: f64,
    best_wall_nanos: f64,
    best_cpu_nanos: f64,
}

impl Point {
    fn new(nodes: usize, Tried { median, best }: &Tried) -> Self {
        let each = |time: std::time::Duration| time.as_nanos() as f64 / nodes as f64;
        Self {
            nodes,
            wall_nanos: each(median.wall),
            cpu_nanos: each(median.cpu),
            best_wall_nanos: each(best.wall),
            best_cpu_nanos: each(best.cpu),
        }
    }
}

/// What a step adds to a file in a run of so many.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Weight {
    steps: usize,
    bytes_per_step: f64,
}

/// By the best wall time: the kernel counts what another thread did only when it lets go of its processor, and in a short
/// run that is after the end.
fn exponent(points: &[Point]) -> Option<f64> {
    let (first, last) = (points.first()?, points.last()?);
    let growth =
        (last.best_wall_nanos / first.best_wall_nanos).ln() / (last.nodes as f64 / first.nodes as f64).ln();
    (points.len() > 1).then_some(1.0 + growth)
}

fn row(name: String, sizes: &[usize], point: impl Fn(usize) -> Point) -> Row {
    let points: Vec<Point> = sizes.iter().map(|size| point(*size)).collect();
    Row { name, exponent: exponent(&points), points }
}

/// The scheduler, as often as it takes to run a hundred thousand nodes.
fn scheduled(shape: &Shape, size: usize) -> Point {
    let flow = (shape.make)(size);
    let repeats = (100_000 / size).max(1);
    let cost = tried(TRIES, || {
        timed(|| {
            let count: usize = (0..repeats).map(|_| schedule(&flow)).sum();
            assert_eq!(count, repeats * size, "every node ran");
        })
        .0
    });
    Point { nodes: size, ..Point::new(size * repeats, &cost) }
}

/// Short runs are repeated until so many nodes have run: the clock of the processor is coarse.
const NODES_MIN: usize = 20_000;

fn driven(runtime: &Runtime, store: Store<'_>, shape: &Shape, size: usize) -> Point {
    let (flow, task) = ((shape.make)(size), (shape.task)(size).into());
    let (tries, repeats) = match store {
        Store::Memory => (TRIES, (NODES_MIN / size).max(1)),
        Store::File(_) => (FILE_TRIES, 1),
    };
    let cost = tried(tries, || (0..repeats).map(|_| drive(runtime, store, &flow, &task).0).sum());
    Point { nodes: size, ..Point::new(size * repeats, &cost) }
}

fn agents(runtime: &Runtime, folder: Option<&Path>, workload: &Workload) -> Point {
    let (flow, task) = ((workload.make)(), (workload.task)().into());
    let cost = tried(FILE_TRIES, || {
        let (cost, report) = drive(runtime, Store::File(folder), &flow, &task);
        let (key, length) = workload.ends;
        assert_eq!(report.state[key].as_array().map(Vec::len), Some(length), "it did all of it");
        cost
    });
    Point::new(workload.nodes, &cost)
}

fn rows(args: &Args, runtime: &Runtime) -> Vec<Row> {
    let (sizes, folder) = (&*args.sizes, args.folder.as_deref());
    let wanted = |name: &str| args.only.as_ref().is_none_or(|only| name.contains(only.as_str()));
    let mut rows = Vec::new();
    let shapes: &[(&Shape, &[usize])] =
        &[(&CHAIN, sizes), (&FAN, sizes), (&CYCLE, sizes), (&DENSE, &[2_500])];
    for (shape, sizes) in shapes {
        let name = format!("scheduler {}", shape.name);
        if wanted(&name) {
            rows.push(row(name, sizes, |size| scheduled(shape, size)));
        }
    }
    for (shape, sizes) in shapes.iter().copied().chain([(&DENSE_SMALL, &[256][..]), (&MAP, sizes)]) {
        let name = format!("memory {}", shape.name);
        if wanted(&name) {
            rows.push(row(name, sizes, |size| driven(runtime, Store::Memory, shape, size)));
        }
    }
    for shape in [&CHAIN, &FAN, &CYCLE, &MAP] {
        let name = format!("file {}", shape.name);
        if wanted(&name) {
            rows.push(row(name, &[1_000], |size| driven(runtime, Store::File(folder), shape, size)));
        }
    }
    for workload in WORKLOADS {
        let name = format!("file {}", workload.name);
        if wanted(&name) {
            rows.push(row(name, &[workload.nodes], |_| agents(runtime, folder, workload)));
        }
    }
    rows
}

fn weights(args: &Args) -> Vec<Weight> {
    let wanted = args.only.as_ref().is_none_or(|only| "weight".contains(only.as_str()));
    let sizes: &[usize] = if wanted { &[1_000, 10_000] } else { &[] };
    let weight = |steps: usize| {
        let bytes = weigh(args.folder.as_deref(), &(CYCLE.make)(steps));
        Weight { steps, bytes_per_step: bytes as f64 / steps as f64 }
    };
    sizes.iter().map(|steps| weight(*steps)).collect()
}

fn main() {
    keep_memory();
    let args = Args::parse();
    let runtime = runtime();
    let spawned = |by: Spawner, at_a_time: usize| {
        Point::new(SPAWNS, &tried(TRIES, || spawn(&runtime, by, SPAWNS, at_a_time))).best_wall_nanos
    };
    let report = Report {
        rows: rows(&args, &runtime),
        weights: weights(&args),
        spawn_nanos: spawned(Spawner::Task, 1),
        spawn_together_nanos: spawned(Spawner::Task, SPAWNS_TOGETHER),
        spawn_from_main_nanos: spawned(Spawner::Main, 1),
        spawn_together_from_main_nanos: spawned(Spawner::Main, SPAWNS_TOGETHER),
    };
    if args.json {
        println!("{}", serde_json::to_string(&report).expect("figures are JSON"));
    } else {
        show(&report);
    }
}

fn show(report: &Report) {
    for row in &report.rows {
        let point = |Point { nodes, wall_nanos, best_wall_nanos, best_cpu_nanos, .. }: &Point| {
            format!("{nodes}: {wall_nanos:.0} ns (best {best_wall_nanos:.0}, cpu {best_cpu_nanos:.0})")
        };
        let points: Vec<String> = row.points.iter().map(point).collect();
        let grows = row.exponent.map(|exponent| format!("  exponent {exponent:.3}")).unwrap_or_default();
        println!("{:28} {}{grows}", row.name, points.join("  "));
    }
    for Weight { steps, bytes_per_step } in &report.weights {
        println!("a step of {steps} in the file: {bytes_per_step:.0} bytes");
    }
    for (by, alone, together) in [
        ("a task", report.spawn_nanos, report.spawn_together_nanos),
        ("main", report.spawn_from_main_nanos, report.spawn_together_from_main_nanos),
    ] {
        println!(
            "a task spawned by {by} and joined: {alone:.0} ns, of {SPAWNS_TOGETHER} together: {together:.0} ns"
        );
    }
}
