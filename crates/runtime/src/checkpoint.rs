//! Checkpoints: now and then the machines of a run are written down beside its events, so that whoever goes on from
//! there, or looks back to there, need not apply all that happened before.
//!
//! They are a help and nothing more: one that is missing, damaged, of another version, or other than the events say costs
//! time. Start reading at [`Keeper::mark`], then [`find`].

use antiphon_event::body::flow::{CheckpointSaved, Diagnostic};
use antiphon_event::{Body, Event, Head};
use antiphon_flow::Flow;
use antiphon_port::{self as port, Branch, Fault, Form, Hash, RUN_FOLD, Reply};
use futures_util::FutureExt;

use crate::driver::Driver;
use crate::engine::Parts;
use crate::resume::{flow_of, is_root};
use crate::tree::{Saved, Tree};

/// What is saved: to be raised whenever a machine, or how it is written, changes.
const FORM: Form = Form { name: RUN_FOLD, version: 7 };

/// After how many events the next one is saved, unless the engine is told otherwise.
pub(crate) const EVERY: u64 = 5_000;

/// How many bytes of it there may be for each event since the last, so that what is written for an event does not grow
/// with the history.
const BYTES_PER_EVENT: u64 = 8;
/// What is no larger than this is small whatever the number of events.
const SMALL: u64 = 64 * 1024;

/// How many events after a checkpoint are looked through for the one that vouches for it: that follows with what was
/// decided while the journal kept it.
const VOUCHED_WITHIN: u64 = 16 * 1024;
/// How many are looked through for all that are passed over.
const LOOKED_MAX: u64 = 4 * VOUCHED_WITHIN;
/// How many are read first, as it is mostly one of them.
const FEW: u64 = 64;
/// How many are read at once where it is not.
const MANY: u64 = 2048;

/// When to save next.
#[derive(Debug)]
pub(crate) struct Keeper {
    every: u64,
    began: u64,
    /// The position of the last one, and its size.
    at: u64,
    bytes: u64,
    /// What is being saved: the position, where its event belongs, and the journal's answer.
    waiting: Option<(u64, Head, Reply<Hash>)>,
}

impl Keeper {
    /// For a run that began after a position; what happened up to `at` need not be saved again.
    pub(crate) fn new(every: u64, began: u64, at: u64) -> Self {
        Self { every: every.max(1), began, at, bytes: 0, waiting: None }
    }

    fn is_due(&self, seq: u64, every: u64) -> bool {
        seq.saturating_sub(self.at) >= every.max(self.bytes.saturating_sub(SMALL) / BYTES_PER_EVENT)
    }

    /// Whether to save once this batch is appended after a position, and where the event about it belongs: when enough
    /// has happened since the last time, after a node, or a step of an agent, has ended.
    pub(crate) fn mark(&self, seq: u64, batch: &[Event]) -> Option<Head> {
        if !self.is_due(seq + batch.len() as u64, self.every) || self.waiting.is_some() {
            return None;
        }
        batch.iter().rev().find_map(|event| match &event.body {
            Body::NodeEnd(_) => Some(Head { at: None, ..event.head.clone() }),
            Body::Usage(_) => Some(Head::default()),
            _ => None,
        })
    }

    /// The same for a run that has come to rest: whoever goes on with it begins here.
    fn is_due_at_rest(&self, seq: u64) -> bool {
        // One event is not worth it, least of all the one that says so.
        self.is_due(seq, (self.every / 10).max(2)) && self.waiting.is_none()
    }
}

impl Driver {
    /// Saves the machines as they are: all that was decided is appended. Nobody waits for it.
    pub(crate) fn save(&mut self, head: Head) {
        let weight = self.tree.weight() as u64;
        if weight > self.keeper.bytes {
            self.keeper.bytes = weight;
            if !self.keeper.is_due(self.seq, 1) {
                return;
            }
        }
        let bytes = serde_json::to_vec(&self.tree.save(self.keeper.began)).expect("machines can be written");
        (self.keeper.at, self.keeper.bytes) = (self.seq, weight.max(bytes.len() as u64));
        let reply = self.parts.journal.save(&self.branch, FORM, self.seq, bytes);
        self.keeper.waiting = Some((self.seq, head, reply));
    }

    /// Saves a run that has come to rest, if that is worth it; whether there is something to append now.
    pub(crate) async fn save_at_rest(&mut self) -> bool {
        if self.keeper.is_due_at_rest(self.seq) {
            self.save(Head::default());
        }
        let Some((seq, head, reply)) = self.keeper.waiting.take() else { return false };
        let saved = reply.await;
        self.note_saved(seq, head, saved);
        true
    }

    /// Writes down that a checkpoint was saved, or was not, once that is known; whether it is.
    pub(crate) fn heed_saved(&mut self) -> bool {
        let Some((.., reply)) = &mut self.keeper.waiting else { return false };
        let Some(saved) = reply.now_or_never() else { return false };
        let (seq, head, _) = self.keeper.waiting.take().expect("it was just seen");
        self.note_saved(seq, head, saved);
        true
    }

    fn note_saved(&mut self, seq: u64, mut head: Head, saved: Result<Hash, Fault>) {
        let run = self.tree.machines[0].mind.run();
        let body = match saved {
            Ok(hash) => Body::CheckpointSaved(CheckpointSaved {
                checkpoint_id: format!("{run}@{seq}"),
                saved_hash: Some(hash.to_string()),
            }),
            Err(fault) => Body::Diagnostic(Diagnostic {
                level: "warn".to_owned(),
                source: "checkpoint".to_owned(),
                message: format!("no checkpoint was saved at {seq}, and the run goes on without: {fault}"),
            }),
        };
        head.at = Some(self.at());
        self.batch.push(Event::of(head, body));
    }
}

/// A run as it was at some position.
pub(crate) struct Begun {
    pub(crate) tree: Tree,
    pub(crate) seq: u64,
    /// Position before the first event of the run.
    pub(crate) began: u64,
}

/// The newest checkpoint of a branch up to a position that can be gone on from.
pub(crate) async fn find(parts: &Parts, branch: &Branch, upto: u64, flow: Option<&Flow>) -> Option<Begun> {
    let found = vouched(parts, branch, upto).await?;
    let saved: Saved<'_> = serde_json::from_slice(&found.bytes).ok()?;
    let first = parts.journal.read(branch, saved.began, 8).await.ok()?;
    let start = first.iter().find(|event| is_root(event))?;
    let root = match &start.body {
        Body::RunStart(_) => Some(flow_of(start, flow.cloned()).ok()?),
        _ => None,
    };
    let began = start.head.seq? - 1;
    Some(Begun { tree: Tree::load(saved, root)?, seq: found.seq, began })
}

/// The newest of what was saved up to a position that is what the events say. Whoever can write beside the events could
/// otherwise say how the run stands.
async fn vouched(parts: &Parts, branch: &Branch, upto: u64) -> Option<port::Saved> {
    let (mut upto, mut left) = (upto, LOOKED_MAX);
    while left > 0 {
        let found = parts.journal.saved(branch, FORM, upto).await.ok()??;
        let (mut after, mut count) = (found.seq, FEW);
        let end = found.seq.saturating_add(left.min(VOUCHED_WITHIN));
        while after < end {
            let events = parts.journal.read(branch, after, count.min(end - after) as usize).await.ok()?;
            if events.iter().any(|event| vouches(event, &found)) {
                return Some(found);
            }
            let Some(last) = events.last().and_then(|event| event.head.seq) else { break };
            left = left.saturating_sub(last - after);
            (after, count) = (last, MANY);
        }
        upto = found.seq.checked_sub(1)?;
    }
    None
}

/// Whether an event says that just this was saved.
fn vouches(event: &Event, found: &port::Saved) -> bool {
    let Body::CheckpointSaved(saved) = &event.body else { return false };
    let hash = saved.saved_hash.as_ref().and_then(|hash| hash.parse().ok());
    saved.seq() == Some(found.seq) && hash == Some(found.hash)
}
