//! [`Faulty`]: a journal whose process dies at appends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use antiphon_event::{Event, SessionId};
use antiphon_port::{
    Ack, Batch, Branch, BranchSummary, Claim, Exported, Fault, Form, Hash, Head, Journal, Page, Reply, Saved,
    Sent, SessionSummary, Verdict,
};
use fastrand::Rng;

use crate::ledger::Ledger;

/// How often an append goes wrong.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Trouble {
    /// Never.
    None,
    /// One append in so many kills the process; as many are refused for a moment.
    OneIn(u64),
}

/// How many events are read at a time where that is less than is asked for.
const FEW: usize = 7;

/// A journal whose process dies at appends: before they are kept, or after and before anybody hears of it.
pub(crate) struct Faulty {
    inner: Arc<dyn Journal>,
    trouble: Trouble,
    chance: Mutex<Rng>,
    dead: AtomicBool,
    /// Whether saved folds are not found, and fewer events are read at a time than are asked for, as where they are large.
    is_forgetful: bool,
    /// What was appended, by all processes.
    ledger: Arc<Ledger>,
}

impl Faulty {
    pub(crate) fn new(inner: Arc<dyn Journal>, trouble: Trouble, seed: u64, ledger: Arc<Ledger>) -> Self {
        let chance = Mutex::new(Rng::with_seed(seed));
        Self { inner, trouble, chance, dead: AtomicBool::new(false), is_forgetful: false, ledger }
    }

    /// The same events without faults and without saved folds, a few at a time.
    pub(crate) fn forgetful(inner: Arc<dyn Journal>, ledger: Arc<Ledger>) -> Self {
        Self { is_forgetful: true, ..Self::new(inner, Trouble::None, 0, ledger) }
    }

    fn keep(&self, branch: &Branch, expected: u64, batch: Batch, acknowledged: bool) -> Ack {
        self.ledger.kept(&batch, acknowledged);
        self.inner.append(branch, expected, batch)
    }

    fn roll(&self) -> u64 {
        match self.trouble {
            Trouble::None => u64::MAX,
            Trouble::OneIn(many) => self.chance.lock().expect("nobody panics while rolling").u64(0..many * 3),
        }
    }
}

fn dies() -> Fault {
    Fault::Storage { place: "simulation".into(), why: "the process died".into(), passing: false }
}

impl Journal for Faulty {
    fn append(&self, branch: &Branch, expected: u64, batch: Batch) -> Ack {
        if self.dead.load(Ordering::Relaxed) {
            return Reply::ready(Err(dies()));
        }
        self.ledger.tried();
        match self.roll() {
            0 => {
                self.dead.store(true, Ordering::Relaxed);
                Reply::ready(Err(dies()))
            }
            1 => {
                self.dead.store(true, Ordering::Relaxed);
                let _kept = self.keep(branch, expected, batch, false);
                Reply::ready(Err(dies()))
            }
            2 => Reply::ready(Err(Fault::Busy { place: "simulation".into(), waiting: 1 })),
            _ => self.keep(branch, expected, batch, true),
        }
    }

    fn read(&self, branch: &Branch, after: u64, limit: usize) -> Reply<Vec<Event>> {
        let limit = if self.is_forgetful { limit.min(FEW) } else { limit };
        self.inner.read(branch, after, limit)
    }

    fn export(&self, branch: &Branch, after: u64, limit: usize) -> Reply<Vec<Exported>> {
        self.inner.export(branch, after, limit)
    }

    fn head(&self, branch: &Branch) -> Reply<Head> {
        self.inner.head(branch)
    }

    fn create(&self, branch: &Branch) -> Reply<Head> {
        self.inner.create(branch)
    }

    fn import(&self, branch: &Branch, batches: Vec<Batch>) -> Reply<Head> {
        self.inner.import(branch, batches)
    }

    fn fork(&self, from: &Branch, at: u64, into: &Branch) -> Reply<Head> {
        self.inner.fork(from, at, into)
    }

    fn sessions(&self, page: Page) -> Reply<Vec<SessionSummary>> {
        self.inner.sessions(page)
    }

    fn branches(&self, session: &SessionId) -> Reply<Vec<BranchSummary>> {
        self.inner.branches(session)
    }

    fn remove(&self, session: &SessionId, force: bool) -> Reply<()> {
        self.inner.remove(session, force)
    }

    fn verify(&self, branch: &Branch) -> Reply<Verdict> {
        self.inner.verify(branch)
    }

    fn claim(&self, session: &SessionId) -> Result<Claim, Fault> {
        self.inner.claim(session)
    }

    fn send(&self, session: &SessionId, text: &str) -> Reply<u64> {
        self.inner.send(session, text)
    }

    fn take(&self, session: &SessionId, done: u64) -> Reply<Vec<Sent>> {
        self.inner.take(session, done)
    }

    /// A fold that is not kept is nothing a run may suffer from.
    fn save(&self, branch: &Branch, form: Form, seq: u64, bytes: Vec<u8>) -> Reply<Hash> {
        if self.dead.load(Ordering::Relaxed) || self.roll() < 3 {
            return Reply::ready(Err(dies()));
        }
        self.ledger.saved(form, seq, &bytes);
        self.inner.save(branch, form, seq, bytes)
    }

    fn saved(&self, branch: &Branch, form: Form, at: u64) -> Reply<Option<Saved>> {
        if self.is_forgetful {
            return Reply::ready(Ok(None));
        }
        self.inner.saved(branch, form, at)
    }
}
