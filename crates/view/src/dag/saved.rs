//! A [`Dag`] taken up again. What was saved by somebody else is not trusted: every number has to lead somewhere.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::{Dag, Lane, Layout, NONE, Run, Span, Spot, Status};
use crate::request::Open;

/// A [`Dag`] as it was saved, not looked at yet.
#[derive(Deserialize)]
pub(super) struct Saved {
    layout: Layout,
    spots: Vec<Spot>,
    spans: Vec<Span>,
    frames: Vec<u32>,
    runs: Vec<Run>,
    lanes: Vec<Lane>,
    free: BTreeSet<u32>,
    empty: BTreeSet<u32>,
    latest: Vec<u32>,
    answers: BTreeMap<String, Status>,
    open: Open<u32>,
}

impl TryFrom<Saved> for Dag {
    type Error = &'static str;

    fn try_from(saved: Saved) -> Result<Self, Self::Error> {
        if !saved.fits() {
            return Err("the saved layout points to places it does not have");
        }
        let Saved { layout, spots, spans, frames, runs, lanes, free, empty, latest, answers, open } = saved;
        Ok(Self { layout, spots, spans, frames, runs, lanes, free, empty, latest, answers, open })
    }
}

impl Saved {
    fn fits(&self) -> bool {
        let among = |count: usize| move |number: u32| (number as usize) < count;
        let or_none = |count: usize| move |number: u32| number == NONE || (number as usize) < count;
        let (block, maybe_block) = (among(self.spots.len()), or_none(self.spots.len()));
        let (run, lane) = (among(self.runs.len()), among(self.lanes.len()));
        let maybe_frame = or_none(self.spans.len());
        let spots_fit = self.spots.iter().enumerate().all(|(at, spot)| {
            lane(spot.lane)
                && [spot.above, spot.below].into_iter().all(maybe_block)
                && (spot.earlier == NONE || (spot.earlier as usize) < at)
                && maybe_frame(spot.frame)
                && run(spot.run)
                && run(spot.owner)
                && spot.out.iter().copied().all(block)
        });
        let runs_fit = self.runs.iter().all(|state| {
            [state.first, state.tip, state.cause].into_iter().all(maybe_block)
                && or_none(self.lanes.len())(state.lane)
                && (!state.is_busy || self.lanes.get(state.lane as usize).is_some_and(|lane| lane.busy > 0))
                && (state.first == NONE) == (state.tip == NONE)
                && state.blocks.iter().copied().all(block)
        });
        spots_fit
            && runs_fit
            && self.layout.nodes.len() == self.spots.len()
            && self.layout.groups.len() == self.spans.len()
            && self.spans.iter().all(|span| block(span.first) && block(span.last) && run(span.owner))
            && self.frames.iter().copied().all(maybe_frame)
            && self.lanes.iter().all(|lane| maybe_block(lane.last))
            && self.free.iter().chain(&self.empty).copied().all(lane)
            && self.latest.iter().copied().all(maybe_block)
    }
}
