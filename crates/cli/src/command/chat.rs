//! `antiphon chat`: a conversation with an agent.

use std::io::{self, IsTerminal};

use anyhow::Result;

use crate::args::chat::Chat;
use crate::chat::talk::Talk;
use crate::chat::{Show, agent, dialogue, piped};
use crate::engine::engine;
use crate::exit::Exit;
use crate::output::Output;
use crate::store::Shelf;
use crate::{task, value};

/// Talks.
pub(crate) fn run(args: &Chat, output: &mut Output) -> Result<Exit> {
    let shelf = Shelf::open(&args.store)?;
    let place = args.session.as_deref().map(|text| shelf.branch(text, &args.branch)).transpose()?;
    let past = match &place {
        Some(branch) => shelf.events(branch, None)?,
        None => Vec::new(),
    };
    let session = place.map(|branch| branch.session);
    let Some(definition) = agent::choose(args, &past, output)? else { return Ok(Exit::Refused) };
    drop(past);
    let is_person = io::stdin().is_terminal() && io::stderr().is_terminal();
    let show = match args.json {
        true => Show::Json,
        false if is_person => Show::Terminal,
        false => Show::Plain,
    };
    let input = args.input.as_deref().map(value::text).transpose()?;
    let engine = engine(shelf.journal.clone())?.inbox();
    let branch = args.branch.as_str().into();
    let talk = Talk { engine, shelf, definition, file: args.agent.clone(), session, branch, show };
    task::wait(async move {
        match input {
            None if show == Show::Terminal => dialogue::run(talk, output).await,
            input => piped::run(talk, input, output).await,
        }
    })
}
