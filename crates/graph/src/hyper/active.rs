//! [`Active`]: what of a conversation counts, and the walk over it.
//!
//! By default every message counts and a summary stands in the place of its sources. What people change about
//! that is kept as differences from the default, so that new messages count without anybody saying so.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::conversation::numbered;
use super::{Hypergraph, Speaker};
use crate::Place;
use crate::node::NOWHERE;

/// Which messages count, as differences from the default.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Active {
    /// Whether summaries stand beside their sources and not in their place.
    full: bool,
    /// Messages that were switched off.
    off: imbl::OrdSet<Place>,
    /// Messages shown as their blocks, and summaries shown as their sources.
    expanded: imbl::OrdSet<Place>,
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
                    active = self.branched(last, active);
                }
            }
            _ => {}
        }
        active
    }

    /// The conversation up to a message, which counts: it is switched on, and summaries it is in are opened.
    fn branched(&self, last: Place, mut active: Active) -> Active {
        active.off.remove(&last);
        if !active.full {
            let over = |place: &Place| self.message(*place).map(|message| message.replaced_by);
            let inside = |place: &Place| self.message(*place).is_some();
            active.expanded.extend(std::iter::successors(over(&last), over).take_while(inside));
        }
        let opened = self.with_active(active);
        let mut active = opened.active.clone();
        active.off.extend(opened.walked_after(last));
        active
    }

    /// The messages that a walk comes by after one of them.
    fn walked_after(&self, last: Place) -> impl Iterator<Item = Place> {
        let walked: Vec<_> = self.walk().into_iter().filter_map(|item| self.message_of_item(item)).collect();
        let upto =
            walked.iter().rposition(|message| *message == last).map_or(walked.len(), |found| found + 1);
        let kept: BTreeSet<_> = walked[..upto].iter().copied().collect();
        walked.into_iter().skip(upto).filter(move |message| !kept.contains(message))
    }

    fn message_of_item(&self, item: Item) -> Option<Place> {
        match item {
            Item::Message(message) => Some(message),
            Item::Block(block) => self.block(block).map(|block| block.message),
            Item::Chunk(chunk) => {
                self.chunk(chunk).and_then(|chunk| self.block(chunk.block)).map(|block| block.message)
            }
        }
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
        let of = |node: &str, nth: u32| {
            let blocks = self.blocks_of_node(self.graph().place(node)?);
            blocks.into_iter().find(|place| self.block(*place).is_some_and(|block| block.nth == nth))
        };
        of(id, 1).or_else(|| numbered(id).and_then(|(node, nth)| of(node, nth)))
    }

    /// Whether a message counts: spoken, not switched off, and not stood for by a summary.
    pub fn is_active(&self, place: Place) -> bool {
        let Some(message) = self.message(place) else {
            return false;
        };
        if message.speaker == Speaker::Structural || self.active.off.contains(&place) {
            return false;
        }
        if self.active.full {
            return true;
        }
        let expanded_summary = message.summary.is_some() && self.active.expanded.contains(&place);
        !expanded_summary && self.standing_for(place).is_none()
    }

    /// The outermost summary that stands for a message now.
    pub fn standing_for(&self, place: Place) -> Option<Place> {
        let mut standing = None;
        let mut at = self.message(place)?.replaced_by;
        while let Some(summary) = self.message(at) {
            if !self.active.expanded.contains(&at) && !self.active.off.contains(&at) {
                standing = Some(at);
            }
            at = summary.replaced_by;
        }
        standing
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
        let mut shown = Vec::new();
        let mut summaries = BTreeSet::new();
        for place in 0..self.messages.len() as Place {
            let stands = match self.standing_for(place) {
                Some(summary) if !self.active.full => summary,
                _ => place,
            };
            let is_summary = self.messages[stands as usize].summary.is_some();
            if (!is_summary || summaries.insert(stands)) && self.is_active(stands) {
                shown.push(stands);
            }
        }
        shown
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
        let twice = |place: Place| {
            let message = self.message(place)?;
            let summary = self.message(message.replaced_by)?;
            let both = self.is_active(place) && self.is_active(message.replaced_by);
            both.then(|| format!("{} counts beside {}, which stands for it", message.id, summary.id))
        };
        let problems: Vec<_> = (0..self.messages.len() as Place).filter_map(twice).collect();
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }
}
