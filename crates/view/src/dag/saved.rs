//! A [`Dag`] taken up again. What was saved by somebody else is not trusted: every number has to lead somewhere.

use serde::Deserialize;

use super::{Dag, Islands, Lanes, Layout, NONE, Requests, Run, Span, Spot};

/// A [`Dag`] as it was saved, not looked at yet.
#[derive(Deserialize)]
pub(super) struct Saved {
    layout: Layout,
    spots: Vec<Spot>,
    spans: Vec<Span>,
    frames: Vec<u32>,
    runs: Vec<Run>,
    lanes: Lanes,
    latest: Vec<u32>,
    requests: Requests,
}

impl TryFrom<Saved> for Dag {
    type Error = &'static str;

    fn try_from(saved: Saved) -> Result<Self, Self::Error> {
        if !saved.fits() {
            return Err("the saved layout points to places it does not have");
        }
        let islands = saved.islands();
        let Saved { layout, spots, spans, frames, runs, lanes, latest, requests } = saved;
        let mut dag = Self { layout, spots, spans, frames, runs, lanes, islands, latest, requests };
        (0..dag.spots.len() as u32).for_each(|block| dag.note_open(block, None));
        Ok(dag)
    }
}

impl Saved {
    /// What the arrows hold together.
    fn islands(&self) -> Islands {
        let mut islands = Islands::default();
        if let Some(last) = self.runs.len().checked_sub(1) {
            islands.enter(last as u32);
        }
        for spot in &self.spots {
            islands.grow(spot.owner);
        }
        for spot in &self.spots {
            for to in &spot.out {
                islands.join(spot.owner, self.spots[*to as usize].owner);
            }
        }
        islands
    }

    fn fits(&self) -> bool {
        let among = |count: usize| move |number: u32| (number as usize) < count;
        let or_none = |count: usize| move |number: u32| number == NONE || (number as usize) < count;
        let (block, maybe_block) = (among(self.spots.len()), or_none(self.spots.len()));
        let run = among(self.runs.len());
        let lane = |lane: i32| self.lanes.busy(lane).is_some();
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
            [state.first, state.tip, state.cause, state.start].into_iter().all(maybe_block)
                && state.lane.is_none_or(lane)
                && (!state.is_busy || state.lane.and_then(|lane| self.lanes.busy(lane)) > Some(0))
                && (state.first == NONE) == (state.tip == NONE)
                && state.blocks.iter().copied().all(block)
        });
        spots_fit
            && runs_fit
            && self.layout.nodes.len() == self.spots.len()
            && self.layout.groups.len() == self.spans.len()
            && self.spans.iter().all(|span| block(span.first) && block(span.last) && run(span.owner))
            && self.frames.iter().copied().all(maybe_frame)
            && self.lanes.fit(self.spots.len())
            && self.latest.iter().copied().all(maybe_block)
            && self.requests.blocks().all(maybe_block)
    }
}
