//! `antiphon why`: events and a position in, what led to the event there out.

use antiphon_event::{BranchId, Event, Kind, SessionId};
use antiphon_view::why::{Causes, Place};
use antiphon_view::{Changes, Fold};
use anyhow::{Result, bail};

use crate::args::Why;
use crate::input::Input;
use crate::output::Output;
use crate::render::{harmless, paint, why};

/// Branches that are named when several are meant.
const SHOWN_MAX: usize = 10;

/// Explains the event.
pub(crate) fn run(args: &Why, output: &mut Output) -> Result<()> {
    if let Some(pretty) = args.layout.choice() {
        output.set_pretty(pretty);
    }
    let mut fold = Fold::new(Causes::default());
    let mut changes = Changes::unwanted();
    let mut numbered = false;
    // Events of types nobody knows have a position, but no place among those that the view takes in.
    let (mut read, mut taken_in) = (0, 0);
    let (mut nth, mut unknown) = (None, Vec::new());
    Input::new(args.file.as_slice(), &args.reading).whole().each(&mut |event: Event| {
        numbered |= event.head.seq.is_some();
        read += 1;
        let known = event.kind() != Kind::Unknown;
        if event.head.seq.unwrap_or(read) == args.seq {
            nth = known.then_some(taken_in);
            unknown.extend((!known).then(|| Place::of(&event)));
        }
        taken_in += usize::from(known);
        fold.apply(&event, &mut changes);
        Ok(())
    })?;
    let causes = fold.view();
    let meant = Meant::of(args, causes);
    let nth = if numbered { find(causes, args.seq, &meant)? } else { nth };
    let Some(answer) = nth.and_then(|nth| causes.why_nth(nth)) else {
        if unknown.iter().any(|place| meant.is(place)) {
            bail!("nobody knows the type of the event at position {}, or what caused it", args.seq);
        }
        bail!("there is no event at position {}{}", args.seq, scope(args));
    };
    if args.json {
        output.json(&answer)?;
        output.text("\n")?;
    } else {
        let page = output.page();
        output.text(&paint(&why::lines(&answer, page), page.palette))?;
    }
    Ok(())
}

/// Which branch is meant, as far as that was said.
struct Meant<'a> {
    branch: Option<&'a str>,
    session: Option<&'a str>,
    /// Whether the session was named by its whole id.
    whole: bool,
}

impl<'a> Meant<'a> {
    fn of(args: &'a Why, causes: &Causes) -> Self {
        let (branch, session) = (args.reading.branch.as_deref(), args.session.as_deref());
        let whole = session.is_some_and(|id| causes.places().any(|place| session_of(place) == id));
        Self { branch, session, whole }
    }

    fn is(&self, place: &Place) -> bool {
        let id = session_of(place);
        let is_session =
            |part: &str| id == part || !self.whole && (id.starts_with(part) || id.ends_with(part));
        self.branch.is_none_or(|name| branch_of(place) == name) && self.session.is_none_or(is_session)
    }
}

/// When the event that is meant was taken in; refused if that may be several.
fn find(causes: &Causes, seq: u64, meant: &Meant<'_>) -> Result<Option<usize>> {
    let mut found: Vec<(&Place, usize)> = if meant.branch.is_none() && meant.session.is_none() {
        causes.at(seq).collect()
    } else {
        let places = causes.places().filter(|place| meant.is(place));
        places.filter_map(|place| Some((place, causes.on(place, seq)?))).collect()
    };
    // What two branches have of the one that they fork from is one event.
    found.sort_by_key(|(_, nth)| *nth);
    found.dedup_by_key(|(_, nth)| *nth);
    let Some(((first, nth), others)) = found.split_first() else { return Ok(None) };
    if others.is_empty() {
        return Ok(Some(*nth));
    }
    let one_session = others.iter().all(|(place, _)| place.session_id == first.session_id);
    let one_branch = others.iter().all(|(place, _)| place.branch_id == first.branch_id);
    let (what, options) = match (one_session, one_branch) {
        (true, _) => ("branches", "--branch"),
        (false, true) => ("sessions", "--session"),
        (false, false) => ("branches", "--session and --branch"),
    };
    let names = found.iter().take(SHOWN_MAX).map(|(place, _)| match (one_session, one_branch) {
        (true, _) => branch_of(place).to_owned(),
        (false, true) => session_of(place).to_owned(),
        (false, false) => format!("{} of session {}", branch_of(place), session_of(place)),
    });
    let more = if found.len() > SHOWN_MAX { ", …" } else { "" };
    let names = names.collect::<Vec<_>>().join(", ");
    let names: String = names.chars().map(harmless).collect();
    bail!("position {seq} is on {} {what}, say which with {options}: {names}{more}", found.len());
}

fn branch_of(place: &Place) -> &str {
    place.branch_id.as_ref().map_or("", BranchId::as_str)
}

fn session_of(place: &Place) -> &str {
    place.session_id.as_ref().map_or("", SessionId::as_str)
}

/// Where the position was looked for, if that was said.
fn scope(args: &Why) -> String {
    let branch = args.reading.branch.as_ref().map(|name| format!(" of branch {name}"));
    let session = args.session.as_ref().map(|part| format!(" of session {part}"));
    branch.into_iter().chain(session).collect()
}
