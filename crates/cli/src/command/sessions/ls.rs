//! `antiphon sessions ls`: a table of sessions.

use antiphon_event::{SessionId, Timestamp};
use antiphon_port::{Fault, Page, SessionSummary};
use anyhow::Result;
use serde_json::json;

use crate::args::sessions::Ls;
use crate::exit::Exit;
use crate::output::{Output, complain};
use crate::render::{Ink, Line, Side, Table, paint, unit};
use crate::standing::Standing;
use crate::store::Shelf;

/// The word for a session that cannot be read.
const DAMAGED: &str = "damaged";

/// Lists sessions, also those that cannot be read; says what is wrong with each of these, and that there were any.
pub(super) fn run(args: &Ls, output: &mut Output) -> Result<Exit> {
    let shelf = Shelf::open(&args.store)?;
    let sessions = shelf.journal.sessions(Page { after: None, limit: args.limit }).wait()?;
    let mut listed = Vec::with_capacity(sessions.len());
    let mut exit = Exit::Done;
    for session in sessions {
        let status = match status(&shelf, &session) {
            Ok(status) => status,
            Err(why) if is_damage(&why) => {
                complain(&format!("session {}: {why:#}", session.id));
                exit = Exit::Failed;
                Some(DAMAGED.to_owned())
            }
            Err(why) => return Err(why),
        };
        listed.push((session, status));
    }
    show(args, &listed, output)?;
    Ok(exit)
}

/// Whether it is about one session, and others may be as they were.
fn is_damage(why: &anyhow::Error) -> bool {
    matches!(why.downcast_ref(), Some(Fault::Unreadable { .. } | Fault::NoSession(_) | Fault::NoBranch(_)))
}

fn show(args: &Ls, listed: &[(SessionSummary, Option<String>)], output: &mut Output) -> Result<()> {
    if args.json {
        for (session, status) in listed {
            output.text(&format!("{}\n", line(session, status.as_deref())))?;
        }
        return Ok(());
    }
    let columns =
        [("session", Side::Fixed), ("title", Side::Left), ("status", Side::Left), ("updated", Side::Left)];
    let mut table =
        Table::new(&[&columns[..], &[("branches", Side::Right), ("events", Side::Right)]].concat());
    for (session, status) in listed {
        table.row(vec![
            Line::new().ink(Ink::Strong, session.id.as_str()),
            Line::new().plain(session.title.as_deref().unwrap_or_default()),
            status.as_deref().map_or_else(Line::new, crate::render::status),
            Line::new().ink(Ink::Faint, session.updated_at.map(moment).unwrap_or_default()),
            Line::new().plain(unit::count(session.branches)),
            Line::new().plain(unit::count(session.seq)),
        ]);
    }
    let page = output.page();
    let lines = if listed.is_empty() {
        vec![Line::new().ink(Ink::Faint, "(no sessions)")]
    } else {
        table.lines(if output.is_cut() { page.width } else { usize::MAX })
    };
    Ok(output.text(&paint(&lines, page.palette))?)
}

/// How the last run of the first branch stands; nothing if there is none.
fn status(shelf: &Shelf, session: &SessionSummary) -> Result<Option<String>> {
    let branches = shelf.journal.branches(&session.id).wait()?;
    let Some(first) = branches.first() else { return Ok(None) };
    let branch = antiphon_port::Branch::new(session.id.clone(), first.branch.clone());
    let mut standing = Standing::default();
    shelf.each(&branch, 0, |event| {
        standing.apply(&event);
        Ok(())
    })?;
    Ok(word(shelf, &session.id, &standing))
}

/// The word for how a run stands.
pub(super) fn word(shelf: &Shelf, session: &SessionId, standing: &Standing) -> Option<String> {
    let root = standing.root.as_ref()?;
    Some(match &root.ended {
        Some(status) => status.as_str().to_lowercase(),
        None if !standing.asked.is_empty() => "waiting".to_owned(),
        None if matches!(shelf.journal.claim(session), Err(Fault::Owned { .. })) => "running".to_owned(),
        None => "interrupted".to_owned(),
    })
}

fn line(session: &SessionSummary, status: Option<&str>) -> serde_json::Value {
    json!({
        "id": session.id, "title": session.title, "status": status, "createdAt": session.created_at,
        "updatedAt": session.updated_at, "branches": session.branches, "events": session.seq,
    })
}

/// A day and a time, to the second.
fn moment(at: Timestamp) -> String {
    at.to_string().split('.').next().unwrap_or_default().trim_end_matches('Z').replace('T', " ")
}
