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
    last: Vec<(Option<SessionId>, Option<BranchId>, Option<u64>)>,
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
        if last.is_some_and(|last| seq <= last) {
            return false;
        }
        *last = Some(seq);
        true
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
            last.push((session.clone(), branch.clone(), None));
            last.len() - 1
        });
        self.latest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeat_is_not_beyond_the_last_of_its_branch() {
        let mut seen = Seen::default();
        let rows = [
            (r#""seq":0,"branchId":"a""#, true),
            (r#""seq":0,"branchId":"a""#, false),
            (r#""seq":3,"branchId":"a""#, true),
            (r#""seq":2,"branchId":"a""#, false),
            (r#""seq":2,"branchId":"b""#, true),
            (r#""branchId":"a""#, true),
            (r#""branchId":"a""#, true),
            (r#""seq":3,"branchId":"a""#, false),
            (r#""seq":18446744073709551615"#, true),
            (r#""seq":18446744073709551615"#, false),
        ];
        for (head, admitted) in rows {
            let event =
                Event::from_json(&format!(r#"{{"type":"resumed","runId":"r",{head}}}"#)).expect("an event");
            assert_eq!(seen.admit(&event), admitted, "{head}");
            let saved = serde_json::to_string(&seen).expect("it can be saved");
            seen = serde_json::from_str(&saved).expect("it can be loaded");
        }
    }
}
