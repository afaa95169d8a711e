//! [`Seen`]: which events a fold has had already.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{BranchId, Event, SessionId};

/// The last position applied, for each branch.
///
/// A repeat is an event whose position is not beyond the last one of its branch; an event without a
/// position is never one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    last: Vec<(Option<SessionId>, Option<BranchId>, u64)>,
    /// Where each branch stands in `last`, once there are too many to look through.
    #[serde(skip)]
    places: BTreeMap<(Option<SessionId>, Option<BranchId>), usize>,
    /// The branch of the latest event: streams stay on one branch for long.
    latest: usize,
}

impl Seen {
    /// Notes an event; `false` if it is a repeat.
    pub fn admit(&mut self, event: &Event) -> bool {
        let Some(seq) = event.head.seq else {
            return true;
        };
        let place = self.place(event);
        let last = &mut self.last[place].2;
        if seq <= *last {
            return false;
        }
        *last = seq;
        true
    }

    /// The last position noted for any branch, of the branch the latest event was on.
    pub fn position(&self) -> Option<u64> {
        self.last.get(self.latest).map(|(_, _, seq)| *seq)
    }

    fn place(&mut self, event: &Event) -> usize {
        let (session, branch) = (&event.head.session_id, &event.head.branch_id);
        if let Some((s, b, _)) = self.last.get(self.latest)
            && s == session
            && b == branch
        {
            return self.latest;
        }
        if self.places.len() != self.last.len() {
            let places = self.last.iter().enumerate();
            self.places = places.map(|(place, (s, b, _))| ((s.clone(), b.clone()), place)).collect();
        }
        let key = (session.clone(), branch.clone());
        let last = &mut self.last;
        self.latest = *self.places.entry(key).or_insert_with(|| {
            last.push((session.clone(), branch.clone(), 0));
            last.len() - 1
        });
        self.latest
    }
}
