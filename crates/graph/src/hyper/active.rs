//! [`Active`]: what of a conversation counts, and the walk over it.
//!
//! By default every message counts and a summary stands in the place of its sources. What people change about
//! that is kept as differences from the default, so that new messages count without anybody saying so.

use serde::{Deserialize, Serialize};

use super::conversation::numbered;
use super::stage::Stage;
use super::{Conversation, Hypergraph};
use crate::Place;
use crate::node::NOWHERE;

/// Which messages count, as differences from the default.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Active {
    /// Whether summaries stand beside their sources and not in their place.
    pub(super) full: bool,
    /// Messages that were switched off.
    pub(super) off: imbl::OrdSet<Place>,
    /// Messages shown as their blocks, and summaries shown as their sources.
    pub(super) expanded: imbl::OrdSet<Place>,
    /// Blocks shown as their chunks.
    expanded_blocks: imbl::OrdSet<Place>,
}

/// One thing that a walk comes by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Item {
    /// A message.
    Message(Place),
    /// A block of a message that was expanded.
    Block(Place),
    /// A chunk of a block that was expanded.
    Chunk(Place),
}

/// What an id names.
enum Named {
    Message(Place),
    Block(Place),
}

impl Active {
    /// The default: every message, with summaries in the place of their sources.
    pub fn standard() -> Self {
        Self::default()
    }

    /// Every message, with summaries beside their sources.
    pub fn full_history() -> Self {
        Self { full: true, ..Self::default() }
    }

    /// Whether summaries stand beside their sources.
    pub fn is_full(&self) -> bool {
        self.full
    }

    fn expand(&mut self, named: Named) {
        match named {
            Named::Message(place) => self.expanded.insert(place),
            Named::Block(place) => self.expanded_blocks.insert(place),
        };
    }

    fn collapse(&mut self, named: Named) {
        match named {
            Named::Message(place) => self.expanded.remove(&place),
            Named::Block(place) => self.expanded_blocks.remove(&place),
        };
    }

    fn toggle(&mut self, message: Place) {
        if self.off.remove(&message).is_none() {
            self.off.insert(message);
        }
    }
}

impl Hypergraph {
    /// The same conversation with another choice of what counts.
    #[must_use]
    pub fn with_active(&self, active: Active) -> Self {
        Self { active, ..self.clone() }
    }

    /// The active set after an operation: `default`, `full`, `expand`, `collapse`, `append`, `branch` or
    /// `toggle`. Ids of messages, blocks and chunks are taken; ids nobody knows, and operations of a later
    /// version, change nothing.
    pub fn active_after(&self, op: &str, ids: &[String]) -> Active {
        let mut active = self.active.clone();
        let known = || ids.iter().filter_map(|id| self.named(id));
        let messages = || ids.iter().filter_map(|id| self.message_place(id));
        match op {
            "default" => active = Active::standard(),
            "full" => active = Active::full_history(),
            "expand" => known().for_each(|named| active.expand(named)),
            "collapse" => {
                ids.iter().filter_map(|id| self.aggregate(id)).for_each(|named| active.collapse(named));
            }
            "append" => messages().for_each(|message| {
                active.off.remove(&message);
            }),
            "toggle" => messages().for_each(|message| active.toggle(message)),
            "branch" => {
                if let Some(last) = messages().next() {
                    active = self.branched(last);
                }
            }
            _ => {}
        }
        active
    }

    /// The conversation up to a message, which counts: it is switched on, and summaries that stand for it are opened.
    fn branched(&self, last: Place) -> Active {
        let opened = self.with_active(opened_to(self, &Stage::of(self), last).0);
        let mut active = opened.active.clone();
        active.off.extend(after(&opened, &Stage::of(&opened), last));
        active
    }

    fn named(&self, id: &str) -> Option<Named> {
        if let Some(message) = self.message_place(id) {
            return Some(Named::Message(message));
        }
        self.block_place(id).map(Named::Block)
    }

    /// What would be shown if the parts with this id were put back together: a part's whole, a source's
    /// summary, or the thing itself.
    fn aggregate(&self, id: &str) -> Option<Named> {
        if let Some(number) = id.strip_prefix("chunk:").and_then(|number| number.parse::<u32>().ok()) {
            let chunk = self.chunk(number.checked_sub(1)?)?;
            return Some(Named::Block(chunk.block));
        }
        match self.named(id)? {
            Named::Block(place) if self.active.expanded_blocks.contains(&place) => Some(Named::Block(place)),
            Named::Block(place) => self.block(place).map(|block| Named::Message(block.message)),
            Named::Message(place) if self.active.expanded.contains(&place) => Some(Named::Message(place)),
            Named::Message(place) => match self.message(place)?.replaced_by {
                NOWHERE => Some(Named::Message(place)),
                summary => Some(Named::Message(summary)),
            },
        }
    }

    /// The place of a block, by its id.
    pub fn block_place(&self, id: &str) -> Option<Place> {
        let id = id.strip_prefix("block:")?;
        let of = |node: &str, nth: u32| self.nth_block_of(self.graph().place(node)?, nth);
        of(id, 1).or_else(|| numbered(id).and_then(|(node, nth)| of(node, nth)))
    }

    /// Whether a message counts: spoken, not switched off, and not stood for by a summary.
    pub fn is_active(&self, place: Place) -> bool {
        let over = |at: &Place| self.message(*at).map(|message| message.replaced_by);
        let mut summaries = std::iter::successors(over(&place), over).take_while(|at| *at != NOWHERE);
        self.may_count(place)
            && (self.active.full
                || !(self.is_opened(place) || summaries.any(|summary| self.active.stands(summary))))
    }

    /// What counts, in order. A summary comes where the first of its sources stood; a message that is switched
    /// off is passed over.
    pub fn walk(&self) -> Vec<Item> {
        let mut items = Vec::new();
        self.walk_messages().into_iter().for_each(|message| self.walk_into(message, &mut items));
        items
    }

    /// The messages that count, in the order of the walk.
    pub fn walk_messages(&self) -> Vec<Place> {
        Stage::of(self).walk(0).collect()
    }

    fn walk_into(&self, message: Place, items: &mut Vec<Item>) {
        if !self.active.expanded.contains(&message) {
            items.push(Item::Message(message));
            return;
        }
        for block in self.blocks_of(message) {
            if self.active.expanded_blocks.contains(&block) {
                items.extend(self.chunks_of(block).into_iter().map(Item::Chunk));
            } else {
                items.push(Item::Block(block));
            }
        }
    }

    /// The id of something a walk came by.
    pub fn item_id(&self, item: Item) -> String {
        match item {
            Item::Message(message) => {
                self.message(message).map(|message| message.id.to_string()).unwrap_or_default()
            }
            Item::Block(block) => self.block(block).map(|block| self.block_id(block)).unwrap_or_default(),
            Item::Chunk(chunk) => Self::chunk_id(chunk),
        }
    }

    /// Whether everything that counts, counts once: no message beside the summary that stands for it.
    pub fn validate(&self) -> Result<(), Vec<String>> {
        let stage = Stage::of(self);
        let twice = |place: Place| {
            let message = self.message(place)?;
            let summary = self.message(message.replaced_by)?;
            let both = stage.counts(self, place) && stage.counts(self, message.replaced_by);
            both.then(|| format!("{} counts beside {}, which stands for it", message.id, summary.id))
        };
        let problems: Vec<_> = (0..self.messages.len() as Place).filter_map(twice).collect();
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }
}

/// The active set in which a message is switched on and no summary stands for it, and the summaries that are opened for
/// that.
fn opened_to(hyper: &Hypergraph, stage: &Stage, message: Place) -> (Active, Vec<Place>) {
    let mut active = hyper.active.clone();
    active.off.remove(&message);
    let (mut at, mut opened) = (message, Vec::new());
    while !active.full && stage.is_covered(at) {
        at = hyper.messages[at as usize].replaced_by;
        if hyper.active.stands(at) {
            active.expanded.insert(at);
            opened.push(at);
        }
    }
    (active, opened)
}

/// What counts after a message; nothing if that does not count itself.
fn after(hyper: &Hypergraph, stage: &Stage, message: Place) -> Vec<Place> {
    let slot = stage.seen_at(hyper, message);
    slot.into_iter().flat_map(|slot| stage.walk(slot + 1)).collect()
}

impl Conversation {
    /// Takes in a choice of what is active, at the cost of what that changes.
    pub(super) fn choose(&mut self, op: &str, ids: &[String]) {
        let mut named: Vec<_> = ids.iter().filter_map(|id| self.hyper.message_place(id)).collect();
        match (op, named.first()) {
            ("default" | "full", _) => {
                let Active { off, expanded, .. } = self.hyper.active.clone();
                let active = if op == "full" { Active::full_history() } else { Active::standard() };
                self.activate(active, off.into_iter().chain(expanded));
            }
            ("branch", Some(last)) => self.branch(*last),
            ("branch", None) => {}
            _ => {
                let active = self.snapshot().active_after(op, ids);
                // What closes a summary may name one of its sources.
                let over = named.iter().map(|message| self.hyper.messages[*message as usize].replaced_by);
                named.extend(over.collect::<Vec<_>>());
                self.activate(active, named);
            }
        }
    }

    fn branch(&mut self, last: Place) {
        let (opened, summaries) = opened_to(&self.hyper, &self.stage, last);
        self.activate(opened, summaries.into_iter().chain([last]));
        let off = after(&self.hyper, &self.stage, last);
        let mut active = self.hyper.active.clone();
        active.off.extend(off.iter().copied());
        self.activate(active, off);
    }

    /// Makes another choice, which concerns these messages at most.
    fn activate(&mut self, active: Active, concerned: impl IntoIterator<Item = Place>) {
        let before = std::mem::replace(&mut self.hyper.active, active);
        let now = &self.hyper.active;
        let differs = |message: &Place| {
            before.off.contains(message) != now.off.contains(message)
                || before.expanded.contains(message) != now.expanded.contains(message)
        };
        for message in concerned.into_iter().filter(differs) {
            self.stage.reconsider(&self.hyper, message);
        }
        if before.full != now.full {
            self.stage.reconsider_all(&self.hyper);
        }
        self.stage.settle(&self.hyper);
    }
}
