//! [`Memory`]: a journal that is gone with the process.
//!
//! A branch is a list of batches as they were appended. Nothing is copied, encoded or hashed until somebody reads; an
//! append is two locks and a push. Start reading at [`Memory::append`].

mod inbox;
mod line;
mod shelf;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use antiphon_event::body::session::SessionCreated;
use antiphon_event::{Body, Event, SessionId};
use antiphon_port::{
    Ack, Batch, Branch, BranchSummary, Claim, Exported, Fault, Form, Hash, Head, Journal, Page, Position,
    READ_MAX, Reply, Saved, Sent, SessionSummary, Verdict,
};

use crate::{fold, record};
use inbox::Inbox;
use line::Line;
use shelf::Shelf;

/// A journal in memory.
#[derive(Debug, Default)]
pub struct Memory {
    shelf: RwLock<Shelf>,
    claims: Arc<Mutex<BTreeSet<SessionId>>>,
    inbox: Mutex<Inbox>,
}

impl Memory {
    /// An empty journal.
    pub fn new() -> Self {
        Self::default()
    }

    fn shelves(&self) -> RwLockReadGuard<'_, Shelf> {
        self.shelf.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self) -> RwLockWriteGuard<'_, Shelf> {
        self.shelf.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn line(&self, branch: &Branch) -> Result<Arc<Line>, Fault> {
        self.shelves().line(branch).map(Arc::clone)
    }

    fn push(&self, branch: &Branch, expected: u64, batch: Batch) -> Result<Position, Fault> {
        record::fit(&batch)?;
        let shelves = self.shelves();
        let line = shelves.line(branch)?;
        let mut story = line.story();
        if story.seq != expected {
            return Err(Fault::Conflict { expected, actual: story.seq });
        }
        name(line, &batch);
        story.push(batch);
        Ok(Position { first: expected + 1, last: story.seq })
    }

    fn bring(&self, branch: &Branch, batches: Vec<Batch>) -> Result<Head, Fault> {
        batches.iter().try_for_each(|batch| record::fit(batch))?;
        let mut shelves = self.change();
        shelves.add(branch, None)?;
        let line = shelves.line(branch)?;
        for batch in batches {
            name(line, &batch);
            line.story().push(batch);
        }
        drop(shelves);
        self.end(branch)
    }

    fn events(&self, branch: &Branch, after: u64, limit: usize) -> Result<Vec<Event>, Fault> {
        let mut events = Vec::new();
        for (line, positions) in self.line(branch)?.within(after, limit.min(READ_MAX)) {
            // Events are large: they are put where they stay.
            events.reserve((positions.end() + 1).saturating_sub(*positions.start()) as usize);
            line.events(positions, |event, _| events.push(event));
        }
        Ok(events)
    }

    fn exported(&self, branch: &Branch, after: u64, limit: usize) -> Result<Vec<Exported>, Fault> {
        let mut exported = Vec::new();
        for (line, positions) in self.line(branch)?.within(after, limit.min(READ_MAX)) {
            let mut hashes = line.hashes(positions.clone()).into_iter();
            line.events(positions, |event, opens| {
                let hash = hashes.next().expect("every event has a hash");
                exported.push(Exported { event, hash, opens });
            });
        }
        Ok(exported)
    }

    fn end(&self, branch: &Branch) -> Result<Head, Fault> {
        let line = self.line(branch)?;
        let seq = line.story().seq;
        Ok(Head { seq, hash: line.hash(seq) })
    }

    fn keep(&self, branch: &Branch, form: Form, seq: u64, bytes: Vec<u8>) -> Result<Hash, Fault> {
        fold::fit(&bytes)?;
        let hash = fold::hash(&bytes);
        let line = self.line(branch)?;
        let mut story = line.story();
        if seq > story.seq {
            return Err(Fault::Beyond { branch: branch.clone(), at: seq, head: story.seq });
        }
        let (version, saved) = story.saved.entry(form.name).or_default();
        if *version != form.version {
            (*version, *saved) = (form.version, BTreeMap::new());
        }
        saved.insert(seq, bytes);
        for gone in fold::surplus(saved.iter().map(|(seq, bytes)| (*seq, bytes.len()))) {
            saved.remove(&gone);
        }
        Ok(hash)
    }

    fn kept(&self, branch: &Branch, form: Form, at: u64) -> Result<Option<Saved>, Fault> {
        let lineage = self.line(branch)?.lineage();
        Ok(lineage.into_iter().rev().find_map(|(line, own)| {
            let upto = if line.branch == *branch { at } else { at.min(*own.end()) };
            let story = line.story();
            let (_, saved) = story.saved.get(form.name).filter(|(version, _)| *version == form.version)?;
            let (seq, bytes) = saved.range(..=upto).next_back()?;
            Some(Saved { seq: *seq, bytes: bytes.clone(), hash: fold::hash(bytes) })
        }))
    }

    fn judge(&self, branch: &Branch) -> Result<Verdict, Fault> {
        let mut vouched = 0;
        for (line, own) in self.line(branch)?.lineage() {
            match line.vouched(&own) {
                Ok(more) => vouched += more,
                Err(damage) => return Ok(Verdict::Broken(damage)),
            }
        }
        Ok(Verdict::Whole { head: self.end(branch)?, vouched })
    }

    fn inbox(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Journal for Memory {
    fn append(&self, branch: &Branch, expected: u64, batch: Batch) -> Ack {
        Reply::ready(self.push(branch, expected, batch))
    }

    fn read(&self, branch: &Branch, after: u64, limit: usize) -> Reply<Vec<Event>> {
        Reply::ready(self.events(branch, after, limit))
    }

    fn export(&self, branch: &Branch, after: u64, limit: usize) -> Reply<Vec<Exported>> {
        Reply::ready(self.exported(branch, after, limit))
    }

    fn head(&self, branch: &Branch) -> Reply<Head> {
        Reply::ready(self.end(branch))
    }

    fn create(&self, branch: &Branch) -> Reply<Head> {
        let created = self.change().add(branch, None);
        Reply::ready(created.and_then(|()| self.end(branch)))
    }

    fn import(&self, branch: &Branch, batches: Vec<Batch>) -> Reply<Head> {
        Reply::ready(self.bring(branch, batches))
    }

    fn fork(&self, from: &Branch, at: u64, into: &Branch) -> Reply<Head> {
        let forked = self.change().add(into, Some((from, at)));
        Reply::ready(forked.and_then(|()| self.end(into)))
    }

    fn sessions(&self, page: Page) -> Reply<Vec<SessionSummary>> {
        Reply::ready(self.shelves().sessions(&page))
    }

    fn branches(&self, session: &SessionId) -> Reply<Vec<BranchSummary>> {
        Reply::ready(self.shelves().branches(session))
    }

    fn remove(&self, session: &SessionId, force: bool) -> Reply<()> {
        let removed = self.change().remove(session, force);
        if removed.is_ok() {
            self.inbox().forget(session);
        }
        Reply::ready(removed)
    }

    /// Nobody else can reach what is in memory, so there is nothing to compare records with.
    fn verify(&self, branch: &Branch) -> Reply<Verdict> {
        Reply::ready(self.judge(branch))
    }

    fn claim(&self, session: &SessionId) -> Result<Claim, Fault> {
        let mut claims = self.claims.lock().unwrap_or_else(PoisonError::into_inner);
        if !claims.insert(session.clone()) {
            return Err(Fault::Owned { session: session.clone(), by: Some(std::process::id()) });
        }
        Ok(Claim::new(Held { session: session.clone(), claims: Arc::clone(&self.claims) }))
    }

    fn send(&self, session: &SessionId, text: &str) -> Reply<u64> {
        let known = self.shelves().has(session);
        Reply::ready(known.and_then(|()| self.inbox().put(session, text)))
    }

    fn take(&self, session: &SessionId, done: u64) -> Reply<Vec<Sent>> {
        Reply::ready(Ok(self.inbox().take(session, done)))
    }

    fn save(&self, branch: &Branch, form: Form, seq: u64, bytes: Vec<u8>) -> Reply<Hash> {
        Reply::ready(self.keep(branch, form, seq, bytes))
    }

    /// Nobody else can reach what is in memory, so a fold is of the events that are there.
    fn saved(&self, branch: &Branch, form: Form, at: u64) -> Reply<Option<Saved>> {
        Reply::ready(self.kept(branch, form, at))
    }
}

/// Takes over what a batch says that the session is called.
fn name(line: &Line, batch: &Batch) {
    for event in batch.iter() {
        if let Body::SessionCreated(SessionCreated { title: Some(title), .. }) = &event.body {
            line.session.name(title.clone());
        }
    }
}

/// A session that somebody has.
struct Held {
    session: SessionId,
    claims: Arc<Mutex<BTreeSet<SessionId>>>,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.claims.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.session);
    }
}
