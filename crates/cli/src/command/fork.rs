//! `antiphon fork`: another way on from any event of a session.

use std::collections::BTreeMap;

use antiphon_event::Json;
use antiphon_port::Branch;
use antiphon_runtime::{Engine, Forking};
use anyhow::{Context, Result, bail};

use crate::args::flows::Fork;
use crate::exit::Exit;
use crate::live::ask::{BY, Decisions};
use crate::output::Output;
use crate::store::Shelf;
use crate::task;

/// Makes the branch and prints its name.
pub(crate) fn run(args: &Fork, output: &mut Output) -> Result<Exit> {
    let shelf = Shelf::open(&args.store)?;
    let from = shelf.branch(&args.session, &args.from)?;
    let name = match &args.branch {
        Some(name) => name.clone(),
        None => free(&shelf, &from)?,
    };
    let into = Branch::new(from.session.clone(), &*name);
    let mut writes = BTreeMap::new();
    for (key, json) in &args.set {
        let value: serde_json::Value =
            serde_json::from_str(json).with_context(|| format!("--set {key}: no JSON"))?;
        if writes.insert(key.clone(), Json::from(value)).is_some() {
            bail!("--set {key} is given twice: a key gets one contribution");
        }
    }
    let forking = Forking { from, at: args.at, into: into.clone(), writes, by: BY.to_owned() };
    let engine = Engine::new(shelf.journal.clone());
    task::wait(async move { Ok(engine.fork(forking, None).await?) })?;
    if args.run {
        crate::output::notice(&format!("branch {name}"));
        return super::resume::go_on(shelf, into, None, Decisions::default(), false, output);
    }
    output.text(&format!("{name}\n"))?;
    Ok(Exit::Done)
}

/// The first name that no branch of the session has.
fn free(shelf: &Shelf, from: &Branch) -> Result<String> {
    let branches = shelf.journal.branches(&from.session).wait()?;
    let is_free = |name: &String| branches.iter().all(|branch| branch.branch.as_str() != name);
    Ok((1..).map(|n| format!("fork-{n}")).find(is_free).expect("there are more numbers than branches"))
}
