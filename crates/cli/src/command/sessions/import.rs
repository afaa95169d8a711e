//! `antiphon sessions import`: event lines in, a new session out.

use antiphon_event::Event;
use antiphon_port::{Batch, Branch};
use antiphon_runtime::{Clock, Ids, SystemClock, UuidIds};
use anyhow::{Result, bail};

use super::proof::{self, Proof};
use crate::args::Reading;
use crate::args::sessions::Import;
use crate::input::Input;
use crate::output::Output;
use crate::render::unit;
use crate::store::Shelf;

/// How many events one record has.
const BATCH: usize = 1024;

/// Reads everything, then makes the session: all of it, or none.
pub(super) fn run(args: &Import, output: &mut Output) -> Result<()> {
    let events = read(args)?;
    let shelf = Shelf::open(&args.store)?;
    let branch = Branch::main(UuidIds.session());
    let claim = shelf.journal.claim(&branch.session)?;
    let count = events.len();
    let batches = events.chunks(BATCH).filter_map(|part| Batch::new(part.to_vec()));
    shelf.journal.import(&branch, batches.collect()).wait()?;
    drop(claim);
    crate::output::notice(&unit::several(count as u64, "event"));
    Ok(output.text(&format!("{}\n", branch.session))?)
}

/// The events, proved by what their old journal said about them and without it, and with the moment they came here.
fn read(args: &Import) -> Result<Vec<Event>> {
    let kept = proof::kept(args.head.as_deref())?;
    let reading = Reading { keep_going: false, at: None, branch: None, store: args.store.clone() };
    let mut proof = Proof::default();
    let mut last = None;
    Input::new(args.file.as_slice(), &reading).each(&mut |event: Event| {
        if let (Some(before), Some(seq)) = (last, event.head.seq)
            && seq != before + 1
        {
            bail!("event {seq} comes after event {before}: something is missing, or out of order");
        }
        last = event.head.seq.or(last);
        proof.add(event);
        Ok(())
    })?;
    let mut events = proof.check(kept)?;
    if events.is_empty() {
        bail!("there are no events to import");
    }
    let now = SystemClock.now();
    for event in &mut events {
        event.head.recorded_at = Some(now);
    }
    Ok(events)
}
