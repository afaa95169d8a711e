//! Where entries and parts stand in the snapshot.

use super::Thread;
use super::part::Part;
use crate::{Changes, Step};

impl Thread {
    /// The path of an entry; nothing if nobody wants it or the entry is not to be seen.
    pub(super) fn entry_path(&self, entry: u32, changes: &Changes) -> Option<Vec<Step<'static>>> {
        if !changes.are_wanted() {
            return None;
        }
        let mut back = Vec::new();
        let mut at = entry;
        loop {
            if !self.is_shown(at) {
                return None;
            }
            let (branch, slot) = self.entries[at as usize].place;
            let branch = &self.branches[branch as usize];
            back.extend([Step::Index(branch.entries.rank(slot)), Step::from("entries")]);
            let Some((part, nth)) = branch.under else {
                break;
            };
            let Part { entry, slot, .. } = self.parts[part as usize];
            let parts = &self.entries[entry as usize].parts;
            if !parts.is_shown(slot) || self.options.collapse_tools {
                return None;
            }
            back.extend([
                Step::Index(nth),
                Step::from("branches"),
                Step::Index(parts.rank(slot)),
                Step::from("parts"),
            ]);
            at = entry;
        }
        back.reverse();
        Some(back)
    }

    /// The path of a part; nothing if nobody wants it or the part is not to be seen.
    pub(super) fn part_place(&self, part: u32, changes: &Changes) -> Option<Vec<Step<'static>>> {
        let Part { entry, slot, .. } = self.parts[part as usize];
        let parts = &self.entries[entry as usize].parts;
        if !parts.is_shown(slot) {
            return None;
        }
        let mut path = self.entry_path(entry, changes)?;
        path.extend([Step::from("parts"), Step::Index(parts.rank(slot))]);
        Some(path)
    }

    /// The path of a member of a part.
    pub(super) fn part_path(
        &self,
        part: u32,
        changes: &Changes,
        member: &'static str,
    ) -> Option<Vec<Step<'static>>> {
        let mut path = self.part_place(part, changes)?;
        path.push(Step::from(member));
        Some(path)
    }
}
