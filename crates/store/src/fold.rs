//! Which saved folds are kept, the newest, and of the older ones as many as fit, spread over the branch; and which of them
//! the history vouches for.
//!
//! In: the positions and sizes of those that are there. Out: the positions of those that go. Start reading at [`surplus`],
//! then [`Vouched`].

use std::collections::BTreeMap;

use antiphon_event::{Body, Event};
use antiphon_port::{Branch, Damage, Fault, Hash, Wrong};

/// How many bytes a saved fold may have.
pub(crate) const BYTES_MAX: usize = 256 * 1024 * 1024;

/// How many saved folds of one name are kept for a branch.
const COUNT_MAX: usize = 256;

/// How many bytes they may have together, beside the newest one.
const TOTAL_MAX: usize = 64 * 1024 * 1024;

/// How many of the newest are kept whatever the distance between them.
const NEWEST: usize = 4;

/// Refuses a fold that is too large.
pub(crate) fn fit(bytes: &[u8]) -> Result<(), Fault> {
    if bytes.len() <= BYTES_MAX {
        return Ok(());
    }
    Err(Fault::TooLarge { what: "a saved fold", bytes: bytes.len(), max: BYTES_MAX })
}

/// What a fold is kept with, so that it is known later whether it is whole and of the same events.
pub(crate) fn seal(at: Hash, bytes: &[u8]) -> Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&at.0);
    hasher.update(bytes);
    Hash(*hasher.finalize().as_bytes())
}

/// What saved bytes are known by.
pub(crate) fn hash(bytes: &[u8]) -> Hash {
    Hash(*blake3::hash(bytes).as_bytes())
}

/// What the events of a branch say that was saved: its hash, by position.
#[derive(Debug, Default)]
pub(crate) struct Vouched(BTreeMap<u64, Hash>);

impl Vouched {
    /// Takes in an event, which hardly ever says anything about that.
    pub(crate) fn heed(&mut self, event: &Event) {
        let Body::CheckpointSaved(saved) = &event.body else { return };
        let hash = saved.saved_hash.as_ref().and_then(|hash| hash.parse().ok());
        if let (Some(seq), Some(hash)) = (saved.seq(), hash) {
            self.0.insert(seq, hash);
        }
    }

    /// Whether the fold of a branch at a position is vouched for, or what is wrong if it is another than the events say.
    pub(crate) fn judge(&self, branch: &Branch, seq: u64, bytes: &[u8]) -> Result<bool, Damage> {
        let Some(told) = self.0.get(&seq) else { return Ok(false) };
        if *told == hash(bytes) {
            return Ok(true);
        }
        let why = "it does not have the hash that its `checkpoint_saved` says".to_owned();
        Err(Damage { branch: branch.clone(), first: seq, last: seq, wrong: Wrong::Saved, why })
    }
}

/// The positions of those that go, of folds with these positions, in order, and sizes.
pub(crate) fn surplus(kept: impl IntoIterator<Item = (u64, usize)>) -> Vec<u64> {
    let mut kept: Vec<_> = kept.into_iter().collect();
    let Some((_, newest)) = kept.last().copied() else { return Vec::new() };
    let mut total = kept.iter().map(|(_, bytes)| bytes).sum::<usize>() - newest;
    let mut gone = Vec::new();
    while kept.len() > 1 && (kept.len() > COUNT_MAX || total > TOTAL_MAX) {
        let (seq, bytes) = kept.remove(least(&kept));
        total -= bytes;
        gone.push(seq);
    }
    gone
}

/// The one whose absence leaves the smallest gap.
fn least(kept: &[(u64, usize)]) -> usize {
    let older = kept.len().saturating_sub(NEWEST).max(1);
    let before = |index: usize| index.checked_sub(1).map_or(0, |before| kept[before].0);
    let gap = |index: &usize| kept[index + 1].0 - before(*index);
    (0..older.min(kept.len() - 1)).min_by_key(gap).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Saves one after the other; what is left.
    fn saved(positions: impl Iterator<Item = u64>, bytes: usize) -> Vec<u64> {
        let mut kept: Vec<u64> = Vec::new();
        for seq in positions {
            kept.push(seq);
            let gone = surplus(kept.iter().map(|seq| (*seq, bytes)));
            kept.retain(|seq| !gone.contains(seq));
        }
        kept
    }

    #[test]
    fn any_position_of_the_past_is_near_a_fold() {
        let kept = saved((1..=10_000).map(|nth| nth * 100), 1000);
        assert_eq!(kept.len(), COUNT_MAX);
        assert_eq!(kept[COUNT_MAX - NEWEST..], [999_700, 999_800, 999_900, 1_000_000]);
        let widest = kept.windows(2).map(|pair| pair[1] - pair[0]).max();
        assert!(widest < Some(4 * 1_000_000 / COUNT_MAX as u64), "{kept:?}");
    }

    #[test]
    fn together_they_have_no_more_bytes_than_may_be() {
        assert_eq!(saved(1..=20, TOTAL_MAX / 3).len(), 4, "three, and the newest");
        assert_eq!(saved(1..=20, TOTAL_MAX + 1), [20], "the newest stays whatever its size");
    }
}
