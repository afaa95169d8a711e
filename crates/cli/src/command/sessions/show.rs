//! `antiphon sessions show`: how a session stands, or stood at some event.

use antiphon_event::Event;
use antiphon_port::Branch;
use antiphon_runtime::{Engine, Refused};
use antiphon_view::{Fold, Timeline};
use anyhow::{Result, bail};
use serde_json::{Value, json};

use crate::args::sessions::Show;
use crate::hint;
use crate::output::Output;
use crate::render::{Ink, Line, paint, paragraphs, timeline, unit};
use crate::standing::Standing;
use crate::store::Shelf;
use crate::task;

/// Shows the branches, the runs, what is asked and the state.
pub(super) fn run(args: &Show, output: &mut Output) -> Result<()> {
    let shelf = Shelf::open(&args.which.store)?;
    let branch = shelf.branch(&args.which.session, &args.which.branch)?;
    let events = shelf.events(&branch, args.at)?;
    let last = events.last().and_then(|event| event.head.seq).unwrap_or(0);
    if let Some(at) = args.at.filter(|at| *at > last) {
        bail!("branch {} has {}, so there is no event {at}", branch.branch, unit::several(last, "event"));
    }
    if args.json {
        let shown = object(shelf, &branch, &events, args.at)?;
        return Ok(output.text(&format!("{shown}\n"))?);
    }
    let page = output.page();
    let mut lines = heading(&shelf, &branch, args.at)?;
    lines.push(Line::new());
    lines.extend(timeline(Fold::<Timeline>::of(&events).view(), page));
    let standing = Standing::of(&events);
    if !standing.asked.is_empty() {
        lines.push(Line::new());
        lines.extend(hint::pending(&standing, &hint::place(&branch, shelf.hint()), page));
    }
    let engine = Engine::new(shelf.journal);
    let looked = task::wait(async { Ok(engine.look(&branch, args.at, None).await) })?;
    match looked {
        Ok(report) => {
            let state = report.state.to_object().into();
            for (title, value) in [("state", &state), ("output", &report.output.value())] {
                let is_nothing = value.is_null() || value.as_object().is_some_and(serde_json::Map::is_empty);
                if !is_nothing {
                    lines.push(Line::new());
                    lines.push(Line::new().ink(Ink::Strong, title));
                    lines.extend(paragraphs(Ink::Plain, &text(value), page.width));
                }
            }
        }
        // A conversation without a flow, or with one that is not in the journal, has no state to show.
        Err(Refused::NoRun(_) | Refused::NoFlow(_)) => {}
        Err(refused) => return Err(refused.into()),
    }
    Ok(output.text(&paint(&lines, page.palette))?)
}

/// The same for programs.
fn object(shelf: Shelf, branch: &Branch, events: &[Event], at: Option<u64>) -> Result<Value> {
    let standing = Standing::of(events);
    let branches = shelf.journal.branches(&branch.session).wait()?.into_iter().map(|other| {
        let from = other.fork.map(|fork| json!({"branch": fork.from.branch, "seq": fork.seq}));
        json!({"branch": other.branch, "events": other.seq, "from": from})
    });
    let mut shown = json!({
        "id": branch.session, "branch": branch.branch, "events": events.len(),
        "status": super::ls::word(&shelf, &branch.session, &standing),
        "run": standing.root.as_ref().map(|root| &root.run),
        "branches": branches.collect::<Vec<_>>(),
        "asked": standing.asked.iter().map(|asked| &asked.relay).collect::<Vec<_>>(),
    });
    let engine = Engine::new(shelf.journal);
    match task::wait(async { Ok(engine.look(branch, at, None).await) })? {
        Ok(report) => {
            let statuses = report.statuses.iter().map(|(node, status)| (node.to_string(), json!(status)));
            shown["nodes"] = Value::Object(statuses.collect());
            shown["state"] = report.state.to_object().into();
            shown["output"] = report.output.value();
        }
        Err(Refused::NoRun(_) | Refused::NoFlow(_)) => {}
        Err(refused) => return Err(refused.into()),
    }
    Ok(shown)
}

fn heading(shelf: &Shelf, branch: &Branch, at: Option<u64>) -> Result<Vec<Line>> {
    let as_of = at.map(|at| format!(", as of event {at}")).unwrap_or_default();
    let title = Line::new()
        .ink(Ink::Strong, branch.session.as_str())
        .plain(format!("  branch {}{as_of}", branch.branch));
    let mut lines = vec![title];
    for other in shelf.journal.branches(&branch.session).wait()? {
        let mut line = Line::new().ink(Ink::Faint, "  ").plain(other.branch.as_str());
        line = line.ink(Ink::Faint, format!("  {}", unit::several(other.seq, "event")));
        if let Some(fork) = other.fork {
            line = line.ink(Ink::Faint, format!(", from {} at {}", fork.from.branch, fork.seq));
        }
        lines.push(line);
    }
    Ok(lines)
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => serde_json::to_string_pretty(value).expect("a value can be written"),
    }
}
