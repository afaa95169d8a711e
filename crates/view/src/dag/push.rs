//! Making room: what lies below or hangs from a block moves down, as far as needed and no further.
//!
//! All that moves is found before anything is moved, in the order of the old places. Arrows and lanes pointed
//! down before, so each block is looked at once, after everything that could push it.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use antiphon_event::Kind;

use super::label::{RESULT_HEIGHT, SMALL_HEIGHT};
use super::place::GAP;
use super::{Dag, NONE};
use crate::{Changes, path};

/// Blocks and where they go.
pub(super) type Moves = Vec<(u32, i64)>;

impl Dag {
    /// How much room is left above a new block for what is sure to come in the frame above: what its calls wait for, and
    /// the ends of the flow node that speaks in it. Else each of these would push all that is below. What the node itself
    /// goes on with takes the ends along.
    pub(super) fn room(&self, above: u32, block: u32, kind: Kind) -> i64 {
        let (Some(upper), lower) = (self.spot(above), &self.spots[block as usize]) else {
            return 0;
        };
        let Some(span) = self.spans.get(upper.frame as usize).filter(|_| upper.frame != lower.frame) else {
            return 0;
        };
        let run = &self.runs[span.owner as usize];
        if !run.is_busy || matches!(kind, Kind::HarnessEnd | Kind::RunEnd) {
            return 0;
        }
        let node = self.spots[span.first as usize].scope.node();
        let ends = node.filter(|node| lower.scope.node() != Some(*node));
        let ends = ends.map_or(0, |node| run.ends_to_come(node)) as i64;
        i64::from(span.waiting) * (RESULT_HEIGHT + GAP) + ends * (SMALL_HEIGHT + GAP)
    }

    /// Moves what stands too close to a block that has grown or is new.
    pub(super) fn make_room(&mut self, block: u32, changes: &mut Changes) {
        let pushed = self.pushed_by(block, self.node(block).bottom());
        if !pushed.is_empty()
            && let Some(moves) = self.plan(pushed, NONE, usize::MAX)
        {
            self.make(moves, changes);
        }
        self.fit_frame(block, changes);
        self.stretch(block, changes);
    }

    /// What has to move so that these blocks are as low as they are wanted. `None` if `fixed` would have to, or
    /// more than `most` blocks.
    pub(super) fn plan(&self, pushed: Moves, fixed: u32, most: usize) -> Option<Moves> {
        let mut wanted: HashMap<u32, i64> = HashMap::new();
        let mut queue = BinaryHeap::new();
        let mut moves = Vec::new();
        let mut next = pushed;
        loop {
            for (block, y) in next.drain(..) {
                let place = wanted.entry(block).or_insert_with(|| {
                    queue.push(Reverse((self.node(block).y, block)));
                    y
                });
                *place = y.max(*place);
            }
            let Some(Reverse((_, block))) = queue.pop() else {
                return Some(moves);
            };
            if block == fixed || moves.len() == most {
                return None;
            }
            let y = wanted[&block];
            moves.push((block, y));
            next = self.pushed_by(block, y + self.node(block).h);
        }
    }

    /// What stands too close to a block whose lower side is there.
    fn pushed_by(&self, block: u32, bottom: i64) -> Moves {
        let spot = &self.spots[block as usize];
        let below = self.spot(spot.below).map(|_| (spot.below, bottom + self.between(block, spot.below)));
        let hanging = spot.out.iter().map(|to| (*to, bottom + GAP));
        below.into_iter().chain(hanging).filter(|(to, y)| self.node(*to).y < *y).collect()
    }

    /// Moves blocks and the frames around them.
    pub(super) fn make(&mut self, moves: Moves, changes: &mut Changes) {
        for (block, y) in &moves {
            self.layout.nodes[*block as usize].y = *y;
            changes.set(path!["nodes", *block as usize, "y"], y);
        }
        for (block, _) in moves {
            let frame = self.spots[block as usize].frame;
            let is_end =
                self.spans.get(frame as usize).is_some_and(|span| span.first == block || span.last == block);
            if is_end {
                self.fit_frame(block, changes);
            }
            self.stretch(block, changes);
        }
    }
}
