//! [`simulate`]: one flow, undisturbed and under faults, and what must hold of both.

use std::sync::Arc;

use antiphon_event::body::request::RelayResolved;
use antiphon_event::{Json, RelayId, Timestamp};
use antiphon_port::{Branch, Journal};
use antiphon_runtime::{Engine, Invocation, Outcome, Refused, Report, Run, Stopped, TaskClock};
use serde_json::Value;

use crate::chance::Chance;
use crate::faulty::{Faulty, Trouble};
use crate::ledger::{Known, Ledger};
use crate::shape::{Made, make};
use crate::world::{Mark, World, output};

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

impl Tally {
    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            steps: self.steps + other.steps,
            appends: self.appends + other.appends,
            deaths: self.deaths + other.deaths,
            events: self.events + other.events,
            checkpoints: self.checkpoints + other.checkpoints,
        }
    }
}

/// Makes a flow from the seed, runs it undisturbed and with the process dying about once in `every` appends, and
/// says what came of it, or what did not hold.
pub fn simulate(seed: u64, every: u64) -> Result<Tally, String> {
    simulate_long(seed, every, 1)
}

/// The same with a flow that goes through the one made from the seed so many times, one after the other.
pub fn simulate_long(seed: u64, every: u64, rounds: u32) -> Result<Tally, String> {
    let calm = on_virtual_time(Story::new(seed, rounds).live(Trouble::None, 0))?;
    let rough = on_virtual_time(Story::new(seed, rounds).live(Trouble::OneIn(every), 0))?;
    compare(seed, &calm.report, &rough.report)?;
    Ok(Tally { steps: calm.tally.steps + rough.tally.steps, ..rough.tally })
}

/// Whether in the flow of a seed nodes may race, so that what comes out depends on time.
fn races(seed: u64) -> bool {
    seed.is_multiple_of(3)
}

/// What came of a run is what comes of it undisturbed.
pub(crate) fn compare(seed: u64, calm: &Report, rough: &Report) -> Result<(), String> {
    if races(seed) {
        return Ok(());
    }
    same("output", &calm.output.value(), &rough.output.value())?;
    same("state", &calm.state, &rough.state)?;
    same("statuses", &calm.statuses, &rough.statuses)?;
    same("outcome", &calm.outcome, &rough.outcome)
}

/// Where all of it is kept.
pub(crate) fn branch() -> Branch {
    Branch::main("session")
}

fn empty() -> Arc<dyn Journal> {
    antiphon_store::open("memory:").expect("a store in memory")
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, calm: &T, rough: &T) -> Result<(), String> {
    if calm == rough {
        return Ok(());
    }
    Err(format!("the {what} differs: undisturbed {calm:?}, under faults {rough:?}"))
}

/// A flow made from a seed, and a journal for it.
pub(crate) struct Story {
    seed: u64,
    world: Arc<World>,
    made: Arc<Made>,
    pub(crate) store: Arc<dyn Journal>,
    pub(crate) ledger: Arc<Ledger>,
    /// After how many events a checkpoint is saved.
    checkpoint_every: u64,
}

pub(crate) struct Ending {
    pub(crate) report: Report,
    pub(crate) tally: Tally,
}

/// After how many events a checkpoint is saved, by turns.
const CHECKPOINTS: [u64; 4] = [256, 4, 16, 64];
/// The same for long runs, whose checkpoints are large.
const CHECKPOINTS_LONG: [u64; 4] = [256, 2048, 64, 512];
/// For one seed in so many, what is taken up from a checkpoint is compared with what all events give.
const COMPARED: u64 = 5;
/// How long a journal is at most for that: all of it is read each time.
const COMPARED_EVENTS: u64 = 1000;

/// How many events are read at once.
const PAGE: usize = 512;

/// A run that would not end is one that has stalled.
const DEATHS_MAX: u64 = 10_000;

/// Runs what simulations are made of, on virtual time.
pub(crate) fn on_virtual_time<T>(story: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.map_err(|error| error.to_string())?.block_on(story)
}

impl Story {
    pub(crate) fn new(seed: u64, rounds: u32) -> Self {
        let world = Arc::new(World::default());
        let made = Arc::new(make(seed, races(seed), rounds, &world));
        let ledger = Arc::new(Ledger::new(Arc::clone(&world)));
        let by_turns = if rounds > 1 { CHECKPOINTS_LONG } else { CHECKPOINTS };
        let checkpoint_every = by_turns[seed as usize % by_turns.len()];
        Self { seed, world, made, store: empty(), ledger, checkpoint_every }
    }

    /// The same, to be gone back in.
    pub(crate) fn taped(self) -> Self {
        Self { ledger: Arc::new(Ledger::taped(Arc::clone(&self.world))), ..self }
    }

    /// The same flow in the same world as far as that was then, with a journal that is empty.
    pub(crate) fn again(&self, mark: Mark) -> Self {
        self.world.go_back(mark);
        Self {
            seed: self.seed,
            world: Arc::clone(&self.world),
            made: Arc::clone(&self.made),
            store: empty(),
            ledger: Arc::new(Ledger::new(Arc::clone(&self.world))),
            checkpoint_every: self.checkpoint_every,
        }
    }

    /// Lets one process after the other go on with the run until it has ended.
    pub(crate) async fn live(&self, trouble: Trouble, first: u32) -> Result<Ending, String> {
        let epoch: Timestamp = "2026-01-01T00:00:00Z".parse().expect("a moment");
        let clock = TaskClock::new(epoch);
        let branch = branch();
        let mut deaths = 0;
        loop {
            let faults = Faulty::new(
                Arc::clone(&self.store),
                trouble,
                self.seed.wrapping_mul(31).wrapping_add(deaths),
                Arc::clone(&self.ledger),
            );
            let engine = Engine::new(Arc::new(faults))
                .clock(clock)
                .ids(Chance::new(self.seed, first + deaths as u32))
                .checkpoint_every(self.checkpoint_every);
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
        let begun = self.ledger.known().seq > 0;
        let run = if begun {
            self.compare_checkpoints(engine, branch).await?;
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
    async fn compare_checkpoints(&self, engine: &Engine, branch: &Branch) -> Result<(), String> {
        let there = self.ledger.known().seq;
        if !self.seed.is_multiple_of(COMPARED) || there > COMPARED_EVENTS {
            return Ok(());
        }
        let forgetful =
            Engine::new(Arc::new(Faulty::forgetful(Arc::clone(&self.store), Arc::clone(&self.ledger))));
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
                let answer = self.answer(relay)?;
                if run.answer(answer).await.is_err() && matches!(run.wait().await, Err(Stopped { .. })) {
                    return Ok(None);
                }
            }
        }
    }

    /// What a person says: yes to questions; about doubts, by turns that the work is to be done again or was done.
    fn answer(&self, relay: &RelayId) -> Result<RelayResolved, String> {
        let params = self.ledger.asked(relay)?;
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

    /// What is in the journal when a process has died: all that was kept, acknowledged or not, and nothing else.
    async fn remember(&self, branch: &Branch) -> Result<(), String> {
        let seq = self.ledger.known().seq;
        let end =
            self.store.read(branch, seq.saturating_sub(1), 2).await.map_err(|fault| fault.to_string())?;
        let there = end.iter().rev().find_map(|event| event.head.seq).unwrap_or(0);
        if there != seq {
            return Err(format!("{seq} events were kept, and {there} are there"));
        }
        Ok(())
    }

    /// What is in the journal at the end: every event that was kept, in order.
    async fn read_all(&self, branch: &Branch) -> Result<(), String> {
        let Known { seq, acknowledged, .. } = *self.ledger.known();
        if acknowledged > seq {
            return Err(format!("{acknowledged} events were acknowledged, and {seq} are there"));
        }
        let mut after = 0;
        loop {
            let page = self.store.read(branch, after, PAGE).await.map_err(|fault| fault.to_string())?;
            if page.is_empty() {
                break;
            }
            for event in page {
                after += 1;
                if event.head.seq != Some(after) {
                    return Err("the journal has gaps".to_owned());
                }
            }
        }
        if after == seq { Ok(()) } else { Err(format!("{seq} events were kept, and {after} are there")) }
    }

    async fn ending(&self, report: Report, branch: &Branch, deaths: u64) -> Result<Ending, String> {
        self.read_all(branch).await?;
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
        let Known { seq: events, appends, steps, checkpoints, .. } = *self.ledger.known();
        Ok(Ending { report, tally: Tally { steps, appends, deaths, events, checkpoints } })
    }
}
