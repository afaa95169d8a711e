//! [`Ledger`]: what was appended, as the journal saw it: each event is looked at once, however often a process dies.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use antiphon_event::{Body, Event, Json, NodeStatus, RelayId};
use antiphon_port::{Batch, Form};

use crate::world::{Mark, World};

/// What was appended.
pub(crate) struct Ledger {
    world: Arc<World>,
    known: Mutex<Known>,
}

/// What is known of the events of a journal.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// How many there are.
    pub(crate) seq: u64,
    /// How many of them were acknowledged.
    pub(crate) acknowledged: u64,
    /// Appends that were tried.
    pub(crate) appends: u64,
    /// Node executions and attempts.
    pub(crate) steps: u64,
    /// Checkpoints that were saved.
    pub(crate) checkpoints: u64,
    /// What each request is about.
    asked: HashMap<RelayId, Option<Json>>,
    /// Everything that was appended, if it is to be gone back to.
    pub(crate) tape: Option<Tape>,
}

/// A journal as it grew.
#[derive(Debug, Default)]
pub(crate) struct Tape {
    /// Each append, and how far the outside was then.
    pub(crate) appends: Vec<(Batch, Mark)>,
    /// Each saved fold, and how many appends there were before it.
    pub(crate) saves: Vec<(usize, Form, u64, Arc<Vec<u8>>)>,
}

impl Ledger {
    pub(crate) fn new(world: Arc<World>) -> Self {
        Self { world, known: Mutex::default() }
    }

    /// One that can be gone back in.
    pub(crate) fn taped(world: Arc<World>) -> Self {
        let known = Known { tape: Some(Tape::default()), ..Known::default() };
        Self { world, known: Mutex::new(known) }
    }

    pub(crate) fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().expect("nobody panics while holding it")
    }

    /// Somebody tries to append.
    pub(crate) fn tried(&self) {
        self.known().appends += 1;
    }

    /// The journal has these events now.
    pub(crate) fn kept(&self, batch: &Batch, acknowledged: bool) {
        let mut known = self.known();
        for event in batch.iter() {
            known.take(event, &self.world);
        }
        if acknowledged {
            known.acknowledged = known.seq;
        }
        if let Some(tape) = &mut known.tape {
            tape.appends.push((batch.clone(), self.world.mark()));
        }
    }

    /// The journal has a saved fold.
    pub(crate) fn saved(&self, form: Form, seq: u64, bytes: &[u8]) {
        if let Some(tape) = &mut self.known().tape {
            tape.saves.push((tape.appends.len(), form, seq, Arc::new(bytes.to_vec())));
        }
    }

    /// What a request is about, if it is about something.
    pub(crate) fn asked(&self, relay: &RelayId) -> Result<Option<Json>, String> {
        let asked = self.known().asked.get(relay).cloned();
        asked.ok_or_else(|| format!("relay {relay} is pending and not in the journal"))
    }
}

impl Known {
    fn take(&mut self, event: &Event, world: &World) {
        self.seq += 1;
        match &event.body {
            Body::NodeStart(_) => self.steps += 1,
            Body::CheckpointSaved(_) => self.checkpoints += 1,
            Body::Relay(asked) => {
                self.asked.insert(asked.id.clone(), asked.params.clone());
            }
            Body::NodeEnd(end) if end.status == NodeStatus::Completed => {
                if let (Some(run), Some(node)) = (&event.head.run_id, &event.head.node_id) {
                    world.complete(format!("{run}/{node}/{}", end.execution));
                }
            }
            _ => {}
        }
    }
}
