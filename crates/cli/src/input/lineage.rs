//! [`Lineage`]: which events of files are on a branch, or on what it forks from.
//!
//! A file may tell of a fork after what comes behind the fork point, so it is gone through once for the branches and
//! once for the events. In: where branches begin. Out: how far each is to be read. Start reading at [`Forks::of`].

use std::collections::{BTreeMap, BTreeSet};

use antiphon_event::body::session::ForkPoint;
use antiphon_event::{Body, BranchId, Event};
use antiphon_view::why::Place;

/// Branches that are named where another was asked for.
const SHOWN_MAX: usize = 10;

/// The branches of files, and where each forks off.
#[derive(Debug, Default)]
pub(super) struct Forks {
    from: BTreeMap<Place, Option<ForkPoint>>,
    /// The branch of the latest event: streams stay on one for long.
    latest: Option<Place>,
}

/// How far each branch is to be read, by its session and name.
#[derive(Debug)]
pub(super) struct Lineage(BTreeMap<Place, u64>);

impl Forks {
    /// Notes the branch of an event, and where it forks off.
    pub(super) fn note(&mut self, event: &Event) {
        if event.head.branch_id.is_none() {
            return;
        }
        if let Body::BranchCreated(created) = &event.body {
            self.from.insert(Place::of(event), created.from.clone());
        } else if !self.latest.as_ref().is_some_and(|latest| is_on(event, latest)) {
            self.from.entry(Place::of(event)).or_default();
            self.latest = Some(Place::of(event));
        }
    }

    /// The branches of this name with what they fork from; nothing if there is none.
    pub(super) fn of(&self, name: &str) -> Option<Lineage> {
        let mut far = BTreeMap::new();
        let called = |place: &&Place| place.branch_id.as_ref().is_some_and(|branch| *branch == name);
        for branch in self.from.keys().filter(called) {
            let (mut place, mut upto) = (branch.clone(), u64::MAX);
            while far.get(&place).is_none_or(|known| *known < upto) {
                far.insert(place.clone(), upto);
                let Some(Some(from)) = self.from.get(&place) else { break };
                place.branch_id = Some(from.branch_id.clone());
                upto = upto.min(from.seq);
            }
        }
        (!far.is_empty()).then_some(Lineage(far))
    }

    /// The branches that there are, in words.
    pub(super) fn known(&self) -> String {
        let names = self.from.keys().filter_map(|place| place.branch_id.as_ref());
        let names: BTreeSet<&str> = names.map(BranchId::as_str).collect();
        if names.is_empty() {
            return "no event says on which branch it is".into();
        }
        let more = if names.len() > SHOWN_MAX { ", …" } else { "" };
        let shown: Vec<&str> = names.into_iter().take(SHOWN_MAX).collect();
        format!("there is {}{more}", shown.join(", "))
    }
}

impl Lineage {
    /// Whether an event at this position is on the branch, or on what that forks from.
    pub(super) fn has(&self, event: &Event, position: u64) -> bool {
        event.head.branch_id.is_some() && self.0.get(&Place::of(event)).is_some_and(|upto| position <= *upto)
    }
}

fn is_on(event: &Event, place: &Place) -> bool {
    event.head.branch_id == place.branch_id && event.head.session_id == place.session_id
}
