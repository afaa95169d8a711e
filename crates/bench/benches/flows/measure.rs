//! How a flow is run and timed: on the scheduler alone, by the driver on a journal, and beside them a bare task.

use std::collections::{BTreeMap, VecDeque};
use std::hint::black_box;
use std::iter::Sum;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use antiphon_event::{Json, Timestamp};
use antiphon_flow::function::Reply;
use antiphon_flow::{Effect, Flow, Input, Now, Origin, Scheduler};
use antiphon_port::Journal;
use antiphon_runtime::{Engine, Invocation, Outcome, Report};
use cpu_time::ProcessTime;
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// What something took: on the clock, and of the processors together.
#[derive(Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) wall: Duration,
    pub(crate) cpu: Duration,
}

impl Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        let none = Self { wall: Duration::ZERO, cpu: Duration::ZERO };
        costs.fold(none, |all, one| Self { wall: all.wall + one.wall, cpu: all.cpu + one.cpu })
    }
}

/// Where the events of a run go.
#[derive(Clone, Copy)]
pub(crate) enum Store<'p> {
    Memory,
    /// A new file in this folder; where temporary files go if there is none.
    File(Option<&'p Path>),
}

/// What several tries took.
pub(crate) struct Tried {
    pub(crate) median: Cost,
    pub(crate) best: Cost,
}

/// Tries so many times, after one time that is not counted.
pub(crate) fn tried(tries: usize, mut once: impl FnMut() -> Cost) -> Tried {
    once();
    let costs: Vec<Cost> = (0..tries).map(|_| once()).collect();
    let sorted = |part: fn(&Cost) -> Duration| {
        let mut times: Vec<Duration> = costs.iter().map(part).collect();
        times.sort_unstable();
        times
    };
    let (wall, cpu) = (sorted(|cost| cost.wall), sorted(|cost| cost.cpu));
    let at = |place: usize| Cost { wall: wall[place], cpu: cpu[place] };
    Tried { median: at(tries / 2), best: at(0) }
}

pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (Cost, T) {
    let (wall, cpu) = (Instant::now(), ProcessTime::now());
    let done = work();
    (Cost { wall: wall.elapsed(), cpu: cpu.elapsed() }, done)
}

/// Runs a flow on the scheduler alone; how many nodes ran.
pub(crate) fn schedule(flow: &Flow) -> usize {
    let origin = Origin {
        run: "r".into(),
        parent: None,
        turn: Some("r".into()),
        path: Vec::new(),
        item: false,
        span: None,
    };
    let mut scheduler = Scheduler::new(flow.clone(), origin);
    let now = Now { at: Timestamp::from_millis(1).expect("a moment"), dice: 0.5, steps: None };
    let output = Json::from(Value::Null);
    let mut work = VecDeque::new();
    let mut input = Input::Start { task: output.clone(), state: BTreeMap::new() };
    let mut count = 0;
    let mut events = Vec::new();
    loop {
        scheduler.decide_into(input, now, &mut events).expect("taken");
        while !events.is_empty() {
            for event in &events {
                scheduler.apply_to(event, &mut |effect| {
                    if let Effect::Perform(attempt) = effect {
                        work.push_back(attempt);
                    }
                });
            }
            black_box(&events);
            events.clear();
            scheduler.advance_into(now, &mut events);
        }
        let Some(attempt) = work.pop_front() else { break };
        count += 1;
        input = Input::Outcome { attempt, result: Ok(Reply::new(output.clone())) };
    }
    assert!(scheduler.ended().is_some(), "the run ended");
    count
}

/// A journal with nothing in it, and the folder that keeps its file.
struct Place {
    journal: Arc<dyn Journal>,
    file: Option<(TempDir, PathBuf)>,
}

impl Place {
    fn new(store: Store<'_>) -> Self {
        let (name, file) = match store {
            Store::Memory => ("memory:".to_owned(), None),
            Store::File(folder) => {
                let made = folder.map_or_else(tempfile::tempdir, tempfile::tempdir_in);
                let made = made.expect("a folder for the file");
                let path = made.path().join("flows.db");
                (format!("sqlite:{}", path.display()), Some((made, path)))
            }
        };
        Self { journal: antiphon_store::open(&name).expect("a store"), file }
    }
}

/// Runs a flow to its end on a journal of its own.
pub(crate) fn drive(runtime: &Runtime, store: Store<'_>, flow: &Flow, task: &Json) -> (Cost, Report) {
    let place = Place::new(store);
    let measured = drive_in(runtime, &place, flow, task);
    // By a task, as all else: what another thread has let go of is in the cache of that one's processor.
    runtime.block_on(runtime.spawn(async move { drop(place) })).expect("it lets go");
    measured
}

/// The same by a task, as the tasks are spawned beside which it is put.
fn drive_in(runtime: &Runtime, place: &Place, flow: &Flow, task: &Json) -> (Cost, Report) {
    let engine = Engine::new(Arc::clone(&place.journal));
    let (flow, invocation) = (flow.clone(), Invocation::new(task.clone()));
    let driven = runtime.spawn(async move {
        let (wall, cpu) = (Instant::now(), ProcessTime::now());
        let mut run = engine.start(flow, invocation).await.expect("accepted");
        let report = run.wait().await.expect("no fault");
        assert_eq!(report.outcome, Outcome::Completed);
        (Cost { wall: wall.elapsed(), cpu: cpu.elapsed() }, report)
    });
    runtime.block_on(driven).expect("it is waited for")
}

/// How many bytes the file of a run has.
pub(crate) fn weigh(folder: Option<&Path>, flow: &Flow) -> u64 {
    let Place { journal, file } = Place::new(Store::File(folder));
    let place = Place { journal, file: None };
    let runtime = runtime();
    drive_in(&runtime, &place, flow, &Json::from(Value::Null));
    // With the tasks and the journal gone everything is in the file.
    drop((runtime, place));
    let (_kept, path) = file.expect("it is in a file");
    std::fs::metadata(path).expect("it is there").len()
}

pub(crate) fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime")
}

/// Who spawns tasks.
#[derive(Clone, Copy)]
pub(crate) enum Spawner {
    /// Another task, on a thread of the runtime, as the driver of a run is.
    Task,
    /// The main function of a program, which is on a thread of its own.
    Main,
}

/// What tasks cost that do nothing: so many at a time spawned and then joined, one as in a chain or many as in a fan-out.
pub(crate) fn spawn(runtime: &Runtime, by: Spawner, count: usize, at_a_time: usize) -> Cost {
    let (cost, ()) = timed(|| {
        runtime.block_on(async {
            match by {
                Spawner::Main => spawned(count, at_a_time).await,
                Spawner::Task => tokio::spawn(spawned(count, at_a_time)).await.expect("they do nothing"),
            }
        });
    });
    cost
}

async fn spawned(count: usize, at_a_time: usize) {
    for _ in 0..count / at_a_time {
        let tasks: Vec<_> = (0..at_a_time).map(|_| tokio::spawn(async {})).collect();
        for task in tasks {
            task.await.expect("it does nothing");
        }
    }
}
