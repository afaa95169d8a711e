//! Going on from the journal alone: the machines are built again from their events.

use std::sync::Arc;

use antiphon_agent::machine as agent;
use antiphon_event::{Body, CallId, Event, Mode, RunId};
use antiphon_flow::{Attempt, Flow, Input, Origin, Scheduler};
use antiphon_port::Branch;

use crate::agent::{of_call, of_node};
use crate::checkpoint::{self, Begun};
use crate::driver::{AROUND, Driver};
use crate::engine::{Parts, Refused};
use crate::mind::Mind;
use crate::pages::Pages;
use crate::tree::{Tree, child, parse_start_id};

/// The last run of a branch as its events left it.
pub(crate) struct Resumption {
    pub(crate) tree: Tree,
    /// Position of the last event of the branch.
    pub(crate) seq: u64,
    /// Position before the first event of the run.
    pub(crate) began: u64,
    /// Position of the checkpoint it was taken up from; that before its first event if there was none.
    pub(crate) saved: u64,
}

/// All events of a branch.
pub(crate) async fn read_all(parts: &Parts, branch: &Branch) -> Result<Vec<Event>, Refused> {
    read_upto(parts, branch, u64::MAX).await
}

async fn read_upto(parts: &Parts, branch: &Branch, upto: u64) -> Result<Vec<Event>, Refused> {
    let mut events = Vec::new();
    let mut pages = Pages::new(parts, branch, 0, upto);
    while let Some(page) = pages.next().await? {
        events.extend(page);
    }
    Ok(events)
}

/// Whether a root run begins with this event: a flow's, or that of an agent somebody talks with.
pub(crate) fn is_root(event: &Event) -> bool {
    match &event.body {
        Body::RunStart(_) => event.head.node_path.is_none(),
        Body::HarnessStart(start) => {
            event.head.node_id.is_none() && start.definition.is_some() && start.depth.unwrap_or(0) == 0
        }
        _ => false,
    }
}

/// The root run that has begun and not ended, if there is one.
pub(crate) fn unfinished(events: &[Event]) -> Option<RunId> {
    let mut open = None;
    for event in events {
        match &event.body {
            Body::RunStart(_) | Body::HarnessStart(_) if is_root(event) => {
                open.clone_from(&event.head.run_id);
            }
            Body::RunEnd(_) | Body::HarnessEnd(_) if event.head.run_id == open => open = None,
            Body::Resumed(_) if event.head.node_path.is_none() && open.is_none() => {
                open.clone_from(&event.head.run_id);
            }
            _ => {}
        }
    }
    open
}

/// Builds the machines of the last run of a branch, as its events up to a position, or all of them, left it.
pub(crate) async fn load(
    parts: &Parts,
    branch: &Branch,
    at: Option<u64>,
    flow: Option<Flow>,
) -> Result<Resumption, Refused> {
    let upto = at.unwrap_or(u64::MAX);
    if let Some(begun) = checkpoint::find(parts, branch, upto, flow.as_ref()).await
        && let Some(resumption) = go_on(parts, branch, begun, upto).await?
    {
        return Ok(resumption);
    }
    from_start(parts, branch, upto, flow).await
}

/// Goes on from a checkpoint; nothing if another run began after it.
async fn go_on(
    parts: &Parts,
    branch: &Branch,
    begun: Begun,
    upto: u64,
) -> Result<Option<Resumption>, Refused> {
    let Begun { mut tree, seq: saved, began } = begun;
    let mut pages = Pages::new(parts, branch, saved, upto);
    while let Some(page) = pages.next().await? {
        if page.iter().any(is_root) {
            return Ok(None);
        }
        for event in &page {
            replay(&mut tree, event);
        }
    }
    Ok(Some(Resumption { tree, seq: pages.after, began, saved }))
}

/// Builds the machines from all events. Those of a flow are not held all at once; an agent hears what was said before.
async fn from_start(
    parts: &Parts,
    branch: &Branch,
    upto: u64,
    flow: Option<Flow>,
) -> Result<Resumption, Refused> {
    let mut run: Option<(Result<Tree, Refused>, u64)> = None;
    let mut grants = Vec::new();
    let mut pages = Pages::new(parts, branch, 0, upto);
    while let Some(page) = pages.next().await? {
        for event in &page {
            match &event.body {
                Body::RunStart(_) if is_root(event) => {
                    let tree = flow_of(event, flow.clone()).map(|flow| {
                        let mut tree = Tree::default();
                        tree.remember(&grants);
                        tree.add(Mind::Flow(Box::new(Scheduler::new(flow, origin_of(event)))), None);
                        tree
                    });
                    run = Some((tree, event.head.seq.map_or(0, |seq| seq - 1)));
                }
                Body::HarnessStart(_) if is_root(event) => {
                    return rebuild(&read_upto(parts, branch, upto).await?, branch, flow);
                }
                Body::GrantAdded(_) => grants.push(event.clone()),
                _ => {}
            }
            if let Some((Ok(tree), _)) = &mut run {
                replay(tree, event);
            }
        }
    }
    let (tree, began) = run.ok_or_else(|| Refused::NoRun(branch.session.clone()))?;
    Ok(Resumption { tree: tree?, seq: pages.after, began, saved: began })
}

/// Builds the machines of the last run that events tell of.
fn rebuild(events: &[Event], branch: &Branch, flow: Option<Flow>) -> Result<Resumption, Refused> {
    let Some(start) = events.iter().rposition(is_root) else {
        return Err(Refused::NoRun(branch.session.clone()));
    };
    let seq = events.last().and_then(|event| event.head.seq).unwrap_or(0);
    let began = events[start].head.seq.map_or(0, |seq| seq - 1);
    let mut tree = Tree::default();
    tree.remember(&events[..start]);
    tree.add(root_of(events, start, flow)?, None);
    for event in &events[start..] {
        replay(&mut tree, event);
    }
    Ok(Resumption { tree, seq, began, saved: began })
}

/// The machine of a root run before its first event.
pub(crate) fn root_of(events: &[Event], start: usize, flow: Option<Flow>) -> Result<Mind, Refused> {
    let first = &events[start];
    let Body::HarnessStart(harness) = &first.body else {
        return Ok(Mind::Flow(Box::new(Scheduler::new(flow_of(first, flow)?, origin_of(first)))));
    };
    let text = harness.definition.as_ref().map_or("null", |definition| definition.as_str());
    let definition = serde_json::from_str(text).map_err(|error| Refused::Unreadable(error.to_string()))?;
    let origin = agent::Origin {
        run: first.head.run_id.clone().expect("a harness_start without a run is not decoded"),
        parent: first.head.parent_id.clone(),
        turn: first.head.event_flow_id.clone(),
        who: first.head.agent.clone().unwrap_or_else(|| Arc::new(crate::agent::root("agent".to_owned()))),
        path: Vec::new(),
        nested: false,
        span: first.head.parent_span_id.clone(),
    };
    Ok(Mind::Agent(Box::new(crate::talk::in_conversation(Arc::new(definition), origin, &events[..start]))))
}

pub(crate) fn flow_of(start: &Event, given: Option<Flow>) -> Result<Flow, Refused> {
    if let Some(flow) = given {
        return Ok(flow);
    }
    let Body::RunStart(start) = &start.body else { unreachable!("it was found by its type") };
    let Some(document) = &start.definition else { return Err(Refused::NoFlow(start.graph_id.clone())) };
    Flow::from_document(document).map_err(|error| Refused::Unreadable(error.to_string()))
}

fn origin_of(start: &Event) -> Origin {
    Origin {
        run: start.head.run_id.clone().expect("a run_start without a run is not decoded"),
        parent: start.head.parent_id.clone(),
        turn: start.head.event_flow_id.clone(),
        path: Vec::new(),
        item: false,
        span: start.head.parent_span_id.clone(),
    }
}

/// Applies one event of the past; what it asks for was done then, or is looked after when all are applied.
pub(crate) fn replay(tree: &mut Tree, event: &Event) {
    let Some(run) = &event.head.run_id else { return };
    let machine = match (tree.of_run(run), &event.body) {
        (Some(machine), _) => Some(machine),
        (None, Body::RunStart(_)) => adopt(tree, event),
        (None, Body::HarnessStart(_)) => adopt_agent(tree, event),
        // What users say while an agent works is of runs of their own; the agent hears it.
        (None, Body::User(_)) => tree.machines[0].mind.as_agent().map(|_| 0),
        (None, _) => None,
    };
    let Some(machine) = machine else { return };
    if let (0, Some(folder)) = (machine, event.body.folder()) {
        tree.folder = Some(folder.into());
    }
    tree.machines[machine].mind.apply(event, &mut Vec::new(), machine);
    tree.note(machine, event);
}

/// The machine of a nested run, found by what its first event says caused it.
fn adopt(tree: &mut Tree, event: &Event) -> Option<usize> {
    let (around, attempt) = node_of(tree, event)?;
    let inner = child(tree.machines[around].mind.flow(), attempt, event.head.run_id.clone()?)?;
    Some(tree.add(inner, Some((around, attempt))))
}

/// The attempt at a node that caused the run of an event.
fn node_of(tree: &Tree, event: &Event) -> Option<(usize, Attempt)> {
    let parent = event.head.parent_id.as_ref()?;
    let (run, node, execution, attempt) = parse_start_id(parent.as_str())?;
    let around = tree.of_run(&RunId::from(run))?;
    let node = tree.machines[around].mind.as_flow()?.flow().index(node)?;
    Some((around, Attempt { node, execution, attempt }))
}

/// The same for an agent: the work of a node, or what another agent called.
fn adopt_agent(tree: &mut Tree, event: &Event) -> Option<usize> {
    let run = event.head.run_id.clone()?;
    if let Some((around, attempt)) = node_of(tree, event) {
        let mind = of_node(tree, around, attempt, run).ok()?;
        return Some(tree.add(mind, Some((around, attempt))));
    }
    let parent = event.head.parent_id.as_ref()?;
    let caller = tree.of_run(&RunId::from(parent.as_str().split_once('/')?.0))?;
    let agent = tree.machines[caller].mind.as_agent()?;
    // An agent that code asked is caused by the code, and named after the call.
    let named = event.head.agent.as_ref().map(|agent| CallId::from(agent.id.as_str()));
    let call = if agent.code().is_some() { named? } else { CallId::from(parent.as_str()) };
    let mind = of_call(agent, &call, run).ok()?;
    let attempt = Attempt { node: tree.machines[caller].slot(&call), execution: 1, attempt: 1 };
    Some(tree.add(mind, Some((caller, attempt))))
}

/// A new process takes the runs over: what was under way is repeated if that is safe, else a person is asked.
pub(crate) fn take_over(driver: &mut Driver) -> Result<(), Refused> {
    if driver.tree.machines[0].mind.as_flow().is_some() {
        driver.feed(0, Input::Resume)?;
    }
    driver.forfeit_all();
    // What a run had come to is told before any other goes on, as it was to be.
    for machine in (0..driver.tree.machines.len()).rev() {
        if driver.tree.machines[machine].mind.has_ended() {
            driver.stir(machine);
        }
    }
    for machine in 1..driver.tree.machines.len() {
        let Some((around, attempt)) = driver.tree.machines[machine].parent else { continue };
        let wanted = driver.tree.machines[around].mind.executes_inside(attempt);
        // The journal says already that it waits, and hears it again only if it went on meanwhile.
        driver.tree.machines[machine].pause_told = driver.tree.machines[around].mind.waits_inside(attempt);
        if driver.tree.machines[machine].mind.has_ended() {
            continue;
        }
        match (&driver.tree.machines[machine].mind, wanted) {
            (Mind::Flow(_), true) => driver.try_feed(machine, Input::Resume),
            (Mind::Flow(flow), false) => {
                if !flow.is_being_cut_off() {
                    driver.ask_to_stop(machine, AROUND, &Mode::Now);
                }
                driver.see_off(machine);
            }
            (Mind::Agent(_), true) => {}
            (Mind::Agent(_), false) => driver.stop_agent(machine, AROUND.to_owned(), Mode::Now),
        }
    }
    driver.heed_reached();
    for machine in (0..driver.tree.machines.len()).rev() {
        if !driver.tree.machines[machine].mind.has_ended() {
            driver.take_up(machine);
        }
    }
    Ok(())
}
