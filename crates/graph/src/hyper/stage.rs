//! [`Stage`]: which message is seen where, kept up to date as messages, summaries and choices come.
//!
//! Every message has a slot, its place. What counts is seen in its own slot, a summary in that of the first message that it
//! stands for. Each message knows whether it is covered, which it is if a summary over it, however far above, is
//! closed; so what is opened or closed costs what it uncovers or covers, and what is covered anyway costs nothing. A
//! source is taken in by [`Stage::take`], a choice by [`Stage::reconsider`]; what came of it is told by
//! [`Stage::settle`].

use std::collections::{BTreeMap, BTreeSet};

use imbl::Vector;

use super::{Active, Hypergraph, Speaker};
use crate::Place;
use crate::node::NOWHERE;
use crate::places::Places;

/// Where messages are seen.
#[derive(Debug, Clone, Default)]
pub(super) struct Stage {
    covered: Places,
    /// The slots in which something is seen.
    seen: Places,
    summaries: Vec<Place>,
    /// The summary that is seen in a slot, and the slot in which a summary is seen.
    guests: BTreeMap<Place, Place>,
    slots: BTreeMap<Place, Place>,
    /// Each summary with the slots of those of its sources that came before it.
    firsts: BTreeSet<(Place, Place)>,
    /// Messages that may be seen elsewhere than before, or not any more.
    doubtful: Vec<Place>,
    /// The slots in which the latest event lets something else be seen.
    shifted: Vec<Place>,
    /// What it did about summaries.
    summed: Vec<Summed>,
}

/// What an event did about summaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Summed {
    /// There is a summary more, without sources as yet.
    New {
        /// The summary.
        summary: Place,
    },
    /// A summary came again, with another text.
    Told {
        /// The summary.
        summary: Place,
    },
    /// A summary has one source more.
    In {
        /// The summary.
        summary: Place,
        /// The source.
        source: Place,
        /// Which of the summary's sources it is now.
        nth: usize,
    },
    /// A summary has one source less: another has it.
    Out {
        /// The summary.
        summary: Place,
        /// Which of the summary's sources it was.
        nth: usize,
    },
}

impl Stage {
    /// Where everything is seen in a conversation that is there already.
    pub(super) fn of(hyper: &Hypergraph) -> Self {
        let mut stage = Self::default();
        for (place, message) in hyper.messages.iter().enumerate() {
            stage.add(place as Place, message.speaker);
            if message.replaced_by != NOWHERE {
                let slot = stage.slot_of(place as Place);
                stage.swap(hyper, message.replaced_by, place as Place, None, Some(slot));
            }
        }
        for summary in stage.summaries.clone() {
            stage.reconsider(hyper, summary);
        }
        stage.doubtful.extend(0..hyper.messages.len() as Place);
        stage.settle(hyper);
        stage.begin();
        stage
    }

    /// Forgets what the event before changed.
    #[inline]
    pub(super) fn begin(&mut self) {
        self.shifted.clear();
        self.summed.clear();
    }

    /// The slots in which the latest event lets something else be seen, in order.
    pub(super) fn shifted(&self) -> &[Place] {
        &self.shifted
    }

    /// What the latest event did about summaries, in order.
    pub(super) fn summed(&self) -> &[Summed] {
        &self.summed
    }

    /// What is seen in a slot.
    #[inline]
    pub(super) fn seen_in(&self, slot: Place) -> Option<Place> {
        self.seen.contains(slot).then(|| self.guests.get(&slot).copied().unwrap_or(slot))
    }

    /// All that is seen, in the order of the slots.
    pub(super) fn walk(&self, from: Place) -> impl Iterator<Item = Place> + '_ {
        self.seen.from(from).filter_map(|slot| self.seen_in(slot))
    }

    /// The slot a message is seen in.
    pub(super) fn seen_at(&self, hyper: &Hypergraph, message: Place) -> Option<Place> {
        if is_summary(hyper, message) {
            return self.slots.get(&message).copied();
        }
        (self.seen_in(message) == Some(message)).then_some(message)
    }

    pub(super) fn is_covered(&self, message: Place) -> bool {
        self.covered.contains(message)
    }

    /// The slot for a message, if it is to be seen: that of the first message that it stands for.
    pub(super) fn slot_of(&self, message: Place) -> Place {
        let next = self.firsts.range((message, 0)..).next();
        next.filter(|(summary, _)| *summary == message).map_or(message, |(_, slot)| *slot)
    }

    /// Whether a message counts: spoken, not switched off, and not stood for by a summary.
    pub(super) fn counts(&self, hyper: &Hypergraph, message: Place) -> bool {
        hyper.may_count(message)
            && (hyper.active.full || !(self.is_covered(message) || hyper.is_opened(message)))
    }

    /// Takes in a message that has just come.
    pub(super) fn add(&mut self, message: Place, speaker: Speaker) {
        match speaker {
            Speaker::Summary => {
                self.summaries.push(message);
                self.summed.push(Summed::New { summary: message });
                self.doubtful.push(message);
            }
            // Nobody has chosen anything about it yet.
            Speaker::User | Speaker::Assistant => self.seen.insert(message),
            Speaker::Structural => {}
        }
    }

    /// Notes that a summary has another text.
    pub(super) fn tell(&mut self, summary: Place) {
        self.summed.push(Summed::Told { summary });
    }

    /// Lets a summary stand for a message, which leaves the one that stood for it before. Nothing happens if the summary
    /// would come to stand for itself.
    pub(super) fn take(&mut self, hyper: &mut Hypergraph, summary: Place, source: Place) {
        let before = hyper.messages[source as usize].replaced_by;
        if before == summary || source == summary || is_over(hyper, source, summary) {
            return;
        }
        let slot = self.slot_of(source);
        if before != NOWHERE {
            let nth = change_sources(hyper, before, |sources| {
                let nth = position(sources, source).ok()?;
                sources.remove(nth);
                Some(nth)
            });
            self.summed.extend(nth.map(|nth| Summed::Out { summary: before, nth }));
            self.swap(hyper, before, source, Some(slot), None);
        }
        let nth = change_sources(hyper, summary, |sources| {
            let nth = position(sources, source).err()?;
            sources.insert(nth, source);
            Some(nth)
        });
        self.summed.extend(nth.map(|nth| Summed::In { summary, source, nth }));
        hyper.messages[source as usize].replaced_by = summary;
        self.swap(hyper, summary, source, None, Some(slot));
        let covers = self.is_covered(summary) || hyper.is_closed(summary);
        self.cover(hyper, source, covers);
    }

    /// Notes that a source of a summary has, or is, another slot; and so for all that stand over the summary, as far as
    /// that makes a difference.
    fn swap(
        &mut self,
        hyper: &Hypergraph,
        mut summary: Place,
        mut source: Place,
        mut old: Option<Place>,
        mut new: Option<Place>,
    ) {
        // What came later than a summary does not move it, and where nothing is seen nothing can stand.
        let matters = |source: Place, summary: Place| {
            source < summary && hyper.messages[source as usize].speaker != Speaker::Structural
        };
        while summary != NOWHERE && matters(source, summary) {
            let was = self.slot_of(summary);
            old.map(|slot| self.firsts.remove(&(summary, slot)));
            new.map(|slot| self.firsts.insert((summary, slot)));
            let is = self.slot_of(summary);
            if was == is {
                return;
            }
            self.doubtful.push(summary);
            (old, new) = (Some(was), Some(is));
            (source, summary) = (summary, hyper.messages[summary as usize].replaced_by);
        }
    }

    /// A summary may have been opened or closed, a message switched on or off.
    pub(super) fn reconsider(&mut self, hyper: &Hypergraph, message: Place) {
        self.doubtful.push(message);
        let covers = self.is_covered(message) || hyper.is_closed(message);
        // All sources of a summary are covered, or none is.
        if sources(hyper, message).next().is_some_and(|first| self.is_covered(*first) != covers) {
            sources(hyper, message).for_each(|source| self.cover(hyper, *source, covers));
        }
    }

    /// Says of a message that it is covered, or is not, and of all that one sees through it.
    fn cover(&mut self, hyper: &Hypergraph, message: Place, covered: bool) {
        let mut stack = vec![message];
        while let Some(at) = stack.pop() {
            if self.is_covered(at) == covered {
                continue;
            }
            self.covered.set(at, covered);
            self.doubtful.push(at);
            if !hyper.is_closed(at) {
                stack.extend(sources(hyper, at));
            }
        }
    }

    /// Summaries come to stand beside their sources, or in their place again.
    pub(super) fn reconsider_all(&mut self, hyper: &Hypergraph) {
        for summary in &self.summaries {
            self.doubtful.push(*summary);
            self.doubtful.extend(sources(hyper, *summary));
        }
    }

    /// Puts what is doubtful where it is to be seen.
    #[inline]
    pub(super) fn settle(&mut self, hyper: &Hypergraph) {
        // Most events bring nothing into doubt.
        if !self.doubtful.is_empty() {
            self.put_right(hyper);
        }
    }

    /// What must go goes first, so that no two are in one slot.
    fn put_right(&mut self, hyper: &Hypergraph) {
        let doubtful = std::mem::take(&mut self.doubtful);
        let wanted = |stage: &Self, message: Place| {
            let slot = if hyper.active.full { message } else { stage.slot_of(message) };
            stage.counts(hyper, message).then_some(slot)
        };
        for message in &doubtful {
            let was = self.seen_at(hyper, *message);
            if let Some(slot) = was.filter(|_| was != wanted(self, *message)) {
                self.empty(slot);
            }
        }
        for message in &doubtful {
            let slot = wanted(self, *message);
            if let Some(slot) = slot.filter(|_| slot != self.seen_at(hyper, *message)) {
                self.fill(hyper, slot, *message);
            }
        }
        self.shifted.sort_unstable();
        self.shifted.dedup();
    }

    fn empty(&mut self, slot: Place) {
        if let Some(summary) = self.guests.remove(&slot) {
            self.slots.remove(&summary);
        }
        self.seen.remove(slot);
        self.shifted.push(slot);
    }

    fn fill(&mut self, hyper: &Hypergraph, slot: Place, message: Place) {
        assert!(!self.seen.contains(slot), "one message at most is seen in a slot");
        if is_summary(hyper, message) {
            self.guests.insert(slot, message);
            self.slots.insert(message, slot);
        }
        self.seen.insert(slot);
        self.shifted.push(slot);
    }
}

impl Hypergraph {
    /// Whether a message was spoken and is not switched off.
    pub(super) fn may_count(&self, message: Place) -> bool {
        let speaker = self.message(message).map(|message| message.speaker);
        speaker.is_some_and(|speaker| speaker != Speaker::Structural) && !self.active.off.contains(&message)
    }

    /// Whether a message is a summary that is shown as its sources.
    pub(super) fn is_opened(&self, message: Place) -> bool {
        is_summary(self, message) && self.active.expanded.contains(&message)
    }

    /// Whether a message is a summary that stands in the place of its sources, if none stands over it.
    pub(super) fn is_closed(&self, message: Place) -> bool {
        is_summary(self, message) && self.active.stands(message)
    }
}

impl Active {
    /// Whether a summary is not opened. One that is switched off is passed over with what it stands for.
    pub(super) fn stands(&self, summary: Place) -> bool {
        !self.expanded.contains(&summary)
    }
}

fn is_summary(hyper: &Hypergraph, message: Place) -> bool {
    hyper.message(message).is_some_and(|message| message.summary.is_some())
}

/// What a summary stands for; nothing for any other message.
pub(super) fn sources(hyper: &Hypergraph, message: Place) -> impl Iterator<Item = &Place> {
    hyper
        .message(message)
        .and_then(|message| message.summary.as_deref())
        .into_iter()
        .flat_map(|summary| &summary.sources)
}

fn change_sources<T>(
    hyper: &mut Hypergraph,
    summary: Place,
    change: impl FnOnce(&mut Vector<Place>) -> Option<T>,
) -> Option<T> {
    let summary = hyper.messages[summary as usize].summary.as_mut()?;
    change(&mut std::sync::Arc::make_mut(summary).sources)
}

/// Where a message is among the sources of a summary, or else where it belongs: mostly at their end, as they are named in
/// the order they came.
fn position(sources: &Vector<Place>, source: Place) -> Result<usize, usize> {
    match sources.last() {
        Some(last) if *last >= source => sources.binary_search(&source),
        _ => Err(sources.len()),
    }
}

/// Whether a message stands over another. The way up from the one and the ways down from the other are gone in step, so
/// that the shorter decides.
fn is_over(hyper: &Hypergraph, over: Place, message: Place) -> bool {
    let mut up = message;
    let mut down = vec![(over, 0)];
    loop {
        up = hyper.messages[up as usize].replaced_by;
        if up == over || up == NOWHERE {
            return up == over;
        }
        let Some((at, nth)) = down.last_mut() else {
            return false;
        };
        let summary = hyper.messages[*at as usize].summary.as_deref();
        match summary.and_then(|summary| summary.sources.get(*nth)) {
            Some(source) if *source == message => return true,
            Some(source) => {
                *nth += 1;
                down.push((*source, 0));
            }
            None => _ = down.pop(),
        }
    }
}
