//! Where the rows of a view are, by key. For looking up only: what a reader sees never depends on its order.

use std::hash::Hash;
use std::sync::Arc;

use antiphon_event::RunId;
use foldhash::fast::FixedState;
use indexmap::IndexMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Places by key. Saved as a sorted list, so that equal indexes are saved as equal text.
///
/// Keys stand in the order they came, with their hashes: one more is written where the one before was, what is looked up
/// at random is small, and a table that grows reads no key again.
#[derive(Debug, Clone)]
pub(crate) struct Index<K>(IndexMap<K, usize, FixedState>);

impl<K> Default for Index<K> {
    fn default() -> Self {
        Self(IndexMap::default())
    }
}

impl<K: Hash + Eq> Index<K> {
    pub(crate) fn get(&self, key: &K) -> Option<usize> {
        self.0.get(key).copied()
    }

    pub(crate) fn insert(&mut self, key: K, place: usize) {
        self.0.insert(key, place);
    }
}

impl<K: Ord + Serialize> Serialize for Index<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut entries: Vec<_> = self.0.iter().collect();
        entries.sort_unstable();
        serializer.collect_seq(entries)
    }
}

impl<'de, K: Hash + Eq + Deserialize<'de>> Deserialize<'de> for Index<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let entries = Vec::<(K, usize)>::deserialize(deserializer)?;
        Ok(Self(entries.into_iter().collect()))
    }
}

/// Places by an id that is unique within a run, and often but not always beyond it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct ByRun {
    exact: Index<(RunId, Arc<str>)>,
    latest: Index<Arc<str>>,
}

impl ByRun {
    /// The place of the id in this run.
    pub(crate) fn exact(&self, run: &RunId, id: &Arc<str>) -> Option<usize> {
        self.exact.get(&(run.clone(), Arc::clone(id)))
    }

    /// The place the id was last given, in whatever run.
    pub(crate) fn latest(&self, id: &Arc<str>) -> Option<usize> {
        self.latest.get(id)
    }

    pub(crate) fn insert(&mut self, run: &RunId, id: &Arc<str>, place: usize) {
        self.exact.insert((run.clone(), Arc::clone(id)), place);
        self.latest.insert(Arc::clone(id), place);
    }

    /// Notes the place of an id whose run is not known.
    pub(crate) fn insert_anywhere(&mut self, id: &Arc<str>, place: usize) {
        self.latest.insert(Arc::clone(id), place);
    }
}
