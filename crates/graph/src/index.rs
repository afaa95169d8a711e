//! [`Index`]: from an id to the place of what it names, for one writer and any number of readers.
//!
//! Ids are only ever added, so a snapshot shares the table with the writer instead of copying it: entries that
//! came later point beyond the snapshot's length and are passed over. Readers take no lock.

use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use foldhash::fast::FixedState;

/// An open-addressing table of (hash, place); empty slots are 0. Cloning shares it.
#[derive(Debug, Clone)]
pub(crate) struct Index {
    slots: Arc<[AtomicU64]>,
    /// How many entries this handle knows of.
    len: usize,
}

/// Slots of a new table. A power of two, as all later sizes.
const FIRST_SLOTS: usize = 16;

/// Slots for all ids that differ in their number only: a hundred, and as many results.
const BLOCK: usize = 256;

/// In how many times eight bytes at the end of an id its number is looked for.
const REACH: usize = 3;

impl Default for Index {
    fn default() -> Self {
        Self { slots: empty(FIRST_SLOTS), len: 0 }
    }
}

/// The part of an id's hash that the table keeps; its lowest bits say where in the table.
///
/// Ids that differ only in the last two digits of their number stand side by side, and the results of calls beside the
/// calls: most ids are numbered as they come, or made of the id of a run that is, so a new one finds the memory it needs
/// in the cache. At most two of them, `t7` and `t07`, have the same slot, so whoever chooses ids cannot crowd the table.
pub(crate) fn hash(id: &str) -> u32 {
    let (of, is_result) = match id.as_bytes() {
        [call @ .., b':', b'r', b'e', b's', b'u', b'l', b't'] => (call, true),
        whole => (whole, false),
    };
    let Some(last) = counter(of) else {
        return FixedState::default().hash_one(id.as_bytes()) as u32;
    };
    let digit = |at: usize| u32::from(of[at] - b'0');
    let (first, number) = match last.checked_sub(1) {
        Some(tens) if of[tens].is_ascii_digit() => (tens, 10 * digit(tens) + digit(last)),
        _ => (last, digit(last)),
    };
    stem(&of[..first], &of[last + 1..]) ^ seat(number, is_result)
}

/// The hash that ids have in common which differ in their number only.
fn stem(before: &[u8], after: &[u8]) -> u32 {
    if after.is_empty() {
        return FixedState::default().hash_one(before) as u32;
    }
    let mut hasher = FixedState::default().build_hasher();
    hasher.write(before);
    hasher.write(after);
    hasher.finish() as u32
}

/// Which slot of its block an id has, by its number: one after the other, so that a processor that fetches the next line
/// of memory unasked has the right one.
fn seat(number: u32, is_result: bool) -> u32 {
    number + u32::from(is_result) * (BLOCK as u32 / 2)
}

/// Where the digit of an id is that changes from one id to the next: the last of its last number of several digits, or
/// else of its last number. Only the end of an id is looked at.
#[inline]
fn counter(id: &[u8]) -> Option<usize> {
    if let [.., b'0'..=b'9', b'0'..=b'9'] = id {
        return Some(id.len() - 1);
    }
    let (mut only, mut end) = (None, id.len());
    for _ in 0..REACH {
        let start = end.saturating_sub(8);
        let Some(bytes) = id[start..].first_chunk() else {
            return id.iter().rposition(u8::is_ascii_digit);
        };
        let digits = digits(u64::from_le_bytes(*bytes));
        let later = digits & digits << 8;
        let at = |found: u64| start + found.ilog2() as usize / 8;
        if later != 0 {
            return Some(at(later));
        }
        if only.is_none() && digits != 0 {
            only = Some(at(digits));
        }
        if start == 0 {
            break;
        }
        end = start;
    }
    only
}

/// The highest bit of each byte that is a digit.
fn digits(bytes: u64) -> u64 {
    let each = |byte: u8| u64::from_ne_bytes([byte; 8]);
    let from_zero = bytes ^ each(b'0');
    // What is above nine comes to have its highest bit set.
    let above_nine = ((from_zero & each(0x7f)) + each(0x7f - 9)) | from_zero;
    !above_nine & each(0x80)
}

impl Index {
    /// The place whose hash fits and which `is` the right one; `is` must say no to places it does not know.
    pub(crate) fn find(&self, hash: u32, mut is: impl FnMut(u32) -> bool) -> Option<u32> {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let slot = self.slots[at].load(Ordering::Acquire);
            if slot == 0 {
                return None;
            }
            let place = (slot as u32).wrapping_sub(1);
            if (slot >> 32) as u32 == hash && is(place) {
                return Some(place);
            }
            at = (at + stride(hash)) & mask;
        }
    }

    /// Adds a place. Only the one writer may call this: two handles that both add would see each other's.
    pub(crate) fn insert(&mut self, hash: u32, place: u32) {
        // Neighbours need room: in a fuller table those of several stems would stand in one another's way.
        if (self.len + 1) * 4 > self.slots.len() {
            self.grow();
        }
        put(&self.slots, u64::from(hash) << 32 | u64::from(place + 1));
        self.len += 1;
    }

    /// A copy that shares nothing, for a writer of its own; entries beyond `len` places are left behind.
    pub(crate) fn detached(&self, len: u32) -> Self {
        let slots = empty(self.slots.len());
        let known = |slot: &u64| *slot != 0 && (*slot as u32) <= len;
        for slot in self.slots.iter().map(|slot| slot.load(Ordering::Acquire)).filter(known) {
            put(&slots, slot);
        }
        Self { slots, len: self.len }
    }

    fn grow(&mut self) {
        let slots = empty(self.slots.len() * 2);
        for slot in self.slots.iter().map(|slot| slot.load(Ordering::Relaxed)).filter(|slot| *slot != 0) {
            put(&slots, slot);
        }
        self.slots = slots;
    }
}

/// How far it is to the next slot to try: in another block, the same for all ids of a block, so that they stay together.
/// It is odd, so that it leads to every slot.
fn stride(hash: u32) -> usize {
    ((hash >> 24) as usize | 1) * BLOCK + 1
}

fn empty(slots: usize) -> Arc<[AtomicU64]> {
    (0..slots).map(|_| AtomicU64::new(0)).collect()
}

fn put(slots: &[AtomicU64], slot: u64) {
    let mask = slots.len() - 1;
    let hash = (slot >> 32) as u32;
    let mut at = hash as usize & mask;
    while slots[at].load(Ordering::Relaxed) != 0 {
        at = (at + stride(hash)) & mask;
    }
    slots[at].store(slot, Ordering::Release);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn what_is_numbered_is_told_by_the_last_number_of_several_digits() {
        for (id, digit) in [
            ("", None),
            ("a", None),
            ("7", Some(0)),
            ("a7", Some(1)),
            ("a7:b", Some(1)),
            ("t10", Some(2)),
            ("run-12/t1", Some(5)),
            ("run-1/t12", Some(8)),
            ("run-1/t2", Some(7)),
            ("run-12345/t1", Some(8)),
            ("run-12345:usage:1", Some(8)),
            ("run-12345:harness_start", Some(8)),
            ("run-1:harness_start", Some(4)),
            ("/0:9", Some(3)),
            ("\u{f0}\u{b9}0\u{39a}", Some(4)),
            ("run-120:usage:1", Some(6)),
            ("12 and then nothing", Some(1)),
            ("12 and then nothing for long", None),
        ] {
            assert_eq!(counter(id.as_bytes()), digit, "{id}");
        }
    }

    #[test]
    fn ids_that_differ_in_their_number_stand_side_by_side_each_in_a_slot_of_its_own() {
        for (before, after) in
            [("run-0/t1", ""), ("run-1", "/t1"), ("run-1", ":usage:1"), ("run-0/c1", ":result")]
        {
            let slots: BTreeSet<_> = (0..100).map(|n| hash(&format!("{before}{n:02}{after}"))).collect();
            let lines: BTreeSet<_> = slots.iter().map(|slot| slot / 8).collect();
            assert_eq!((slots.len(), lines.len()), (100, 13), "{before} {after}");
        }
        let (call, result) = (hash("run-0/c120"), hash("run-0/c120:result"));
        assert_ne!(call, result);
        assert_eq!(call as usize / BLOCK, result as usize / BLOCK);
    }

    #[test]
    fn every_id_is_found_again_also_where_blocks_are_crowded() {
        let id = |n: u32| format!("run-{}/t{}", n % 7, n / 7);
        let mut index = Index::default();
        for n in 0..20_000 {
            assert_eq!(index.find(hash(&id(n)), |place| id(place) == id(n)), None);
            index.insert(hash(&id(n)), n);
        }
        for n in 0..20_000 {
            assert_eq!(index.find(hash(&id(n)), |place| id(place) == id(n)), Some(n));
        }
    }
}
