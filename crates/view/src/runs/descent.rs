//! Who started whom, as the rows of runs say it.

use std::collections::{BTreeMap, BTreeSet};

use antiphon_event::{Event, RunId};
use serde::{Deserialize, Serialize};

use super::{Kind, Runs};
use crate::value::{fill, put};
use crate::{Changes, path};

/// Which run follows from which, without circles.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Descent {
    parents: BTreeMap<usize, usize>,
    /// The runs that others follow from.
    followed: BTreeSet<usize>,
}

impl Runs {
    /// Finds the run that caused this one, or lets it wait for that.
    pub(super) fn link(&mut self, place: usize, changes: &mut Changes) {
        let Some(parent) = self.rows[place].parent_id.clone() else { return };
        if let Some(found) = self.family.cause(&parent) {
            self.attach(place, found, changes);
            return;
        }
        put(&mut self.rows[place].orphan, true, changes, path!["runs", place, "orphan"]);
        self.family.wait(place, &parent);
    }

    /// Gives the run of an event, and its content, to those that wait for them.
    pub(super) fn adopt(&mut self, run: &RunId, event: &Event, changes: &mut Changes) {
        for (child, parent) in self.family.arrived(run, &event.body) {
            if self.rows[child].orphan {
                self.attach(child, parent, changes);
            }
        }
    }

    fn attach(&mut self, child: usize, parent: usize, changes: &mut Changes) {
        put(&mut self.rows[child].orphan, false, changes, path!["runs", child, "orphan"]);
        if self.is_within(parent, child) {
            return;
        }
        self.descent.parents.insert(child, parent);
        self.descent.followed.insert(parent);
        let parent_run = self.rows[parent].run_id.clone();
        let slot = &mut self.rows[child].parent_run_id;
        fill(slot, Some(parent_run), changes, path!["runs", child, "parentRunId"]);
        // A person who answers follows a run, but is not a part of it.
        let children = self.rows[parent].children + u64::from(self.rows[child].kind != Kind::User);
        put(&mut self.rows[parent].children, children, changes, path!["runs", parent, "children"]);
    }

    /// Whether a run is another one or follows from it. Only one that is followed has to be looked for.
    fn is_within(&self, run: usize, other: usize) -> bool {
        if !self.descent.followed.contains(&other) {
            return run == other;
        }
        std::iter::successors(Some(run), |run| self.descent.parents.get(run).copied()).any(|run| run == other)
    }
}
