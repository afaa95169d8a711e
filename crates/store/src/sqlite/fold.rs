//! Saved folds in the file: keeping them, and finding the one to begin with.

use antiphon_port::{Branch, Fault, Form, Hash, Saved};
use rusqlite::Connection;

use super::fault::{Place, Trouble};
use super::read::{hash_at, lineage};
use super::row::{hash, int, position};
use super::writer::Desk;
use crate::fold::{self, seal, surplus};

/// Saves a fold, and lets go of those that are too many or of another version.
pub(super) fn save(
    desk: &mut Desk,
    branch: &Branch,
    form: Form,
    seq: u64,
    bytes: &[u8],
) -> Result<Hash, Trouble> {
    desk.heads.store(&desk.connection)?;
    let known = desk.heads.of(&desk.connection, branch)?;
    if seq > known.seq {
        return Err(Fault::Beyond { branch: branch.clone(), at: seq, head: known.seq }.into());
    }
    let (key, connection) = (known.key, &desk.connection);
    let at = if seq == known.seq { known.hash } else { hash_at(connection, &desk.place, branch, seq)? };
    let Form { name, version } = form;
    let mut delete =
        connection.prepare_cached("DELETE FROM fold WHERE branch = ?1 AND name = ?2 AND version != ?3")?;
    delete.execute((key, name, version))?;
    let mut insert = connection.prepare_cached(
        "INSERT OR REPLACE INTO fold (branch, name, version, seq, seal, bytes) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    insert.execute((key, name, version, int(seq), &seal(at, bytes).0[..], bytes))?;
    let mut select = connection
        .prepare_cached("SELECT seq, length(bytes) FROM fold WHERE branch = ?1 AND name = ?2 ORDER BY seq")?;
    let kept = select.query_map((key, name), |row| Ok((position(row, 0)?, position(row, 1)? as usize)))?;
    let mut delete =
        connection.prepare_cached("DELETE FROM fold WHERE branch = ?1 AND name = ?2 AND seq = ?3")?;
    for gone in surplus(kept.collect::<Result<Vec<_>, _>>()?) {
        delete.execute((key, name, int(gone)))?;
    }
    Ok(fold::hash(bytes))
}

/// The saved fold with the latest position that is whole and of the events that are there.
pub(super) fn saved(
    connection: &Connection,
    place: &Place,
    branch: &Branch,
    form: Form,
    at: u64,
) -> Result<Option<Saved>, Trouble> {
    let mut upto = at;
    for part in lineage(connection, branch)?.iter().rev() {
        let mut select = connection.prepare_cached(
            "SELECT seq, seal, bytes FROM fold
             WHERE branch = ?1 AND name = ?2 AND seq <= ?3 AND version = ?4 ORDER BY seq DESC",
        )?;
        let mut rows = select.query((part.key, form.name, int(upto), form.version))?;
        while let Some(row) = rows.next()? {
            let (seq, then, bytes): (_, _, Vec<u8>) = (position(row, 0)?, hash(row, 1)?, row.get(2)?);
            if seq <= part.head.seq && seal(hash_at(connection, place, &part.branch, seq)?, &bytes) == then {
                return Ok(Some(Saved { seq, hash: fold::hash(&bytes), bytes }));
            }
        }
        upto = upto.min(part.positions.start() - 1);
    }
    Ok(None)
}
