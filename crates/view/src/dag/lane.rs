//! Which column a run stands in.
//!
//! A run keeps its lane while it is under way; afterwards the lane is free for others, who stand below it. A
//! child stands to the right of what started it, an answer below what it answers where there is room. Lanes are
//! found by a look into a sorted set, however many there are. Those to the left of the first have numbers below 0.

use std::collections::{BTreeSet, VecDeque};

use antiphon_event::Kind;
use serde::{Deserialize, Serialize};

use super::{Dag, NONE, Run};

/// All columns, from left to right.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Lanes {
    columns: VecDeque<Lane>,
    /// How many of them are to the left of the one that was first.
    left: u32,
    /// Lanes that no run is busy in.
    free: BTreeSet<i32>,
    /// Lanes with nothing in them.
    empty: BTreeSet<i32>,
}

/// A column.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Lane {
    /// The lowest block in it, if there is any.
    last: Option<u32>,
    /// How many runs are busy in it.
    busy: u32,
}

impl Lanes {
    /// The lowest block in a lane.
    pub(super) fn last(&self, lane: i32) -> u32 {
        self.get(lane).and_then(|lane| lane.last).unwrap_or(NONE)
    }

    /// Notes the lowest block in a lane, or that it has none.
    pub(super) fn set_last(&mut self, lane: i32, block: u32) {
        let last = Some(block).filter(|block| *block != NONE);
        match last {
            Some(_) => self.empty.remove(&lane),
            None => self.empty.insert(lane),
        };
        if let Some(lane) = self.get_mut(lane) {
            lane.last = last;
        }
    }

    /// How many runs are busy in a lane; `None` if there is no such lane.
    pub(super) fn busy(&self, lane: i32) -> Option<u32> {
        self.get(lane).map(|lane| lane.busy)
    }

    /// One more run is busy in a lane.
    pub(super) fn occupy(&mut self, lane: i32) {
        if let Some(state) = self.get_mut(lane) {
            state.busy += 1;
            self.free.remove(&lane);
        }
    }

    /// One run less is busy in a lane.
    pub(super) fn release(&mut self, lane: i32) {
        if let Some(state) = self.get_mut(lane) {
            state.busy = state.busy.saturating_sub(1);
            if state.busy == 0 {
                self.free.insert(lane);
            }
        }
    }

    /// The first lane from this one on that no run is busy in.
    pub(super) fn free_from(&mut self, lane: i32) -> i32 {
        self.free.range(lane..).next().copied().unwrap_or_else(|| self.add_right())
    }

    /// The nearest lane to the right of this one that has nothing in it.
    pub(super) fn empty_right_of(&mut self, lane: i32) -> i32 {
        self.empty.range(lane + 1..).next().copied().unwrap_or_else(|| self.add_right())
    }

    /// The nearest lane to the left of this one that has nothing in it.
    pub(super) fn empty_left_of(&mut self, lane: i32) -> i32 {
        self.empty.range(..lane).next_back().copied().unwrap_or_else(|| self.add_left())
    }

    /// Whether all that was saved leads somewhere among so many blocks.
    pub(super) fn fit(&self, blocks: usize) -> bool {
        self.left as usize <= self.columns.len()
            && self.columns.iter().all(|lane| lane.last.is_none_or(|last| (last as usize) < blocks))
            && self.free.iter().chain(&self.empty).all(|lane| self.get(*lane).is_some())
    }

    fn add_right(&mut self) -> i32 {
        self.columns.push_back(Lane::default());
        self.open(self.columns.len() as i32 - 1 - self.left as i32)
    }

    fn add_left(&mut self) -> i32 {
        self.columns.push_front(Lane::default());
        self.left += 1;
        self.open(-(self.left as i32))
    }

    fn open(&mut self, lane: i32) -> i32 {
        self.free.insert(lane);
        self.empty.insert(lane);
        lane
    }

    fn get(&self, lane: i32) -> Option<&Lane> {
        self.columns.get(usize::try_from(i64::from(lane) + i64::from(self.left)).ok()?)
    }

    fn get_mut(&mut self, lane: i32) -> Option<&mut Lane> {
        self.columns.get_mut(usize::try_from(i64::from(lane) + i64::from(self.left)).ok()?)
    }
}

impl Dag {
    pub(super) fn enter_run(&mut self, run: u32) {
        if self.runs.len() <= run as usize {
            self.runs.resize(run as usize + 1, Run::default());
            self.islands.enter(run);
        }
    }

    /// The lane for the next message of a run, kept for the run from now on unless it is a mere remark.
    pub(super) fn lane_for(&mut self, run: u32, kind: Kind) -> i32 {
        let state = &self.runs[run as usize];
        let own = state.lane.filter(|lane| state.is_busy || self.lanes.busy(*lane) == Some(0));
        let lane = own.unwrap_or_else(|| self.choose(run));
        let state = &mut self.runs[run as usize];
        state.lane = Some(lane);
        let stays = !matches!(kind, Kind::User | Kind::HarnessEnd | Kind::RunEnd);
        if stays && !state.is_busy {
            state.is_busy = true;
            self.lanes.occupy(lane);
        }
        lane
    }

    /// A run is no longer under way.
    pub(super) fn leave_lane(&mut self, run: u32) {
        let state = &mut self.runs[run as usize];
        if let Some(lane) = state.lane
            && std::mem::take(&mut state.is_busy)
        {
            self.lanes.release(lane);
        }
    }

    fn choose(&mut self, run: u32) -> i32 {
        let Run { cause, is_spawned, .. } = self.runs[run as usize];
        let Some(spot) = self.spot(cause) else {
            return self.lanes.free_from(0);
        };
        let last = self.lanes.last(spot.lane);
        let is_lowest = last == cause
            || self.spot(last).is_some_and(|last| last.frame == spot.frame && last.frame != NONE);
        if !is_spawned && self.lanes.busy(spot.lane) == Some(0) && is_lowest {
            return spot.lane;
        }
        let right = spot.lane + 1;
        self.lanes.free_from(right)
    }
}
