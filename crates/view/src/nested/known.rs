//! Which call or request is meant, where ids are told apart by session and branch, and by run.
//!
//! Who does not say a session or a branch means whatever it is. Start reading at [`Known::about`].

use std::collections::BTreeMap;
use std::sync::Arc;

use antiphon_event::RunId;
use serde::{Deserialize, Serialize};

use super::scope::Scope;
use crate::index::ByRun;

/// Where something was said: what is known of session, branch and run.
#[derive(Debug, Clone)]
pub(super) struct At {
    pub(super) scope: Scope,
    pub(super) run: Option<RunId>,
}

impl At {
    fn key(&self, id: &Arc<str>) -> (Scope, Arc<str>) {
        (self.scope.clone(), Arc::clone(id))
    }
}

/// The nodes of calls, or of requests, by their ids.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Known {
    /// Within each session and branch.
    here: ByRun<(Scope, Arc<str>)>,
    /// Wherever it was.
    anywhere: ByRun,
    /// The session and branch that each is in, as far as they were said.
    named: BTreeMap<usize, Scope>,
    /// The run that each began in.
    began: BTreeMap<usize, RunId>,
}

impl Known {
    /// What a run of a session and branch calls by an id.
    pub(super) fn exact(&self, at: &At, id: &Arc<str>) -> Option<usize> {
        self.here.exact(at.run.as_ref()?, &at.key(id))
    }

    /// What a run has spoken of by an id, in whatever session and branch may be meant.
    pub(super) fn spoken(&self, at: &At, id: &Arc<str>) -> Option<usize> {
        let elsewhere = || self.anywhere.exact(at.run.as_ref()?, id).filter(|place| self.suits(at, *place));
        self.exact(at, id).or_else(elsewhere)
    }

    /// The session and branch of what last had an id, if they were said.
    pub(super) fn scope(&self, id: &Arc<str>) -> Option<&Scope> {
        let latest = self.anywhere.about(None, id, |_| true)?;
        self.named.get(&latest).filter(|scope| **scope != (None, None))
    }

    /// Whether a node is what a run of a session and branch has begun by an id.
    pub(super) fn has_begun(&self, at: &At, id: &Arc<str>, place: usize) -> bool {
        self.exact(at, id) == Some(place) && self.began.get(&place) == at.run.as_ref()
    }

    /// Whether a node began in another run.
    pub(super) fn is_others(&self, at: &At, place: usize) -> bool {
        self.began.get(&place).is_some_and(|run| at.run.as_ref() != Some(run))
    }

    /// The node of what begins: the one it has already, else one that was kept for it.
    pub(super) fn begins(&self, at: &At, id: &Arc<str>, is_kept: impl Fn(usize) -> bool) -> Option<usize> {
        let run = at.run.as_ref()?;
        let here = self.here.begins(run, &at.key(id), &is_kept);
        let is_kept = |place| is_kept(place) && self.suits(at, place);
        // What has begun elsewhere has begun: only a place that was kept is taken.
        here.or_else(|| self.anywhere.begins(run, id, is_kept).filter(|place| is_kept(*place)))
    }

    /// The node of what something is about: that of its run rather than another that is still open.
    pub(super) fn about(&self, at: &At, id: &Arc<str>, is_open: impl Fn(usize) -> bool) -> Option<usize> {
        let run = at.run.as_ref();
        let key = at.key(id);
        let suits = |place: &usize| self.suits(at, *place);
        let open_here = || self.here.about(run, &key, &is_open);
        self.spoken(at, id)
            .or_else(open_here)
            .or_else(|| self.anywhere.about(run, id, &is_open).filter(suits))
    }

    /// Notes the node of what began.
    pub(super) fn begun(&mut self, at: &At, id: &Arc<str>, place: usize) {
        if let Some(run) = &at.run {
            self.here.begun(run, &at.key(id), place);
            self.anywhere.begun(run, id, place);
            self.began.insert(place, run.clone());
        }
        self.name(at, place);
    }

    /// Notes the node of what was spoken of.
    pub(super) fn spoken_of(&mut self, at: &At, id: &Arc<str>, place: usize) {
        self.here.spoken_of(at.run.as_ref(), &at.key(id), place);
        self.anywhere.spoken_of(at.run.as_ref(), id, place);
        self.name(at, place);
    }

    /// Learns the session and the branch of a node from whoever says them first.
    fn name(&mut self, at: &At, place: usize) {
        let (session, branch) = self.named.entry(place).or_default();
        if session.is_none() {
            session.clone_from(&at.scope.0);
        }
        if branch.is_none() {
            branch.clone_from(&at.scope.1);
        }
    }

    /// Whether a node may be in the session and branch that are named.
    fn suits(&self, at: &At, place: usize) -> bool {
        let Some((session, branch)) = self.named.get(&place) else {
            return true;
        };
        let (of_session, of_branch) = &at.scope;
        let other_session = session.is_some() && of_session.is_some() && session != of_session;
        let other_branch = branch.is_some() && of_branch.is_some() && branch != of_branch;
        !other_session && !other_branch
    }
}
