//! In which session and branch something happened that does not say so.
//!
//! Where its run was last heard; or else, for a run that is heard of for the first time, where its cause is.
//! Start reading at [`Nested::hear`].

use antiphon_event::{BranchId, Event, ParentId, RunId, SessionId};

use super::known::At;
use super::place::Anchor;
use super::{Level, Nested, Node};
use crate::Changes;

/// A session and a branch, as far as they are known.
pub(super) type Scope = (Option<SessionId>, Option<BranchId>);

/// How many parts of what a cause is called are taken off, to find what it is a part of.
const PARTS_MAX: usize = 8;

impl Nested {
    /// Notes in which session and branch an event is said, and with it its run.
    pub(super) fn hear(&mut self, event: &Event) {
        self.here = (event.head.session_id.clone(), event.head.branch_id.clone());
        let Some(run) = &event.head.run_id else { return };
        let heard = match self.heard_in.get(run) {
            Some(known) if agree(&self.here, known) => {
                self.here.clone_from(known);
                return;
            }
            None if self.here == (None, None) => self.scope_of_cause(run, event),
            Some(_) | None => Some(self.here.clone()),
        };
        if let Some(heard) = heard {
            self.here.clone_from(&heard);
            self.heard_in.insert(run.clone(), heard);
        }
    }

    /// The session and branch of the call, the code, the run or the part of one that caused a new run.
    fn scope_of_cause(&self, run: &RunId, event: &Event) -> Option<Scope> {
        if self.heard_in.is_empty() {
            return None;
        }
        let parent = event.head.parent_id.as_ref()?;
        let cause = (None, Anchor::Cause(parent.to_string()));
        if self.runs.contains_key(&(None, run.clone())) || self.anchors.get(&cause).is_some() {
            return None;
        }
        let called = self.calls.scope(&parent.shared());
        called.or_else(|| names(parent).find_map(|name| self.heard_in.get(&RunId::from(name)))).cloned()
    }

    /// Where an event is said, as far as that is known.
    pub(super) fn at(&self, event: &Event) -> At {
        At { scope: self.here.clone(), run: event.head.run_id.clone() }
    }

    /// The session and branch of the event, if they are known.
    pub(super) fn scope(&mut self, changes: &mut Changes) -> Option<usize> {
        if self.here == (None, None) {
            return None;
        }
        if let Some(scope) = self.scopes.get(&self.here) {
            return Some(*scope);
        }
        let key = self.here.clone();
        let session = key.0.as_ref().map_or("", |session| session.as_str());
        let branch = key.1.as_ref().map_or("", |branch| branch.as_str());
        let scope = self.add(Node::new(Level::Scope, &format!("{session}/{branch}"), None), changes);
        self.scopes.insert(key, scope);
        Some(scope)
    }
}

/// Whether what is named of a session and branch is so in another.
fn agree(named: &Scope, known: &Scope) -> bool {
    (named.0.is_none() || named.0 == known.0) && (named.1.is_none() || named.1 == known.1)
}

/// What a cause may be a part of: itself, `f:write:1:start`, `f:write:1` … `f`; or `r/c1`, `r`.
fn names(cause: &ParentId) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(cause.as_str()), |name| name.rsplit_once([':', '/']).map(|(whole, _)| whole))
        .take(PARTS_MAX)
}
