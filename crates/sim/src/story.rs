//! [`simulate`]: one flow, undisturbed and under faults, and what must hold of both.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use antiphon_event::body::request::RelayResolved;
use antiphon_event::{Body, Event, Json, NodeStatus, RelayId, Timestamp};
use antiphon_port::{Branch, Journal};
use antiphon_runtime::{Engine, Invocation, Outcome, Refused, Report, Run, Stopped, TaskClock};
use serde_json::Value;

use crate::chance::Chance;
use crate::faulty::{Faulty, Trouble};
use crate::shape::{Made, make};
use crate::world::{World, output};

/// What a simulation came to.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tally {
    /// Node executions and attempts, undisturbed and under faults; the rest is of the run under faults.
    pub steps: u64,
    /// Appends.
    pub appends: u64,
    /// Deaths of the process.
    pub deaths: u64,
    /// Events in the journal at the end.
    pub events: u64,
    /// Checkpoints that were saved.
    pub checkpoints: u64,
}

/// What is known of the events of a journal.
#[derive(Debug, Default)]
struct Known {
    seq: u64,
    steps: u64,
    checkpoints: u64,
    /// What each request is about.
    asked: HashMap<RelayId, Option<Json>>,
}

impl Known {
    fn take(&mut self, event: &Event, world: &World) -> Result<(), String> {
        self.seq += 1;
        if event.head.seq != Some(self.seq) {
            return Err("the journal has gaps".to_owned());
        }
        match &event.body {
            Body::NodeStart(_) => self.steps += 1,
            Body::CheckpointSaved(_) => self.checkpoints += 1,
            Body::Relay(asked) => {
                self.asked.insert(asked.id.clone(), asked.params.clone());
            }
            Body::NodeEnd(end) if end.status == NodeStatus::Completed => {
                if let (Some(run), Some(node)) = (&event.head.run_id, &event.head.node_id) {
                    world.complete(format!("{run}/{node}/{}", end.execution));
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// Makes a flow from the seed, runs it undisturbed and with the process dying about once in `every` appends, and
/// says what came of it, or what did not hold.
pub fn simulate(seed: u64, every: u64) -> Result<Tally, String> {
    simulate_long(seed, every, 1)
}

/// The same with a flow that goes through the one made from the seed so many times, one after the other.
pub fn simulate_long(seed: u64, every: u64, rounds: u32) -> Result<Tally, String> {
    let races = seed.is_multiple_of(3);
    let calm = Story::new(seed, races, rounds).run(Trouble::None)?;
    let rough = Story::new(seed, races, rounds).run(Trouble::OneIn(every))?;
    if !races {
        same("output", &calm.report.output.value(), &rough.report.output.value())?;
        same("state", &calm.report.state, &rough.report.state)?;
        same("statuses", &calm.report.statuses, &rough.report.statuses)?;
        same("outcome", &calm.report.outcome, &rough.report.outcome)?;
    }
    Ok(Tally { steps: calm.tally.steps + rough.tally.steps, ..rough.tally })
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, calm: &T, rough: &T) -> Result<(), String> {
    if calm == rough {
        return Ok(());
    }
    Err(format!("the {what} differs: undisturbed {calm:?}, under faults {rough:?}"))
}

struct Story {
    seed: u64,
    /// What is known of the journal's events, as far as they were read.
    known: Mutex<Known>,
    world: Arc<World>,
    made: Made,
    store: Arc<dyn Journal>,
    counts: (Arc<AtomicU64>, Arc<AtomicU64>),
}

struct Ending {
    report: Report,
    tally: Tally,
}

/// After how many events a checkpoint is saved, by turns.
const CHECKPOINTS: [u64; 4] = [256, 4, 16, 64];
/// For one seed in so many, what is taken up from a checkpoint is compared with what all events give.
const COMPARED: u64 = 5;
/// How long a journal is at most for that: all of it is read each time.
const COMPARED_EVENTS: u64 = 1000;

/// A run that would not end is one that has stalled.
const DEATHS_MAX: u64 = 10_000;

impl Story {
    fn new(seed: u64, races: bool, rounds: u32) -> Self {
        let world = Arc::new(World::default());
        let made = make(seed, races, rounds, &world);
        let store = antiphon_store::open("memory:").expect("a store in memory");
        let (known, counts) = (Mutex::default(), (Arc::default(), Arc::default()));
        Self { seed, known, world, made, store, counts }
    }

    fn run(self, trouble: Trouble) -> Result<Ending, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        runtime.block_on(self.live(trouble))
    }

    async fn live(&self, trouble: Trouble) -> Result<Ending, String> {
        let epoch: Timestamp = "2026-01-01T00:00:00Z".parse().expect("a moment");
        let clock = TaskClock::new(epoch);
        let branch = Branch::main("session");
        let mut deaths = 0;
        loop {
            let faults = Faulty::new(
                Arc::clone(&self.store),
                trouble,
                self.seed.wrapping_mul(31).wrapping_add(deaths),
                self.counts.clone(),
            );
            let engine = Engine::new(Arc::new(faults))
                .clock(clock)
                .ids(Chance::new(self.seed, deaths as u32))
                .checkpoint_every(CHECKPOINTS[self.seed as usize % CHECKPOINTS.len()]);
            match self.process(&engine, &branch).await? {
                Some(report) => return self.ending(report, &branch, deaths).await,
                None => deaths += 1,
            }
            self.remember(&branch).await?;
            if deaths > DEATHS_MAX {
                return Err(format!("the run did not end within {DEATHS_MAX} deaths"));
            }
        }
    }

    /// One process, until the run has ended or the process dies.
    async fn process(&self, engine: &Engine, branch: &Branch) -> Result<Option<Report>, String> {
        let begun = self.known.lock().expect("nobody panics while holding it").seq > 0;
        let run = if begun {
            self.compare(engine, branch).await?;
            engine.resume(branch.clone(), Some(self.made.flow.clone())).await
        } else {
            self.start(engine, branch).await
        };
        match run {
            Ok(run) => self.attend(run).await,
            Err(Refused::Journal(_)) => Ok(None),
            Err(refused) => Err(refused.to_string()),
        }
    }

    /// What a process takes up is the same with the checkpoints of those before it and without.
    async fn compare(&self, engine: &Engine, branch: &Branch) -> Result<(), String> {
        let there = self.known.lock().expect("nobody panics while holding it").seq;
        if !self.seed.is_multiple_of(COMPARED) || there > COMPARED_EVENTS {
            return Ok(());
        }
        let forgetful = Engine::new(Arc::new(Faulty::forgetful(Arc::clone(&self.store))));
        let look = async |engine: &Engine| engine.look(branch, None, Some(self.made.flow.clone())).await;
        let (with, without) = (look(engine).await, look(&forgetful).await);
        match (with, without) {
            (Ok(with), Ok(without)) if with == without => Ok(()),
            (with, without) => Err(format!("with checkpoints it is {with:?}, without {without:?}")),
        }
    }

    async fn start(&self, engine: &Engine, branch: &Branch) -> Result<Run, Refused> {
        // A death before the first append leaves an empty branch behind.
        let _there = self.store.create(branch).await;
        let session = Some(branch.session.clone());
        engine.start(self.made.flow.clone(), Invocation { session, ..Invocation::new("task") }).await
    }

    /// Answers whatever a run asks until it has ended.
    async fn attend(&self, mut run: Run) -> Result<Option<Report>, String> {
        loop {
            let report = match run.wait().await {
                Ok(report) => report,
                Err(Stopped { .. }) => return Ok(None),
            };
            if report.outcome != Outcome::Paused {
                return Ok(Some(report));
            }
            if report.relays.is_empty() {
                return Err("the run waits for people and asks nothing".to_owned());
            }
            for relay in &report.relays {
                let answer = self.answer(relay, run.branch()).await?;
                if run.answer(answer).await.is_err() && matches!(run.wait().await, Err(Stopped { .. })) {
                    return Ok(None);
                }
            }
        }
    }

    /// What a person says: yes to questions; about doubts, by turns that the work is to be done again or was done.
    async fn answer(&self, relay: &RelayId, branch: &Branch) -> Result<RelayResolved, String> {
        let params = self.params(relay, branch).await?;
        let mut answer = RelayResolved {
            relay_id: relay.clone(),
            approved: Some(true),
            answer: None,
            input: None,
            scope: None,
            reason: None,
            by: "person".to_owned(),
        };
        let Some(place) = relay.as_str().strip_suffix(":doubt") else { return Ok(answer) };
        let (run, rest) = place.split_once('/').expect("a relay names its run");
        let mut parts = rest.split(':');
        let (node, execution) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        answer.approved = None;
        // Items of a map are named by number: nothing is known of what they do, so they are done again.
        let deed = self.made.deeds.get(node);
        match (&params, deed) {
            (Some(input), Some(deed)) if deed.salt.is_multiple_of(2) && deed.fails == 0 => {
                answer.answer = Some(Json::from("take as done"));
                answer.input = Some(Json::from(output(input.as_str(), deed.salt)));
            }
            _ => {
                self.world.allow(&format!("{run}/{node}/{execution}"));
                answer.answer = Some(Json::from("run again"));
            }
        }
        Ok(answer)
    }

    /// What the node gets that a relay is about.
    async fn params(&self, relay: &RelayId, branch: &Branch) -> Result<Option<Json>, String> {
        self.catch_up(branch).await?;
        let known = self.known.lock().expect("nobody panics while holding it");
        let asked = known.asked.get(relay);
        asked.cloned().ok_or_else(|| format!("relay {relay} is pending and not in the journal"))
    }

    /// Reads what was appended since the last time: each event once, however often a process dies.
    async fn catch_up(&self, branch: &Branch) -> Result<(), String> {
        loop {
            let after = self.known.lock().expect("nobody panics while holding it").seq;
            let page = self.store.read(branch, after, 65_536).await.map_err(|fault| fault.to_string())?;
            if page.is_empty() {
                return Ok(());
            }
            let mut known = self.known.lock().expect("nobody panics while holding it");
            for event in page {
                known.take(&event, &self.world)?;
            }
        }
    }

    /// What is in the journal when a process has died: all that was acknowledged, and what may not run again.
    async fn remember(&self, branch: &Branch) -> Result<(), String> {
        self.catch_up(branch).await?;
        let there = self.known.lock().expect("nobody panics while holding it").seq;
        let acknowledged = self.counts.1.load(Ordering::Relaxed);
        if there < acknowledged {
            return Err(format!("{acknowledged} events were acknowledged, and {there} are there"));
        }
        Ok(())
    }

    async fn ending(&self, report: Report, branch: &Branch, deaths: u64) -> Result<Ending, String> {
        self.remember(branch).await?;
        if let Some(wrong) = self.world.wrong().into_iter().next() {
            return Err(wrong);
        }
        if report.outcome != Outcome::Completed
            || report.output == Json::from(Value::String("stalled".into()))
        {
            return Err(format!(
                "the run ended {:?}: {:?} {:?}",
                report.outcome, report.reason, report.pending
            ));
        }
        let known = self.known.lock().expect("nobody panics while holding it");
        let appends = self.counts.0.load(Ordering::Relaxed);
        let tally =
            Tally { steps: known.steps, appends, deaths, events: known.seq, checkpoints: known.checkpoints };
        Ok(Ending { report, tally })
    }
}
