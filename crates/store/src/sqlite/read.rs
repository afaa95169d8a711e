//! Reading: events through fork points, and lists.
//!
//! Every function runs in one transaction of a reader, or within one of the writer. Start reading at [`lineage`].

use std::ops::RangeInclusive;

use antiphon_event::body::session::BranchCreated;
use antiphon_event::{self as event, Body, Context, Event, SessionId, Timestamp};
use antiphon_port::{
    Branch, BranchSummary, Exported, Fault, Fork, Hash, Head, Page, READ_MAX, Sent, SessionSummary,
};
use rusqlite::{Connection, OptionalExtension, Row};

use super::fault::{Place, Trouble};
use super::row::{hash, int, lines, position};
use crate::record;

/// About how many bytes of records one call reads.
const BYTES_MAX: usize = 64 * 1024 * 1024;

/// A branch and those of its own positions that a descendant has.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) key: i64,
    pub(super) branch: Branch,
    pub(super) positions: RangeInclusive<u64>,
    /// What the chain of its own records begins with.
    pub(super) start: Hash,
    /// Where it ends, whatever the descendant has of it.
    pub(super) head: Head,
    /// What an event belongs to by being there.
    pub(super) place: event::Head,
    parent: Option<i64>,
}

impl Part {
    /// What a fork was called when it began, if its first event says that this was something else. One that was made before
    /// those said so is called anything.
    pub(super) fn misnamed(&self, first: &Event) -> Option<String> {
        let Body::BranchCreated(BranchCreated { into: Some(name), .. }) = &first.body else { return None };
        let name = Branch::new(name.session_id.clone(), name.branch_id.clone());
        let is_other = self.parent.is_some() && name != self.branch;
        is_other.then(|| format!("it was called {name} when it began"))
    }
}

const PART: &str = "
    SELECT branch.key, session.id, branch.id, fork, start, seq, hash, parent FROM branch
    JOIN session ON session.key = branch.session";

fn part(row: &Row<'_>) -> rusqlite::Result<Part> {
    let (fork, seq) = (position(row, 3)?, position(row, 5)?);
    let branch = Branch::new(row.get::<_, String>(1)?, row.get::<_, String>(2)?);
    let place = Context {
        session_id: Some(branch.session.clone()),
        branch_id: Some(branch.branch.clone()),
        ..Context::default()
    };
    Ok(Part {
        key: row.get(0)?,
        branch,
        place: place.into(),
        positions: fork.saturating_add(1)..=seq,
        start: hash(row, 4)?,
        head: Head { seq, hash: hash(row, 6)? },
        parent: row.get(7)?,
    })
}

fn by_name(connection: &Connection, branch: &Branch) -> Result<Part, Trouble> {
    let mut find = connection.prepare_cached(&format!("{PART} WHERE session.id = ?1 AND branch.id = ?2"))?;
    let found = find.query_row((branch.session.as_str(), branch.branch.as_str()), part).optional()?;
    found.ok_or_else(|| Fault::NoBranch(branch.clone()).into())
}

fn by_key(connection: &Connection, key: i64) -> rusqlite::Result<Part> {
    connection.prepare_cached(&format!("{PART} WHERE branch.key = ?1"))?.query_row([key], part)
}

/// The name of a branch.
pub(super) fn name(connection: &Connection, key: i64) -> rusqlite::Result<Branch> {
    by_key(connection, key).map(|part| part.branch)
}

/// The branches whose events a branch has, the oldest first, and the branch itself.
pub(super) fn lineage(connection: &Connection, branch: &Branch) -> Result<Vec<Part>, Trouble> {
    let asked = by_name(connection, branch)?;
    let (mut key, mut parent, mut upto) = (asked.key, asked.parent, asked.positions.start() - 1);
    let mut lineage = vec![asked];
    while let Some(next) = parent {
        // A parent was there before its child, so its key is smaller; whoever changed that must not send us in circles.
        if next >= key {
            return Err(rusqlite::Error::IntegralValueOutOfRange(7, next).into());
        }
        let mut part = by_key(connection, next)?;
        (key, parent) = (part.key, part.parent);
        part.positions = *part.positions.start()..=upto.min(*part.positions.end());
        upto = upto.min(part.positions.start() - 1);
        // Of a branch that was left before it began to differ there is nothing.
        if !part.positions.is_empty() || parent.is_none() {
            lineage.push(part);
        }
    }
    lineage.reverse();
    Ok(lineage)
}

/// A record as it is stored.
#[derive(Debug)]
pub(super) struct Stored {
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) lines: String,
}

/// Hands over the records of a part that hold any of these positions, until `each` says no. A record that is not there is
/// a fault, and so is one behind the end of the branch.
fn records(
    connection: &Connection,
    place: &Place,
    part: &Part,
    positions: &RangeInclusive<u64>,
    mut each: impl FnMut(Stored) -> Result<bool, Trouble>,
) -> Result<(), Trouble> {
    if positions.is_empty() {
        return Ok(());
    }
    let mut select = connection.prepare_cached(
        "SELECT first, last, lines FROM record WHERE branch = ?1 AND last >= ?2 ORDER BY last",
    )?;
    let mut rows = select.query((part.key, int(*positions.start())))?;
    let (mut next, mut is_begun) = (*positions.start(), false);
    while let Some(row) = rows.next()? {
        let (first, last) = (position(row, 0)?, position(row, 1)?);
        let end = part.head.seq;
        if next > *positions.end() && *positions.end() != end {
            return Ok(());
        }
        if last > end {
            let how = if first > end { "before" } else { "within" };
            let why = format!("the branch ends {how} them, at event {end}");
            return Err(damaged(place, part, first, last, &why));
        }
        if first > next {
            return Err(missing(place, part, next));
        }
        if is_begun && first < next {
            return Err(damaged(place, part, first, last, "others have the same positions"));
        }
        let lines = lines(row, 2)?;
        if record::parts(&lines).count() as u64 != (last + 1).saturating_sub(first) {
            return Err(damaged(place, part, first, last, "the record has another number of events"));
        }
        if !each(Stored { first, last, lines })? {
            return Ok(());
        }
        (next, is_begun) = (last + 1, true);
    }
    if next <= *positions.end() {
        return Err(missing(place, part, next));
    }
    Ok(())
}

fn missing(place: &Place, part: &Part, seq: u64) -> Trouble {
    place.unreadable(format!("event {seq} of {} is missing: run `antiphon verify`", part.branch)).into()
}

fn damaged(place: &Place, part: &Part, first: u64, last: u64, why: &str) -> Trouble {
    let what = if first == last { format!("event {first}") } else { format!("events {first} to {last}") };
    let verb = if first == last { "is" } else { "are" };
    place.unreadable(format!("{what} of {} {verb} damaged: {why}; run `antiphon verify`", part.branch)).into()
}

/// The hash before the first position of a record of a part's own.
fn hash_before(connection: &Connection, place: &Place, part: &Part, first: u64) -> Result<Hash, Trouble> {
    let mut select = connection.prepare_cached(
        "SELECT last, hash FROM record WHERE branch = ?1 AND last < ?2 ORDER BY last DESC LIMIT 1",
    )?;
    let before =
        select.query_row((part.key, int(first)), |row| Ok((position(row, 0)?, hash(row, 1)?))).optional()?;
    let (last, before) = before.unwrap_or((part.positions.start() - 1, part.start));
    if last + 1 < first {
        return Err(missing(place, part, last + 1));
    }
    Ok(before)
}

/// The hash at a position of a branch that has it.
pub(super) fn hash_at(
    connection: &Connection,
    place: &Place,
    branch: &Branch,
    at: u64,
) -> Result<Hash, Trouble> {
    let lineage = lineage(connection, branch)?;
    let part = lineage.iter().rev().find(|part| *part.positions.start() <= at).unwrap_or(&lineage[0]);
    let mut found = part.start;
    records(connection, place, part, &(at.max(1)..=at), |stored| {
        let before = hash_before(connection, place, part, stored.first)?;
        let nth = at.saturating_sub(stored.first) as usize;
        found = record::chain(before, &stored.lines).nth(nth).unwrap_or(before);
        Ok(false)
    })?;
    Ok(found)
}

/// The end of a branch.
pub(super) fn head(connection: &Connection, branch: &Branch) -> Result<Head, Trouble> {
    by_name(connection, branch).map(|part| part.head)
}

/// Which events, of which branch.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    pub(super) branch: Branch,
    pub(super) after: u64,
    pub(super) limit: usize,
}

impl Wanted {
    /// What of a part is wanted.
    fn of(&self, part: &Part) -> RangeInclusive<u64> {
        let last = self.after.saturating_add(self.limit.min(READ_MAX) as u64);
        self.after.saturating_add(1).max(*part.positions.start())..=last.min(*part.positions.end())
    }
}

/// The events after a position.
pub(super) fn events(connection: &Connection, place: &Place, wanted: &Wanted) -> Result<Vec<Event>, Trouble> {
    let mut events = Vec::new();
    walk(connection, place, wanted, |stored, reader, part, positions| {
        decode(place, reader, stored, part, positions, |event, _| events.push(event))
    })?;
    Ok(events)
}

/// The events after a position with their hashes.
pub(super) fn exported(
    connection: &Connection,
    place: &Place,
    wanted: &Wanted,
) -> Result<Vec<Exported>, Trouble> {
    let mut exported = Vec::new();
    walk(connection, place, wanted, |stored, reader, part, positions| {
        let before = hash_before(connection, place, part, stored.first)?;
        let hashes: Vec<_> = record::chain(before, &stored.lines).collect();
        decode(place, reader, stored, part, positions, |event, index| {
            exported.push(Exported { event, hash: hashes[index], opens: index == 0 });
        })
    })?;
    Ok(exported)
}

/// Goes through the records that hold what is wanted.
fn walk(
    connection: &Connection,
    place: &Place,
    wanted: &Wanted,
    mut each: impl FnMut(&Stored, &mut record::Reader, &Part, &RangeInclusive<u64>) -> Result<(), Trouble>,
) -> Result<(), Trouble> {
    let mut reader = record::Reader::default();
    let (mut bytes, mut next) = (0, 1);
    for part in lineage(connection, &wanted.branch)? {
        let begins = *part.positions.start();
        if next < begins || part.head.seq + 1 < begins {
            return Err(missing(place, &part, next.min(part.head.seq + 1)));
        }
        next = part.positions.end().saturating_add(1);
        let positions = wanted.of(&part);
        records(connection, place, &part, &positions, |stored| {
            each(&stored, &mut reader, &part, &positions)?;
            bytes += stored.lines.len();
            Ok(bytes < BYTES_MAX)
        })?;
        if bytes >= BYTES_MAX {
            break;
        }
    }
    Ok(())
}

/// Hands over the events of a record at these positions, each with its place in the record.
fn decode(
    place: &Place,
    reader: &mut record::Reader,
    stored: &Stored,
    part: &Part,
    positions: &RangeInclusive<u64>,
    mut each: impl FnMut(Event, usize),
) -> Result<(), Trouble> {
    let skip = positions.start().saturating_sub(stored.first) as usize;
    let (mut seq, mut index) = (stored.first + skip as u64, skip);
    let upto = stored.last.min(*positions.end());
    let mut misnamed = None;
    let decoded = reader.decode(&part.place, &stored.lines, skip, |mut event| {
        if seq == *part.positions.start() {
            misnamed = part.misnamed(&event);
        }
        event.head.seq = Some(seq);
        each(event, index);
        (seq, index) = (seq + 1, index + 1);
        seq <= upto
    });
    if let Some(why) = misnamed {
        return Err(place
            .unreadable(format!("{} was renamed: {why}; run `antiphon verify`", part.branch))
            .into());
    }
    let why = match decoded {
        Err(why) => why,
        Ok(()) if seq <= upto => format!("event {seq} is missing"),
        Ok(()) => return Ok(()),
    };
    Err(damaged(place, part, stored.first, stored.last, &why))
}

fn moment(row: &Row<'_>, index: usize) -> rusqlite::Result<Option<Timestamp>> {
    Ok(row.get::<_, Option<i64>>(index)?.and_then(Timestamp::from_millis))
}

/// Text that is only shown, whatever stands in its place.
fn shown(row: &Row<'_>, index: usize) -> Option<String> {
    let bytes = row.get_ref(index).ok()?.as_bytes_or_null().ok()??;
    Some(String::from_utf8_lossy(bytes).into_owned())
}

/// Sessions, the newest first. A list is no reading of what is in it: one whose rows are damaged is among the others with
/// what can be told of it.
pub(super) fn sessions(connection: &Connection, page: &Page) -> Result<Vec<SessionSummary>, Trouble> {
    let before = match &page.after {
        None => i64::MAX,
        Some(id) => {
            let mut find = connection.prepare_cached("SELECT key FROM session WHERE id = ?1")?;
            let found = find.query_row([id.as_str()], |row| row.get(0)).optional()?;
            found.ok_or_else(|| Fault::NoSession(id.clone()))?
        }
    };
    let mut select = connection.prepare_cached(
        "SELECT session.id, title, min(created), max(updated), count(*), max(seq) FROM session
         JOIN branch ON branch.session = session.key
         WHERE session.key < ?1 GROUP BY session.key ORDER BY session.key DESC LIMIT ?2",
    )?;
    let rows = select.query_map((before, int(page.limit as u64)), |row| {
        Ok(SessionSummary {
            id: shown(row, 0).unwrap_or_default().into(),
            title: shown(row, 1),
            created_at: moment(row, 2).unwrap_or_default(),
            updated_at: moment(row, 3).unwrap_or_default(),
            branches: position(row, 4)?,
            seq: position(row, 5).unwrap_or_default(),
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The branches of a session, the oldest first.
pub(super) fn branches(connection: &Connection, session: &SessionId) -> Result<Vec<BranchSummary>, Trouble> {
    let mut select = connection.prepare_cached(
        "SELECT branch.id, parent, fork, start, seq, updated FROM branch
         JOIN session ON session.key = branch.session WHERE session.id = ?1 ORDER BY branch.key",
    )?;
    let mut rows = select.query([session.as_str()])?;
    let mut branches = Vec::new();
    while let Some(row) = rows.next()? {
        let fork = match row.get::<_, Option<i64>>(1)? {
            None => None,
            Some(parent) => {
                Some(Fork { from: name(connection, parent)?, seq: position(row, 2)?, hash: hash(row, 3)? })
            }
        };
        let branch = row.get::<_, String>(0)?.into();
        branches.push(BranchSummary { branch, fork, seq: position(row, 4)?, updated_at: moment(row, 5)? });
    }
    if branches.is_empty() { Err(Fault::NoSession(session.clone()).into()) } else { Ok(branches) }
}

/// What was left for the owner of a session after a number.
pub(super) fn inbox(connection: &Connection, session: &SessionId, done: u64) -> rusqlite::Result<Vec<Sent>> {
    let mut select = connection.prepare_cached(
        "SELECT number, text FROM inbox
         WHERE session = (SELECT key FROM session WHERE id = ?1) AND number > ?2 ORDER BY number",
    )?;
    let rows = select.query_map((session.as_str(), int(done)), |row| {
        Ok(Sent { number: position(row, 0)?, text: row.get(1)? })
    })?;
    rows.collect()
}
