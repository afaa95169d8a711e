//! `antiphon diff`: two histories in, what differs between them out.

use std::path::{Path, PathBuf};

use antiphon_event::Event;
use antiphon_view::diff::{Part, diff};
use anyhow::{Result, bail};

use crate::args::{Diff, Reading};
use crate::input::Input;
use crate::output::Output;
use crate::render::{self, paint};

/// Compares the two.
pub(crate) fn run(args: &Diff, output: &mut Output) -> Result<()> {
    if let Some(pretty) = args.layout.choice() {
        output.set_pretty(pretty);
    }
    let (a, b) = (Side::of(&args.a), Side::of(&args.b));
    if a.path == Path::new("-") && b.path == Path::new("-") {
        bail!("only one of the two can come from standard input");
    }
    let (a, b) = (a.read(&args.reading)?, b.read(&args.reading)?);
    let found = diff(&a, &b);
    if args.json {
        output.json(&found)?;
        output.text("\n")?;
    } else {
        let page = output.page();
        output.text(&paint(&render::diff::lines(&found, page), page.palette))?;
    }
    Ok(())
}

/// A file and which part of it: `FILE`, or `FILE@PART`.
struct Side {
    path: PathBuf,
    part: Option<String>,
}

impl Side {
    /// A file whose name holds an `@` is still that file.
    fn of(text: &str) -> Self {
        match text.rsplit_once('@') {
            Some((path, part)) if !Path::new(text).exists() && !part.is_empty() => {
                Self { path: path.into(), part: Some(part.to_owned()) }
            }
            _ => Self { path: text.into(), part: None },
        }
    }

    fn read(&self, reading: &Reading) -> Result<Vec<Event>> {
        let mut events = Vec::new();
        Input::new(std::slice::from_ref(&self.path), reading).each(&mut |event: Event| {
            events.push(event);
            Ok(())
        })?;
        let Some(name) = &self.part else {
            return Ok(events);
        };
        let Some(part) = part(name, &events) else {
            bail!("{} has no position, branch or run {name}", self.path.display());
        };
        Ok(part.of(&events).into_iter().cloned().collect())
    }
}

/// What a name means: a position, a branch that is there, or a run that is there.
fn part(name: &str, events: &[Event]) -> Option<Part> {
    if let Ok(seq) = name.parse() {
        return Some(Part::Until(seq));
    }
    let branch = events.iter().any(|event| event.head.branch_id.as_ref().is_some_and(|id| *id == name));
    let run = events.iter().any(|event| event.head.run_id.as_ref().is_some_and(|id| *id == name));
    match (branch, run) {
        (true, _) => Some(Part::Branch(name.into())),
        (false, true) => Some(Part::Run(name.into())),
        (false, false) => None,
    }
}
