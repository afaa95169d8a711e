//! [`Line`]: one branch in memory, and reading it through its fork points.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use antiphon_event::{Event, Timestamp, Within};
use antiphon_port::{Batch, Branch, Damage, Hash, RUN_FOLD};

use super::shelf::Session;
use crate::fold::Vouched;
use crate::record;

/// One branch.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) branch: Branch,
    pub(super) session: Arc<Session>,
    /// The branch it leaves, and the last position of that which it has.
    pub(super) fork: Option<(Arc<Line>, u64)>,
    /// What the chain of its own events begins with, once somebody asked.
    start: OnceLock<Hash>,
    story: Mutex<Story>,
}

/// What changes of a branch.
#[derive(Debug, Default)]
pub(super) struct Story {
    pub(super) seq: u64,
    records: Vec<Record>,
    /// The hash after each record, as far as anybody asked.
    hashes: Vec<Hash>,
    /// Saved folds by name: the version they are written in, and each by its position.
    pub(super) saved: BTreeMap<&'static str, (u32, BTreeMap<u64, Vec<u8>>)>,
}

#[derive(Debug)]
struct Record {
    last: u64,
    batch: Batch,
}

impl Line {
    pub(super) fn new(branch: Branch, session: Arc<Session>, fork: Option<(Arc<Self>, u64)>) -> Self {
        let seq = fork.as_ref().map_or(0, |(_, at)| *at);
        Self {
            branch,
            session,
            fork,
            start: OnceLock::new(),
            story: Mutex::new(Story { seq, ..Story::default() }),
        }
    }

    pub(super) fn story(&self) -> MutexGuard<'_, Story> {
        // Nothing is done under this lock that leaves it half changed.
        self.story.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The branches whose events it has, the oldest first, each with those positions.
    pub(super) fn lineage(self: &Arc<Self>) -> Vec<(Arc<Self>, RangeInclusive<u64>)> {
        let mut lineage = Vec::new();
        let (mut line, mut upto) = (Arc::clone(self), self.story().seq);
        while let Some((from, at)) = &line.fork {
            lineage.push((Arc::clone(&line), at + 1..=upto));
            upto = upto.min(*at);
            let from = Arc::clone(from);
            line = from;
        }
        lineage.push((line, 1..=upto));
        lineage.reverse();
        lineage
    }

    /// At most `limit` positions after one, by the branch that has them.
    pub(super) fn within(
        self: &Arc<Self>,
        after: u64,
        limit: usize,
    ) -> impl Iterator<Item = (Arc<Self>, RangeInclusive<u64>)> {
        let (first, last) = (after.saturating_add(1), after.saturating_add(limit as u64));
        let parts = self.lineage().into_iter();
        parts.map(move |(line, own)| (line, first.max(*own.start())..=last.min(*own.end())))
    }

    /// Hands over the events of its own at these positions, each with whether it is the first of its batch.
    pub(super) fn events(&self, positions: RangeInclusive<u64>, mut each: impl FnMut(Event, bool)) {
        let mut within = Within::new(self.branch.session.clone(), self.branch.branch.clone());
        let story = self.story();
        let from = story.records.partition_point(|record| record.last < *positions.start());
        for record in &story.records[from..] {
            for (seq, event) in record.numbered().skip_while(|(seq, _)| seq < positions.start()) {
                if seq > *positions.end() {
                    return;
                }
                let mut event = event.clone();
                within.put(&mut event.head, seq);
                each(event, seq == record.first());
            }
        }
    }

    fn start(&self) -> Hash {
        *self.start.get_or_init(|| match &self.fork {
            None => record::genesis(&self.branch),
            Some((from, at)) => from.hash(*at),
        })
    }

    /// The hash at a position.
    pub(super) fn hash(&self, at: u64) -> Hash {
        match &self.fork {
            Some((from, fork)) if at < *fork => from.hash(at),
            _ => self.hashes(at..=at).pop().unwrap_or_else(|| self.start()),
        }
    }

    /// The hashes of its own events at these positions.
    pub(super) fn hashes(&self, positions: RangeInclusive<u64>) -> Vec<Hash> {
        let start = self.start();
        let story = &mut *self.story();
        story.hash_all(start);
        let mut hashes = Vec::new();
        let from = story.records.partition_point(|record| record.last < *positions.start());
        for (index, record) in story.records.iter().enumerate().skip(from) {
            if record.first() > *positions.end() {
                break;
            }
            let before = index.checked_sub(1).map_or(start, |index| story.hashes[index]);
            let encoded = record::encode(&record.batch);
            let each = (record.first()..).zip(record::chain(before, &encoded));
            hashes.extend(each.filter(|(seq, _)| positions.contains(seq)).map(|(_, hash)| hash));
        }
        hashes
    }

    /// How many folds of runs at these positions its own events vouch for, or the first that they say is another.
    pub(super) fn vouched(&self, own: &RangeInclusive<u64>) -> Result<u64, Damage> {
        let story = self.story();
        let Some((_, saved)) = story.saved.get(RUN_FOLD).filter(|_| !own.is_empty()) else { return Ok(0) };
        let mut vouched = Vouched::default();
        let events = story.records.iter().flat_map(Record::numbered);
        events.filter(|(seq, _)| own.contains(seq)).for_each(|(_, event)| vouched.heed(event));
        let mut count = 0;
        for (seq, bytes) in saved.range(..=own.end()) {
            count += u64::from(vouched.judge(&self.branch, *seq, bytes)?);
        }
        Ok(count)
    }

    /// When its first and its last event happened.
    pub(super) fn moments(&self) -> (Option<Timestamp>, Option<Timestamp>) {
        let story = self.story();
        let first = story.records.first().and_then(|record| record.batch[0].head.at);
        (first, story.records.last().and_then(|record| record.batch.end().head.at))
    }
}

impl Story {
    pub(super) fn push(&mut self, batch: Batch) {
        self.seq += batch.len() as u64;
        self.records.push(Record { last: self.seq, batch });
    }

    fn hash_all(&mut self, start: Hash) {
        let mut last = self.hashes.last().copied().unwrap_or(start);
        for record in &self.records[self.hashes.len()..] {
            last = record::chain(last, &record::encode(&record.batch)).last().expect("a record has events");
            self.hashes.push(last);
        }
    }
}

impl Record {
    fn first(&self) -> u64 {
        self.last + 1 - self.batch.len() as u64
    }

    fn numbered(&self) -> impl Iterator<Item = (u64, &Event)> {
        (self.first()..).zip(self.batch.iter())
    }
}
