//! What it costs to take up a long run that waits for a person, and to look back into it: with checkpoints, and the first
//! time, from all its events.
//!
//! In: how many events, and where to put the file. Out: a table, or one JSON object with `--json`. Wall time from opening
//! the file to a run that is ready. Start reading at [`main`].

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

// For its allocator, which is the program's.
use antiphon_bench as _;
use antiphon_flow::function::Failure;
use antiphon_flow::schema::Schema;
use antiphon_flow::state::{Key, Reduce};
use antiphon_flow::{Edge, Flow, Formula, Human, Limits, Node};
use antiphon_port::{Branch, Journal};
use antiphon_runtime::{Call, Engine, Function, Invocation, Outcome};
use antiphon_store::Sqlite;
use anyhow::{Context, ensure};
use clap::Parser;
use rusqlite::Connection;
use serde::Serialize;
use serde_json::json;

/// How often each thing is measured; the median counts.
const TRIES: usize = 9;

/// How many events a round of the flow makes.
const PER_ROUND: usize = 10;

/// Measures taking up a long run.
#[derive(Parser)]
struct Args {
    /// About how many events the run has
    #[arg(long, default_value_t = 1_000_000)]
    events: usize,
    /// Where the file is made; the folder for temporary files if left out
    #[arg(long)]
    folder: Option<PathBuf>,
    /// One JSON object, for machines
    #[arg(long)]
    json: bool,
    /// What cargo passes to every bench
    #[arg(long, hide = true)]
    bench: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    events: u64,
    checkpoints: u64,
    checkpoint_bytes: u64,
    resume_millis: f64,
    look_millis: f64,
    past_median_millis: f64,
    past_worst_millis: f64,
    first_resume_millis: f64,
}

/// Two nodes that go round, then a person is asked.
fn flow(rounds: u32) -> Flow {
    Flow::new("rounds")
        .state(Key {
            name: "count".into(),
            schema: Schema::compile(json!({"type": "integer"})).expect("a schema"),
            default: Some(json!(0)),
            reduce: Reduce::Sum,
        })
        .limits(Limits { max_node_executions: Some(u64::MAX), ..Limits::default() })
        .node("a", Node::function(Function::new(|_: Call| async { Ok::<_, Failure>(json!("a")) })))
        .node(
            "b",
            Node::function(Function::new(|_: Call| async { Ok::<_, Failure>(json!("b")) }))
                .set("count", Formula::closure(|_| 1)),
        )
        .node("ask", Node::human(Human { prompt: "Go on?".into(), ..Human::default() }))
        .entry("a")
        .edge(Edge::new("a", "b"))
        .edge(Edge::new("b", "a").when(Formula::closure(move |moment| moment.executions_of("b") < rounds)))
        .edge(Edge::new("b", "ask").otherwise())
        .build()
        .expect("a sound flow")
}

fn open(path: &Path) -> anyhow::Result<Engine> {
    let journal: Arc<dyn Journal> = Arc::new(Sqlite::open(path)?);
    Ok(Engine::new(journal))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let folder = match &args.folder {
        Some(folder) => tempfile::tempdir_in(folder),
        None => tempfile::tempdir(),
    };
    let path = folder.context("making a folder for the file")?.keep().join("run.db");
    let flow = flow((args.events / PER_ROUND) as u32);
    let branch = prepare(&path, &flow).await?;
    let resume_millis = median(resumes(&path, &branch, &flow, TRIES).await?);
    let events = open(&path)?.journal().head(&branch).await?.seq;
    let look_millis = median(looks(&path, &branch, &flow, &[None; TRIES]).await?);
    let positions: Vec<_> = (1..40).map(|nth| Some(events * nth / 40 + nth * 97 % 1000)).collect();
    let mut past = looks(&path, &branch, &flow, &positions).await?;
    past.sort_by(f64::total_cmp);
    let (checkpoints, checkpoint_bytes) =
        Connection::open(&path)?.query_row("SELECT count(*), max(length(bytes)) FROM fold", [], |row| {
            Ok((row.get::<_, i64>(0)? as u64, row.get::<_, i64>(1)? as u64))
        })?;
    Connection::open(&path)?.execute("DELETE FROM fold", [])?;
    let report = Report {
        events,
        checkpoints,
        checkpoint_bytes,
        resume_millis,
        look_millis,
        past_median_millis: past[past.len() / 2],
        past_worst_millis: past[past.len() - 1],
        first_resume_millis: resumes(&path, &branch, &flow, 1).await?[0],
    };
    std::fs::remove_dir_all(path.parent().expect("it is in a folder"))?;
    if args.json {
        println!("{}", serde_json::to_string(&report)?);
    } else {
        print(&report);
    }
    Ok(())
}

/// Runs the flow until it asks.
async fn prepare(path: &Path, flow: &Flow) -> anyhow::Result<Branch> {
    let engine = open(path)?;
    let mut run = engine.start(flow.clone(), Invocation::new("task")).await?;
    let report = run.wait().await?;
    ensure!(report.outcome == Outcome::Paused, "the run asks: {report:?}");
    let branch = run.branch().clone();
    drop(run);
    let_go(&engine, &branch).await;
    Ok(branch)
}

/// Waits until the run lets go of its session, as it does when nobody holds it any more.
async fn let_go(engine: &Engine, branch: &Branch) {
    while engine.journal().claim(&branch.session).is_err() {
        tokio::task::yield_now().await;
    }
}

/// Opens the file and takes the run up; how long each time took.
async fn resumes(path: &Path, branch: &Branch, flow: &Flow, times: usize) -> anyhow::Result<Vec<f64>> {
    let mut took = Vec::new();
    for _ in 0..times {
        let start = Instant::now();
        let engine = open(path)?;
        let mut run = engine.resume(branch.clone(), Some(flow.clone())).await?;
        took.push(start.elapsed().as_secs_f64() * 1000.0);
        ensure!(run.wait().await?.relays.len() == 1, "the run waits for its answer");
        drop(run);
        let_go(&engine, branch).await;
    }
    Ok(took)
}

/// Opens the file and looks at positions of the past; how long each took.
async fn looks(
    path: &Path,
    branch: &Branch,
    flow: &Flow,
    positions: &[Option<u64>],
) -> anyhow::Result<Vec<f64>> {
    let mut took = Vec::new();
    for at in positions {
        let start = Instant::now();
        open(path)?.look(branch, *at, Some(flow.clone())).await?;
        took.push(start.elapsed().as_secs_f64() * 1000.0);
    }
    Ok(took)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn print(report: &Report) {
    let Report { events, checkpoints, checkpoint_bytes, .. } = report;
    println!(
        "a run of {events} events that waits for a person; {checkpoints} checkpoints of up to {checkpoint_bytes} bytes"
    );
    for (what, millis) in [
        ("open the file and resume", report.resume_millis),
        ("open the file and look at the end", report.look_millis),
        ("the same at positions of the past, median", report.past_median_millis),
        ("the same, the slowest of 39", report.past_worst_millis),
        ("open the file and resume without checkpoints", report.first_resume_millis),
    ] {
        println!("{what:46} {millis:10.2} ms");
    }
}
