//! `antiphon sessions`: what is kept, one file for each thing that can be done with it.

mod events;
mod import;
mod ls;
mod proof;
mod show;

use anyhow::Result;

use crate::args::sessions::{Action, Rm, Sessions};
use crate::exit::Exit;
use crate::output::{Output, notice};
use crate::store::Shelf;

/// Does it.
pub(crate) fn run(args: &Sessions, output: &mut Output) -> Result<Exit> {
    match &args.action {
        Action::Ls(args) => return ls::run(args, output),
        Action::Show(args) => show::run(args, output)?,
        Action::Events(args) => events::run(args, output)?,
        Action::Export(args) => events::export(args, output)?,
        Action::Import(args) => import::run(args, output)?,
        Action::Rm(args) => remove(args)?,
    }
    Ok(Exit::Done)
}

fn remove(args: &Rm) -> Result<()> {
    let shelf = Shelf::open(&args.store)?;
    let session = shelf.session(&args.session)?;
    // Held while it goes: what runs is not removed.
    let _claim = shelf.journal.claim(&session)?;
    shelf.journal.remove(&session, args.force).wait()?;
    notice(&format!("session {session} is removed"));
    Ok(())
}
