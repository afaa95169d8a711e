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

impl<K: Hash + Eq> PartialEq for Index<K> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<K: Hash + Eq> Index<K> {
    pub(crate) fn get(&self, key: &K) -> Option<usize> {
        self.0.get(key).copied()
    }

    pub(crate) fn insert(&mut self, key: K, place: usize) {
        self.0.insert(key, place);
    }

    pub(crate) fn remove(&mut self, key: &K) {
        self.0.swap_remove(key);
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

/// Places by an id that is unique within a run, and often but not always beyond it: how a result finds its call and an
/// answer its request, in all views.
///
/// What is said in a run belongs to what that run calls by the id. Where the run knows nothing by it, or is not told, it
/// belongs to what last had the id in whatever run, if that is still open. Where there is no such thing, a view keeps a place
/// for it, until it begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound(serialize = "I: Hash + Ord + Serialize", deserialize = "I: Hash + Eq + Deserialize<'de>"))]
pub(crate) struct ByRun<I: Hash + Eq = Arc<str>> {
    /// What began in a run.
    own: Index<(RunId, I)>,
    /// What else a run has spoken of: it began in another, or has not begun.
    meant: Index<(RunId, I)>,
    latest: Index<I>,
}

impl<I: Hash + Eq> Default for ByRun<I> {
    fn default() -> Self {
        Self { own: Index::default(), meant: Index::default(), latest: Index::default() }
    }
}

impl<I: Hash + Eq + Clone> ByRun<I> {
    /// The place of what a run calls by this id.
    pub(crate) fn exact(&self, run: &RunId, id: &I) -> Option<usize> {
        let key = (run.clone(), id.clone());
        self.own.get(&key).or_else(|| self.meant.get(&key))
    }

    /// The place of what begins in a run: the one it has there already, else one that was kept for it.
    pub(crate) fn begins(&self, run: &RunId, id: &I, is_kept: impl Fn(usize) -> bool) -> Option<usize> {
        let key = (run.clone(), id.clone());
        let kept = |place: &usize| is_kept(*place);
        let meant = || self.meant.get(&key).filter(kept);
        self.own.get(&key).or_else(meant).or_else(|| self.latest.get(id).filter(kept))
    }

    /// The place of what something is about that was said in a run, if it is known in which.
    pub(crate) fn about(
        &self,
        run: Option<&RunId>,
        id: &I,
        is_open: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let exact = run.and_then(|run| self.exact(run, id));
        exact.or_else(|| self.latest.get(id).filter(|place| run.is_none() || is_open(*place)))
    }

    /// Notes the place of what began in a run.
    pub(crate) fn begun(&mut self, run: &RunId, id: &I, place: usize) {
        self.own.insert((run.clone(), id.clone()), place);
        self.latest.insert(id.clone(), place);
    }

    /// Notes the place of what a run speaks of; what it has spoken of before is no news.
    pub(crate) fn first_spoken_of(&mut self, run: &RunId, id: &I, place: usize) {
        if self.exact(run, id) != Some(place) {
            self.spoken_of(Some(run), id, place);
        }
    }

    /// Notes the place of what was spoken of.
    pub(crate) fn spoken_of(&mut self, run: Option<&RunId>, id: &I, place: usize) {
        if let Some(run) = run.filter(|run| self.exact(run, id) != Some(place)) {
            self.meant.insert((run.clone(), id.clone()), place);
        }
        self.latest.insert(id.clone(), place);
    }
}
