//! [`Shelf`]: every branch by its name, and the sessions they belong to.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use antiphon_event::SessionId;
use antiphon_port::{Branch, BranchSummary, Fault, Fork, Page, SessionSummary};
use foldhash::fast::FixedState;

use super::line::Line;

/// Every branch.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    lines: HashMap<Branch, Arc<Line>, FixedState>,
    /// By a number that grows, so that the order is that of their creation.
    sessions: BTreeMap<u64, Entry>,
    numbers: HashMap<SessionId, u64, FixedState>,
    last: u64,
}

#[derive(Debug)]
struct Entry {
    session: Arc<Session>,
    lines: Vec<Arc<Line>>,
}

/// What belongs to a session as a whole.
#[derive(Debug)]
pub(super) struct Session {
    id: SessionId,
    title: Mutex<Option<String>>,
}

impl Session {
    pub(super) fn name(&self, title: String) {
        *self.title.lock().unwrap_or_else(PoisonError::into_inner) = Some(title);
    }
}

impl Shelf {
    pub(super) fn line(&self, branch: &Branch) -> Result<&Arc<Line>, Fault> {
        self.lines.get(branch).ok_or_else(|| Fault::NoBranch(branch.clone()))
    }

    pub(super) fn has(&self, session: &SessionId) -> Result<(), Fault> {
        self.entry(session).map(drop)
    }

    fn entry(&self, session: &SessionId) -> Result<&Entry, Fault> {
        let number = self.numbers.get(session).ok_or_else(|| Fault::NoSession(session.clone()))?;
        Ok(&self.sessions[number])
    }

    /// Begins a branch, empty or as a fork of another.
    pub(super) fn add(&mut self, branch: &Branch, from: Option<(&Branch, u64)>) -> Result<(), Fault> {
        if self.lines.contains_key(branch) {
            return Err(Fault::Exists(branch.clone()));
        }
        let fork = from.map(|(from, at)| self.fork_point(from, at)).transpose()?;
        let entry = self.entry_or_new(&branch.session);
        let line = Arc::new(Line::new(branch.clone(), Arc::clone(&entry.session), fork));
        entry.lines.push(Arc::clone(&line));
        self.lines.insert(branch.clone(), line);
        Ok(())
    }

    fn fork_point(&self, from: &Branch, at: u64) -> Result<(Arc<Line>, u64), Fault> {
        let line = self.line(from)?;
        let head = line.story().seq;
        if at > head {
            return Err(Fault::Beyond { branch: from.clone(), at, head });
        }
        Ok((Arc::clone(line), at))
    }

    fn entry_or_new(&mut self, session: &SessionId) -> &mut Entry {
        let number = *self.numbers.entry(session.clone()).or_insert_with(|| {
            self.last += 1;
            self.last
        });
        self.sessions.entry(number).or_insert_with(|| Entry {
            session: Arc::new(Session { id: session.clone(), title: Mutex::new(None) }),
            lines: Vec::new(),
        })
    }

    pub(super) fn sessions(&self, page: &Page) -> Result<Vec<SessionSummary>, Fault> {
        let before = match &page.after {
            None => u64::MAX,
            Some(id) => *self.numbers.get(id).ok_or_else(|| Fault::NoSession(id.clone()))?,
        };
        Ok(self.sessions.range(..before).rev().take(page.limit).map(|(_, entry)| entry.summary()).collect())
    }

    pub(super) fn branches(&self, session: &SessionId) -> Result<Vec<BranchSummary>, Fault> {
        Ok(self.entry(session)?.lines.iter().map(summary).collect())
    }

    pub(super) fn remove(&mut self, session: &SessionId, force: bool) -> Result<(), Fault> {
        let entry = self.entry(session)?;
        let mut doomed: Vec<_> = entry.lines.clone();
        loop {
            let is_doomed = |line: &Arc<Line>| doomed.iter().any(|other| Arc::ptr_eq(line, other));
            let mut others = self.sessions.values().flat_map(|entry| &entry.lines);
            let fork = others
                .find(|line| !is_doomed(line) && line.fork.as_ref().is_some_and(|(from, _)| is_doomed(from)));
            match fork {
                None => break,
                Some(fork) if force => doomed.push(Arc::clone(fork)),
                Some(fork) => {
                    return Err(Fault::ForkedFrom { session: session.clone(), by: fork.branch.clone() });
                }
            }
        }
        for line in &doomed {
            self.drop_line(line);
        }
        Ok(())
    }

    fn drop_line(&mut self, line: &Arc<Line>) {
        self.lines.remove(&line.branch);
        let session = &line.branch.session;
        let Some(number) = self.numbers.get(session).copied() else {
            return;
        };
        if let Some(entry) = self.sessions.get_mut(&number) {
            entry.lines.retain(|other| !Arc::ptr_eq(line, other));
            if entry.lines.is_empty() {
                self.sessions.remove(&number);
                self.numbers.remove(session);
            }
        }
    }
}

impl Entry {
    fn summary(&self) -> SessionSummary {
        let moments: Vec<_> = self.lines.iter().map(|line| line.moments()).collect();
        SessionSummary {
            id: self.session.id.clone(),
            title: self.session.title.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            created_at: moments.iter().filter_map(|(first, _)| *first).min(),
            updated_at: moments.iter().filter_map(|(_, last)| *last).max(),
            branches: self.lines.len() as u64,
            seq: self.lines.iter().map(|line| line.story().seq).max().unwrap_or_default(),
        }
    }
}

fn summary(line: &Arc<Line>) -> BranchSummary {
    let fork = line.fork.as_ref().map(|(from, seq)| Fork {
        from: from.branch.clone(),
        seq: *seq,
        hash: line.hash(*seq),
    });
    let (_, updated_at) = line.moments();
    BranchSummary { branch: line.branch.branch.clone(), fork, seq: line.story().seq, updated_at }
}
