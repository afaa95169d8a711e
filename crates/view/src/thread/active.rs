//! Which entries are shown: the active set, with summaries in the place of their first source.

use antiphon_event::Event;
use antiphon_graph::hyper::Summed;
use antiphon_graph::{Conversation, Place};

use super::{Thread, write};
use crate::{Changes, Step};

impl Thread {
    /// Follows the conversation in what it did about summaries and about what is active.
    pub(super) fn follow(&mut self, conversation: &Conversation, event: &Event, changes: &mut Changes) {
        for summed in conversation.summed() {
            match *summed {
                Summed::New { summary } => self.new_summary(conversation, summary, event),
                Summed::Told { summary } => {
                    let text = conversation.message(summary).and_then(|message| message.summary());
                    if let Some(mut path) = self.summary_path(summary, changes) {
                        path.push(Step::from("text"));
                        changes.set(&path, &text);
                    }
                }
                Summed::In { summary, source, nth } => {
                    // A summary that is shown only now is shown with all of its sources.
                    if let Some(path) = self.source_path(summary, nth, changes)
                        && let Some(message) = conversation.message(source)
                    {
                        changes.insert(&path, message.id());
                    }
                }
                Summed::Out { summary, nth } => {
                    if let Some(path) = self.source_path(summary, nth, changes) {
                        changes.remove(&path);
                    }
                }
            }
        }
        self.refresh(conversation, conversation.shifted(), changes);
    }

    /// Gives a new summary an entry of its own, in the branch of what it stands for.
    fn new_summary(&mut self, conversation: &Conversation, summary: Place, event: &Event) {
        let beside = self.entry_at(conversation.slot_of(summary));
        let branch = beside.map_or(0, |entry| self.entries[entry as usize].home.0);
        self.add_entry(conversation, summary, branch, event);
    }

    /// The path of the entry of a summary; nothing if nobody wants it or the summary is not to be seen.
    fn summary_path(&self, summary: Place, changes: &Changes) -> Option<Vec<Step<'static>>> {
        self.entry_path(self.entry_at(summary)?, changes)
    }

    /// The path of a source of a summary; nothing if nobody wants it or the summary is not to be seen.
    fn source_path(&self, summary: Place, nth: usize, changes: &Changes) -> Option<Vec<Step<'static>>> {
        let mut path = self.summary_path(summary, changes)?;
        path.extend([Step::from("sources"), Step::Index(nth)]);
        Some(path)
    }

    pub(super) fn entry_at(&self, message: Place) -> Option<u32> {
        self.entry_of.get(message as usize).copied().flatten()
    }

    /// What the slot of a message is to show: the message, the summary in its place, or nothing.
    fn to_show(&self, conversation: &Conversation, slot: Place) -> Option<u32> {
        let seen = conversation.seen_in(slot)?;
        let is_summary = conversation.message(seen)?.summary().is_some();
        let entry = self.entry_at(seen)?;
        (is_summary || self.entries[entry as usize].parts.any_shown()).then_some(entry)
    }

    /// Brings the slots of messages up to date: what must go goes first, then what must come comes.
    pub(super) fn refresh(&mut self, conversation: &Conversation, messages: &[Place], changes: &mut Changes) {
        let mut coming = Vec::new();
        for message in messages {
            let Some(entry) = self.entry_at(*message) else {
                continue;
            };
            let home = self.entries[entry as usize].home;
            let (branch, slot) = home;
            let entries = &self.branches[branch as usize].entries;
            let now = entries.is_shown(slot).then(|| *entries.get(slot));
            let wanted = self.to_show(conversation, *message);
            if now == wanted {
                continue;
            }
            if now.is_some() {
                self.take_out(home, changes);
            }
            coming.extend(wanted.map(|entry| (home, entry)));
        }
        for (home, entry) in coming {
            self.bring_in(conversation, home, entry, changes);
        }
    }

    /// Hides what a slot shows.
    pub(super) fn take_out(&mut self, (branch, slot): (u32, usize), changes: &mut Changes) {
        let shown = *self.branches[branch as usize].entries.get(slot);
        if let Some(path) = self.entry_path(shown, changes) {
            changes.remove(&path);
        }
        self.branches[branch as usize].entries.show(slot, false);
    }

    fn bring_in(
        &mut self,
        conversation: &Conversation,
        (branch, slot): (u32, usize),
        entry: u32,
        changes: &mut Changes,
    ) {
        *self.branches[branch as usize].entries.get_mut(slot) = entry;
        self.entries[entry as usize].place = (branch, slot);
        self.branches[branch as usize].entries.show(slot, true);
        if let Some(path) = self.entry_path(entry, changes) {
            changes.insert(&path, &write::EntryView { thread: self, conversation, entry });
        }
    }
}
