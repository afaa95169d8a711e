//! [`Heads`]: where each branch ends, as the writer knows it, within and between transactions.
//!
//! A head that changes is stored once a transaction, however many records went into it. Another process may change the
//! file between two transactions; then everything is read again. Start reading at [`Heads::of`].

use std::collections::HashMap;

use antiphon_event::Timestamp;
use antiphon_port::{Branch, Fault, Hash};
use foldhash::fast::FixedState;
use rusqlite::{Connection, OptionalExtension};

use super::fault::Trouble;
use super::row::{hash, int, position};

/// How many branches are remembered.
const REMEMBERED_MAX: usize = 16_384;

/// Where branches end.
#[derive(Debug, Default)]
pub(super) struct Heads {
    known: HashMap<Branch, Known, FixedState>,
    /// Those that were appended to in this transaction.
    changed: Vec<Branch>,
    /// What SQLite says about changes by others.
    version: Option<i64>,
}

/// A branch and where it ends.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) key: i64,
    pub(super) session: i64,
    pub(super) seq: u64,
    pub(super) hash: Hash,
    /// Whether its last record ends there; if not, somebody else changed the file.
    pub(super) is_sound: bool,
    pub(super) created: Option<Timestamp>,
    pub(super) updated: Option<Timestamp>,
    is_changed: bool,
}

const FIND: &str = "
    SELECT branch.key, session.key, seq, branch.hash, created, updated, coalesce(
        (SELECT record.last = seq AND record.hash = branch.hash FROM record
         WHERE record.branch = branch.key ORDER BY record.last DESC LIMIT 1),
        seq = fork AND branch.hash = start
    ) FROM branch
    JOIN session ON session.key = branch.session
    WHERE session.id = ?1 AND branch.id = ?2";

impl Heads {
    /// Where a branch ends.
    pub(super) fn of(&mut self, connection: &Connection, branch: &Branch) -> Result<&mut Known, Trouble> {
        // Looked up twice because a reference into the map cannot be returned from only one of two arms.
        if !self.known.contains_key(branch) {
            let known = find(connection, branch)?.ok_or_else(|| Fault::NoBranch(branch.clone()))?;
            self.known.insert(branch.clone(), known);
        }
        Ok(self.known.get_mut(branch).expect("it was put there"))
    }

    /// Notes that a branch has grown.
    pub(super) fn grow(&mut self, branch: &Branch) {
        let known = self.known.get_mut(branch).expect("what grows was looked up");
        if !known.is_changed {
            known.is_changed = true;
            self.changed.push(branch.clone());
        }
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.known.clear();
        self.changed.clear();
        self.version = None;
    }

    /// At the start of a transaction: forgets what another process may have changed.
    pub(super) fn refresh(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let version =
            connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get::<_, i64>(0))?;
        if self.version != Some(version) || self.known.len() > REMEMBERED_MAX {
            self.clear();
            self.version = Some(version);
        }
        Ok(())
    }

    /// At the end of a transaction, or before anything in it reads heads from the file: writes those that changed.
    pub(super) fn store(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let mut update = connection.prepare_cached(
            "UPDATE branch SET seq = ?2, hash = ?3, created = ?4, updated = ?5 WHERE key = ?1",
        )?;
        for branch in self.changed.drain(..) {
            let known = self.known.get_mut(&branch).expect("what changed is known");
            known.is_changed = false;
            let millis = |at: Option<Timestamp>| at.map(Timestamp::millis);
            update.execute((
                known.key,
                int(known.seq),
                &known.hash.0[..],
                millis(known.created),
                millis(known.updated),
            ))?;
        }
        Ok(())
    }
}

fn find(connection: &Connection, branch: &Branch) -> rusqlite::Result<Option<Known>> {
    let mut find = connection.prepare_cached(FIND)?;
    let names = (branch.session.as_str(), branch.branch.as_str());
    find.query_row(names, |row| {
        let moment = |index| {
            Ok::<_, rusqlite::Error>(row.get::<_, Option<i64>>(index)?.and_then(Timestamp::from_millis))
        };
        Ok(Known {
            key: row.get(0)?,
            session: row.get(1)?,
            seq: position(row, 2)?,
            hash: hash(row, 3)?,
            is_sound: row.get(6)?,
            created: moment(4)?,
            updated: moment(5)?,
            is_changed: false,
        })
    })
    .optional()
}
