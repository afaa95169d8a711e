//! [`Edit`]: a row is edited and the change said in one step, so that the two cannot drift apart.
//!
//! In: a place in a row and what it becomes. Out: the row changed, and a [`crate::Change`] if that made a
//! difference. Members that are empty are left out of snapshots; the helpers here know that.

use serde::Serialize;

use crate::{Changes, Step, Tally};

/// Edits one row. Nothing is said about a row that is not in the snapshot yet.
pub(crate) struct Edit<'a> {
    changes: Option<&'a mut Changes>,
    row: &'a [Step<'a>],
}

impl<'a> Edit<'a> {
    /// Edits the row at a path of the snapshot.
    pub(crate) fn at(changes: &'a mut Changes, row: &'a [Step<'a>]) -> Self {
        let changes = Some(changes).filter(|changes| changes.are_wanted());
        Self { changes, row }
    }

    /// Edits a row at a path of the snapshot, if it is `shown` there.
    pub(crate) fn if_shown(shown: bool, changes: &'a mut Changes, row: &'a [Step<'a>]) -> Self {
        let changes = Some(changes).filter(|changes| shown && changes.are_wanted());
        Self { changes, row }
    }

    /// Puts a value into a place, unless it is there already.
    pub(crate) fn put<T: Serialize + PartialEq>(&mut self, name: &str, place: &mut T, value: T) {
        if *place != value {
            *place = value;
            self.say(name, |changes, path| changes.set(path, place));
        }
    }

    /// Puts a value into a place, if there is a value.
    pub(crate) fn put_given<T: Serialize + PartialEq>(
        &mut self,
        name: &str,
        place: &mut T,
        value: Option<T>,
    ) {
        if let Some(value) = value {
            self.put(name, place, value);
        }
    }

    /// Puts a value into a place that is optional, if there is a value.
    pub(crate) fn take<T: Serialize + PartialEq>(
        &mut self,
        name: &str,
        place: &mut Option<T>,
        value: Option<T>,
    ) {
        if value.is_some() {
            self.put(name, place, value);
        }
    }

    /// Puts a value into an optional place that is empty: the first to say something is believed.
    pub(crate) fn fill<T: Serialize + PartialEq>(
        &mut self,
        name: &str,
        place: &mut Option<T>,
        value: Option<T>,
    ) {
        if place.is_none() {
            self.take(name, place, value);
        }
    }

    /// Empties an optional place.
    pub(crate) fn clear<T>(&mut self, name: &str, place: &mut Option<T>) {
        if place.take().is_some() {
            self.say(name, Changes::remove);
        }
    }

    /// Takes a flag away; flags that are not set are left out of snapshots.
    pub(crate) fn drop_flag(&mut self, name: &str, place: &mut bool) {
        if std::mem::take(place) {
            self.say(name, Changes::remove);
        }
    }

    /// Takes all text away.
    pub(crate) fn wipe(&mut self, name: &str, place: &mut String) {
        if !place.is_empty() {
            place.clear();
            self.say(name, Changes::remove);
        }
    }

    /// Adds to the end of a text.
    pub(crate) fn write(&mut self, name: &str, place: &mut String, more: &str) {
        if more.is_empty() {
            return;
        }
        let first = place.is_empty();
        place.push_str(more);
        self.say(
            name,
            |changes, path| if first { changes.set(path, more) } else { changes.append(path, more) },
        );
    }

    /// Adds to the end of a list.
    pub(crate) fn push<T: Serialize>(&mut self, name: &str, place: &mut Vec<T>, value: T) {
        self.say(name, |changes, path| {
            if place.is_empty() { changes.set(path, &[&value]) } else { changes.append(path, &value) }
        });
        place.push(value);
    }

    /// Adds to what was used.
    pub(crate) fn add(&mut self, name: &str, place: &mut Tally, used: Tally) {
        let sum = place.plus(used);
        self.put(name, place, sum);
    }

    /// Adds one to a count.
    pub(crate) fn count(&mut self, name: &str, place: &mut u64) {
        let next = *place + 1;
        self.put(name, place, next);
    }

    fn say(&mut self, name: &str, say: impl FnOnce(&mut Changes, &[Step<'_>])) {
        if let Some(changes) = &mut self.changes {
            let mut path = self.row.to_vec();
            path.push(name.into());
            say(changes, &path);
        }
    }
}
