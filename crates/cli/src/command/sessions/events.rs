//! `antiphon sessions events` and `export`: the events of a branch as lines.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::proof;
use crate::args::sessions::{Events, Export};
use crate::output::Output;
use crate::store::Shelf;

/// How often new events are looked for.
const EVERY: Duration = Duration::from_millis(100);
/// How many events are exported at once.
const PAGE: usize = 4096;

/// Prints the events, and those to come if asked to.
pub(super) fn run(args: &Events, output: &mut Output) -> Result<()> {
    let shelf = Shelf::open(&args.which.store)?;
    let branch = shelf.branch(&args.which.session, &args.which.branch)?;
    let mut after = args.after;
    loop {
        after = shelf.each(&branch, after, |event| {
            output.text(&event.to_json())?;
            Ok(output.text("\n")?)
        })?;
        if !args.follow {
            return Ok(());
        }
        output.flush()?;
        std::thread::sleep(EVERY);
    }
}

/// Writes the events with the hash of each beside it, up to where the branch ends now.
pub(super) fn export(args: &Export, output: &mut Output) -> Result<()> {
    let shelf = Shelf::open(&args.which.store)?;
    let branch = shelf.branch(&args.which.session, &args.which.branch)?;
    let failed = |path: &std::path::Path| format!("{} cannot be written", path.display());
    let file = args.to.as_deref().map(|path| File::create(path).with_context(|| failed(path))).transpose()?;
    let mut file = file.map(BufWriter::new);
    let head = shelf.journal.head(&branch).wait()?;
    let mut after = 0;
    while after < head.seq {
        let limit = usize::try_from(head.seq - after).map_or(PAGE, |left| left.min(PAGE));
        let page = shelf.journal.export(&branch, after, limit).wait()?;
        let Some(last) = page.last().and_then(|exported| exported.event.head.seq) else {
            bail!("{branch} ends at {} and has no event after {after}: run `antiphon verify`", head.seq);
        };
        after = last;
        for exported in page {
            let mut event = exported.event;
            proof::note(&mut event, exported.hash, head);
            let line = event.to_json();
            match &mut file {
                Some(file) => writeln!(file, "{line}")?,
                None => output.text(&format!("{line}\n"))?,
            }
        }
    }
    if let Some(mut file) = file {
        file.flush()?;
        file.get_ref().sync_all()?;
    }
    Ok(())
}
