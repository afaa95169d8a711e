//! What one run says of a call, or of code, that it has not begun: what is lent to a step of another run, and given back.
//!
//! Start reading at [`Risk::begin_work`].

use std::collections::BTreeMap;
use std::sync::Arc;

use antiphon_event::{RunId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_with::serde_as;

use super::rule::Fate;
use super::{Risk, State, Step, Work, judged};
use crate::Changes;
use crate::calls::{Calls, Gets, Name};

/// Steps that runs give ids, and what runs say of those that they have not begun.
#[serde_as]
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Called {
    pub(super) steps: Calls,
    #[serde_as(as = "Vec<(_, _)>")]
    pub(super) strays: BTreeMap<Name, Stray>,
}

/// What a run says of a call, or of code, that it has not begun.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Stray {
    /// The step that was added for it, where there was none to lend it to.
    pub(super) kept: Option<usize>,
    /// Whether it runs.
    pub(super) runs: bool,
    /// Whether it has ended.
    pub(super) ended: bool,
    /// When.
    pub(super) ended_at: Option<Timestamp>,
}

impl Stray {
    /// Whether it says that the call has been started.
    fn is_begun(&self) -> bool {
        self.runs || self.ended
    }

    /// A step as it is with what is lent to it.
    pub(super) fn lent_to(&self, own: &Step, started: Option<Fate>) -> Step {
        let mut step = own.clone();
        if self.ended && step.state != State::Recorded {
            let ended_at = self.ended_at.or(step.ended_at);
            step = Step { state: State::Recorded, then: None, why: None, ended_at, ..step };
        }
        match started {
            Some(fate) if self.runs && step.state == State::InFlight => judged(step, fate),
            _ => step,
        }
    }
}

impl Risk {
    /// Begins a call, or code, with what was said of it before; `started` is what becomes of it once it runs.
    pub(super) fn begin_work(
        &mut self,
        kind: Work,
        id: &Arc<str>,
        own: Step,
        started: Option<Fate>,
        changes: &mut Changes,
    ) {
        let Some(run) = own.run_id.clone() else {
            self.begin(own, changes);
            return;
        };
        let gets = self.of(kind).steps.gets(&run, id);
        let stray = match &gets {
            Gets::Nothing => Stray::default(),
            Gets::Loan { of } => self.take_stray(kind, of, id),
            Gets::Own { from: None } => self.take_stray(kind, &run, id),
            Gets::Own { from: Some(borrower) } => self.give_back(*borrower, changes),
        };
        let shown = stray.lent_to(&own, started);
        let place = match stray.kept {
            Some(place) => self.appear(place, shown, changes),
            None => self.begin(shown, changes),
        };
        self.of(kind).steps.begun(&run, id, place, &gets);
        let is_lent = matches!(gets, Gets::Loan { .. });
        if stray.ended && !is_lent {
            self.of(kind).steps.answered(place);
            self.close(place, Some(&run));
        }
        if is_lent || !stray.is_begun() {
            self.proposed.extend(started.map(|fate| (place, fate)));
        }
        if is_lent {
            self.borrowers.insert(place, (own, stray));
        }
    }

    fn take_stray(&mut self, kind: Work, run: &RunId, id: &Arc<str>) -> Stray {
        self.of(kind).strays.remove(&(run.clone(), Arc::clone(id))).unwrap_or_default()
    }

    /// What was lent to a step goes to the call of its own run.
    fn give_back(&mut self, borrower: usize, changes: &mut Changes) -> Stray {
        let Some((own, stray)) = self.borrowers.remove(&borrower) else {
            return Stray::default();
        };
        self.write(borrower, changes, |step, edit| step.become_another(own, edit));
        Stray { kept: None, ..stray }
    }

    /// A step that was only spoken of begins, in whatever run.
    fn appear(&mut self, place: usize, step: Step, changes: &mut Changes) -> usize {
        let before = self.steps[place].run_id.clone();
        self.close(place, before.as_ref());
        if let Some(run) = &step.run_id {
            self.open.entry(run.clone()).or_default().insert(place);
        }
        let started_at = self.steps[place].started_at;
        let step = Step { started_at, ..step };
        self.write(place, changes, |shown, edit| shown.become_another(step, edit));
        place
    }

    /// Notes what a run says of a call, or of code, that it has not begun; adds a step for it where there is none.
    pub(super) fn stray(
        &mut self,
        kind: Work,
        id: &Arc<str>,
        borrower: Option<usize>,
        said: impl FnOnce(&mut Stray),
        keep: Step,
        changes: &mut Changes,
    ) {
        if let Some(place) = borrower {
            let own = || (self.steps[place].clone(), Stray::default());
            said(&mut self.borrowers.entry(place).or_insert_with(own).1);
            self.edit(place, changes, |_, _| {});
            return;
        }
        let Some(run) = keep.run_id.clone() else {
            self.begin(keep, changes);
            return;
        };
        let name = (run, Arc::clone(id));
        let mut stray = self.of(kind).strays.remove(&name).unwrap_or_default();
        said(&mut stray);
        if let Some(place) = stray.kept {
            let shown = stray.lent_to(&self.steps[place], None);
            self.write(place, changes, |step, edit| step.become_another(shown, edit));
        } else {
            stray.kept = Some(self.begin(keep, changes));
        }
        self.of(kind).strays.insert(name, stray);
    }
}
