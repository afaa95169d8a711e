//! `antiphon sessions ls`: a table of sessions.

use antiphon_event::{SessionId, Timestamp};
use antiphon_port::{Fault, Page, SessionSummary};
use anyhow::Result;
use serde_json::json;

use crate::args::sessions::Ls;
use crate::output::Output;
use crate::render::{Ink, Line, Side, Table, paint, unit};
use crate::standing::Standing;
use crate::store::Shelf;

/// Lists sessions.
pub(super) fn run(args: &Ls, output: &mut Output) -> Result<()> {
    let shelf = Shelf::open(&args.store)?;
    let sessions = shelf.journal.sessions(Page { after: None, limit: args.limit }).wait()?;
    if args.json {
        for session in &sessions {
            output.text(&format!("{}\n", line(session, status(&shelf, session)?)))?;
        }
        return Ok(());
    }
    let columns =
        [("session", Side::Fixed), ("title", Side::Left), ("status", Side::Left), ("updated", Side::Left)];
    let mut table =
        Table::new(&[&columns[..], &[("branches", Side::Right), ("events", Side::Right)]].concat());
    for session in &sessions {
        table.row(vec![
            Line::new().ink(Ink::Strong, session.id.as_str()),
            Line::new().plain(session.title.as_deref().unwrap_or_default()),
            status(&shelf, session)?.map_or_else(Line::new, |word| crate::render::status(&word)),
            Line::new().ink(Ink::Faint, session.updated_at.map(moment).unwrap_or_default()),
            Line::new().plain(unit::count(session.branches)),
            Line::new().plain(unit::count(session.seq)),
        ]);
    }
    let page = output.page();
    let lines = if sessions.is_empty() {
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

fn line(session: &SessionSummary, status: Option<String>) -> serde_json::Value {
    json!({
        "id": session.id, "title": session.title, "status": status, "createdAt": session.created_at,
        "updatedAt": session.updated_at, "branches": session.branches, "events": session.seq,
    })
}

/// A day and a time, to the second.
fn moment(at: Timestamp) -> String {
    at.to_string().split('.').next().unwrap_or_default().trim_end_matches('Z').replace('T', " ")
}
