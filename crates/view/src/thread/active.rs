//! Which entries are shown: the active set, with summaries in the place of their first source.

use std::collections::BTreeSet;

use antiphon_event::{Body, Event};
use antiphon_graph::hyper::Speaker;
use antiphon_graph::{Conversation, Place};

use super::{Thread, write};
use crate::{Changes, Step};

impl Thread {
    /// A summary, a compaction or a choice of somebody changed what is active.
    pub(super) fn active_changed(
        &mut self,
        conversation: &Conversation,
        event: &Event,
        changes: &mut Changes,
    ) {
        let concerned: Vec<Place> = match &event.body {
            Body::Summary(_) => self.new_summary(conversation, event).into_iter().collect(),
            Body::HistoryCompacted(compacted) => {
                let summary = conversation.message_place(&compacted.summary_id);
                if let Some(summary) = summary {
                    self.note_first(conversation, summary);
                }
                summary.into_iter().collect()
            }
            Body::ActiveChanged(choice)
                if matches!(&*choice.op, "expand" | "collapse" | "toggle" | "append") =>
            {
                let messages = choice.ids.iter().filter_map(|id| conversation.message_place(id));
                messages.chain(summaries_over(conversation, &choice.ids)).collect()
            }
            _ => (0..self.entry_of.len() as Place).collect(),
        };
        let concerned = with_sources(conversation, concerned);
        self.refresh(conversation, &concerned, changes);
        if let Body::HistoryCompacted(compacted) = &event.body {
            self.say_sources(conversation, &compacted.summary_id, changes);
        }
    }

    /// A summary that is shown may stand for more than before.
    fn say_sources(&self, conversation: &Conversation, summary: &str, changes: &mut Changes) {
        let message = conversation.message_place(summary);
        let is_summary =
            |place: &Place| conversation.message(*place).is_some_and(|message| message.summary().is_some());
        if let Some(message) = message.filter(is_summary)
            && let Some(entry) = self.entry_at(message)
            && let Some(mut path) = self.entry_path(entry, changes)
        {
            path.push(Step::from("sources"));
            changes.set(&path, &write::sources(conversation, message));
        }
    }

    /// Gives a new summary an entry of its own.
    fn new_summary(&mut self, conversation: &Conversation, event: &Event) -> Option<Place> {
        let place = (conversation.message_count() as Place).checked_sub(1)?;
        if conversation.message(place)?.speaker != Speaker::Summary || self.entry_at(place).is_some() {
            return None;
        }
        self.note_first(conversation, place);
        let beside = self.firsts.get(&place).and_then(|source| self.entry_at(*source));
        let branch = beside.map_or(0, |entry| self.entries[entry as usize].home.0);
        self.add_entry(place, branch, event);
        Some(place)
    }

    fn entry_at(&self, message: Place) -> Option<u32> {
        self.entry_of.get(message as usize).copied().flatten()
    }

    /// Works out the first message with an entry that a summary stands for, through summaries of summaries.
    fn note_first(&mut self, conversation: &Conversation, summary: Place) {
        let through = |source: &Place| match self.firsts.get(source) {
            Some(first) => Some(*first),
            None => self.entry_at(*source).map(|_| *source),
        };
        let first = conversation.sources_of(summary).iter().filter_map(through).min();
        if let Some(first) = first {
            self.firsts.insert(summary, first);
        }
    }

    /// What the slot of a message is to show: the message, the summary in its place, or nothing.
    fn to_show(&self, conversation: &Conversation, message: Place) -> Option<u32> {
        let entry = self.entry_at(message)?;
        if conversation.message(message)?.speaker == Speaker::Summary {
            let alone = conversation.active().is_full() || !self.firsts.contains_key(&message);
            return (alone && conversation.is_active(message)).then_some(entry);
        }
        if conversation.is_active(message) {
            return self.entries[entry as usize].parts.any_shown().then_some(entry);
        }
        if conversation.active().is_full() {
            return None;
        }
        let summary = conversation.standing_for(message)?;
        let first = self.firsts.get(&summary) == Some(&message);
        (first && conversation.is_active(summary)).then(|| self.entry_at(summary)).flatten()
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

/// Summaries that stand over named messages: collapsing a source puts its summary back.
fn summaries_over<'a>(conversation: &'a Conversation, ids: &'a [String]) -> impl Iterator<Item = Place> + 'a {
    let named = ids.iter().filter_map(|id| conversation.message_place(id));
    named.flat_map(|message| {
        std::iter::successors(conversation.summary_of(message), |at| conversation.summary_of(*at))
    })
}

/// The messages, with all that they stand for, however deep.
fn with_sources(conversation: &Conversation, messages: Vec<Place>) -> Vec<Place> {
    let mut all = BTreeSet::new();
    let mut stack = messages;
    while let Some(message) = stack.pop() {
        if all.insert(message) {
            stack.extend(conversation.sources_of(message));
        }
    }
    all.into_iter().collect()
}
