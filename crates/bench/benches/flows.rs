//! What it costs to run a flow whose nodes do nothing: the scheduler alone, the driver in memory and on a file, and
//! beside them what it costs to spawn and join a task.
//!
//! In: sizes. Out: a table, or one JSON object with `--json`. Processor time for the scheduler; wall time for the
//! driver, whose tasks run on all cores. Start reading at [`main`].

use std::collections::{BTreeMap, VecDeque};
use std::hint::black_box;
use std::time::{Duration, Instant};

use antiphon_event::{Json, Timestamp};
use antiphon_flow::function::Reply;
use antiphon_flow::{Edge, Effect, Flow, Formula, Input, Limits, Node, Now, Origin, Scheduler};
use antiphon_runtime::Function;
use antiphon_runtime::{Engine, Invocation, Outcome};
use clap::Parser;
use cpu_time::ProcessTime;
use serde::Serialize;
use serde_json::{Value, json};

/// How often each row is measured; the best counts.
const TRIES: usize = 3;

/// Measures flows.
#[derive(Parser)]
struct Args {
    /// Numbers of nodes for how the scheduler's cost grows, the smallest first
    #[arg(long, value_delimiter = ',', default_values_t = [1_000, 10_000, 100_000])]
    sizes: Vec<usize>,
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
struct Report {
    scheduler: Vec<Row>,
    driver: Vec<Row>,
    /// Spawning a task that does nothing and joining it, in nanoseconds.
    spawn: f64,
}

/// One shape of flow at each size.
#[derive(Serialize)]
struct Row {
    name: String,
    points: Vec<Point>,
    exponent: Option<f64>,
}

#[derive(Serialize)]
struct Point {
    nodes: usize,
    nanos: f64,
}

fn nothing() -> Node {
    Node::function(Function::new(|_| async { Ok(()) }))
}

fn chain(count: usize) -> Flow {
    let mut flow = Flow::new("chain");
    for index in 0..count {
        flow = flow.node(format!("n{index}"), nothing());
        if index > 0 {
            flow = flow.edge(Edge::new(format!("n{}", index - 1), format!("n{index}")));
        }
    }
    flow.build().expect("sound")
}

fn fan(count: usize) -> Flow {
    let mut flow = Flow::new("fan").node("first", nothing()).node("last", nothing());
    for index in 0..count.saturating_sub(2) {
        let id = format!("n{index}");
        flow = flow.node(&id, nothing()).edge(Edge::new("first", &id)).edge(Edge::new(&id, "last"));
    }
    flow.build().expect("sound")
}

fn cycle(count: usize) -> Flow {
    let rounds = count as u32 / 2;
    Flow::new("cycle")
        .limits(Limits { max_node_executions: Some(count as u64 + 1), ..Limits::default() })
        .entry("a")
        .node("a", nothing())
        .node("b", nothing())
        .edge(Edge::new("a", "b"))
        .edge(Edge::new("b", "a").when(Formula::closure(move |moment| moment.executions_of("b") < rounds)))
        .build()
        .expect("sound")
}

fn dense(width: usize) -> Flow {
    let mut flow = Flow::new("dense");
    for layer in 0..width {
        for node in 0..width {
            flow = flow.node(format!("n{layer}.{node}"), nothing());
        }
    }
    for layer in 1..width {
        for from in 0..width {
            for to in 0..width {
                flow = flow.edge(Edge::new(format!("n{}.{from}", layer - 1), format!("n{layer}.{to}")));
            }
        }
    }
    flow.build().expect("sound")
}

fn map(_: usize) -> Flow {
    let items = Formula::closure(|moment| moment.task());
    Flow::new("map").node("each", Node::map(items, nothing())).build().expect("sound")
}

/// Runs a flow on the scheduler alone; how many nodes ran.
fn schedule(flow: &Flow) -> usize {
    let origin =
        Origin { run: "r".into(), parent: None, turn: Some("r".into()), path: Vec::new(), item: false };
    let mut scheduler = Scheduler::new(flow.clone(), origin);
    let now = Now { at: Timestamp::from_millis(1).expect("a moment"), dice: 0.5, steps: None };
    let output = Json::from(Value::Null);
    let mut work = VecDeque::new();
    let mut input = Input::Start { task: output.clone(), state: BTreeMap::new() };
    let mut count = 0;
    loop {
        let mut events = scheduler.decide(input, now).expect("taken");
        while !events.is_empty() {
            for event in &events {
                for effect in scheduler.apply(event) {
                    if let Effect::Perform(attempt) = effect {
                        work.push_back(attempt);
                    }
                }
            }
            black_box(&events);
            events = scheduler.advance(now);
        }
        let Some(attempt) = work.pop_front() else { break };
        count += 1;
        input = Input::Outcome { attempt, result: Ok(Reply::new(output.clone())) };
    }
    assert!(scheduler.ended().is_some(), "the run ended");
    count
}

fn best(mut once: impl FnMut() -> (Duration, usize)) -> f64 {
    let nanos = |(took, count): (Duration, usize)| took.as_nanos() as f64 / count as f64;
    (0..TRIES).map(|_| nanos(once())).fold(f64::INFINITY, f64::min)
}

fn exponent(points: &[Point]) -> Option<f64> {
    let (first, last) = (points.first()?, points.last()?);
    let growth = (last.nanos / first.nanos).ln() / (last.nodes as f64 / first.nodes as f64).ln();
    (points.len() > 1).then_some(1.0 + growth)
}

fn scheduler_row(name: &str, make: fn(usize) -> Flow, sizes: &[usize]) -> Row {
    let points: Vec<Point> = sizes
        .iter()
        .map(|&size| {
            let flow = make(size);
            let nanos = best(|| {
                let repeats = (100_000 / size).max(1);
                let start = ProcessTime::now();
                let count = (0..repeats).map(|_| schedule(&flow)).sum();
                (start.elapsed(), count)
            });
            Point { nodes: size, nanos }
        })
        .collect();
    Row { name: name.to_owned(), exponent: exponent(&points), points }
}

fn driver_row(
    runtime: &tokio::runtime::Runtime,
    store: &str,
    name: &str,
    make: fn(usize) -> Flow,
    sizes: &[usize],
    task: fn(usize) -> Value,
) -> Row {
    let points: Vec<Point> = sizes
        .iter()
        .map(|&size| {
            let flow = make(size);
            let nanos = best(|| {
                let engine = Engine::new(antiphon_store::open(store).expect("a store"));
                let flow = flow.clone();
                let start = Instant::now();
                runtime.block_on(async move {
                    let mut run = engine.start(flow, Invocation::new(task(size))).await.expect("accepted");
                    let report = run.wait().await.expect("no fault");
                    assert_eq!(report.outcome, Outcome::Completed);
                });
                (start.elapsed(), size)
            });
            Point { nodes: size, nanos }
        })
        .collect();
    Row { name: name.to_owned(), exponent: exponent(&points), points }
}

/// What a task costs that does nothing: spawned and joined, one after the other as a chain does it.
fn spawn(runtime: &tokio::runtime::Runtime) -> f64 {
    best(|| {
        let start = Instant::now();
        runtime.block_on(async {
            tokio::spawn(async {
                for _ in 0..10_000 {
                    tokio::spawn(async {}).await.expect("it does nothing");
                }
            })
            .await
            .expect("they do nothing");
        });
        (start.elapsed(), 10_000)
    })
}

fn main() {
    let args = Args::parse();
    let wanted = |name: &str| args.only.as_ref().is_none_or(|only| name.contains(only.as_str()));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let shapes: [(&str, fn(usize) -> Flow); 3] = [("chain", chain), ("fan-out", fan), ("cycle", cycle)];
    let mut scheduler: Vec<Row> = shapes
        .iter()
        .filter(|(name, _)| wanted(&format!("scheduler {name}")))
        .map(|(name, make)| scheduler_row(name, *make, &args.sizes))
        .collect();
    if wanted("scheduler dense") {
        let flow = dense(50);
        let nanos = best(|| {
            let start = ProcessTime::now();
            (0..10).map(|_| schedule(&flow)).sum::<usize>();
            (start.elapsed(), 25_000)
        });
        let points = vec![Point { nodes: 2_500, nanos }];
        scheduler.push(Row { name: "dense 50×50".to_owned(), points, exponent: None });
    }
    let null = |_| Value::Null;
    let list = |size: usize| json!((0..size).collect::<Vec<_>>());
    let rows: [(&str, &str, fn(usize) -> Flow, &[usize], fn(usize) -> Value); 5] = [
        ("memory chain", "memory:", chain, &[1_000, 10_000], null),
        ("memory fan-out", "memory:", fan, &[1_000, 10_000], null),
        ("memory cycle", "memory:", cycle, &[10_000], null),
        ("memory dense 50×50", "memory:", |_| dense(50), &[2_500], null),
        ("memory map", "memory:", map, &[10_000], list),
    ];
    let driver = rows
        .iter()
        .filter(|(name, ..)| wanted(name))
        .map(|(name, store, make, sizes, task)| driver_row(&runtime, store, name, *make, sizes, *task))
        .collect();
    let report = Report { scheduler, driver, spawn: spawn(&runtime) };
    if args.json {
        println!("{}", serde_json::to_string(&report).expect("figures are JSON"));
    } else {
        show(&report);
    }
}

fn show(report: &Report) {
    for (kind, rows) in [("scheduler", &report.scheduler), ("driver", &report.driver)] {
        for row in rows {
            let points: Vec<String> =
                row.points.iter().map(|point| format!("{}: {:.0} ns", point.nodes, point.nanos)).collect();
            let grows = row.exponent.map(|exponent| format!("  exponent {exponent:.3}")).unwrap_or_default();
            println!("{kind:10} {:20} {}{grows}", row.name, points.join("  "));
        }
    }
    println!("a task spawned and joined: {:.0} ns", report.spawn);
}
