//! `antiphon cancel`: stops a run, whichever process it is in, or in none.

use antiphon_event::body::lifecycle::CancelRequested;
use antiphon_event::{Body, Event, Mode, NodeStatus, RunId};
use antiphon_port::Fault;
use anyhow::Result;

use super::left::{self, Reached};
use super::resume::{homeless, of, over};
use crate::args::flows::Cancel;
use crate::engine::engine;
use crate::exit::Exit;
use crate::hint::place;
use crate::live::ask::BY;
use crate::output::notice;
use crate::standing::Standing;
use crate::store::Shelf;
use crate::task;

/// Stops the run.
pub(crate) fn run(args: &Cancel) -> Result<Exit> {
    let shelf = Shelf::open(&args.store)?;
    let branch = shelf.branch(&args.session, &args.branch)?;
    let mode = if args.now { Mode::Now } else { Mode::Graceful };
    let standing = Standing::of(&shelf.events(&branch, None)?);
    over(&branch, &standing)?;
    match shelf.journal.claim(&branch.session) {
        Err(Fault::Owned { by, .. }) => {
            let run = standing.root.as_ref().map_or_else(|| RunId::from(""), |root| root.run.clone());
            let event = Event::new(
                run,
                Body::CancelRequested(CancelRequested { by: BY.to_owned(), mode: mode.clone() }),
            );
            let reached = left::reach(&shelf, &branch, &[event])?;
            // It may have obeyed last of all and died before it said so: only the journal knows.
            let now = Standing::of(&shelf.events(&branch, None)?);
            if reached == Reached::Owner || is_cancelled(&standing, &now) {
                notice(&format!("the session is running{}: it was asked to stop", of(by)));
                return Ok(Exit::Done);
            }
            over(&branch, &now)?;
        }
        // Given back at once: the engine claims it itself.
        claimed => drop(claimed?),
    }
    let here = place(&branch, shelf.hint());
    let engine = engine(shelf.journal)?;
    task::wait(async move {
        let mut run = engine.resume(branch, None).await.map_err(|refused| homeless(refused, &here))?;
        run.cancel(BY, mode).await?;
        let report = run.wait().await?;
        notice(&format!("session {}: run {} is {}", report.session, report.run, word(report.outcome)));
        Ok(Exit::Done)
    })
}

/// Whether the run that was at work before has been cancelled since.
fn is_cancelled(before: &Standing, now: &Standing) -> bool {
    match (&before.root, &now.root) {
        (Some(before), Some(now)) => before.run == now.run && now.ended == Some(NodeStatus::Cancelled),
        _ => false,
    }
}

fn word(outcome: antiphon_runtime::Outcome) -> &'static str {
    match outcome {
        antiphon_runtime::Outcome::Completed => "completed",
        antiphon_runtime::Outcome::Failed => "failed",
        antiphon_runtime::Outcome::Cancelled => "cancelled",
        antiphon_runtime::Outcome::Paused => "paused",
    }
}
