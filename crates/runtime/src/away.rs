//! Agents on branches of their own: where one works, how it is begun there or found again, and who looks after it for
//! the agent that called it.
//!
//! What it does is in the journal of its branch, with the call that caused it as its parent: a process that takes the
//! caller up finds it there and goes on with it. What it asks people is told on the caller's branch too, by
//! [`Wake::Mirrored`], and answers come back by [`Order`]. Start reading at [`travel`].

mod follow;
mod left;

use std::collections::{BTreeSet, HashSet};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use antiphon_agent::machine::{Input, Origin};
use antiphon_agent::permission::Policy;
use antiphon_agent::{Definition, SubagentPolicy};
use antiphon_event::body::content::{User, UserContent};
use antiphon_event::body::request::RelayResolved;
use antiphon_event::body::session::{BranchCreated, SessionCreated};
use antiphon_event::{
    Body, CallId, ErrorCode, Event, EventFlowId, Head, Json, Mode, ParentId, Provenance, RelayId, RunId,
    SessionId,
};
use antiphon_flow::Refusal;
use antiphon_flow::function::Failure;
use antiphon_port::{Branch, Claim, Fault};
use serde_json::json;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use self::follow::Follower;
pub(crate) use self::left::end_left;
use crate::driver::{Driver, Wake};
use crate::engine::{Parts, Refused, WISHES_MAX};
use crate::mind::Mind;
use crate::perform::{Mouth, Outer};
use crate::resume;
use crate::run::Run;
use crate::talk::in_conversation;
use crate::tree::Tree;

/// How much of its task a session is called after.
const TITLE_MAX: usize = 60;

/// What the driver of a caller wants of an agent on another branch. Without anybody who could want something it is
/// left where it is.
#[derive(Debug)]
pub(crate) enum Order {
    /// Somebody answered what it asks.
    Answer(RelayResolved, Option<oneshot::Sender<Result<(), Refusal>>>),
    /// It is to stop at once.
    Stop,
}

/// What a driver knows of an agent on another branch that one of its own called.
#[derive(Debug)]
pub(crate) struct Away {
    pub(crate) orders: mpsc::Sender<Order>,
    /// What it, or those it called, ask people.
    pub(crate) relays: Vec<RelayId>,
    /// Whether only people can get it further.
    pub(crate) waits: bool,
    /// Whether all that it asked before this process took it up is known.
    pub(crate) is_known: bool,
    pub(crate) task: JoinHandle<()>,
}

/// What an agent is sent away with.
pub(crate) struct Journey {
    pub(crate) parts: Arc<Parts>,
    /// The branch of its caller, and its own.
    pub(crate) home: Branch,
    pub(crate) place: Branch,
    pub(crate) call: CallId,
    pub(crate) definition: Definition,
    pub(crate) origin: Origin,
    pub(crate) task: String,
    /// What its caller may do, and what people granted there.
    pub(crate) within: Policy,
    pub(crate) grants: Vec<Event>,
    /// Who counts what it spends.
    pub(crate) outer: Option<Outer>,
}

/// The branches that are being written to in this process.
#[derive(Debug, Clone, Default)]
pub(crate) struct Busy(Arc<Mutex<HashSet<Branch>>>);

/// Keeps others in this process off a branch until it is dropped.
#[derive(Debug)]
pub(crate) struct Hold(Busy, Branch);

impl Busy {
    pub(crate) fn hold(&self, branch: &Branch) -> Option<Hold> {
        let fresh = self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(branch.clone());
        fresh.then(|| Hold(self.clone(), branch.clone()))
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.1);
    }
}

/// Where an agent works that is called with this policy, if not on its caller's branch: the same for every attempt at
/// the call.
pub(crate) fn place(
    policy: SubagentPolicy,
    branch: Option<&str>,
    name: &str,
    call: &CallId,
    home: &Branch,
) -> Option<Branch> {
    // Forks of the caller's branch make the same call, each for itself.
    let before = match home.branch.as_str() {
        "main" => String::new(),
        branch => format!("{}-", plain(branch)),
    };
    match policy {
        SubagentPolicy::SameBranch | SubagentPolicy::Fork => None,
        SubagentPolicy::FreshBranch => {
            let branch = format!("{before}{}-{}", plain(name), plain(call.as_str()));
            Some(Branch::new(home.session.clone(), branch))
        }
        SubagentPolicy::ExistingBranch => {
            Some(Branch::new(home.session.clone(), branch.unwrap_or(name).to_owned()))
        }
        SubagentPolicy::NewSession => {
            let (session, call) = (plain(home.session.as_str()), plain(call.as_str()));
            let session = format!("{}-{session}-{before}{call}", plain(name));
            Some(Branch::main(SessionId::from(session)))
        }
    }
}

/// A name without what would have to be quoted somewhere; different names stay different.
fn plain(name: &str) -> String {
    let mut plain = String::with_capacity(name.len());
    for letter in name.chars() {
        match letter {
            '/' => plain.push('.'),
            letter if letter.is_ascii_alphanumeric() || "-_".contains(letter) => plain.push(letter),
            other => write!(plain, "~{:x}~", u32::from(other)).expect("a string takes any text"),
        }
    }
    plain
}

/// Begins an agent on its branch, or goes on with it, and tells the driver of its caller what comes of it.
pub(crate) async fn travel(journey: Journey, mouth: Mouth, mut orders: mpsc::Receiver<Order>) {
    let (home, call) = (journey.home.clone(), journey.call.clone());
    let parts = Arc::clone(&journey.parts);
    let result = match open(journey).await {
        Ok(Opened { run, task, is_old }) => {
            let told = if is_old { told(&parts, &home).await } else { Ok(BTreeSet::new()) };
            match told {
                Ok(told) => {
                    let follower = Follower { run, task, told, mouth: &mouth, waits: false };
                    follower.follow(&mut orders).await
                }
                Err(refused) => Some(Err(failure(&refused))),
            }
        }
        Err(refused) => Some(Err(failure(&refused))),
    };
    if let Some(result) = result {
        mouth.wake(|machine, attempt| Wake::CameBack(machine, attempt, call, result)).await;
    }
}

fn failure(refused: &Refused) -> Failure {
    Failure::of(ErrorCode::Failed, refused.to_string())
}

/// What was told on a branch about requests to people, by whichever run.
async fn told(parts: &Parts, branch: &Branch) -> Result<BTreeSet<(bool, RelayId)>, Refused> {
    let events = resume::read_all(parts, branch).await?;
    Ok(events.iter().filter_map(about).collect())
}

/// The request that an event is about, and whether the event is its answer.
fn about(event: &Event) -> Option<(bool, RelayId)> {
    match &event.body {
        Body::Relay(relay) => Some((false, relay.id.clone())),
        Body::RelayResolved(resolved) => Some((true, resolved.relay_id.clone())),
        _ => None,
    }
}

struct Opened {
    run: Run,
    task: JoinHandle<()>,
    /// Whether it had begun before.
    is_old: bool,
}

/// Starts the driver of the agent, with its run as it is in the journal of its branch.
async fn open(journey: Journey) -> Result<Opened, Refused> {
    let (parts, place) = (Arc::clone(&journey.parts), journey.place.clone());
    let is_elsewhere = place.session != journey.home.session;
    let claim = if is_elsewhere { Some(parts.journal.claim(&place.session)?) } else { None };
    let busy = || Refused::Agent(format!("the branch {place} is in use by another agent"));
    let hold = parts.busy.hold(&place).ok_or_else(busy)?;
    match parts.journal.create(&place).await {
        Ok(_) | Err(Fault::Exists(_)) => {}
        Err(fault) => return Err(fault.into()),
    }
    // What is left for the owner of a session is for the driver that claimed it.
    // Without checkpoints the branch cannot be gone on with by itself, beyond what its caller may do.
    let inbox = parts.inbox && is_elsewhere;
    let parts = Arc::new(Parts { inbox, checkpoint_every: u64::MAX, ..Parts::clone(&parts) });
    let mut events = resume::read_all(&parts, &place).await?;
    let start = events.iter().rposition(|event| is_caused_by(event, &journey.call));
    if let (None, Some(left)) = (start, left(&events)) {
        end(&parts, &place, &events, left).await?;
        events = resume::read_all(&parts, &place).await?;
    }
    let seq = events.last().and_then(|event| event.head.seq).unwrap_or(0);
    let (wishes, asked) = mpsc::channel(WISHES_MAX);
    let claim = Claim::new((claim, hold));
    let (mut driver, progress) = Driver::new(Arc::clone(&parts), place.clone(), seq, asked, claim);
    driver.outer = journey.outer.clone();
    driver.tree.remember(&journey.grants);
    let began = if let Some(start) = start {
        rebuild(&mut driver.tree, &events, start)?;
        events[start].head.seq.map_or(0, |seq| seq - 1)
    } else {
        if seq == 0 {
            driver.batch.push(created(&journey));
        }
        let (said, origin) = said(&parts, &journey.call, journey.origin, journey.task);
        driver.batch.push(said.clone());
        events.push(said);
        let agent = in_conversation(Arc::new(journey.definition), origin, &events);
        driver.tree.add(Mind::Agent(Box::new(agent)), None);
        seq
    };
    let mind = &driver.tree.machines[0].mind;
    let (id, definition) = (mind.run().clone(), mind.as_agent().map(|agent| Arc::clone(agent.definition())));
    let (journal, folder) = (Arc::clone(&parts.journal), parts.folder.clone());
    let run = Run { journal, branch: place, run: id, folder, began, wishes, progress };
    let is_old = start.is_some();
    if driver.completed() {
        driver.rest();
        return Ok(Opened { run, task: tokio::spawn(async {}), is_old });
    }
    let definition = definition.ok_or_else(|| Refused::Agent("what is there is no agent".to_owned()))?;
    let nobody = || Refused::Agent("nobody equips agents here".to_owned());
    let outfitter = parts.outfitter.clone().ok_or_else(nobody)?;
    let kit = outfitter.outfit(definition, Some(journey.within)).await.map_err(Refused::Agent)?;
    driver.tree.machines[0].equip(kit, Some(&*outfitter));
    if is_old {
        resume::take_over(&mut driver)?;
    } else {
        driver.tell(0, Input::Start)?;
    }
    driver.accept_patiently().await?;
    Ok(Opened { run, task: tokio::spawn(driver.run()), is_old })
}

/// Whether a run begins with this event because of a call.
fn is_caused_by(event: &Event, call: &CallId) -> bool {
    let caused = event.head.parent_id.as_ref().is_some_and(|parent| parent.as_str() == call.as_str());
    caused && matches!(event.body, Body::HarnessStart(_))
}

/// Where the last run of an agent on a branch begins, if nobody saw it to its end.
fn left(events: &[Event]) -> Option<usize> {
    let begins = |event: &Event| match &event.body {
        Body::HarnessStart(start) => start.definition.is_some() && event.head.node_id.is_none(),
        _ => false,
    };
    let starts = events.iter().enumerate().filter(|(_, event)| begins(event));
    let runs: HashSet<&str> =
        starts.clone().filter_map(|(_, event)| event.head.run_id.as_ref().map(RunId::as_str)).collect();
    // Those that one of them called begin after it, and carry what they are too.
    let is_called_here = |event: &Event| {
        let cause = event.head.parent_id.as_ref().and_then(|parent| parent.as_str().split_once('/'));
        cause.is_some_and(|(run, _)| runs.contains(run))
    };
    let (start, event) = starts.clone().rfind(|(_, event)| !is_called_here(event))?;
    let run = event.head.run_id.as_ref();
    let ends = |event: &Event| matches!(event.body, Body::HarnessEnd(_)) && event.head.run_id.as_ref() == run;
    (!events[start..].iter().any(ends)).then_some(start)
}

/// Stops a run that was left: whoever called it has ended without it.
async fn end(parts: &Arc<Parts>, place: &Branch, events: &[Event], start: usize) -> Result<(), Refused> {
    let seq = events.last().and_then(|event| event.head.seq).unwrap_or(0);
    let (_wishes, asked) = mpsc::channel(1);
    let (mut driver, _) = Driver::new(Arc::clone(parts), place.clone(), seq, asked, Claim::new(()));
    rebuild(&mut driver.tree, events, start)?;
    for machine in (0..driver.tree.machines.len()).rev() {
        if !driver.tree.machines[machine].mind.has_ended() {
            driver.stop_agent(machine, "run".to_owned(), Mode::Now);
        }
    }
    Ok(driver.accept_patiently().await?)
}

/// Builds the machines of a run again from its events, and of those it called.
fn rebuild(tree: &mut Tree, events: &[Event], start: usize) -> Result<(), Refused> {
    tree.remember(&events[..start]);
    tree.add(resume::root_of(events, start, None)?, None);
    for event in &events[start..] {
        resume::replay(tree, event);
    }
    Ok(())
}

/// How a session, or a branch of one, begins.
fn created(journey: &Journey) -> Event {
    let Journey { parts, home, place, call, task, .. } = journey;
    let body = if place.session == home.session {
        Body::BranchCreated(BranchCreated { from: None, into: None })
    } else {
        let caller = json!({"sessionId": home.session.as_str(), "branchId": home.branch.as_str(), "callId": call.as_str()});
        let title = Some(task.chars().take(TITLE_MAX).collect());
        Body::SessionCreated(SessionCreated { title, metadata: Some(Json::from(json!({"caller": caller}))) })
    };
    Event::of(Head { at: Some(parts.clock.now()), ..Head::default() }, body)
}

/// The task as the first thing that is said there. It is part of the turn that its caller is in.
fn said(parts: &Parts, call: &CallId, origin: Origin, task: String) -> (Event, Origin) {
    let user = parts.ids.run();
    let turn = origin.turn.clone().unwrap_or_else(|| EventFlowId::from(user.shared()));
    let provenance = Some(Provenance::from("agent"));
    let said = User { content: UserContent::Text(task), delivery: None, provenance };
    let mut head = Head { at: Some(parts.clock.now()), ..Head::of_user(user, turn.clone()) };
    head.parent_id = Some(ParentId::from(call.as_str()));
    let event = Event::of(head, Body::User(said));
    (event, Origin { turn: Some(turn), ..origin })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_the_same_for_every_attempt_and_another_for_every_call() {
        let home = Branch::main("s");
        let at = |policy, call: &str| {
            place(policy, None, "hand", &CallId::from(call), &home).map(|place| place.to_string())
        };
        let fresh = SubagentPolicy::FreshBranch;
        assert_eq!(at(SubagentPolicy::SameBranch, "r/c"), None);
        assert_eq!(at(fresh, "r/c").as_deref(), Some("s/hand-r.c"));
        assert_eq!(at(fresh, "r.c").as_deref(), Some("s/hand-r~2e~c"));
        assert_eq!(at(SubagentPolicy::ExistingBranch, "r/c").as_deref(), Some("s/hand"));
        assert_eq!(at(SubagentPolicy::NewSession, "r/c").as_deref(), Some("hand-s-r.c/main"));
    }

    #[test]
    fn a_branch_is_held_by_one_at_a_time() {
        let (busy, branch) = (Busy::default(), Branch::main("s"));
        let held = busy.hold(&branch);
        assert!(held.is_some());
        assert!(busy.hold(&branch).is_none());
        drop(held);
        assert!(busy.hold(&branch).is_some());
    }
}
