//! [`Index`]: from an id to the place of what it names, for one writer and any number of readers.
//!
//! Ids are only ever added, so a snapshot shares the table with the writer instead of copying it: entries that
//! came later point beyond the snapshot's length and are passed over. Readers take no lock.

use std::hash::BuildHasher;
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

impl Default for Index {
    fn default() -> Self {
        Self { slots: empty(FIRST_SLOTS), len: 0 }
    }
}

/// The part of an id's hash that the table keeps; its lowest bits say where in the table.
///
/// Ids that differ only in their last digit stand near each other, and the result of a call beside the call: most ids
/// are numbered as they come, so a new one finds the memory it needs in the cache. There are never more than twenty
/// such ids, so whoever chooses ids cannot crowd the table.
pub(crate) fn hash(id: &str) -> u32 {
    // Gaps between them are for ids that come to the same part of the table.
    let place = |digit: &u8| 3 * u32::from(digit - b'0') + 1;
    let (stem, near) = match id.as_bytes() {
        [stem @ .., digit @ b'0'..=b'9'] => (stem, place(digit)),
        [stem @ .., digit @ b'0'..=b'9', b':', b'r', b'e', b's', b'u', b'l', b't'] => {
            (stem, place(digit) + 1)
        }
        whole => (whole, 0),
    };
    FixedState::default().hash_one(stem) as u32 ^ near
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
            at = (at + 1) & mask;
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

fn empty(slots: usize) -> Arc<[AtomicU64]> {
    (0..slots).map(|_| AtomicU64::new(0)).collect()
}

fn put(slots: &[AtomicU64], slot: u64) {
    let mask = slots.len() - 1;
    let mut at = (slot >> 32) as usize & mask;
    while slots[at].load(Ordering::Relaxed) != 0 {
        at = (at + 1) & mask;
    }
    slots[at].store(slot, Ordering::Release);
}
