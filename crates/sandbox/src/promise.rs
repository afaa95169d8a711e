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
pub(crate) struct Promises(Mutex<HashMap<String, BTreeSet<PathBuf>>>);

impl Promises {
    /// Notes where a path leads.
    pub(crate) fn note(&self, given: &str, resolved: &Path) {
        let mut promises = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if promises.len() >= PATHS_MAX {
            // Only calls that were never made are still in it, but for a few.
            promises.clear();
        }
        promises.entry(given.to_owned()).or_default().insert(resolved.to_owned());
    }

    /// Whether a path leads where it was said to, if anything was said; after that all is forgotten.
    pub(crate) fn is_kept(&self, given: &str, resolved: &Path) -> bool {
        let said = self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(given);
        said.is_none_or(|said| said.iter().all(|place| place == resolved))
    }
}
