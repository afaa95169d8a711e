//! `antiphon record`: a run in, a folder out that can be replayed.

use std::path::{Component, Path, PathBuf};

use antiphon_event::{Body, Event};
use antiphon_runtime::Engine;
use anyhow::Result;

use crate::args::flows::Record;
use crate::exit::Exit;
use crate::fixture::Fixture;
use crate::output::Output;
use crate::store::Shelf;
use crate::task;

/// Records the last run of a branch.
pub(crate) fn run(args: &Record, output: &mut Output) -> Result<Exit> {
    let shelf = Shelf::open(&args.store)?;
    let branch = shelf.branch(&args.session, &args.branch)?;
    let events = shelf.events(&branch, None)?;
    let engine = Engine::new(shelf.journal.clone());
    let report = task::wait(async { Ok(engine.look(&branch, None, None).await?) })?;
    let flow = file_of(&events).map(|path| from(&args.to, &path));
    let fixture = Fixture::record(events, report.state, flow)?;
    fixture.write(&args.to)?;
    let (outcomes, decisions) = (fixture.outcomes.len(), fixture.decisions.len());
    let told = format!("{}: {outcomes} outcomes, {decisions} decisions\n", args.to.display());
    output.text(&told)?;
    Ok(Exit::Done)
}

/// The flow file that the session was begun with.
fn file_of(events: &[Event]) -> Option<PathBuf> {
    let metadata = events.iter().find_map(|event| match &event.body {
        Body::SessionCreated(created) => created.metadata.as_ref(),
        _ => None,
    });
    Some(PathBuf::from(metadata?.value().get("flow")?.as_str()?))
}

/// A path as it is named from a folder, so that both can be moved together.
fn from(folder: &Path, path: &Path) -> PathBuf {
    let Ok(folder) = std::path::absolute(folder) else { return path.to_owned() };
    let (here, there): (Vec<Component<'_>>, Vec<Component<'_>>) =
        (folder.components().collect(), path.components().collect());
    let shared = here.iter().zip(&there).take_while(|(a, b)| a == b).count();
    let up = here[shared..].iter().map(|_| Component::ParentDir);
    up.chain(there[shared..].iter().copied()).collect()
}
