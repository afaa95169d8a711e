//! The hash chain: each event's hash covers the one before it and the bytes it is stored as.
//!
//! What the events of a record share is covered with the first of them. Start reading at [`chain`].

use antiphon_port::{Branch, Hash};
use memchr::memchr_iter;

/// The hash that an empty branch begins with.
pub(crate) fn genesis(branch: &Branch) -> Hash {
    let mut hasher = blake3::Hasher::new();
    for part in ["antiphon", branch.session.as_str(), branch.branch.as_str()] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    Hash(*hasher.finalize().as_bytes())
}

/// The hash after each event of a record, given the one before it.
pub(crate) fn chain(before: Hash, record: &str) -> impl Iterator<Item = Hash> + '_ {
    let mut last = before;
    parts(record).map(move |part| {
        last = link(last, part.as_bytes());
        last
    })
}

/// The hash after the bytes of one event, given the one before it.
pub(super) fn link(before: Hash, part: &[u8]) -> Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&before.0).update(part);
    Hash(*hasher.finalize().as_bytes())
}

/// The bytes of each event with their line break, those of the first led by what all share.
pub(crate) fn parts(record: &str) -> impl Iterator<Item = &str> {
    let mut start = 0;
    memchr_iter(b'\n', record.as_bytes()).skip(1).map(move |end| {
        let part = &record[start..=end];
        start = end + 1;
        part
    })
}
