//! Runs that came before what caused them: their cause comes, and they move below it.

use std::collections::{BTreeMap, BTreeSet};

use antiphon_graph::Conversation;

use super::place::{GAP, spawns};
use super::{Dag, EdgeKind, NONE};
use crate::{Changes, path};

impl Dag {
    /// Takes in the runs that waited for a node that has just come.
    pub(super) fn adopt(
        &mut self,
        conversation: &Conversation,
        node: u32,
        block: u32,
        changes: &mut Changes,
    ) {
        let is_spawned = conversation.node(node).is_some_and(|node| spawns(node.kind()));
        for child in conversation.children_of(node) {
            let run = conversation.node(child).map_or(NONE, antiphon_graph::Node::run_place);
            let Some(state) = self.runs.get_mut(run as usize).filter(|run| run.first != NONE) else {
                continue;
            };
            state.cause = block;
            state.is_spawned = is_spawned;
            self.hang(run, block, changes);
        }
    }

    /// Hangs a run from a block: below it, and to the right of it if it is its child. Where frames and lanes
    /// leave no way to do so without a circle, the run stays where it is and gets no arrow.
    fn hang(&mut self, run: u32, block: u32, changes: &mut Changes) {
        let state = &self.runs[run as usize];
        let first = state.first;
        let kind = if state.is_spawned { EdgeKind::Spawn } else { EdgeKind::Reply };
        let (above, below) = (&self.spots[block as usize], &self.spots[first as usize]);
        let is_guest = below.owner != run;
        let is_misplaced = state.is_spawned && below.lane <= above.lane && !is_guest;
        let pushed = || vec![(first, self.node(block).bottom() + GAP)];
        let is_low = self.node(first).y >= self.node(block).bottom() + GAP;
        let moves = if is_low { Some(Vec::new()) } else { self.plan(pushed(), block) };
        let moves = match moves {
            Some(moves) if !is_misplaced => Some(moves),
            _ if is_guest => None,
            _ => {
                let family = self.family(run);
                if family.contains(&above.owner) {
                    return;
                }
                let pushed = pushed();
                let lane = above.lane + 1;
                self.relocate(&family, lane, changes);
                if is_low { Some(Vec::new()) } else { self.plan(pushed, block) }
            }
        };
        if let Some(moves) = moves {
            self.make(moves, changes);
            self.connect(block, first, kind, changes);
        }
    }

    /// A run, its children, and theirs.
    fn family(&self, run: u32) -> BTreeSet<u32> {
        let mut family = BTreeSet::from([run]);
        let mut open = vec![run];
        while let Some(run) = open.pop() {
            for block in &self.runs[run as usize].blocks {
                for to in &self.spots[*block as usize].out {
                    let child = self.spots[*to as usize].run;
                    let state = &self.runs[child as usize];
                    let is_child = state.is_spawned && state.cause == *block && state.first == *to;
                    if is_child && family.insert(child) {
                        open.push(child);
                    }
                }
            }
        }
        family
    }

    /// Moves runs to lanes with nothing in them, from `lane` on, as they stand to one another.
    fn relocate(&mut self, family: &BTreeSet<u32>, lane: u32, changes: &mut Changes) {
        let mut lanes: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for run in family {
            for block in &self.runs[*run as usize].blocks {
                lanes.entry(self.spots[*block as usize].lane).or_default().push(*block);
            }
        }
        let mut from = lane;
        let mut moved = BTreeMap::new();
        for (old, mut blocks) in lanes {
            let new = self.empty_from(from);
            self.empty.remove(&new);
            from = new + 1;
            moved.insert(old, new);
            blocks.sort_by_key(|block| self.node(*block).y);
            for block in blocks {
                self.take_out(block);
                self.put_last(block, new);
                self.shift(block, changes);
            }
        }
        for run in family {
            let state = &mut self.runs[*run as usize];
            let Some(new) = moved.get(&state.lane).copied() else {
                continue;
            };
            let old = std::mem::replace(&mut state.lane, new);
            if state.is_busy {
                self.lanes[new as usize].busy += 1;
                self.free.remove(&new);
                self.release(old);
            }
        }
    }

    fn take_out(&mut self, block: u32) {
        let spot = &self.spots[block as usize];
        let (above, below, lane) = (spot.above, spot.below, spot.lane);
        if let Some(spot) = self.spots.get_mut(above as usize) {
            spot.below = below;
        }
        match self.spots.get_mut(below as usize) {
            Some(spot) => spot.above = above,
            None => self.lanes[lane as usize].last = above,
        }
        if self.lanes[lane as usize].last == NONE {
            self.empty.insert(lane);
        }
    }

    fn put_last(&mut self, block: u32, lane: u32) {
        let above = std::mem::replace(&mut self.lanes[lane as usize].last, block);
        if let Some(spot) = self.spots.get_mut(above as usize) {
            spot.below = block;
        }
        let spot = &mut self.spots[block as usize];
        (spot.above, spot.below, spot.lane) = (above, NONE, lane);
    }

    fn shift(&mut self, block: u32, changes: &mut Changes) {
        let x = self.x_of(block, self.node(block).w);
        self.layout.nodes[block as usize].x = x;
        changes.set(path!["nodes", block as usize, "x"], &x);
        self.fit_frame(block, changes);
        self.stretch(block, changes);
    }
}
