//! [`Told`]: what the model was told, kept from one model call to the next.

use super::Agent;
use crate::Said;

/// What the model was told when it was last asked. It follows from what happened and is never asked for before it is
/// brought up to date.
#[derive(Debug, Clone, Default)]
pub(super) struct Told {
    pub(super) said: Said,
    /// How many messages there were before the first turn, once that is known, and after each.
    ends: Vec<usize>,
    /// What a model that writes code is told about that.
    pub(super) notes: String,
}

impl Told {
    /// Forgets what depends on what the agent may use.
    pub(super) fn unequip(&mut self) {
        self.notes.clear();
    }
}

impl Agent {
    /// Brings what the model is told up to date: only what is new is looked at.
    pub(super) fn catch_up(&mut self) {
        if self.told.notes.is_empty() && self.is_coding() {
            self.told.notes = self.code_notes();
        }
        let (conversation, messages) = self.seen.projection_mut();
        let (kept, turns) = messages.news(conversation, self.told.ends.len().saturating_sub(1));
        let mut told = std::mem::take(&mut self.told);
        if told.ends.is_empty() {
            let before = self.before.iter().cloned();
            told.said.extend(before.filter_map(|message| self.shown(message)));
            told.ends.push(told.said.len());
        }
        told.ends.truncate(kept + 1);
        told.said.truncate(*told.ends.last().expect("it has one place more than there are turns"));
        for turn in turns {
            told.said.extend(turn.into_iter().filter_map(|message| self.shown(message)));
            told.ends.push(told.said.len());
        }
        self.told = told;
    }
}
