//! [`Dealt`]: what owners have said they dealt with, so that asking again and again writes nothing.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use antiphon_event::SessionId;

/// How many sessions are remembered.
const REMEMBERED_MAX: usize = 16_384;

/// The last number that the owner of each session has dealt with. Forgetting one costs a write, no more.
#[derive(Debug, Default)]
pub(super) struct Dealt(Mutex<HashMap<SessionId, u64>>);

impl Dealt {
    /// Notes a number; whether there may be something to remove that was not removed before.
    pub(super) fn note(&self, session: &SessionId, done: u64) -> bool {
        if done == 0 {
            return false;
        }
        let mut dealt = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if dealt.len() >= REMEMBERED_MAX {
            dealt.clear();
        }
        dealt.insert(session.clone(), done) != Some(done)
    }
}
