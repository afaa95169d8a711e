//! [`Append`]: one record more, at the end of its branch; and [`import`], a branch that begins with records.

use antiphon_event::{Body, Timestamp};
use antiphon_port::{Ack, Batch, Branch, Fault, Head, Position, Reply};
use rusqlite::ToSql;
use tokio::sync::oneshot;

use super::change;
use super::fault::Trouble;
use super::row::int;
use super::writer::{Desk, Job};
use crate::record;

/// A record to be appended.
#[derive(Debug)]
pub(super) struct Append {
    record: Record,
    done: Option<Result<Position, Fault>>,
    sender: oneshot::Sender<Result<Position, Fault>>,
}

/// One record, encoded where it was asked for, so that the writer has less to do.
#[derive(Debug)]
pub(super) struct Record {
    branch: Branch,
    expected: u64,
    count: u64,
    lines: String,
    /// What is kept in their place, if they are large.
    packed: Option<Vec<u8>>,
    /// When its first and its last event happened.
    moments: (Option<Timestamp>, Option<Timestamp>),
    /// What the session is called from now on, if the batch says so.
    title: Option<String>,
}

impl Append {
    pub(super) fn new(branch: &Branch, expected: u64, batch: &Batch) -> Result<(Self, Ack), Fault> {
        let record = Record::new(branch, expected, batch)?;
        let (sender, ack) = Reply::waiting();
        Ok((Self { record, done: None, sender }, ack))
    }

    /// How many bytes it holds.
    pub(super) fn size(&self) -> usize {
        self.record.size()
    }
}

/// Begins a branch with records, which follow each other.
pub(super) fn import(desk: &mut Desk, branch: &Branch, records: &[Record]) -> Result<Head, Trouble> {
    change::create(desk, branch)?;
    for record in records {
        record.insert(desk)?;
    }
    let head = desk.heads.of(&desk.connection, branch)?;
    Ok(Head { seq: head.seq, hash: head.hash })
}

impl Record {
    pub(super) fn new(branch: &Branch, expected: u64, batch: &Batch) -> Result<Self, Fault> {
        record::fit(batch)?;
        let lines = record::encode(batch);
        record::within(&lines)?;
        let title = batch.iter().rev().find_map(|event| match &event.body {
            Body::SessionCreated(created) => created.title.clone(),
            _ => None,
        });
        Ok(Self {
            branch: branch.clone(),
            expected,
            count: batch.len() as u64,
            packed: record::pack(&lines),
            lines,
            moments: (batch[0].head.at, batch.end().head.at),
            title,
        })
    }

    /// Where its last event will be.
    pub(super) fn end(&self) -> u64 {
        self.expected + self.count
    }

    /// How many bytes it holds.
    pub(super) fn size(&self) -> usize {
        self.lines.len() + self.packed.as_ref().map_or(0, Vec::len)
    }

    fn insert(&self, desk: &mut Desk) -> Result<Position, Trouble> {
        let connection = &desk.connection;
        let head = desk.heads.of(connection, &self.branch)?;
        if !head.is_sound {
            let why = format!(
                "{} does not end where its last record does, so nothing is appended to it: run `antiphon verify`",
                self.branch
            );
            return Err(desk.place.unreadable(why).into());
        }
        if head.seq != self.expected {
            return Err(Fault::Conflict { expected: self.expected, actual: head.seq }.into());
        }
        let position = Position { first: head.seq + 1, last: head.seq + self.count };
        let hash = record::chain(head.hash, &self.lines).last().expect("a record has events");
        let mut insert = connection.prepare_cached(
            "INSERT INTO record (branch, first, last, hash, lines) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?;
        let kept: &dyn ToSql = match &self.packed {
            Some(packed) => packed,
            None => &self.lines,
        };
        insert.execute((head.key, int(position.first), int(position.last), &hash.0[..], kept))?;
        if let Some(title) = &self.title {
            let mut update = connection.prepare_cached("UPDATE session SET title = ?2 WHERE key = ?1")?;
            update.execute((head.session, title))?;
        }
        let (first, last) = self.moments;
        (head.seq, head.hash) = (position.last, hash);
        head.created = head.created.or(first);
        head.updated = last;
        desk.heads.grow(&self.branch);
        Ok(position)
    }
}

impl Job for Append {
    fn perform(&mut self, desk: &mut Desk) -> rusqlite::Result<()> {
        self.done = Some(match self.record.insert(desk) {
            Ok(position) => Ok(position),
            Err(Trouble::Refused(fault)) => Err(fault),
            Err(Trouble::Sqlite(error)) => return Err(error),
        });
        Ok(())
    }

    fn answer(self: Box<Self>, commit: Result<(), Fault>) {
        let Self { done, sender, .. } = *self;
        let answer = commit.and_then(|()| done.expect("what is committed was performed"));
        // Whoever asked may not want to know any more.
        _ = sender.send(answer);
    }
}
