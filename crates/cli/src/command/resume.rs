//! `antiphon resume`: goes on with a run from the journal alone, with answers to what it asks.

use antiphon_event::body::request::RelayResolved;
use antiphon_event::{Body, Event, NodeStatus, RunId};
use antiphon_port::{Branch, Fault};
use antiphon_runtime::{Engine, Refused};
use anyhow::{Result, bail};

use super::left::{self, Reached};
use crate::args::flows::{Answers, Resume};
use crate::engine::engine;
use crate::exit::Exit;
use crate::live::Live;
use crate::live::ask::Decisions;
use crate::output::{Output, notice};
use crate::standing::Standing;
use crate::store::Shelf;
use crate::task;

/// Goes on.
pub(crate) fn run(args: &Resume, output: &mut Output) -> Result<Exit> {
    let shelf = Shelf::open(&args.store)?;
    let branch = shelf.branch(&args.session, &args.branch)?;
    let decisions = Decisions::new(args.answers.clone())?;
    let is_empty = args.answers.is_empty();
    notice(&format!("session {}", branch.session));
    match shelf.journal.claim(&branch.session) {
        Err(Fault::Owned { by, .. }) if is_empty => {
            bail!(
                "the session is running{}: `antiphon sessions events {} --follow` watches it",
                of(by),
                branch.session
            )
        }
        Err(Fault::Owned { by, .. }) => match leave(&shelf, &branch, decisions, by)? {
            Reached::Owner => return Ok(Exit::Done),
            // What was left is taken by whoever goes on, which is us.
            Reached::Nobody => {
                return go_on(shelf, branch, Decisions::new(Answers::default())?, args.json, output);
            }
        },
        // Given back at once: the engine claims it itself.
        claimed => drop(claimed?),
    }
    go_on(shelf, branch, decisions, args.json, output)
}

/// Takes the last run of a branch up and watches it.
pub(crate) fn go_on(
    shelf: Shelf,
    branch: Branch,
    decisions: Decisions,
    json: bool,
    output: &mut Output,
) -> Result<Exit> {
    let past = shelf.events(&branch, None)?;
    let after = past.last().and_then(|event| event.head.seq).unwrap_or(0);
    let standing = Standing::of(&past);
    let trial = decisions.clone();
    let mut live = Live::new(json, decisions, output);
    live.catch_up(&past);
    drop(past);
    let engine = engine(shelf.journal)?.inbox();
    task::wait(async move {
        try_out(&engine, &branch, &standing, trial).await?;
        let run = engine.resume(branch, None).await?;
        live.follow(run, after).await
    })
}

/// Refuses what would be refused before anything is written down: an answer that does not fit, and one to what a run
/// that only waits for people, or has completed, does not ask. One that is at work, or tries again what failed, may
/// come to ask it.
async fn try_out(engine: &Engine, branch: &Branch, standing: &Standing, mut trial: Decisions) -> Result<()> {
    for answer in trial.ready(standing)? {
        engine.accepts(branch, None, &answer).await?;
    }
    let is_done = standing.root.as_ref().is_some_and(|root| root.ended == Some(NodeStatus::Completed));
    if !trial.is_used_up() && is_done {
        over(branch, standing)?;
    }
    if !trial.is_used_up() && engine.awaits_people(branch, None).await? {
        bail!("{}", trial.why());
    }
    Ok(())
}

/// Leaves the answers for the process that runs the session, if they are what it asks for.
fn leave(shelf: &Shelf, branch: &Branch, mut decisions: Decisions, by: Option<u32>) -> Result<Reached> {
    let standing = Standing::of(&shelf.events(branch, None)?);
    let ready = decisions.ready(&standing)?;
    if !decisions.is_used_up() {
        bail!("{}", decisions.why());
    }
    let engine = Engine::new(shelf.journal.clone());
    for answer in &ready {
        match task::wait(async { Ok(engine.accepts(branch, None, answer).await) })? {
            // A flow that is not in the journal is known only to the process that runs it.
            Ok(()) | Err(Refused::NoFlow(_)) => {}
            Err(refused) => return Err(refused.into()),
        }
    }
    let command = |resolved: RelayResolved| {
        let asked = standing.asked.iter().find(|asked| asked.relay.id == resolved.relay_id);
        let run = asked.and_then(|asked| asked.run.clone()).unwrap_or_else(|| RunId::from(""));
        Event::new(run, Body::RelayResolved(Box::new(resolved)))
    };
    let commands: Vec<Event> = ready.into_iter().map(command).collect();
    let reached = left::reach(shelf, branch, &commands)?;
    if reached == Reached::Owner {
        notice(&format!("the session is running{}: the answer was left for it", of(by)));
    }
    Ok(reached)
}

/// Which process, as far as that is known.
pub(crate) fn of(by: Option<u32>) -> String {
    by.map(|id| format!(" in process {id}")).unwrap_or_default()
}

/// Why nothing can be done about a run that has ended.
pub(crate) fn over(branch: &Branch, standing: &Standing) -> Result<()> {
    match &standing.root {
        None => Err(Refused::NoRun(branch.session.clone()).into()),
        Some(root) => match &root.ended {
            Some(status) => bail!("run {} has ended: {}", root.run, status.as_str().to_lowercase()),
            None => Ok(()),
        },
    }
}
