//! Talking without a terminal: each line of standard input is a message, or all that is to be said is given.
//!
//! In: messages. Out: replies on standard output, everything else on standard error. The first turn that does not
//! come to a good end is the last one, and says how the command exits. Start reading at [`run`].

use std::io::{self, BufRead, Read};

use antiphon_runtime::Outcome;
use anyhow::{Result, bail};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use super::talk::Talk;
use super::turn::Ended;
use crate::exit::Exit;
use crate::farewell::Farewell;
use crate::output::{Output, say};
use crate::render::paint;

/// The longest line that is taken.
const LINE_MAX: u64 = 4 * 1024 * 1024;

/// Says what is given, or every line of standard input.
pub(crate) async fn run(mut talk: Talk, input: Option<String>, output: &mut Output) -> Result<Exit> {
    if let Some(ended) = talk.take_up(output).await?
        && let Some(exit) = over(&talk, &ended, output)
    {
        return Ok(exit);
    }
    if let Some(text) = input {
        let ended = talk.say(&text, output).await?;
        return Ok(over(&talk, &ended, output).unwrap_or(Exit::Done));
    }
    let (mut interrupt, mut farewell) = (signal(SignalKind::interrupt())?, Farewell::new()?);
    let mut lines = standard_input();
    loop {
        let line = tokio::select! {
            line = lines.recv() => line,
            _ = interrupt.recv() => return Ok(Exit::Cancelled),
            () = farewell.come() => return Ok(Exit::Cancelled),
        };
        let Some(line) = line.transpose()? else { return Ok(Exit::Done) };
        if line.trim().is_empty() {
            continue;
        }
        let ended = talk.say(&line, output).await?;
        if let Some(exit) = over(&talk, &ended, output) {
            return Ok(exit);
        }
    }
}

/// How the command exits after a turn that did not come to a good end.
fn over(talk: &Talk, ended: &Ended, output: &Output) -> Option<Exit> {
    match ended.report.outcome {
        Outcome::Completed => return None,
        Outcome::Paused => {
            let page = output.error_page();
            say(&paint(&talk.pending(ended, page), page.palette));
        }
        Outcome::Failed | Outcome::Cancelled => {}
    }
    Some(ended.report.outcome.into())
}

/// Lines as they come, read by a thread of their own: reading cannot be called off.
fn standard_input() -> mpsc::Receiver<Result<String>> {
    let (sender, lines) = mpsc::channel(1);
    std::thread::spawn(move || {
        let mut input = io::stdin().lock();
        while let Some(line) = next(&mut input).transpose() {
            let is_broken = line.is_err();
            if sender.blocking_send(line).is_err() || is_broken {
                break;
            }
        }
    });
    lines
}

fn next(input: &mut impl BufRead) -> Result<Option<String>> {
    let mut line = String::new();
    let read = input.take(LINE_MAX + 1).read_line(&mut line);
    match read {
        Ok(0) => Ok(None),
        Ok(read) if read as u64 > LINE_MAX => {
            bail!("a line of standard input is longer than {LINE_MAX} bytes: hand it over with --input -")
        }
        Ok(_) => Ok(Some(line.trim_end_matches(['\n', '\r']).to_owned())),
        Err(error) => bail!("standard input cannot be read as text: {error}"),
    }
}
