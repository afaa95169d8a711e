//! `antiphon` alone: a small team of agents at work, and what to try next.

use std::io::{self, IsTerminal};

use antiphon_event::Json;
use antiphon_flow::file;
use antiphon_runtime::Invocation;
use anyhow::Result;
use serde_json::Value;

use crate::args::StoreArg;
use crate::args::flows::Answers;
use crate::command::run;
use crate::exit::Exit;
use crate::live::Live;
use crate::live::ask::Decisions;
use crate::output::{Output, notice, say};
use crate::render::{Ink, Line, paint};
use crate::store::Shelf;
use crate::task;

/// The flow of the demonstration, which is an example, too.
const FLOW: &str = include_str!("../../../../examples/flows/demo.yaml");

/// What the team works on.
const TASK: &str = "tidal power";

/// What to try next.
const NEXT: &[(&str, &str)] = &[
    ("antiphon view thread last", "read what they said"),
    ("antiphon view timeline last", "see who worked when"),
    ("antiphon why last 42", "what led to event 42"),
    ("antiphon chat", "talk with an agent of your own"),
    ("antiphon --help", "everything else"),
];

/// Runs the demonstration.
pub(crate) fn run(store: &StoreArg, output: &mut Output) -> Result<Exit> {
    let page = output.error_page();
    let about = "A small team on scripted models: it plans, works in parallel, asks once, and reports. \
                 No key, no network.";
    let lines = vec![Line::new().ink(Ink::Strong, "Antiphon").plain(": ").plain(about), Line::new()];
    say(&paint(&lines, page.palette));
    let none = |_: &str| Err("the demonstration names no other file".to_owned());
    let flow = file::read("demo.yaml", FLOW, &none)?.flow;
    let shelf = Shelf::open(store)?;
    let title = Some(flow.name().to_owned());
    let invocation = Invocation { title, ..Invocation::new(Json::from(Value::from(TASK))) };
    let live = Live::new(false, decisions()?, shelf.hint().to_owned(), output);
    let exit = task::wait(run::start(shelf, flow, invocation, live))?;
    notice("\nwhat next");
    let width = NEXT.iter().map(|(command, _)| command.len()).max().unwrap_or(0);
    let row = |(command, about): &(&str, &str)| {
        Line::new().plain("  ").ink(Ink::Tool, *command).fill(width + 4).ink(Ink::Faint, *about)
    };
    let lines: Vec<Line> = NEXT.iter().map(row).collect();
    say(&paint(&lines, page.palette));
    Ok(exit)
}

/// Where nobody is there to be asked, the answer is yes.
fn decisions() -> Result<Decisions> {
    if io::stdin().is_terminal() && io::stderr().is_terminal() {
        return Ok(Decisions::default());
    }
    Decisions::new(Answers { approve: vec!["gate".to_owned()], ..Answers::default() })
}
