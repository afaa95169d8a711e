//! [`Sqlite`]: a journal in one file, durable when acknowledged.
//!
//! Appends are encoded where they are made and queue for one writer thread, which commits whatever has queued
//! ([`writer`]); reads have threads and connections of their own and hold nobody up ([`threads`]). Start reading at
//! [`Sqlite::open`].

mod append;
mod change;
mod claim;
mod dealt;
mod fault;
mod fold;
mod heads;
mod onlooker;
mod queue;
mod read;
mod row;
mod schema;
#[cfg(test)]
mod tests;
mod threads;
mod verify;
mod writer;

use std::fmt;
use std::path::{Path, PathBuf};

use antiphon_event::{Event, SessionId};
use antiphon_port::{
    Ack, Batch, Branch, BranchSummary, Claim, Exported, Fault, Form, Hash, Head, Journal, Page, Reply, Saved,
    Sent, SessionSummary, Verdict,
};

use crate::SENT_MAX;
use append::{Append, Record};
use dealt::Dealt;
use fault::Place;
use read::Wanted;
use threads::Threads;

/// A journal in a SQLite file.
pub struct Sqlite {
    place: Place,
    /// Where the lock files of sessions are.
    locks: PathBuf,
    threads: Threads,
    dealt: Dealt,
}

impl Sqlite {
    /// Opens the file, and makes it and its folder if they are not there; where nothing may be written, all that reads
    /// works. Dropping the journal commits what waits.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Fault> {
        let path = path.as_ref();
        let place = Place::new(path);
        let threads = Threads::start(path, &place)?;
        Ok(Self { place, locks: schema::beside(path, ".locks"), threads, dealt: Dealt::default() })
    }
}

impl fmt::Debug for Sqlite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Sqlite").field(&self.place.name()).finish()
    }
}

impl Journal for Sqlite {
    fn append(&self, branch: &Branch, expected: u64, batch: Batch) -> Ack {
        match Append::new(branch, expected, &batch) {
            Err(fault) => Reply::ready(Err(fault)),
            Ok((append, ack)) => {
                let size = append.size();
                self.threads.put(Box::new(append), size);
                ack
            }
        }
    }

    fn read(&self, branch: &Branch, after: u64, limit: usize) -> Reply<Vec<Event>> {
        let (place, wanted) = (self.place.clone(), Wanted { branch: branch.clone(), after, limit });
        self.threads.look(move |connection| read::events(connection, &place, &wanted))
    }

    fn export(&self, branch: &Branch, after: u64, limit: usize) -> Reply<Vec<Exported>> {
        let (place, wanted) = (self.place.clone(), Wanted { branch: branch.clone(), after, limit });
        self.threads.look(move |connection| read::exported(connection, &place, &wanted))
    }

    fn head(&self, branch: &Branch) -> Reply<Head> {
        let branch = branch.clone();
        self.threads.look(move |connection| read::head(connection, &branch))
    }

    fn create(&self, branch: &Branch) -> Reply<Head> {
        let branch = branch.clone();
        self.threads.change(0, move |desk| change::create(desk, &branch))
    }

    fn import(&self, branch: &Branch, batches: Vec<Batch>) -> Reply<Head> {
        let mut records: Vec<Record> = Vec::with_capacity(batches.len());
        for batch in batches {
            match Record::new(branch, records.last().map_or(0, Record::end), &batch) {
                Ok(record) => records.push(record),
                Err(fault) => return Reply::ready(Err(fault)),
            }
        }
        let (branch, size) = (branch.clone(), records.iter().map(Record::size).sum());
        self.threads.change(size, move |desk| append::import(desk, &branch, &records))
    }

    fn fork(&self, from: &Branch, at: u64, into: &Branch) -> Reply<Head> {
        let (from, into) = (from.clone(), into.clone());
        self.threads.change(0, move |desk| change::fork(desk, &from, at, &into))
    }

    fn sessions(&self, page: Page) -> Reply<Vec<SessionSummary>> {
        self.threads.look(move |connection| read::sessions(connection, &page))
    }

    fn branches(&self, session: &SessionId) -> Reply<Vec<BranchSummary>> {
        let session = session.clone();
        self.threads.look(move |connection| read::branches(connection, &session))
    }

    fn remove(&self, session: &SessionId, force: bool) -> Reply<()> {
        let session = session.clone();
        self.threads.change(0, move |desk| change::remove(desk, &session, force))
    }

    fn verify(&self, branch: &Branch) -> Reply<Verdict> {
        let branch = branch.clone();
        self.threads.look(move |connection| verify::verify(connection, &branch))
    }

    fn claim(&self, session: &SessionId) -> Result<Claim, Fault> {
        match self.threads.may_write() {
            Ok(()) => claim::claim(&self.locks, &self.place, session),
            Err(fault) => Err(claim::owner(&self.locks, session).unwrap_or(fault)),
        }
    }

    fn send(&self, session: &SessionId, text: &str) -> Reply<u64> {
        if text.len() > SENT_MAX {
            return Reply::ready(Err(Fault::TooLarge {
                what: "a command",
                bytes: text.len(),
                max: SENT_MAX,
            }));
        }
        let (session, text) = (session.clone(), text.to_owned());
        self.threads.change(text.len(), move |desk| change::send(desk, &session, &text))
    }

    fn take(&self, session: &SessionId, done: u64) -> Reply<Vec<Sent>> {
        let is_new = self.dealt.note(session, done);
        let session = session.clone();
        if is_new {
            return self.threads.change(0, move |desk| change::take(desk, &session, done));
        }
        self.threads.look(move |connection| Ok(read::inbox(connection, &session, done)?))
    }

    fn save(&self, branch: &Branch, form: Form, seq: u64, bytes: Vec<u8>) -> Reply<Hash> {
        if let Err(fault) = crate::fold::fit(&bytes) {
            return Reply::ready(Err(fault));
        }
        let branch = branch.clone();
        self.threads.change(bytes.len(), move |desk| fold::save(desk, &branch, form, seq, &bytes))
    }

    fn saved(&self, branch: &Branch, form: Form, at: u64) -> Reply<Option<Saved>> {
        let (place, branch) = (self.place.clone(), branch.clone());
        self.threads.look(move |connection| fold::saved(connection, &place, &branch, form, at))
    }
}
