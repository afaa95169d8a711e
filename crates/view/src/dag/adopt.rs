//! Runs that came before what caused them: their cause comes, and is put above them or they below it.
//!
//! Whichever of the two moves fewer blocks is done, see [`super::island`]. Start reading at [`Dag::adopt`].

use std::collections::{BTreeMap, BTreeSet};

use antiphon_graph::Conversation;

use super::place::{GAP, spawns};
use super::push::Moves;
use super::{Dag, EdgeKind, NONE};
use crate::{Changes, path};

/// How many blocks are moved for an arrow between two that are held together already, at most.
const HELD_MAX: usize = 1024;

/// Where runs go that leave their lanes.
#[derive(Clone, Copy)]
enum Side {
    RightOf(i32),
    LeftOf(i32),
}

impl Side {
    /// The same side of another lane.
    fn of(self, lane: i32) -> Self {
        match self {
            Self::RightOf(_) => Self::RightOf(lane),
            Self::LeftOf(_) => Self::LeftOf(lane),
        }
    }
}

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
            if self.hang(run, block, changes) {
                let kind = if is_spawned { EdgeKind::Spawn } else { EdgeKind::Reply };
                let first = self.runs[run as usize].first;
                self.connect(block, first, kind, changes);
            }
        }
    }

    /// Hangs a run from a block: below it, and to the right of it if it is its child. `false` where frames and
    /// lanes leave no way to do so without a circle: the run stays where it is and gets no arrow.
    fn hang(&mut self, run: u32, block: u32, changes: &mut Changes) -> bool {
        let state = &self.runs[run as usize];
        let (above, below) = (&self.spots[block as usize], &self.spots[state.first as usize]);
        let is_guest = below.owner != run;
        let is_misplaced = state.is_spawned && below.lane <= above.lane && !is_guest;
        let (upper, lower) = (above.owner, below.owner);
        let (left, right) = (above.lane, below.lane);
        let is_held = self.islands.together(upper, lower);
        let (upper_size, lower_size) = (self.islands.size(upper), self.islands.size(lower));
        let most = if is_held { HELD_MAX } else { upper_size.min(lower_size) };
        if !is_misplaced && let Some(moves) = self.pushed_below(run, block, most) {
            self.make(moves, changes);
            return true;
        }
        if !is_held && upper_size <= lower_size {
            let island = self.islands.runs(upper);
            self.relocate(&island, Side::LeftOf(right), changes);
            self.lift(&island, self.missing(run, block), changes);
            return true;
        }
        let part = if is_held { self.family(run) } else { self.islands.runs(lower) };
        if part.is_empty() || part.contains(&upper) || (is_held && is_guest) {
            return false;
        }
        self.relocate(&part, Side::RightOf(left), changes);
        let most = if is_held { HELD_MAX } else { usize::MAX };
        let Some(moves) = self.pushed_below(run, block, most) else {
            return false;
        };
        self.make(moves, changes);
        true
    }

    /// How far a run is from being low enough to hang from a block; 0 if it is.
    fn missing(&self, run: u32, block: u32) -> i64 {
        let first = self.runs[run as usize].first;
        (self.node(block).bottom() + GAP - self.node(first).y).max(0)
    }

    /// What has to move so that a run can hang from a block. `None` if that is the block itself, or too much.
    fn pushed_below(&self, run: u32, block: u32, most: usize) -> Option<Moves> {
        match self.missing(run, block) {
            0 => Some(Moves::new()),
            missing => {
                let first = self.runs[run as usize].first;
                self.plan(vec![(first, self.node(first).y + missing)], block, most)
            }
        }
    }

    /// Moves runs up as they stand.
    fn lift(&mut self, runs: &[u32], by: i64, changes: &mut Changes) {
        if by == 0 {
            return;
        }
        let blocks = runs.iter().flat_map(|run| &self.runs[*run as usize].blocks);
        let moves = blocks.map(|block| (*block, self.node(*block).y - by)).collect();
        self.make(moves, changes);
    }

    /// A run, its children, and theirs; nothing if they are too many.
    fn family(&self, run: u32) -> Vec<u32> {
        let mut family = BTreeSet::from([run]);
        let mut open = vec![run];
        let mut blocks = 0;
        while let Some(run) = open.pop() {
            for block in &self.runs[run as usize].blocks {
                blocks += 1;
                for to in &self.spots[*block as usize].out {
                    let child = self.spots[*to as usize].run;
                    let state = &self.runs[child as usize];
                    let is_child = state.is_spawned && state.cause == *block && state.first == *to;
                    if is_child && family.insert(child) {
                        open.push(child);
                    }
                }
            }
            if blocks > HELD_MAX {
                return Vec::new();
            }
        }
        family.into_iter().collect()
    }

    /// Moves runs to lanes with nothing in them on one side of a lane, as they stand to one another.
    fn relocate(&mut self, runs: &[u32], side: Side, changes: &mut Changes) {
        let mut lanes: BTreeMap<i32, Vec<u32>> = BTreeMap::new();
        for block in runs.iter().flat_map(|run| &self.runs[*run as usize].blocks) {
            lanes.entry(self.spots[*block as usize].lane).or_default().push(*block);
        }
        let mut moved = BTreeMap::new();
        let mut lanes: Vec<_> = lanes.into_iter().collect();
        if matches!(side, Side::LeftOf(_)) {
            lanes.reverse();
        }
        let mut side = side;
        for (old, mut blocks) in lanes {
            let new = match side {
                Side::RightOf(lane) => self.lanes.empty_right_of(lane),
                Side::LeftOf(lane) => self.lanes.empty_left_of(lane),
            };
            side = side.of(new);
            moved.insert(old, new);
            blocks.sort_by_key(|block| self.node(*block).y);
            for block in blocks {
                self.take_out(block);
                self.put_last(block, new);
                self.shift(block, changes);
            }
        }
        for run in runs {
            let state = &mut self.runs[*run as usize];
            let Some((old, new)) = state.lane.and_then(|old| Some((old, *moved.get(&old)?))) else {
                continue;
            };
            state.lane = Some(new);
            if state.is_busy {
                self.lanes.occupy(new);
                self.lanes.release(old);
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
            None => self.lanes.set_last(lane, above),
        }
    }

    fn put_last(&mut self, block: u32, lane: i32) {
        let above = self.lanes.last(lane);
        self.lanes.set_last(lane, block);
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
