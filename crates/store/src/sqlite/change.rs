//! Everything that changes the file and is no append: branches, sessions, the inbox.
//!
//! Each looks first and changes then, so that what it refuses has changed nothing.

use antiphon_event::SessionId;
use antiphon_port::{Branch, Fault, Head, Sent};
use rusqlite::{Connection, OptionalExtension};

use super::fault::Trouble;
use super::read;
use super::row::int;
use super::writer::Desk;
use crate::{INBOX_MAX, record};

/// Begins an empty branch.
pub(super) fn create(desk: &mut Desk, branch: &Branch) -> Result<Head, Trouble> {
    let head = Head { seq: 0, hash: record::genesis(branch) };
    begin(desk, branch, None, head)
}

/// Begins a branch that has the events of another up to a position.
pub(super) fn fork(desk: &mut Desk, from: &Branch, at: u64, into: &Branch) -> Result<Head, Trouble> {
    desk.heads.store(&desk.connection)?;
    let known = desk.heads.of(&desk.connection, from)?;
    if at > known.seq {
        return Err(Fault::Beyond { branch: from.clone(), at, head: known.seq }.into());
    }
    let key = known.key;
    let hash = read::hash_at(&desk.connection, &desk.place, from, at)?;
    begin(desk, into, Some(key), Head { seq: at, hash })
}

fn begin(desk: &mut Desk, branch: &Branch, parent: Option<i64>, head: Head) -> Result<Head, Trouble> {
    let connection = &desk.connection;
    match desk.heads.of(connection, branch) {
        Ok(_) => return Err(Fault::Exists(branch.clone()).into()),
        Err(Trouble::Refused(_)) => {}
        Err(trouble @ Trouble::Sqlite(_)) => return Err(trouble),
    }
    let session = match session_key(connection, &branch.session)? {
        Some(session) => session,
        None => connection
            .prepare_cached("INSERT INTO session (id) VALUES (?1)")?
            .insert([branch.session.as_str()])?,
    };
    let mut insert = connection.prepare_cached(
        "INSERT INTO branch (session, id, parent, fork, start, seq, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?4, ?5)",
    )?;
    insert.execute((session, branch.branch.as_str(), parent, int(head.seq), &head.hash.0[..]))?;
    Ok(head)
}

fn session_key(connection: &Connection, session: &SessionId) -> rusqlite::Result<Option<i64>> {
    let mut find = connection.prepare_cached("SELECT key FROM session WHERE id = ?1")?;
    find.query_row([session.as_str()], |row| row.get(0)).optional()
}

fn known_session(connection: &Connection, session: &SessionId) -> Result<i64, Trouble> {
    session_key(connection, session)?.ok_or_else(|| Fault::NoSession(session.clone()).into())
}

/// Removes a session, and by force the branches of others that begin in it.
pub(super) fn remove(desk: &mut Desk, session: &SessionId, force: bool) -> Result<(), Trouble> {
    desk.heads.store(&desk.connection)?;
    let connection = &desk.connection;
    let key = known_session(connection, session)?;
    let mut doomed = keys(connection, "SELECT key FROM branch WHERE session = ?1", key)?;
    let mut looked = 0;
    while let Some(parent) = doomed.get(looked).copied() {
        looked += 1;
        for child in keys(connection, "SELECT key FROM branch WHERE parent = ?1", parent)? {
            if doomed.contains(&child) {
                continue;
            }
            if !force {
                let by = read::name(connection, child)?;
                return Err(Fault::ForkedFrom { session: session.clone(), by }.into());
            }
            doomed.push(child);
        }
    }
    for branch in doomed {
        for statement in [
            "DELETE FROM record WHERE branch = ?1",
            "DELETE FROM fold WHERE branch = ?1",
            "DELETE FROM branch WHERE key = ?1",
        ] {
            connection.execute(statement, [branch])?;
        }
    }
    connection.execute_batch(
        "DELETE FROM session WHERE key NOT IN (SELECT session FROM branch);
         DELETE FROM inbox WHERE session NOT IN (SELECT key FROM session);",
    )?;
    desk.heads.clear();
    Ok(())
}

fn keys(connection: &Connection, statement: &str, of: i64) -> rusqlite::Result<Vec<i64>> {
    connection.prepare_cached(statement)?.query_map([of], |row| row.get(0))?.collect()
}

/// Leaves something for the owner of a session.
pub(super) fn send(desk: &mut Desk, session: &SessionId, text: &str) -> Result<u64, Trouble> {
    let connection = &desk.connection;
    let key = known_session(connection, session)?;
    let mut count = connection.prepare_cached("SELECT count(*) FROM inbox WHERE session = ?1")?;
    let waiting: usize = count.query_row([key], |row| row.get::<_, i64>(0))? as usize;
    if waiting >= INBOX_MAX {
        return Err(Fault::Busy { place: format!("the owner of {session}"), waiting }.into());
    }
    let mut insert = connection.prepare_cached("INSERT INTO inbox (session, text) VALUES (?1, ?2)")?;
    Ok(insert.insert((key, text))? as u64)
}

/// Removes what was dealt with; the rest, oldest first.
pub(super) fn take(desk: &mut Desk, session: &SessionId, done: u64) -> Result<Vec<Sent>, Trouble> {
    let connection = &desk.connection;
    let Some(key) = session_key(connection, session)? else {
        return Ok(Vec::new());
    };
    let mut delete = connection.prepare_cached("DELETE FROM inbox WHERE session = ?1 AND number <= ?2")?;
    delete.execute((key, int(done)))?;
    Ok(read::inbox(connection, session, done)?)
}
