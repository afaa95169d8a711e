//! What rules were told about paths: a call goes nowhere else.
//!
//! Between the word on what a call touches and the call, a person may have thought for an hour, and another call may
//! have turned a link round.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// How many paths are remembered between a word and its call.
const PATHS_MAX: usize = 10_000;

/// Where paths that were given led when rules were told of them.
#[derive(Debug, Default)]
pub(crate) struct Promises(Mutex<HashMap<String, Promise>>);

#[derive(Debug, Default)]
struct Promise {
    places: BTreeSet<PathBuf>,
    /// How many calls it was said for.
    calls: usize,
}

impl Promises {
    /// Notes where a path leads.
    pub(crate) fn note(&self, given: &str, resolved: &Path) {
        let mut promises = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if promises.len() >= PATHS_MAX {
            // Only calls that were never made are still in it, but for a few.
            promises.clear();
        }
        let promise = promises.entry(given.to_owned()).or_default();
        // Two places are as bad as many.
        if promise.places.len() < 2 {
            promise.places.insert(resolved.to_owned());
        }
        promise.calls += 1;
    }

    /// Whether a path leads where it was said to, if anything was said. A promise that was broken is forgotten.
    pub(crate) fn is_kept(&self, given: &str, resolved: &Path) -> bool {
        let mut promises = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(promise) = promises.get_mut(given) else { return true };
        let is_kept = promise.places.iter().all(|place| place == resolved);
        promise.calls -= 1;
        if promise.calls == 0 || !is_kept {
            promises.remove(given);
        }
        is_kept
    }
}
