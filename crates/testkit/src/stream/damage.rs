//! What can go wrong with a stream on its way.

use antiphon_event::Event;
use proptest::prelude::*;
use proptest::sample::Index;

use super::Tagged;

/// Something that happens to a stream before it is numbered.
#[derive(Debug, Clone)]
pub(super) enum Damage {
    /// An event is lost.
    Lose(Index),
    /// An event comes at another time.
    Move(Index, Index),
    /// An event comes twice, as two events.
    Double(Index, Index),
    /// An event says it is of another event's run.
    Rerun(Index, Index),
    /// An event says it was caused by another event's run.
    Reparent(Index, Index),
    /// An event lacks what its producer should have said.
    Strip(Index),
}

/// Something that happens to a stream behind the journal.
#[derive(Debug, Clone)]
pub(super) enum Fault {
    /// From the one event up to the other, everything is delivered again.
    Redeliver(Index, Index),
    /// An event is lost; its position is missing.
    Gap(Index),
}

pub(super) fn damage() -> impl Strategy<Value = Damage> {
    let index = any::<Index>;
    prop_oneof![
        index().prop_map(Damage::Strip),
        index().prop_map(Damage::Lose),
        (index(), index()).prop_map(|(from, to)| Damage::Move(from, to)),
        (index(), index()).prop_map(|(from, to)| Damage::Double(from, to)),
        (index(), index()).prop_map(|(event, other)| Damage::Rerun(event, other)),
        (index(), index()).prop_map(|(event, other)| Damage::Reparent(event, other)),
    ]
}

pub(super) fn fault() -> impl Strategy<Value = Fault> {
    prop_oneof![
        (any::<Index>(), any::<Index>()).prop_map(|(from, to)| Fault::Redeliver(from, to)),
        any::<Index>().prop_map(Fault::Gap),
    ]
}

impl Damage {
    /// Does the damage. An empty stream cannot be harmed.
    pub(super) fn harm(&self, events: &mut Vec<Tagged>) {
        if events.is_empty() {
            return;
        }
        let at = |index: &Index| index.index(events.len());
        match self {
            Self::Lose(event) => {
                events.remove(at(event));
            }
            Self::Move(from, to) => {
                let (from, to) = (at(from), at(to));
                let event = events.remove(from);
                events.insert(to, event);
            }
            Self::Double(from, to) => {
                let (event, to) = (events[at(from)].clone(), at(to));
                events.insert(to, event);
            }
            Self::Rerun(event, other) => {
                let (event, run) = (at(event), events[at(other)].1.head.run_id.clone());
                // Some types cannot do without a run.
                if run.is_some() {
                    events[event].1.head.run_id = run;
                }
            }
            Self::Reparent(event, other) => {
                let (event, run) = (at(event), events[at(other)].1.head.run_id.clone());
                events[event].1.head.parent_id = run.map(|run| run.shared().into());
            }
            Self::Strip(event) => {
                let event = at(event);
                super::undress(&mut events[event].1);
                events[event].1.head.parent_id = None;
            }
        }
    }
}

/// Does what happens behind the journal.
pub(super) fn faults(events: &mut Vec<Event>, faults: &[Fault]) {
    for fault in faults {
        if events.is_empty() {
            return;
        }
        match fault {
            Fault::Redeliver(from, to) => {
                let (one, other) = (from.index(events.len()), to.index(events.len()));
                let (from, to) = (one.min(other), one.max(other));
                let again = events[from..to].to_vec();
                events.splice(to..to, again);
            }
            Fault::Gap(event) => {
                events.remove(event.index(events.len()));
            }
        }
    }
}
