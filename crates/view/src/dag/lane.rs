//! Which column a run stands in.
//!
//! A run keeps its lane while it is under way; afterwards the lane is free for others, who stand below it. A
//! child stands to the right of what started it, an answer below what it answers where there is room. Lanes are
//! found by a look into a sorted set, however many there are.

use antiphon_event::Kind;

use super::{Dag, Lane, NONE, Run};

impl Dag {
    pub(super) fn enter_run(&mut self, run: u32) {
        if self.runs.len() <= run as usize {
            self.runs.resize(run as usize + 1, Run::default());
        }
    }

    /// The lane for the next message of a run, kept for the run from now on unless it is a mere remark.
    pub(super) fn lane_for(&mut self, run: u32, kind: Kind) -> u32 {
        let state = &self.runs[run as usize];
        let own = self.lanes.get(state.lane as usize).filter(|lane| state.is_busy || lane.busy == 0);
        let lane = match own {
            Some(_) => state.lane,
            None => self.choose(run),
        };
        let state = &mut self.runs[run as usize];
        state.lane = lane;
        let stays = !matches!(kind, Kind::User | Kind::HarnessEnd | Kind::RunEnd);
        if stays && !state.is_busy {
            state.is_busy = true;
            self.lanes[lane as usize].busy += 1;
            self.free.remove(&lane);
        }
        self.empty.remove(&lane);
        lane
    }

    /// A run is no longer under way.
    pub(super) fn leave_lane(&mut self, run: u32) {
        let state = &mut self.runs[run as usize];
        if std::mem::take(&mut state.is_busy) {
            let lane = state.lane;
            self.release(lane);
        }
    }

    pub(super) fn release(&mut self, lane: u32) {
        let state = &mut self.lanes[lane as usize];
        state.busy = state.busy.saturating_sub(1);
        if state.busy == 0 {
            self.free.insert(lane);
        }
    }

    fn choose(&mut self, run: u32) -> u32 {
        let Run { cause, is_spawned, .. } = self.runs[run as usize];
        let Some(spot) = self.spot(cause) else {
            return self.free_from(0);
        };
        let lane = self.lanes[spot.lane as usize];
        let is_lowest = lane.last == cause
            || self.spot(lane.last).is_some_and(|last| last.frame == spot.frame && last.frame != NONE);
        if !is_spawned && lane.busy == 0 && is_lowest {
            return spot.lane;
        }
        self.free_from(spot.lane + 1)
    }

    /// The first lane from this one on that no run is busy in.
    fn free_from(&mut self, lane: u32) -> u32 {
        match self.free.range(lane..).next() {
            Some(free) => *free,
            None => self.add_lane(),
        }
    }

    /// The first lane from this one on that has nothing in it.
    pub(super) fn empty_from(&mut self, lane: u32) -> u32 {
        match self.empty.range(lane..).next() {
            Some(empty) => *empty,
            None => self.add_lane(),
        }
    }

    fn add_lane(&mut self) -> u32 {
        let lane = self.lanes.len() as u32;
        self.lanes.push(Lane { last: NONE, busy: 0 });
        self.free.insert(lane);
        self.empty.insert(lane);
        lane
    }
}
