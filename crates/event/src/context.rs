//! Events that belong to the same share one [`Context`], also after they were read or given another.

use std::hash::BuildHasher;
use std::sync::Arc;

use foldhash::fast::FixedState;

use crate::{BranchId, Context, Head, SessionId};

/// How many different contexts are remembered at a time.
const KEPT: usize = 64;

/// Contexts seen lately, so that one that comes again is the same allocation.
#[derive(Debug)]
pub(crate) struct Contexts {
    slots: Vec<Option<Arc<Context>>>,
}

impl Default for Contexts {
    fn default() -> Self {
        Self { slots: vec![None; KEPT] }
    }
}

impl Contexts {
    pub(crate) fn share(&mut self, context: Context) -> Arc<Context> {
        let slot = FixedState::default().hash_one((&context.run_id, &context.span_id)) as usize % KEPT;
        match &self.slots[slot] {
            Some(known) if is_same(known, &context) => Arc::clone(known),
            _ => {
                let context = Arc::new(context);
                self.slots[slot] = Some(Arc::clone(&context));
                context
            }
        }
    }
}

/// Whether two are written alike: equal agents may have their unknown members in another order.
fn is_same(one: &Context, other: &Context) -> bool {
    let same_agent = match (&one.agent, &other.agent) {
        (Some(one), Some(other)) => Arc::ptr_eq(one, other),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    };
    same_agent && one == other
}

/// A branch of a session, as the place of events.
#[derive(Debug)]
pub struct Within {
    session: SessionId,
    branch: BranchId,
    /// What the last event belonged to before and belongs to now.
    last: Option<(Arc<Context>, Arc<Context>)>,
}

impl Within {
    /// This branch.
    pub fn new(session: SessionId, branch: BranchId) -> Self {
        Self { session, branch, last: None }
    }

    /// Puts an event there; one that belongs to the same as the one before goes on doing so.
    pub fn put(&mut self, head: &mut Head, seq: u64) {
        head.seq = Some(seq);
        if let Some((_, placed)) = self.last.as_ref().filter(|(before, _)| Arc::ptr_eq(before, &head.context))
        {
            head.context = Arc::clone(placed);
            return;
        }
        let before = Arc::clone(&head.context);
        head.session_id = Some(self.session.clone());
        head.branch_id = Some(self.branch.clone());
        self.last = Some((before, Arc::clone(&head.context)));
    }
}
