//! `antiphon resume`: goes on with a run from the journal alone, with answers to what it asks.

use std::env;
use std::path::Path;

use antiphon_event::NodeStatus;
use antiphon_port::{Branch, Fault};
use antiphon_runtime::{Engine, Refused, Run};
use anyhow::{Result, anyhow, bail};

use super::left::{self, Became, Watch};
use crate::args::flows::Resume;
use crate::engine::engine;
use crate::exit::Exit;
use crate::hint::place;
use crate::live::ask::Decisions;
use crate::live::{Ears, Live};
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
    let folder = args.folder.as_deref();
    let mut left: Option<Watch> = None;
    loop {
        let decisions = match shelf.journal.claim(&branch.session) {
            Err(Fault::Owned { by, .. }) if folder.is_some() => {
                bail!("the session is running{}, and it cannot go on in another folder meanwhile", of(by))
            }
            Err(Fault::Owned { by, .. }) if is_empty => {
                bail!(
                    "the session is running{}: `antiphon sessions events {} --follow` watches it",
                    of(by),
                    place(&branch, shelf.hint())
                )
            }
            Err(Fault::Owned { by, .. }) => {
                let watch = match &mut left {
                    Some(watch) => watch,
                    None => left.insert(leave(&shelf, &branch, decisions.clone(), by)?),
                };
                match watch.wait(&shelf, &branch)? {
                    // What was left is taken by whoever goes on, which is us.
                    None => Decisions::left(watch.open().to_vec()),
                    Some(became) => return tell_what_became(became, &place(&branch, shelf.hint())),
                }
            }
            // Given back at once: the engine claims it itself.
            claimed => {
                drop(claimed?);
                let open = left.as_ref().map(|watch| watch.open().to_vec());
                open.map_or_else(|| decisions.clone(), Decisions::left)
            }
        };
        match go_on(shelf.clone(), branch.clone(), folder, decisions, args.json, output) {
            // Another process was quicker.
            Err(error) if !is_empty && is_owned(&error) => {}
            // It has perhaps taken what was left, and is done.
            Err(error) => match left.as_mut().map(|watch| watch.look(&shelf, &branch)).transpose()?.flatten()
            {
                Some(became) => return tell_what_became(became, &place(&branch, shelf.hint())),
                None => return Err(error),
            },
            done => return done,
        }
    }
}

fn is_owned(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(Refused::Journal(Fault::Owned { .. })))
}

/// Takes the last run of a branch up and watches it.
pub(crate) fn go_on(
    shelf: Shelf,
    branch: Branch,
    folder: Option<&Path>,
    decisions: Decisions,
    json: bool,
    output: &mut Output,
) -> Result<Exit> {
    let past = shelf.events(&branch, None)?;
    let after = past.last().and_then(|event| event.head.seq).unwrap_or(0);
    let standing = Standing::of(&past);
    let trial = decisions.clone();
    let mut live = Live::new(json, decisions, shelf.hint().to_owned(), output);
    live.catch_up(&past);
    drop(past);
    let here = place(&branch, shelf.hint());
    let engine = engine(shelf.journal)?.inbox();
    task::wait(async move {
        try_out(&engine, &branch, &standing, trial).await?;
        let ears = Ears::open()?;
        let run = match folder {
            Some(folder) => engine.resume_in(folder, branch, None).await?,
            None => engine.resume(branch, None).await.map_err(|refused| homeless(refused, &here))?,
        };
        tell_folder(&run);
        live.follow(run, after, ears).await
    })
}

/// Says where a run works, if that is not where we are.
pub(crate) fn tell_folder(run: &Run) {
    if let Some(folder) = run.folder().filter(|folder| env::current_dir().is_ok_and(|here| here != *folder)) {
        notice(&format!("in the folder {}", folder.display()));
    }
}

/// Why a run is not gone on with; what to do if its folder is gone.
pub(crate) fn homeless(refused: Refused, place: &str) -> anyhow::Error {
    match &refused {
        Refused::Folder { .. } => {
            anyhow!("{refused}: make it again, or go on in another one: antiphon resume {place} --folder DIR")
        }
        _ => refused.into(),
    }
}

/// Refuses what would be refused before anything is written down: an answer that does not fit, and one to what a run
/// that only waits for people, or has completed, does not ask. One that is at work, or tries again what failed, may
/// come to ask it.
async fn try_out(engine: &Engine, branch: &Branch, standing: &Standing, mut trial: Decisions) -> Result<()> {
    for answer in trial.ready(standing)? {
        engine.accepts(branch, None, &answer).await?;
    }
    let is_done = standing.root.as_ref().is_some_and(|root| root.ended == Some(NodeStatus::Completed));
    if !trial.is_used_up() && is_done && !trial.is_late(standing) {
        over(branch, standing)?;
    }
    if !trial.is_used_up() && (is_done || engine.awaits_people(branch, None).await?) {
        bail!("{}", trial.why());
    }
    Ok(())
}

/// Leaves the answers for the process that runs the session, if they are what it asks for.
fn leave(shelf: &Shelf, branch: &Branch, mut decisions: Decisions, by: Option<u32>) -> Result<Watch> {
    let events = shelf.events(branch, None)?;
    let standing = Standing::of(&events);
    let after = events.last().and_then(|event| event.head.seq).unwrap_or(0);
    drop(events);
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
    notice(&format!("the session is running{}: the answer was left for it", of(by)));
    left::answer(shelf, branch, ready, standing, after)
}

/// Says what became of answers that were left.
fn tell_what_became(became: Became, place: &str) -> Result<Exit> {
    match became {
        Became::Taken => notice("the answer was taken"),
        Became::Late(why) => bail!("{why}"),
        Became::Waiting(is_second) => {
            let first = if is_second { "; one that was left before goes first" } else { "" };
            notice(&format!(
                "the answer was not taken yet: `antiphon sessions events {place} --follow` shows when it is{first}"
            ));
        }
    }
    Ok(Exit::Done)
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
