//! [`Calls`]: whose a result or a piece of progress is, for views that do without the conversation graph.
//!
//! The rule is that of the graph. It belongs to what its own run calls by that id, whichever comes first. As long as its run
//! has made no such call, it is lent to a call of another run: to the one that last had the id, if that has no result and
//! nothing was lent to it by a third, or else to the next one that comes; until then it waits.
//! Start reading at [`Calls::whose`].

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use antiphon_event::RunId;
use serde::{Deserialize, Serialize};
use serde_with::serde_as;

use crate::index::Index;

/// A run, and what it calls something.
pub(crate) type Name = (RunId, Arc<str>);

/// The calls of a view, by their places in it, and whose answers they have.
#[serde_as]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Calls {
    own: Index<Name>,
    /// What runs say of calls that they have not made: the call it is lent to, if there is one.
    #[serde_as(as = "Vec<(_, _)>")]
    strays: BTreeMap<Name, Option<usize>>,
    /// The run that lends to a call.
    lent: BTreeMap<usize, RunId>,
    /// The calls that have a result of their own run.
    answered: BTreeSet<usize>,
    /// The call that last came by an id.
    latest: Index<Arc<str>>,
    /// The run that last spoke of an id since then, and waits for its call.
    waits: BTreeMap<Arc<str>, RunId>,
}

/// Whose it is what a run says of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    /// The run's own call's.
    Own(usize),
    /// The run has made no such call: another run's has it for the time being.
    Lent(usize),
    /// Nobody's yet.
    Nobodys,
}

impl Whose {
    /// The call that has it.
    pub(crate) fn call(self) -> Option<usize> {
        match self {
            Self::Own(call) | Self::Lent(call) => Some(call),
            Self::Nobodys => None,
        }
    }
}

/// What a call that comes is given of what was said before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Gets {
    /// Nothing was said.
    Nothing,
    /// What its own run has said; a call of another run gives it back.
    Own { from: Option<usize> },
    /// What another run has said that has not made its call.
    Loan { of: RunId },
}

impl Calls {
    /// The call that a run made by this id.
    pub(crate) fn own(&self, run: &RunId, id: &Arc<str>) -> Option<usize> {
        self.own.get(&(run.clone(), Arc::clone(id)))
    }

    /// The call that last came by this id, if no run waits for another since.
    fn latest(&self, id: &Arc<str>) -> Option<usize> {
        self.latest.get(id).filter(|_| !self.waits.contains_key(id))
    }

    /// The call that is asked about in a run, if it has come. A question is lent to nobody.
    pub(crate) fn asked_about(&self, run: Option<&RunId>, id: &Arc<str>) -> Option<usize> {
        let own = run.and_then(|run| self.own(run, id));
        let is_open = |call: &usize| !self.is_answered(*call) && !self.lent.contains_key(call);
        own.or_else(|| self.latest(id).filter(|call| run.is_none() || is_open(call)))
    }

    /// Whose a result or a piece of progress is that comes in a run; who is in none means the call that last came.
    pub(crate) fn whose(&mut self, run: Option<&RunId>, id: &Arc<str>) -> Whose {
        let Some(run) = run else {
            return self.latest(id).map_or(Whose::Nobodys, Whose::Own);
        };
        if let Some(call) = self.own(run, id) {
            return Whose::Own(call);
        }
        let name = (run.clone(), Arc::clone(id));
        let borrower = self.strays.get(&name).copied().unwrap_or_else(|| {
            let borrower = self.asked_about(Some(run), id);
            match borrower {
                Some(call) => _ = self.lent.insert(call, run.clone()),
                None => _ = self.waits.insert(Arc::clone(id), run.clone()),
            }
            self.strays.insert(name, borrower);
            borrower
        });
        borrower.map_or(Whose::Nobodys, Whose::Lent)
    }

    /// Notes that a call has a result of its own run.
    pub(crate) fn answered(&mut self, call: usize) {
        self.answered.insert(call);
    }

    /// What a call will be given that a run is about to make.
    pub(crate) fn gets(&self, run: &RunId, id: &Arc<str>) -> Gets {
        if self.strays.is_empty() {
            return Gets::Nothing;
        }
        if let Some(from) = self.strays.get(&(run.clone(), Arc::clone(id))) {
            return Gets::Own { from: *from };
        }
        self.waits.get(id).map_or(Gets::Nothing, |of| Gets::Loan { of: of.clone() })
    }

    /// Notes the call that a run makes, with what it is given.
    pub(crate) fn begun(&mut self, run: &RunId, id: &Arc<str>, call: usize, gets: &Gets) {
        let name = (run.clone(), Arc::clone(id));
        match gets {
            Gets::Nothing => {}
            Gets::Own { from } => {
                self.strays.remove(&name);
                from.map(|borrower| self.lent.remove(&borrower));
            }
            Gets::Loan { of } => {
                self.strays.insert((of.clone(), Arc::clone(id)), Some(call));
                self.lent.insert(call, of.clone());
            }
        }
        self.own.insert(name, call);
        self.latest.insert(Arc::clone(id), call);
        self.waits.remove(id);
    }

    /// Whether a call has a result of its own run, which counts for more than one that is lent.
    pub(crate) fn is_answered(&self, call: usize) -> bool {
        self.answered.contains(&call)
    }
}
