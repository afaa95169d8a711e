//! Which run was called by the code of which turn.

use antiphon_event::{Event, ReplId, RunId};

use super::{Repl, ReplRun, TurnRef};
use crate::edit::Edit;
use crate::{Changes, Tally, path};

impl Repl {
    /// Notes a run, and what it says caused it.
    pub(super) fn heard_of(&mut self, id: &RunId, event: &Event, changes: &mut Changes) {
        let known = self.run(id);
        let parent = event.head.parent_id.as_ref();
        let news = parent.filter(|_| known.is_none_or(|run| run.parent_id.is_none()));
        if known.is_none() {
            self.hidden.insert(id.clone(), ReplRun::new(id.clone(), event.head.at));
        }
        let Some(parent) = news else {
            return;
        };
        self.edit_run(id, changes, |run, edit| {
            edit.put("parentId", &mut run.parent_id, Some(parent.clone()));
        });
        let caller = self.owners.get(parent.as_str()).and_then(|owner| {
            let turn = *self.codes.get(&(owner.clone(), ReplId::from(parent.shared())))?;
            Some(TurnRef { run_id: owner.clone(), turn })
        });
        match caller {
            Some(caller) => self.put_inside(id, caller, changes),
            None => self.waiting.entry(parent.clone()).or_default().push(id.clone()),
        }
    }

    /// A piece of code is known: runs that waited for it were called by it.
    pub(super) fn code_known(&mut self, id: &RunId, code: &ReplId, turn: usize, changes: &mut Changes) {
        self.owners.insert(code.clone(), id.clone());
        for child in self.waiting.remove(code.as_str()).unwrap_or_default() {
            self.put_inside(&child, TurnRef { run_id: id.clone(), turn }, changes);
        }
    }

    /// Shows a run that was hidden.
    pub(super) fn show(&mut self, id: &RunId, changes: &mut Changes) {
        if let Some(run) = self.hidden.remove(id) {
            changes.append(path!["runs"], &run);
            self.places.insert(id.clone(), self.tree.add(None));
            self.shown.push(run);
        }
    }

    /// Puts a run under the turn that called it, and adds what it used to all above; a run that would be
    /// inside itself stays outside.
    fn put_inside(&mut self, id: &RunId, caller: TurnRef, changes: &mut Changes) {
        self.show(id, changes);
        let (Some(child), Some(parent)) =
            (self.places.get(id).copied(), self.places.get(&caller.run_id).copied())
        else {
            return;
        };
        if !self.tree.adopt(child, parent) {
            return;
        }
        let depth = self.shown[parent].depth.saturating_add(1);
        let used = self.shown[child].total;
        let turn = caller.turn;
        self.edit_run(id, changes, |run, edit| {
            edit.put("within", &mut run.within, Some(caller));
            if run.depth == 0 {
                edit.put("depth", &mut run.depth, depth);
            }
        });
        let row = &mut self.shown[parent].turns[turn];
        Edit::at(changes, path!["runs", parent, "turns", turn]).push(
            "children",
            &mut row.children,
            id.clone(),
        );
        self.add_above(child, used, changes);
    }

    pub(super) fn add_above(&mut self, place: usize, used: Tally, changes: &mut Changes) {
        let above: Vec<_> = self.tree.above(place).collect();
        for place in above {
            let run = &mut self.shown[place];
            Edit::at(changes, path!["runs", place]).add("total", &mut run.total, used);
        }
    }
}
