//! [`Driver`]: one task that owns the machines of a run and its place in the journal.
//!
//! Everything that can wake it is one of: an outcome or something said by a node, a timer, a wish. It decides,
//! appends what was decided, and acts on it only when the journal has acknowledged. Start reading at [`Driver::run`].

mod agent;
mod away;
mod code;
mod due;
mod sprint;
mod wake;
mod wish;
mod work;

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use antiphon_agent::machine::{Input as Hears, Now as Moment};
use antiphon_event::{Body, Event, Json, Mode, RelayId, StopReason, Timestamp};
use antiphon_flow::function::{Failure, Reply};
use antiphon_flow::{Attempt, Input, Now, Refusal, Scheduler};
use antiphon_port::{Batch, Branch, Claim, Fault};
use futures_util::FutureExt;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use self::agent::Nowhere;
use self::sprint::Sprint;
pub(crate) use self::wake::Wake;
use crate::away::Hold;
use crate::budget::Purse;
use crate::checkpoint::Keeper;
use crate::engine::Parts;
use crate::mind::{Effect, Mind};
use crate::outfit::Kit;
use crate::perform::Outer;
use crate::report::Report;
use crate::run::{Asked, Progress, Standing, Stopped, Watcher};
use crate::timer::Timers;
use crate::tree::{Machine, Tree};

/// How many wakes are taken in before what came of them is appended.
const WAKES_MAX: usize = 1024;
/// How many events may gather before they are appended.
const BATCH_MAX: usize = 4096;
/// For how many events there is room while it waits.
const BATCH_KEPT: usize = 64;
/// By how much one roll of the dice differs from the next: the golden ratio keeps all of them apart.
const GOLDEN: f64 = 0.618_033_988_749_894_9;
/// How often an append that the outside refused for a moment is repeated.
const APPENDS_MAX: u32 = 20;
/// For how long while somebody waits to hear whether a run is accepted.
const ACCEPTED_WITHIN: Duration = Duration::from_secs(3);

/// What is due at some moment.
#[derive(Debug)]
pub(crate) enum Due {
    Overrun(usize, Attempt),
    Retry(usize, Attempt),
    Expiry(usize, RelayId),
    Limit(usize),
    /// The model of an agent is asked again: which model call that is.
    Ask(usize, u32),
}

pub(crate) struct Driver {
    pub(crate) parts: Arc<Parts>,
    pub(crate) branch: Branch,
    pub(crate) seq: u64,
    pub(crate) tree: Tree,
    pub(crate) batch: Vec<Event>,
    effects: Vec<(usize, Effect)>,
    /// Work that came to its end at once, and what it came to.
    done: VecDeque<(usize, Attempt, Result<Reply, Failure>)>,
    sprint: Sprint,
    stirred: VecDeque<usize>,
    /// Whether more follows by itself than was to be appended at once.
    is_behind: bool,
    timers: Timers<Due>,
    /// What is due once a run that waits for people has worked longer.
    parked: Vec<Due>,
    /// Attempts that are due, until there is room for them.
    overdue: VecDeque<(usize, Attempt)>,
    pub(crate) wakes: mpsc::Sender<Wake>,
    woken: mpsc::Receiver<Wake>,
    wishes: mpsc::Receiver<Asked>,
    /// Answers to agents that are still being equipped.
    early: Vec<Asked>,
    progress: watch::Sender<Progress>,
    standing: watch::Sender<Standing>,
    /// What time it is, while nothing happens that takes time.
    moment: Option<Timestamp>,
    dice: f64,
    working: usize,
    delayed: usize,
    /// Code that is under way: its run and its place there.
    codes: Vec<(usize, usize)>,
    pub(crate) purse: Purse,
    pub(crate) keeper: Keeper,
    /// Who counts what is spent here, if this is the run of an agent that another driver's called.
    pub(crate) outer: Option<Outer>,
    /// Agents on other branches that were told of and are about to begin, those at work, and those being stopped.
    announced: HashSet<(usize, usize)>,
    away_working: usize,
    leaving: Vec<JoinHandle<()>>,
    /// Work that was cut off and may not have heard of it yet.
    cut_off: Vec<JoinHandle<()>>,
    /// Commands of other processes that were dealt with.
    inbox_done: u64,
    /// The last one that was there before this process had the session: whoever wanted to stop something meant another.
    pub(crate) inbox_old: u64,
    /// When to look for them next.
    inbox_at: Instant,
    /// The right to run what is in the session, until it is over.
    claim: Option<Claim>,
    /// Keeps agents of this process off the branch.
    hold: Option<Hold>,
}

impl Driver {
    pub(crate) fn new(
        parts: Arc<Parts>,
        branch: Branch,
        seq: u64,
        wishes: mpsc::Receiver<Asked>,
        claim: Claim,
    ) -> (Self, Watcher) {
        let (wakes, woken) = mpsc::channel(WAKES_MAX);
        let keeper = Keeper::new(parts.checkpoint_every, seq, seq);
        let (progress, progressing) = watch::channel(Progress { seq, standing: Standing::Working });
        let (standing, stands) = watch::channel(Standing::Working);
        let (hold, dice) = (parts.busy.hold(&branch), parts.ids.dice());
        let driver = Self {
            parts,
            branch,
            seq,
            tree: Tree::default(),
            batch: Vec::new(),
            effects: Vec::new(),
            done: VecDeque::new(),
            sprint: Sprint::new(),
            stirred: VecDeque::new(),
            is_behind: false,
            timers: Timers::new(),
            parked: Vec::new(),
            overdue: VecDeque::new(),
            wakes,
            woken,
            wishes,
            early: Vec::new(),
            progress,
            standing,
            moment: None,
            dice,
            working: 0,
            delayed: 0,
            codes: Vec::new(),
            purse: Purse::default(),
            keeper,
            outer: None,
            announced: HashSet::new(),
            away_working: 0,
            leaving: Vec::new(),
            cut_off: Vec::new(),
            inbox_done: 0,
            inbox_old: 0,
            inbox_at: Instant::now() + INBOX_EVERY,
            claim: Some(claim),
            hold,
        };
        (driver, Watcher { progress: progressing, standing: stands })
    }

    /// Drives the run until it has ended, or nobody is there to answer what it asks.
    pub(crate) async fn run(mut self) {
        let standing = match self.drive().await {
            Ok(report) if report.outcome == crate::Outcome::Paused => Standing::Paused(Arc::new(report)),
            Ok(report) => Standing::Ended(Arc::new(report)),
            Err(fault) => Standing::Broken(Arc::new(Stopped { fault, report: self.report() })),
        };
        self.stop_tasks().await;
        self.part(matches!(standing, Standing::Broken(_))).await;
        if self.inbox_done > 0 {
            // What was done is not to be done again by the next process; if it stays, it is refused there.
            let _ = self.parts.journal.take(&self.branch.session, self.inbox_done).await;
        }
        // Whoever hears that it is over may begin the next run in the session at once.
        self.claim = None;
        self.hold = None;
        self.stand(standing);
    }

    async fn drive(&mut self) -> Result<Report, Fault> {
        loop {
            self.settle();
            self.commit().await?;
            if !self.stirred.is_empty() {
                // What always has something to do would never hear of anybody, nor of what was saved of it.
                self.heed_saved();
                self.listen_at_times().await?;
                // What has ended at once is taken in while all about it is near, and before more is begun.
                while !self.done.is_empty() {
                    self.take_done().await?;
                    self.commit().await?;
                }
                continue;
            }
            if self.tree.machines[0].mind.has_ended() {
                return Ok(self.report());
            }
            if self.heed_saved() || self.grant_early().await? {
                continue;
            }
            if !self.done.is_empty() {
                self.take_done().await?;
                continue;
            }
            // What is due by now may be all that was waited for.
            if self.run_due().await? {
                if !self.stirred.is_empty() && !self.standing.borrow().is_working() {
                    self.stand(Standing::Working);
                }
                continue;
            }
            let paused = self.delayed == 0 && self.away_working == 0 && self.working == self.codes_waiting();
            if paused && self.standing.borrow().is_working() {
                if self.save_at_rest().await || self.look_for_commands().await? {
                    continue;
                }
                self.stand(Standing::Paused(Arc::new(self.report())));
            }
            if !self.wait(paused).await? {
                return Ok(self.report());
            }
        }
    }

    /// Waits for whatever comes first, and takes in all that has come by then. False when it waits for people and
    /// nobody is there who could answer.
    async fn wait(&mut self, paused: bool) -> Result<bool, Fault> {
        let deserted = self.wishes.is_closed() && self.wishes.is_empty();
        if paused && deserted {
            return Ok(false);
        }
        self.announce();
        self.sprint.rested();
        self.batch.shrink_to(BATCH_KEPT);
        let timer = self.timers.next();
        let inbox = self.parts.inbox.then_some(self.inbox_at);
        tokio::select! {
            biased;
            asked = self.wishes.recv(), if !deserted => match asked {
                Some(asked) => self.grant(asked).await?,
                None => return Ok(!paused),
            },
            woken = self.woken.recv() => {
                self.wake(woken.expect("the driver holds a sender itself"));
                self.hear(BATCH_MAX);
            }
            () = until(timer) => {}
            () = until(inbox) => {}
        }
        Ok(true)
    }

    /// Does what is due by now, also while there is always something else to do; whether anything was.
    async fn run_due(&mut self) -> Result<bool, Fault> {
        if self.timers.next().is_none() && !self.parts.inbox {
            return Ok(false);
        }
        let now = Instant::now();
        let mut any = false;
        while let Some(due) = self.timers.due(now) {
            self.due(due);
            self.catch_up();
            any = true;
        }
        if self.inbox_at <= now {
            any |= self.look_for_commands().await?;
        }
        Ok(any)
    }

    /// Does what other processes want, if they can leave commands here; whether anything comes of it.
    async fn look_for_commands(&mut self) -> Result<bool, Fault> {
        if !self.parts.inbox {
            return Ok(false);
        }
        self.inbox_at = Instant::now() + INBOX_EVERY;
        self.read_inbox().await?;
        Ok(!self.stirred.is_empty() || !self.batch.is_empty())
    }

    /// Lets everything happen that follows by itself.
    fn settle(&mut self) {
        if !self.tree.reached.is_empty() {
            self.heed_reached();
        }
        self.is_behind = false;
        while let Some(machine) = self.stirred.pop_front() {
            self.tree.machines[machine].stirred = false;
            if !self.settle_one(machine) {
                self.is_behind = true;
                return self.stir(machine);
            }
        }
    }

    /// Takes in what work came to. What follows from it happens before the next is taken in, however close to each other
    /// they come, so that they come to the same whenever they are told again in that order.
    fn outcome(&mut self, machine: usize, attempt: Attempt, result: Result<Reply, Failure>) {
        self.try_feed(machine, Input::Outcome { attempt, result });
        self.forfeit(machine, attempt.node);
        let flow = self.tree.machines[machine].mind.as_flow();
        if flow.is_some_and(Scheduler::may_go_on) {
            self.catch_up();
        }
    }

    /// Lets everything happen that follows by itself, unless that is more than is appended at once.
    fn catch_up(&mut self) {
        if !self.is_behind && !self.stirred.is_empty() {
            self.settle();
        }
    }

    /// Lets everything happen that follows by itself in one run, and tells whoever it is the work of; false when that
    /// is more than is appended at once.
    pub(crate) fn settle_one(&mut self, machine: usize) -> bool {
        let at = self.at();
        while self.follow(machine, at) {
            if self.batch.len() >= BATCH_MAX {
                return false;
            }
        }
        self.tell_parent(machine);
        true
    }

    /// Lets the next thing happen that follows by itself in one run; whether there was one.
    fn follow(&mut self, machine: usize, at: Timestamp) -> bool {
        if let Some(around) = self.out_of_steps(machine) {
            // Who set the bound says that it is reached, and all inside ends with it.
            self.try_feed(around, Input::Limit(StopReason::BudgetSteps));
            return false;
        }
        if !self.overdue.is_empty() && self.try_again(machine) {
            return true;
        }
        let from = self.batch.len();
        self.advance(machine, at);
        let any = self.batch.len() > from;
        if any {
            self.take(machine, from);
        }
        any
    }

    /// Adds to the batch what follows by itself in a run.
    fn advance(&mut self, machine: usize, at: Timestamp) {
        let (dice, steps) = (self.roll(), self.steps_left(machine));
        let Machine { mind, kit, .. } = &self.tree.machines[machine];
        match (mind, kit) {
            (Mind::Flow(flow), _) => flow.advance_into(Now { at, dice, steps }, &mut self.batch),
            (Mind::Agent(agent), Some(kit)) => {
                self.batch.extend(agent.advance(Moment { at, dice, world: kit }));
            }
            // It has nothing to work with yet, and needs nothing to end.
            (Mind::Agent(agent), None) if agent.must_end().is_some() => {
                self.batch.extend(agent.advance(Moment { at, dice, world: &Nowhere }));
            }
            // Nothing is decided before there is something to decide with.
            (Mind::Agent(_), None) => {}
        }
    }

    /// What a run inside a node, or a call, comes to is the node's, or the call's.
    fn tell_parent(&mut self, machine: usize) {
        let Machine { parent: Some((around, attempt)), is_void: false, .. } = self.tree.machines[machine]
        else {
            return;
        };
        if let Some(result) = self.tree.result(machine) {
            match &self.tree.machines[around].mind {
                Mind::Flow(_) => self.try_feed(around, Input::Outcome { attempt, result }),
                Mind::Agent(_) => self.called_agent_ended(around, attempt, result),
            }
            return;
        }
        let waits = self.tree.machines[machine].mind.has_started() && !self.tree.is_at_work(machine);
        if !waits || std::mem::replace(&mut self.tree.machines[machine].pause_told, true) {
            return;
        }
        match &self.tree.machines[around].mind {
            Mind::Flow(_) => self.try_feed(around, Input::Paused(attempt)),
            // Its caller may now have nothing else to wait for, and what its caller is the work of.
            Mind::Agent(_) => self.tell_parent(around),
        }
    }

    /// Gives an input to a machine; the events of its decision are applied and wait to be appended.
    pub(crate) fn feed(&mut self, machine: usize, input: Input) -> Result<(), Refusal> {
        let now = self.now();
        let moves_on = matches!(input, Input::Answer(_) | Input::Expired(_));
        let from = self.batch.len();
        self.tree.machines[machine].mind.flow().decide_into(input, now, &mut self.batch)?;
        self.take(machine, from);
        self.stir(machine);
        if moves_on {
            self.unpark();
        }
        Ok(())
    }

    /// Time passes again for runs that waited for people.
    fn unpark(&mut self) {
        for due in std::mem::take(&mut self.parked) {
            self.timers.set(Instant::now(), due);
        }
    }

    /// The same for an agent.
    pub(crate) fn tell(&mut self, machine: usize, input: Hears) -> Result<(), Refusal> {
        let moves_on = matches!(input, Hears::Answer(_) | Hears::Expired(_));
        let Machine { mind: Mind::Agent(agent), kit: Some(kit), .. } = &self.tree.machines[machine] else {
            return Err(Refusal::Ended(self.tree.machines[machine].mind.run().clone()));
        };
        let events = agent.decide(input, self.moment(kit)).map_err(refusal)?;
        let from = self.batch.len();
        self.batch.extend(events);
        self.take(machine, from);
        self.stir(machine);
        if moves_on {
            self.unpark();
        }
        Ok(())
    }

    /// The same where a refusal means that it came too late, which is nobody's fault.
    pub(crate) fn try_tell(&mut self, machine: usize, input: Hears) {
        if let Err(refusal) = self.tell(machine, input) {
            tracing::debug!(%refusal, "came too late");
        }
    }

    fn moment<'a>(&self, kit: &'a Kit) -> Moment<'a> {
        Moment { at: self.at(), dice: self.parts.ids.dice(), world: kit }
    }

    /// The same where a refusal means that it came too late, which is nobody's fault.
    pub(crate) fn try_feed(&mut self, machine: usize, input: Input) {
        if let Err(refusal) = self.feed(machine, input) {
            tracing::debug!(%refusal, "came too late");
        }
    }

    /// Applies the events of the batch from an index on, which a machine has decided.
    fn take(&mut self, machine: usize, from: usize) {
        let before = self.effects.len();
        let patches = self.cut_before_patches(from);
        let events = &self.batch[from..];
        for event in events {
            self.tree.machines[machine].mind.apply(event, &mut self.effects, machine);
            self.tree.note(machine, event);
        }
        // That a process goes on with it does not mean that it goes on by itself.
        let goes_on = events.iter().any(|event| !matches!(event.body, Body::Resumed(_)));
        self.tree.machines[machine].pause_told &= !goes_on;
        self.stop_with_it(machine, from, before);
        for (writes, by) in patches {
            self.try_feed(0, Input::Patch { writes, by });
        }
    }

    /// What changes the state from outside after one of the events from an index on. Those behind it were decided without
    /// that; as all that follows by itself, they follow again.
    fn cut_before_patches(&mut self, from: usize) -> Vec<(BTreeMap<String, Json>, String)> {
        let Some(stand_in) = &self.parts.stand_in else { return Vec::new() };
        for place in from..self.batch.len() {
            let patches = stand_in.patches(&self.batch[place]);
            if !patches.is_empty() {
                self.batch.truncate(place + 1);
                return patches;
            }
        }
        Vec::new()
    }

    /// Runs whose node or caller ends with the events from an index on end in the same append, so that no process can
    /// die in between, and before it, so that nothing is heard of them after the end of the run around them.
    fn stop_with_it(&mut self, machine: usize, from: usize, before: usize) {
        if self.tree.machines[machine].children.is_empty() {
            return;
        }
        let stopped: Vec<usize> = self.effects[before..]
            .iter()
            .flat_map(|(_, effect)| self.inside_of(machine, effect))
            .filter(|inner| !self.tree.machines[*inner].mind.has_ended())
            .collect();
        if stopped.is_empty() {
            return;
        }
        let ends = self.batch[from..].iter().position(|event| closes(&event.body));
        let after = self.batch.split_off(ends.map_or(self.batch.len(), |position| from + position));
        for inner in stopped {
            self.ask_to_stop(inner, AROUND, &Mode::Now);
            self.see_off(inner);
        }
        let from = self.batch.len();
        self.batch.extend(after);
        self.say_what_was_left(machine, from);
    }

    /// Nodes whose runs were stopped with them end with what those have come to. Their ends were decided, and applied,
    /// before that was known.
    fn say_what_was_left(&mut self, machine: usize, from: usize) {
        let Some(flow) = self.tree.machines[machine].mind.as_flow() else { return };
        for event in &mut self.batch[from..] {
            let Body::NodeEnd(end) = &mut event.body else { continue };
            let node = event.head.node_id.as_ref().and_then(|id| flow.flow().index(id.as_str()));
            if let Some(partial) = node.and_then(|node| flow.partial(node)) {
                end.output = partial.clone();
            }
        }
    }

    /// Lets a run that was stopped come to its end, before whoever it is the work of hears of it.
    pub(crate) fn see_off(&mut self, machine: usize) {
        let at = self.at();
        while self.follow(machine, at) {}
    }

    pub(crate) fn stir(&mut self, machine: usize) {
        if !std::mem::replace(&mut self.tree.machines[machine].stirred, true) {
            self.stirred.push_back(machine);
        }
    }

    fn now(&mut self) -> Now {
        Now { at: self.at(), dice: self.roll(), steps: None }
    }

    /// A number from 0 up to 1, as far from those before it as can be. It is asked for again and again and hardly ever
    /// used, so it must cost nothing; that no other process has the same is enough of chance.
    fn roll(&mut self) -> f64 {
        self.dice += GOLDEN;
        if self.dice >= 1.0 {
            self.dice -= 1.0;
        }
        self.dice
    }

    /// What time it is: the same for all that happens at once, so that nothing seems to happen before what led to it.
    pub(crate) fn at(&self) -> Timestamp {
        self.moment.unwrap_or_else(|| self.parts.clock.now())
    }

    /// Appends what has gathered; when it is durable, does what it asks for.
    async fn commit(&mut self) -> Result<(), Fault> {
        self.append_all(None).await?;
        if !self.effects.is_empty() {
            self.sprint.begin(self.effects.len());
            let mut effects = std::mem::take(&mut self.effects);
            for (machine, effect) in effects.drain(..) {
                self.perform(machine, effect);
            }
            effects.append(&mut self.effects);
            self.effects = effects;
        }
        self.moment = None;
        self.hand_over();
        Ok(())
    }

    /// Appends what has gathered; what the outside refuses for a moment until some time at most.
    async fn append_all(&mut self, until: Option<Instant>) -> Result<(), Fault> {
        if !self.batch.is_empty() {
            let mark = self.keeper.mark(self.seq, &self.batch);
            let batch = Batch::take(&mut self.batch).expect("it was just seen not to be empty");
            self.append(batch, until).await?;
            if let Some(head) = mark {
                self.save(head);
            }
        }
        Ok(())
    }

    async fn append(&mut self, batch: Batch, until: Option<Instant>) -> Result<(), Fault> {
        let may_wait = || until.is_none_or(|until| Instant::now() < until);
        for tried in 1.. {
            let mut ack = self.parts.journal.append(&self.branch, self.seq, batch.clone());
            let at_once = (&mut ack).now_or_never();
            let waited = at_once.is_none();
            let appended = if let Some(appended) = at_once {
                appended
            } else {
                self.sprint.waited();
                let appended = ack.await;
                self.moment = None;
                appended
            };
            match appended {
                Ok(position) => {
                    self.seq = position.last;
                    if waited {
                        self.announce();
                    }
                    return Ok(());
                }
                Err(fault) if fault.is_passing() && tried < APPENDS_MAX && may_wait() => {
                    tracing::warn!(%fault, tried, "the journal would not take it; trying again");
                    tokio::time::sleep(Duration::from_millis(10 * u64::from(tried))).await;
                }
                Err(fault) => return Err(fault),
            }
        }
        unreachable!("the loop ends with a result")
    }

    /// Tells readers how far it has come.
    fn announce(&self) {
        self.progress.send_if_modified(|progress| std::mem::replace(&mut progress.seq, self.seq) != self.seq);
    }

    fn stand(&self, standing: Standing) {
        let seq = self.seq;
        self.progress.send_replace(Progress { seq, standing: standing.clone() });
        self.standing.send_replace(standing);
    }

    fn report(&self) -> Report {
        Report::new(&self.tree, self.branch.session.clone(), self.seq)
    }

    /// Whether there is nothing to go on with.
    pub(crate) fn completed(&self) -> bool {
        self.tree.machines[0].mind.has_completed()
    }

    /// Says how the run ended, and lets go of its session.
    pub(crate) fn rest(self) {
        self.stand(Standing::Ended(Arc::new(self.report())));
    }

    /// Appends what was decided before the driver began to run, so that whoever started it knows it is accepted.
    /// It is acted upon by the driver.
    pub(crate) async fn accept(&mut self) -> Result<(), Fault> {
        self.accept_until(Some(Instant::now() + ACCEPTED_WITHIN)).await
    }

    /// The same by a run that is under way, which has all the time it takes.
    pub(crate) async fn accept_patiently(&mut self) -> Result<(), Fault> {
        self.accept_until(None).await
    }

    async fn accept_until(&mut self, until: Option<Instant>) -> Result<(), Fault> {
        self.settle();
        self.append_all(until).await
    }
}

/// Who stops a run whose node or caller has ended.
pub(crate) const AROUND: &str = "the run around it";

/// Whether an event ends an attempt at a node, a call or an agent.
fn closes(body: &Body) -> bool {
    matches!(body, Body::NodeEnd(_) | Body::NodeRetry(_) | Body::ToolResult(_) | Body::HarnessEnd(_))
}

/// How often commands of other processes are looked for.
const INBOX_EVERY: Duration = Duration::from_millis(100);

/// Waits until a moment; for ever if there is none.
async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

/// A refusal of an agent, as whoever holds a run knows refusals.
pub(crate) fn refusal(refusal: antiphon_agent::machine::Refusal) -> Refusal {
    use antiphon_agent::machine::Refusal as R;
    match refusal {
        R::Ended(run) | R::Late(run) => Refusal::Ended(run),
        R::NotPending(relay) => Refusal::NotPending(relay),
        R::Answer { relay, why } => Refusal::Answer { relay, why },
    }
}
