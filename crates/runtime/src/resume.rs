//! Going on from the journal alone: the machines are built again from their events.

use antiphon_event::{Body, Event, RunId};
use antiphon_flow::{Attempt, Flow, Input, Origin, Scheduler};
use antiphon_port::Branch;

use crate::driver::Driver;
use crate::engine::{Parts, Refused};
use crate::tree::{Tree, child, parse_start_id};

/// How many events are read at once.
const PAGE: usize = 16_384;

/// The last run of a branch as its events left it.
pub(crate) struct Resumption {
    pub(crate) tree: Tree,
    /// Position of the last event of the branch.
    pub(crate) seq: u64,
    /// Position before the first event of the run.
    pub(crate) began: u64,
}

/// All events of a branch.
pub(crate) async fn read_all(parts: &Parts, branch: &Branch) -> Result<Vec<Event>, Refused> {
    let mut events: Vec<Event> = Vec::new();
    loop {
        let after = events.last().and_then(|event| event.head.seq).unwrap_or(0);
        let page = parts.journal.read(branch, after, PAGE).await?;
        if page.is_empty() {
            return Ok(events);
        }
        events.extend(page);
    }
}

/// The root run that has begun and not ended, if there is one.
pub(crate) fn unfinished(events: &[Event]) -> Option<RunId> {
    let mut open = None;
    for event in events {
        match &event.body {
            Body::RunStart(_) if event.head.node_path.is_none() => open.clone_from(&event.head.run_id),
            Body::RunEnd(_) if event.head.run_id == open => open = None,
            Body::Resumed(_) if event.head.node_path.is_none() && open.is_none() => {
                open.clone_from(&event.head.run_id);
            }
            _ => {}
        }
    }
    open
}

/// Reads a branch and builds the machines of its last run.
pub(crate) async fn load(parts: &Parts, branch: &Branch, flow: Option<Flow>) -> Result<Resumption, Refused> {
    rebuild(&read_all(parts, branch).await?, branch, flow)
}

/// Builds the machines of the last run that events tell of.
pub(crate) fn rebuild(events: &[Event], branch: &Branch, flow: Option<Flow>) -> Result<Resumption, Refused> {
    let root = |event: &&Event| matches!(event.body, Body::RunStart(_)) && event.head.node_path.is_none();
    let Some(start) = events.iter().rposition(|event| root(&event)) else {
        return Err(Refused::NoRun(branch.session.clone()));
    };
    let seq = events.last().and_then(|event| event.head.seq).unwrap_or(0);
    let began = events[start].head.seq.map_or(0, |seq| seq - 1);
    let mut tree = Tree::default();
    tree.add(Scheduler::new(flow_of(&events[start], flow)?, origin_of(&events[start])), None);
    for event in &events[start..] {
        replay(&mut tree, event);
    }
    Ok(Resumption { tree, seq, began })
}

fn flow_of(start: &Event, given: Option<Flow>) -> Result<Flow, Refused> {
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
    }
}

/// Applies one event of the past; what it asks for was done then, or is looked after when all are applied.
fn replay(tree: &mut Tree, event: &Event) {
    let Some(run) = &event.head.run_id else { return };
    let machine = match tree.of_run(run) {
        Some(machine) => machine,
        None if matches!(event.body, Body::RunStart(_)) => match adopt(tree, event) {
            Some(machine) => machine,
            None => return,
        },
        None => return,
    };
    tree.machines[machine].scheduler.apply(event);
    tree.enter(machine, &event.body);
    if let Body::RunEnd(end) = &event.body {
        tree.machines[machine].end = Some(end.as_ref().clone());
    }
}

/// The machine of a nested run, found by what its first event says caused it.
fn adopt(tree: &mut Tree, event: &Event) -> Option<usize> {
    let parent = event.head.parent_id.as_ref()?;
    let (run, node, execution, attempt) = parse_start_id(parent.as_str())?;
    let around = tree.of_run(&RunId::from(run))?;
    let scheduler = &tree.machines[around].scheduler;
    let attempt = Attempt { node: scheduler.flow().index(node)?, execution, attempt };
    let inner = child(scheduler, attempt, event.head.run_id.clone()?)?;
    Some(tree.add(inner, Some((around, attempt))))
}

/// A new process takes the runs over: what was under way is repeated if that is safe, else a person is asked.
pub(crate) fn take_over(driver: &mut Driver) -> Result<(), Refused> {
    driver.feed(0, Input::Resume)?;
    driver.forfeit_all();
    for machine in 1..driver.tree.machines.len() {
        let Some((around, attempt)) = driver.tree.machines[machine].parent else { continue };
        let scheduler = &driver.tree.machines[machine].scheduler;
        let wanted = driver.tree.machines[around].scheduler.executing_inside(attempt);
        if wanted.is_some() && scheduler.ended().is_none() {
            driver.try_feed(machine, Input::Resume);
        }
    }
    for machine in (0..driver.tree.machines.len()).rev() {
        if driver.tree.machines[machine].scheduler.ended().is_none() {
            driver.take_up(machine);
        } else {
            driver.stir(machine);
        }
    }
    Ok(())
}
