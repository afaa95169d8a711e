//! What it costs to keep events: in memory, and durable in a file beside a bare SQLite commit in the same run.
//!
//! In: where to put the files, which should be a real disk. Out: a table, or one JSON object with `--json`. Wall time,
//! as waiting for the disk is what is measured, but for what happens in memory. Start reading at [`main`].

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

// For its allocator, which is the program's.
use antiphon_bench as _;
use antiphon_event::Event;
use antiphon_port::{Batch, Branch, Journal};
use antiphon_store::{Memory, Sqlite};
use antiphon_testkit::shape;
use anyhow::{Context, ensure};
use clap::Parser;
use cpu_time::ProcessTime;
use rusqlite::Connection;
use serde::Serialize;

/// How many events an append of many has.
const BATCH: usize = 100;

/// How many appends of one branch are under way at once.
const AHEAD: usize = 16;

/// How many branches are written to at once.
const WRITERS: usize = 256;

/// Measures journals.
#[derive(Parser)]
struct Args {
    /// Where the files are made; the folder for temporary files if left out
    #[arg(long)]
    folder: Option<PathBuf>,
    /// How many steps are appended, each on its own
    #[arg(long, default_value_t = 10_000)]
    steps: usize,
    /// How many small events a long session has
    #[arg(long, default_value_t = 1_000_000)]
    events: usize,
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
    /// How many events the long session has.
    events: usize,
    memory_ns_per_event: f64,
    batched_events_per_second: f64,
    step_micros: f64,
    bare_micros: f64,
    step_ratio: f64,
    grouped_steps_per_second: f64,
    bytes_per_step: f64,
    stored_bytes_per_event: f64,
    open_millis: f64,
    tail_millis: f64,
    middle_millis: f64,
    read_events_per_second: f64,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let folder = match &args.folder {
        Some(folder) => tempfile::tempdir_in(folder),
        None => tempfile::tempdir(),
    };
    let folder = folder.context("making a folder for the files")?;
    let place = |name: &str| folder.path().join(name);
    let (step_micros, bare_micros) = steps(&place("steps.db"), &place("bare.db"), args.steps.min(2_000))?;
    let long = place("long.db");
    let batched_events_per_second = batched(&long, args.events)?;
    let reading = reading(&long, args.events)?;
    let report = Report {
        memory_ns_per_event: memory(args.events)?,
        batched_events_per_second,
        step_micros,
        bare_micros,
        step_ratio: step_micros / bare_micros,
        grouped_steps_per_second: grouped(&place("grouped.db"), args.steps)?,
        bytes_per_step: weight(&place("weight.db"), args.steps)?,
        stored_bytes_per_event: size(&long)? / args.events as f64,
        ..reading
    };
    if args.json {
        println!("{}", serde_json::to_string(&report)?);
    } else {
        print(&report);
    }
    Ok(())
}

/// What a flow appends when a node ends and the next one starts.
fn step(number: usize) -> anyhow::Result<Batch> {
    let head = format!(
        r#""at":"2026-11-15T12:00:00.{:03}Z","runId":"0198c5a2-7b1e-7c3a-9f00-4d2c1b3a5e6f","eventFlowId":"0198c5a2-7b1e-7c3a-9f00-000000000001","traceId":"4bf92f3577b34da6a3ce929d0e0e4736""#,
        number % 1000
    );
    let lines = [
        format!(
            r#"{{"type":"node_end",{head},"nodeId":"research_{number}","status":"COMPLETED","execution":1,"attempt":1,"output":"done: {number} findings","durationMs":12,"writes":{{"count":1}},"edges":[{{"to":"write_{number}","live":true}}]}}"#
        ),
        format!(
            r#"{{"type":"edge_transition",{head},"sourceId":"research_{number}","targetId":"write_{number}","edgeType":"static"}}"#
        ),
        format!(r#"{{"type":"layer_end",{head},"layer":{number}}}"#),
        format!(r#"{{"type":"layer_start",{head},"layer":{}}}"#, number + 1),
        format!(
            r#"{{"type":"node_start",{head},"nodeId":"write_{number}","nodeType":"function","attempt":1,"execution":1}}"#
        ),
    ];
    let events: Result<Vec<_>, _> = lines.iter().map(|line| Event::from_json(line)).collect();
    Batch::new(events?).context("a step has events")
}

/// Nanoseconds of processor time for each event of small batches in memory. The same few batches over and over: whoever
/// appends has just made them.
fn memory(events: usize) -> anyhow::Result<f64> {
    let journal = Memory::new();
    let branch = Branch::main("s");
    journal.create(&branch).wait()?;
    let batches = (0..64).map(step).collect::<Result<Vec<_>, _>>()?;
    let (mut end, start) = (0, ProcessTime::now());
    for batch in batches.iter().cycle().take(events / 5) {
        end = journal.append(&branch, end, batch.clone()).wait()?.last;
    }
    Ok(start.elapsed().as_secs_f64() * 1e9 / end as f64)
}

/// Events a second in large batches, each acknowledged; leaves the file for [`reading`].
fn batched(path: &Path, events: usize) -> anyhow::Result<f64> {
    let (journal, branch) = (Sqlite::open(path)?, Branch::main("s"));
    journal.create(&branch).wait()?;
    let mut pieces = shape::each_delta(events, events / 1_000);
    let (mut acks, mut end, mut spent) = (VecDeque::new(), 0, Duration::ZERO);
    while let Some(batch) = Batch::new(pieces.by_ref().take(BATCH).collect()) {
        let start = Instant::now();
        let next = end + batch.len() as u64;
        acks.push_back(journal.append(&branch, end, batch));
        end = next;
        if acks.len() == AHEAD {
            acks.pop_front().expect("there are some").wait()?;
        }
        spent += start.elapsed();
    }
    let start = Instant::now();
    acks.into_iter().try_for_each(|ack| ack.wait().map(drop))?;
    ensure!(end == events as u64, "{end} of {events} events were appended");
    Ok(events as f64 / (spent + start.elapsed()).as_secs_f64())
}

/// Microseconds of a durable step, and of a bare commit of the same bytes, one of each in turn: the medians.
fn steps(path: &Path, bare: &Path, steps: usize) -> anyhow::Result<(f64, f64)> {
    let (journal, branch) = (Sqlite::open(path)?, Branch::main("s"));
    journal.create(&branch).wait()?;
    let bare = Connection::open(bare)?;
    bare.pragma_update(None, "journal_mode", "wal")?;
    bare.pragma_update(None, "synchronous", "full")?;
    bare.execute_batch("CREATE TABLE record (pos INTEGER PRIMARY KEY, lines TEXT)")?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for number in 0..steps {
        let batch = step(number)?;
        let lines: String = batch.iter().map(Event::to_json).collect();
        // About what we store, as what the heads share is stored once.
        let lines = &lines[..lines.len() / 2];
        let start = Instant::now();
        journal.append(&branch, number as u64 * 5, batch).wait()?;
        ours.push(start.elapsed());
        let start = Instant::now();
        bare.prepare_cached("INSERT INTO record (lines) VALUES (?1)")?.execute([lines])?;
        theirs.push(start.elapsed());
    }
    Ok((median(&mut ours), median(&mut theirs)))
}

fn median(times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e6
}

/// Steps a second of many branches, each of which waits for its own.
fn grouped(path: &Path, steps: usize) -> anyhow::Result<f64> {
    let journal = Sqlite::open(path)?;
    let branches: Vec<_> = (0..WRITERS).map(|writer| Branch::main(format!("session-{writer}"))).collect();
    let created: Vec<_> = branches.iter().map(|branch| journal.create(branch)).collect();
    created.into_iter().try_for_each(|head| head.wait().map(drop))?;
    let rounds = steps.div_ceil(WRITERS);
    let mut batches = (0..rounds * WRITERS).map(step).collect::<Result<Vec<_>, _>>()?.into_iter();
    let start = Instant::now();
    let mut acks = VecDeque::new();
    for round in 0..rounds {
        for branch in &branches {
            if acks.len() == WRITERS {
                let ack: antiphon_port::Ack = acks.pop_front().expect("there are some");
                ack.wait()?;
            }
            let batch = batches.next().expect("made beforehand");
            acks.push_back(journal.append(branch, round as u64 * 5, batch));
        }
    }
    acks.into_iter().try_for_each(|ack| ack.wait().map(drop))?;
    Ok((rounds * WRITERS) as f64 / start.elapsed().as_secs_f64())
}

/// Bytes of the file for each step.
fn weight(path: &Path, steps: usize) -> anyhow::Result<f64> {
    let (journal, branch) = (Sqlite::open(path)?, Branch::main("s"));
    journal.create(&branch).wait()?;
    let mut acks = VecDeque::new();
    for number in 0..steps {
        acks.push_back(journal.append(&branch, number as u64 * 5, step(number)?));
    }
    acks.into_iter().try_for_each(|ack| ack.wait().map(drop))?;
    drop(journal);
    Ok(size(path)? / steps as f64)
}

fn size(path: &Path) -> anyhow::Result<f64> {
    Ok(std::fs::metadata(path).context("looking at the file")?.len() as f64)
}

/// Opening a long session, reading its end and its middle, and all of it.
fn reading(path: &Path, events: usize) -> anyhow::Result<Report> {
    let millis = |start: Instant| start.elapsed().as_secs_f64() * 1e3;
    let branch = Branch::main("s");
    let start = Instant::now();
    let journal = Sqlite::open(path)?;
    let head = journal.head(&branch).wait()?;
    let open_millis = millis(start);
    let start = Instant::now();
    let tail = journal.read(&branch, head.seq.saturating_sub(100), 100).wait()?;
    ensure!(tail.len() == events.min(100), "{} events at the end", tail.len());
    let tail_millis = millis(start);
    let start = Instant::now();
    journal.read(&branch, head.seq / 2, 100).wait()?;
    let middle_millis = millis(start);
    let (start, mut after) = (Instant::now(), 0);
    while after < head.seq {
        after += journal.read(&branch, after, 10_000).wait()?.len() as u64;
    }
    let read_events_per_second = events as f64 / start.elapsed().as_secs_f64();
    Ok(Report {
        events,
        open_millis,
        tail_millis,
        middle_millis,
        read_events_per_second,
        memory_ns_per_event: 0.0,
        batched_events_per_second: 0.0,
        step_micros: 0.0,
        bare_micros: 0.0,
        step_ratio: 0.0,
        grouped_steps_per_second: 0.0,
        bytes_per_step: 0.0,
        stored_bytes_per_event: 0.0,
    })
}

fn print(report: &Report) {
    let rows = [
        ("in memory, batches of 5", report.memory_ns_per_event, "ns per event"),
        ("durable, batches of 100", report.batched_events_per_second, "events/s"),
        ("a durable step of 5 events, p50", report.step_micros, "µs"),
        ("a bare SQLite commit of as many bytes, p50", report.bare_micros, "µs"),
        ("the one over the other", report.step_ratio, "×"),
        ("durable steps of 256 branches together", report.grouped_steps_per_second, "steps/s"),
        ("a step in the file", report.bytes_per_step, "bytes"),
        ("a small event in the file, batches of 100", report.stored_bytes_per_event, "bytes"),
        ("open a long session", report.open_millis, "ms"),
        ("read its last 100 events", report.tail_millis, "ms"),
        ("read 100 events in its middle", report.middle_millis, "ms"),
        ("read all of it", report.read_events_per_second, "events/s"),
    ];
    for (name, value, unit) in rows {
        println!("{name:<44}{value:>14.2} {unit}");
    }
}
