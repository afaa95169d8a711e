//! `antiphon`: the command line.
//!
//! In: arguments, files of events. Out: text for people, JSON for programs, an exit code: 0 done, 1 the
//! output could not be written, 2 refused. Start reading at [`main`], then [`args`] and one file of
//! `command/` each.

mod args;
mod command;
mod input;
mod output;
mod render;

use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};
use output::{Output, Unwritable, notice};

/// Long conversations are many small pieces that stay; see decision 0008.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const UNWRITTEN: u8 = 1;
const REFUSED: u8 = 2;

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            // Nobody is there to be told that nobody is there.
            let _ = error.print();
            return ExitCode::from(error.exit_code() as u8);
        }
    };
    let mut output = Output::new(args.color, args.width);
    let done = run(args.command, &mut output).and_then(|()| Ok(output.flush()?));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&error),
    }
}

fn run(command: Option<Command>, output: &mut Output) -> anyhow::Result<()> {
    match command {
        None => command::tour::run(output),
        Some(Command::Reduce(reduce)) => command::reduce::run(&reduce, output),
        Some(Command::View(view)) => command::view::run(&view, output),
        Some(Command::Why(why)) => command::why::run(&why, output),
        Some(Command::Diff(diff)) => command::diff::run(&diff, output),
    }
}

fn failed(error: &anyhow::Error) -> ExitCode {
    let unwritten = error.downcast_ref::<Unwritable>();
    if unwritten.is_some_and(Unwritable::is_broken_pipe) {
        return ExitCode::SUCCESS;
    }
    let red = anstyle::AnsiColor::Red.on_default().bold();
    notice(&format!("{red}error:{red:#} {error:#}"));
    ExitCode::from(if unwritten.is_some() { UNWRITTEN } else { REFUSED })
}
