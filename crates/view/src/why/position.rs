//! [`Positions`]: which event is at which position of which branch.

use std::collections::BTreeMap;

use antiphon_event::body::session::ForkPoint;
use antiphon_event::{Body, BranchId, Event, SessionId};
use serde::{Deserialize, Serialize};
use serde_with::serde_as;

/// The branch of a session, as far as events name them.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Place {
    /// The session.
    pub session_id: Option<SessionId>,
    /// The branch.
    pub branch_id: Option<BranchId>,
}

impl Place {
    /// Where an event says it is.
    pub fn of(event: &Event) -> Self {
        Self { session_id: event.head.session_id.clone(), branch_id: event.head.branch_id.clone() }
    }
}

/// The positions of all branches. What a branch has of the one it forks from is found there.
#[serde_as]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Positions {
    branches: Vec<Branch>,
    #[serde_as(as = "Vec<(_, _)>")]
    by_place: BTreeMap<Place, usize>,
    /// The branch of the latest event: streams stay on one for long.
    latest: usize,
}

/// The positions of one branch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Branch {
    place: Place,
    from: Option<ForkPoint>,
    /// Stretches of positions without gaps: which event each begins with, and how long it is.
    stretches: BTreeMap<u64, (u32, u32)>,
    /// The stretch that is growing.
    growing: u64,
}

impl Positions {
    /// Notes the position of the event taken in as the n-th.
    pub(super) fn note(&mut self, event: &Event, seq: u64, index: u32) {
        let branch = self.branch(event);
        let branch = &mut self.branches[branch];
        if let Body::BranchCreated(created) = &event.body {
            branch.from.clone_from(&created.from);
        }
        if let Some((start, length)) = branch.stretches.get_mut(&branch.growing)
            && branch.growing + u64::from(*length) == seq
            && *start + *length == index
        {
            *length += 1;
            return;
        }
        branch.stretches.insert(seq, (index, 1));
        branch.growing = seq;
    }

    /// The events at a position, with the branches they are on, in the order in which these were heard of.
    pub(super) fn at(&self, seq: u64) -> impl Iterator<Item = (&Place, usize)> {
        self.branches.iter().filter_map(move |branch| Some((&branch.place, branch.at(seq)?)))
    }

    /// The event at a position of a branch, or of what that forks from.
    pub(super) fn on(&self, place: &Place, seq: u64) -> Option<usize> {
        let mut branch = &self.branches[*self.by_place.get(place)?];
        // A branch that forks from itself, by whatever way, has as many ancestors as there are branches at most.
        for _ in &self.branches {
            if let Some(index) = branch.at(seq) {
                return Some(index);
            }
            let from = branch.from.as_ref().filter(|from| seq <= from.seq)?;
            let session_id = branch.place.session_id.clone();
            let place = Place { session_id, branch_id: Some(from.branch_id.clone()) };
            branch = &self.branches[*self.by_place.get(&place)?];
        }
        None
    }

    /// All branches that have a position, in the order in which they were heard of.
    pub(super) fn places(&self) -> impl Iterator<Item = &Place> {
        self.branches.iter().map(|branch| &branch.place)
    }

    fn branch(&mut self, event: &Event) -> usize {
        let (session, branch) = (&event.head.session_id, &event.head.branch_id);
        if let Some(Branch { place, .. }) = self.branches.get(self.latest)
            && place.branch_id == *branch
            && place.session_id == *session
        {
            return self.latest;
        }
        self.latest = *self.by_place.entry(Place::of(event)).or_insert_with_key(|place| {
            self.branches.push(Branch {
                place: place.clone(),
                from: None,
                stretches: BTreeMap::new(),
                growing: 0,
            });
            self.branches.len() - 1
        });
        self.latest
    }
}

impl Branch {
    fn at(&self, seq: u64) -> Option<usize> {
        let (first, (index, length)) = self.stretches.range(..=seq).next_back()?;
        let offset = u32::try_from(seq - first).ok().filter(|offset| offset < length)?;
        Some((index + offset) as usize)
    }
}
