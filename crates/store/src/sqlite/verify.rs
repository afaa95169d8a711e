//! Verification: every record against the chain, the chain against the heads, and what was saved against the records.
//!
//! The first record that does not follow from the one before is named. What happened to it is found out by looking
//! where else it would fit. Start reading at [`verify`].

use std::sync::LazyLock;

use antiphon_port::{Branch, Damage, Hash, RUN_FOLD, Verdict, Wrong};
use memchr::memmem::Finder;
use rusqlite::{Connection, Row};

use super::fault::Trouble;
use super::read::{Part, lineage};
use super::row::{hash, int, lines, position};
use crate::fold::Vouched;
use crate::record;

/// How many bytes are hashed at most to find out where a record belongs.
const SEARCH_MAX: usize = 1024 * 1024 * 1024;

/// Whether a branch is what was written, through its fork points.
pub(super) fn verify(connection: &Connection, branch: &Branch) -> Result<Verdict, Trouble> {
    let lineage = match lineage(connection, branch) {
        // Not SQLite's doing: it gave something that no branch ever had.
        Err(Trouble::Sqlite(error)) if error.sqlite_error_code().is_none() => {
            let why =
                format!("the row of the branch, or of one that it forks from, is not as it was: {error}");
            let (branch, wrong) = (branch.clone(), Wrong::Changed);
            return Ok(Verdict::Broken(Damage { branch, first: 1, last: 1, wrong, why }));
        }
        lineage => lineage?,
    };
    let (mut expected, mut vouched) = (record::genesis(&lineage[0].branch), 0);
    for (index, part) in lineage.iter().enumerate() {
        if part.start != expected {
            let last = part.positions.start() - 1;
            let why = "the branch does not begin with the hash of what it forks from";
            return Ok(broken(part, last, last, Wrong::Changed, why));
        }
        let is_last = index + 1 == lineage.len();
        let mut walk = Walk { connection, part, is_last, told: Told::default() };
        match walk.run()? {
            Ok(hash) => expected = hash,
            Err(damage) => return Ok(Verdict::Broken(damage)),
        }
        match folds(connection, part, &walk.told.vouched)? {
            Ok(more) => vouched += more,
            Err(damage) => return Ok(Verdict::Broken(damage)),
        }
    }
    let asked = lineage.last().expect("a branch is in its own lineage");
    Ok(Verdict::Whole { head: asked.head, vouched })
}

/// How many folds of runs the events of a part vouch for, or the first that they say is another.
fn folds(connection: &Connection, part: &Part, vouched: &Vouched) -> Result<Result<u64, Damage>, Trouble> {
    let mut select = connection
        .prepare("SELECT seq, bytes FROM fold WHERE branch = ?1 AND name = ?2 AND seq <= ?3 ORDER BY seq")?;
    let mut rows = select.query((part.key, RUN_FOLD, int(*part.positions.end())))?;
    let mut count = 0;
    while let Some(row) = rows.next()? {
        // Whatever else somebody put there is no fold that is ever found.
        let (Ok(seq), Ok(bytes)) = (position(row, 0), row.get_ref(1)?.as_bytes()) else { continue };
        match vouched.judge(&part.branch, seq, bytes) {
            Ok(is_vouched) => count += u64::from(is_vouched),
            Err(damage) => return Ok(Err(damage)),
        }
    }
    Ok(Ok(count))
}

/// What records say beside what happened.
#[derive(Default)]
struct Told {
    reader: record::Reader,
    vouched: Vouched,
    /// What the branch was called when it began, if that is not its name.
    misnamed: Option<String>,
}

/// What stands in the lines of records that are to be looked into.
static TELLING: LazyLock<[Finder<'_>; 2]> =
    LazyLock::new(|| [r#""type":"checkpoint_saved""#, r#""type":"branch_created""#].map(Finder::new::<str>));

impl Told {
    /// Looks into a record, which follows from the one before it, for what its events up to a position say.
    fn heed(&mut self, part: &Part, row: &Found, upto: u64) {
        if !TELLING.iter().any(|tag| tag.find(row.lines.as_bytes()).is_some()) {
            return;
        }
        let mut seq = row.first;
        // Whoever reads it is told if it cannot be read; it is what was written.
        _ = self.reader.decode(&part.place, &row.lines, 0, |event| {
            if seq == *part.positions.start() {
                self.misnamed = part.misnamed(&event);
            }
            self.vouched.heed(&event);
            seq += 1;
            seq <= upto
        });
    }
}

fn broken(part: &Part, first: u64, last: u64, wrong: Wrong, why: &str) -> Verdict {
    Verdict::Broken(damage(part, first, last, wrong, why))
}

fn damage(part: &Part, first: u64, last: u64, wrong: Wrong, why: &str) -> Damage {
    Damage { branch: part.branch.clone(), first, last, wrong, why: why.to_owned() }
}

/// A row, whatever somebody put into it.
#[derive(Debug, Clone)]
struct Found {
    pos: i64,
    /// The key of its branch; 0, which no branch has, if it is none.
    branch: i64,
    first: u64,
    last: u64,
    hash: Option<Hash>,
    lines: String,
}

fn found(row: &Row<'_>) -> rusqlite::Result<Found> {
    let number =
        |index| Ok::<_, rusqlite::Error>(row.get_ref(index)?.as_i64().map_or(0, |n| n.max(0) as u64));
    Ok(Found {
        pos: row.get(0)?,
        first: number(1)?,
        last: number(2)?,
        hash: hash(row, 3).ok(),
        lines: lines(row, 4).unwrap_or_default(),
        branch: row.get_ref(5)?.as_i64().unwrap_or_default(),
    })
}

/// Whether a record was written after the one with this hash.
fn follows(row: &Found, before: Hash) -> bool {
    row.hash.is_some() && record::chain(before, &row.lines).last() == row.hash
}

const COLUMNS: &str = "SELECT pos, first, last, hash, lines, branch FROM record";

/// One branch of the lineage.
struct Walk<'a> {
    connection: &'a Connection,
    part: &'a Part,
    /// Whether it is the branch asked about, of which everything counts.
    is_last: bool,
    told: Told,
}

impl Walk<'_> {
    /// The hash at the last position that counts, or the first damage.
    fn run(&mut self) -> Result<Result<Hash, Damage>, Trouble> {
        let part = self.part;
        let upto = *part.positions.end();
        let (mut next, mut before) = (*part.positions.start(), part.start);
        let mut select = self.connection.prepare(&format!("{COLUMNS} WHERE branch = ?1 ORDER BY last"))?;
        let mut rows = select.query([part.key])?;
        while let Some(row) = rows.next()? {
            let row = found(row)?;
            if next > upto && !self.is_last {
                break;
            }
            if row.first > next && next <= upto {
                return self.missing(next, (row.first - 1).min(upto), before).map(Err);
            }
            if next > upto {
                let why = "the branch ends before that";
                return Ok(Err(damage(part, row.first, row.last, Wrong::Added, why)));
            }
            let hashes: Vec<_> = record::chain(before, &row.lines).collect();
            let is_whole = row.first == next
                && hashes.len() as u64 == (row.last + 1).saturating_sub(row.first)
                && row.lines.ends_with('\n')
                && hashes.last().copied() == row.hash;
            let Some(last) = hashes.last().copied().filter(|_| is_whole) else {
                return self.wrong(&row, next, before).map(Err);
            };
            if row.last > upto && self.is_last {
                let why = format!(
                    "the branch ends before it, within the record of events {} to {}",
                    row.first, row.last
                );
                return Ok(Err(damage(part, upto + 1, row.last, Wrong::Removed, &why)));
            }
            self.told.heed(part, &row, upto);
            if let Some(why) = &self.told.misnamed {
                return Ok(Err(damage(part, row.first, row.first, Wrong::Renamed, why)));
            }
            if row.last > upto {
                return Ok(Ok(hashes[(upto - row.first) as usize]));
            }
            (next, before) = (row.last + 1, last);
        }
        if next <= upto {
            return self.missing(next, upto, before).map(Err);
        }
        let fork = part.positions.start() - 1;
        if self.is_last && upto < fork {
            let why = "the branch ends before its fork point";
            return Ok(Err(damage(part, upto + 1, fork, Wrong::Removed, why)));
        }
        if self.is_last && before != part.head.hash {
            let why = "the branch knows another hash for its end";
            return Ok(Err(damage(part, upto, upto, Wrong::Changed, why)));
        }
        Ok(Ok(before))
    }

    /// What happened to a record that does not follow from the one before.
    fn wrong(&self, row: &Found, next: u64, before: Hash) -> Result<Damage, Trouble> {
        let last = row.last.max(next);
        let (wrong, why) = if follows(row, before) {
            (Wrong::Changed, "it was written with other positions")
        } else if self.has_home(row)? {
            (Wrong::Moved, "it follows from another record than the one before it")
        } else {
            (Wrong::Changed, "the bytes do not give the hash that was written with them")
        };
        Ok(damage(self.part, next, last, wrong, why))
    }

    /// What happened to a record that is not where it should be.
    fn missing(&self, first: u64, last: u64, before: Hash) -> Result<Damage, Trouble> {
        let mut select = self.connection.prepare(COLUMNS)?;
        let mut rows = select.query([])?;
        let mut left = SEARCH_MAX;
        while let Some(row) = rows.next()? {
            let row = found(row)?;
            left = left.saturating_sub(row.lines.len());
            if left == 0 {
                break;
            }
            if follows(&row, before) && !self.is_at_home(&row, before)? {
                let why = format!("found as events {} to {}, in row {}", row.first, row.last, row.pos);
                return Ok(damage(self.part, first, last, Wrong::Moved, &why));
            }
        }
        Ok(damage(self.part, first, last, Wrong::Removed, "no record has these positions"))
    }

    /// Whether a record is where it was written after the one with this hash: the first of a fork follows from the same
    /// one as the record that the branch it forks from has there.
    fn is_at_home(&self, row: &Found, before: Hash) -> Result<bool, Trouble> {
        let mut select = self.connection.prepare_cached(
            "SELECT coalesce(record.last, fork), coalesce(record.hash, start), seq FROM branch
             LEFT JOIN record ON record.branch = branch.key AND record.last < ?2
             WHERE branch.key = ?1 ORDER BY record.last DESC LIMIT 1",
        )?;
        let mut rows = select.query((row.branch, int(row.first)))?;
        let Some(found) = rows.next()? else { return Ok(false) };
        let (Ok(last), Ok(hash), Ok(end)) = (position(found, 0), hash(found, 1), position(found, 2)) else {
            return Ok(false);
        };
        Ok(row.first == last + 1 && row.last <= end && hash == before)
    }

    /// Whether a record follows from any other hash there is.
    fn has_home(&self, row: &Found) -> Result<bool, Trouble> {
        let hashes_max = SEARCH_MAX / row.lines.len().max(1);
        let mut select =
            self.connection.prepare("SELECT hash FROM record UNION ALL SELECT start FROM branch LIMIT ?1")?;
        let mut rows = select.query([int(hashes_max as u64)])?;
        while let Some(other) = rows.next()? {
            let Ok(before) = hash(other, 0) else {
                continue;
            };
            if follows(row, before) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
