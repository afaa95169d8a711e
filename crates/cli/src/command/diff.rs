//! `antiphon diff`: two histories in, what differs between them out.

use std::path::{Path, PathBuf};

use antiphon_event::{BranchId, Event};
use antiphon_view::diff::{Part, diff};
use anyhow::{Result, bail};

use crate::args::{Diff, Reading};
use crate::input::Input;
use crate::output::Output;
use crate::render::{self, paint};
use crate::store::Shelf;

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

/// A file or a session and which part of it: `FILE`, `FILE@PART`, `SESSION@BRANCH` or `SESSION@BRANCH:PART`.
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
        let asked = self.part.as_deref().unwrap_or_default();
        let (branch, name) = split(asked, &self.branches(reading)?);
        let mut events = Vec::new();
        let mut input = Input::new(std::slice::from_ref(&self.path), reading);
        if let Some(branch) = branch {
            input = input.branch(branch);
        }
        input.each(&mut |event: Event| {
            events.push(event);
            Ok(())
        })?;
        if name.is_empty() {
            return Ok(events);
        }
        let Some(part) = part(name, &events) else {
            bail!("{} has no position, branch or run {asked}", self.path.display());
        };
        Ok(part.of(&events).into_iter().cloned().collect())
    }

    /// The branches of a session; none of a file.
    fn branches(&self, reading: &Reading) -> Result<Vec<BranchId>> {
        if self.part.is_none() || self.path == Path::new("-") || self.path.exists() {
            return Ok(Vec::new());
        }
        let (Some(name), Some(known)) = (self.path.to_str(), Shelf::existing(&reading.store)?) else {
            return Ok(Vec::new());
        };
        // If there is no such session, whoever reads it says so.
        let Ok(session) = known.session(name) else { return Ok(Vec::new()) };
        let branches = known.journal.branches(&session).wait()?;
        Ok(branches.into_iter().map(|summary| summary.branch).collect())
    }
}

/// One of the branches, if the text begins with one, and the part that is left: `BRANCH`, `BRANCH:PART` or `PART`. A
/// number is a position, whatever branches are called.
fn split<'t>(text: &'t str, branches: &[BranchId]) -> (Option<&'t str>, &'t str) {
    let is_branch = |name: &str| branches.iter().any(|branch| *branch == name);
    if is_branch(text) && text.parse::<u64>().is_err() {
        return (Some(text), "");
    }
    let ends = text.match_indices(':').map(|(end, _)| end);
    let found = ends.filter(|end| end + 1 < text.len()).find(|end| is_branch(&text[..*end]));
    found.map_or((None, text), |end| (Some(&text[..end]), &text[end + 1..]))
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
