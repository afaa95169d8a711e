//! `antiphon`: the command line.
//!
//! In: arguments, files of events and of flows, a store. Out: text for people, JSON for programs, an exit code
//! ([`Exit`]). Start reading at [`main`], then [`args`] and one file of `command/` each.

mod args;
mod chat;
mod command;
mod engine;
mod exit;
mod farewell;
mod fixture;
mod flow_file;
mod hint;
mod input;
mod live;
mod output;
mod render;
mod request;
mod standing;
mod store;
mod task;
mod value;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command, StoreArg};
use exit::Exit;
use output::{Output, Unwritable, complain};

/// Long conversations are many small pieces that stay; see decision 0008.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return explained(&error),
    };
    let mut output = Output::new(args.color, args.width);
    let done =
        run(args.command, &mut output).and_then(|exit| output.flush().map(|()| exit).map_err(Into::into));
    match done {
        Ok(exit) => exit.into(),
        Err(error) => failed(&error).into(),
    }
}

/// Says what is wrong with the arguments, or gives the help or the version that was asked for.
fn explained(said: &clap::Error) -> ExitCode {
    let written = said.print().and_then(|()| io::stdout().flush());
    match written {
        Err(error) if !said.use_stderr() => failed(&Unwritable::from(error).into()).into(),
        // Nobody is there to be told that nobody is there.
        _ => ExitCode::from(said.exit_code() as u8),
    }
}

fn run(command: Option<Command>, output: &mut Output) -> anyhow::Result<Exit> {
    match command {
        None => return command::demo::run(&StoreArg::default(), output),
        Some(Command::Tour) => command::tour::run(output)?,
        Some(Command::Reduce(reduce)) => command::reduce::run(&reduce, output)?,
        Some(Command::View(view)) => command::view::run(&view, output)?,
        Some(Command::Why(why)) => command::why::run(&why, output)?,
        Some(Command::Diff(diff)) => command::diff::run(&diff, output)?,
        Some(Command::Chat(chat)) => return command::chat::run(&chat, output),
        Some(Command::Run(run)) => return command::run::run(&run, output),
        Some(Command::Resume(resume)) => return command::resume::run(&resume, output),
        Some(Command::Cancel(cancel)) => return command::cancel::run(&cancel),
        Some(Command::Fork(fork)) => return command::fork::run(&fork, output),
        Some(Command::Sessions(sessions)) => return command::sessions::run(&sessions, output),
        Some(Command::Verify(verify)) => return command::verify::run(&verify, output),
        Some(Command::Check(check)) => return command::check::run(&check, output),
        Some(Command::Draw(draw)) => return command::draw::run(&draw, output),
        Some(Command::Record(record)) => return command::record::run(&record, output),
        Some(Command::Test(test)) => return command::test::run(&test, output),
    }
    Ok(Exit::Done)
}

fn failed(error: &anyhow::Error) -> Exit {
    let unwritten = error.downcast_ref::<Unwritable>();
    if unwritten.is_some_and(Unwritable::is_broken_pipe) {
        return Exit::Done;
    }
    complain(&format!("{error:#}"));
    if unwritten.is_some() { Exit::Failed } else { Exit::Refused }
}
