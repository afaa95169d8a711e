//! [`simulate`]: one flow, undisturbed and under faults, and what must hold of both.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use antiphon_event::body::request::{Relay, RelayResolved};
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
    /// Node executions and attempts.
    pub steps: u64,
    /// Appends.
    pub appends: u64,
    /// Deaths of the process.
    pub deaths: u64,
    /// Events in the journal at the end.
    pub events: u64,
}

/// Makes a flow from the seed, runs it undisturbed and with the process dying about once in `every` appends, and
/// says what came of it, or what did not hold.
pub fn simulate(seed: u64, every: u64) -> Result<Tally, String> {
    let races = seed.is_multiple_of(3);
    let calm = Story::new(seed, races).run(Trouble::None)?;
    let rough = Story::new(seed, races).run(Trouble::OneIn(every))?;
    if !races {
        same("output", &calm.report.output.value(), &rough.report.output.value())?;
        same("state", &calm.report.state, &rough.report.state)?;
        same("statuses", &calm.report.statuses, &rough.report.statuses)?;
        same("outcome", &calm.report.outcome, &rough.report.outcome)?;
    }
    Ok(rough.tally)
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, calm: &T, rough: &T) -> Result<(), String> {
    if calm == rough {
        return Ok(());
    }
    Err(format!("the {what} differs: undisturbed {calm:?}, under faults {rough:?}"))
}

struct Story {
    seed: u64,
    world: Arc<World>,
    made: Made,
    store: Arc<dyn Journal>,
    counts: (Arc<AtomicU64>, Arc<AtomicU64>),
}

struct Ending {
    report: Report,
    tally: Tally,
}

/// A run that would not end is one that has stalled.
const DEATHS_MAX: u64 = 10_000;

impl Story {
    fn new(seed: u64, races: bool) -> Self {
        let world = Arc::new(World::default());
        let made = make(seed, races, &world);
        let store = antiphon_store::open("memory:").expect("a store in memory");
        Self { seed, world, made, store, counts: (Arc::default(), Arc::default()) }
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
            let engine =
                Engine::new(Arc::new(faults)).clock(clock).ids(Chance::new(self.seed, deaths as u32));
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
        let begun = self.store.head(branch).await.is_ok_and(|head| head.seq > 0);
        let run = if begun {
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
        let asked = self.find(relay, branch).await?;
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
        match (&asked.params, deed) {
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

    async fn find(&self, relay: &RelayId, branch: &Branch) -> Result<Relay, String> {
        let events = self.events(branch).await?;
        let asked = events.into_iter().rev().find_map(|event| match event.body {
            Body::Relay(asked) if asked.id == *relay => Some(*asked),
            _ => None,
        });
        asked.ok_or_else(|| format!("relay {relay} is pending and not in the journal"))
    }

    async fn events(&self, branch: &Branch) -> Result<Vec<Event>, String> {
        let mut events: Vec<Event> = Vec::new();
        loop {
            let after = events.last().and_then(|event| event.head.seq).unwrap_or(0);
            let page = self.store.read(branch, after, 65_536).await.map_err(|fault| fault.to_string())?;
            if page.is_empty() {
                return Ok(events);
            }
            events.extend(page);
        }
    }

    /// What is in the journal when a process has died: all that was acknowledged, and what may not run again.
    async fn remember(&self, branch: &Branch) -> Result<(), String> {
        let events = self.events(branch).await?;
        let acknowledged = self.counts.1.load(Ordering::Relaxed);
        if (events.len() as u64) < acknowledged {
            return Err(format!("{acknowledged} events were acknowledged, and {} are there", events.len()));
        }
        for event in events {
            let Body::NodeEnd(end) = &event.body else { continue };
            if end.status != NodeStatus::Completed {
                continue;
            }
            let (Some(run), Some(node)) = (&event.head.run_id, &event.head.node_id) else { continue };
            self.world.complete(format!("{run}/{node}/{}", end.execution));
        }
        Ok(())
    }

    async fn ending(&self, report: Report, branch: &Branch, deaths: u64) -> Result<Ending, String> {
        self.remember(branch).await?;
        if let Some(wrong) = self.world.wrong().into_iter().next() {
            return Err(wrong);
        }
        let events = self.events(branch).await?;
        let numbered = events.iter().zip(1..).all(|(event, seq)| event.head.seq == Some(seq));
        if !numbered {
            return Err("the journal has gaps".to_owned());
        }
        if report.outcome != Outcome::Completed
            || report.output == Json::from(Value::String("stalled".into()))
        {
            return Err(format!(
                "the run ended {:?}: {:?} {:?}",
                report.outcome, report.reason, report.pending
            ));
        }
        let steps = events.iter().filter(|event| matches!(event.body, Body::NodeStart(_))).count() as u64;
        let appends = self.counts.0.load(Ordering::Relaxed);
        let tally = Tally { steps, appends, deaths, events: events.len() as u64 };
        Ok(Ending { report, tally })
    }
}
