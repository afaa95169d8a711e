//! The rule of readiness: edges are decided, nodes are queued, loops come to rest and go round again.

use std::collections::VecDeque;

use antiphon_event::body::flow::EdgeDecision;

use super::Scheduler;
use super::spot::{Dead, Decision, Queue, Spot, Status};
use crate::definition::{EdgeIndex, Join, NodeIndex, When};

impl Scheduler {
    /// Decides the edges that leave a node that completed.
    pub(super) fn decide_edges(&mut self, node: NodeIndex, decided: &[EdgeDecision]) {
        let is_detour = |edge: EdgeIndex| matches!(self.flow.edges()[edge].when, When::Reroute);
        // Those come last, so most nodes are seen to have none at once.
        let rerouted = self.leaving(node).last().is_some_and(|edge| is_detour(*edge))
            && self
                .leaving(node)
                .iter()
                .zip(decided)
                .any(|(edge, decision)| decision.live && is_detour(*edge));
        for position in 0..self.leaving(node).len() {
            let edge = self.leaving(node)[position];
            let target = self.flow.shape().ends[edge].1;
            let id = self.flow.id(target);
            let at_place = decided.get(position).filter(|decision| decision.to == *id);
            let found = at_place.or_else(|| decided.iter().find(|decision| decision.to == *id));
            let live = found.is_some_and(|decision| decision.live);
            let own = matches!(self.flow.edges()[edge].when, When::If(_)) && !rerouted;
            self.decide_edge(edge, live, if own { Dead::Refused } else { Dead::Passed });
        }
        if self.flow.shape().hands_over && self.fired.is_empty() {
            self.leave_out();
        }
    }

    /// Nobody is handed the work any more: who never had it is skipped.
    fn leave_out(&mut self) {
        for node in 0..self.spots.len() {
            let spot = &self.spots[node];
            if spot.status == Status::Pending && spot.queue == Queue::None {
                self.enqueue(node, Queue::Skip);
            }
        }
    }

    /// Decides the edges that leave a node that was skipped.
    pub(super) fn pass_edges(&mut self, node: NodeIndex) {
        for position in 0..self.leaving(node).len() {
            self.decide_edge(self.leaving(node)[position], false, Dead::Passed);
        }
    }

    fn leaving(&self, node: NodeIndex) -> &[EdgeIndex] {
        &self.flow.shape().leaving[node]
    }

    fn decide_edge(&mut self, edge: EdgeIndex, live: bool, dead: Dead) {
        if self.flow.shape().back[edge] {
            if live {
                self.fire(edge);
            }
            return;
        }
        let held = !live && !self.flow.shape().leaves[edge].is_empty();
        let decision = match (live, held) {
            (true, _) => Decision::Live,
            (false, true) => Decision::Held(dead),
            (false, false) => dead.into(),
        };
        self.mark(edge, decision);
    }

    /// Writes a decision down and looks at the target again.
    fn mark(&mut self, edge: EdgeIndex, decision: Decision) {
        self.recount(edge, decision);
        self.evaluate(self.flow.shape().ends[edge].1);
    }

    fn recount(&mut self, edge: EdgeIndex, decision: Decision) {
        let spot = &mut self.spots[self.flow.shape().ends[edge].1];
        count(spot, self.decisions[edge], false);
        count(spot, decision, true);
        self.decisions[edge] = decision;
    }

    /// Queues a node if what is decided so far is enough to run or skip it.
    fn evaluate(&mut self, node: NodeIndex) {
        let spot = &self.spots[node];
        if spot.status != Status::Pending || spot.queue != Queue::None {
            return;
        }
        match self.readiness(node) {
            Some(true) => self.enqueue(node, Queue::Ready),
            Some(false) => self.enqueue(node, Queue::Skip),
            None => {}
        }
    }

    /// Whether what is decided so far is enough to run or skip a node.
    pub(super) fn readiness(&self, node: NodeIndex) -> Option<bool> {
        let spot = &self.spots[node];
        match self.flow.node(node).join {
            Join::All => (spot.undecided == 0).then_some(spot.live > 0 && spot.refused == 0),
            Join::Any => enough(spot, 1),
            Join::Count(count) => enough(spot, count),
        }
    }

    /// How often a node may run, if it has run as often as that.
    pub(super) fn spent(&self, node: NodeIndex) -> Option<u32> {
        let spot = &self.spots[node];
        let runs = || spot.execution.saturating_sub(spot.rare().skips);
        self.flow.node(node).max_executions.filter(|max| !spot.again && runs() >= *max)
    }

    /// Queues a node that had begun before, if the way to it is still open: a loop may have gone round since.
    pub(super) fn admit(&mut self, node: NodeIndex) {
        let is_brought = !self.spots[node].rare().brought.is_empty();
        if is_brought || self.flow.shape().entering[node].is_empty() {
            self.enqueue(node, Queue::Ready);
        } else {
            self.evaluate(node);
        }
    }

    /// Puts a node in line; one that has run as often as it may is skipped.
    pub(super) fn enqueue(&mut self, node: NodeIndex, queue: Queue) {
        let queue = if self.spent(node).is_some() { Queue::Skip } else { queue };
        match queue {
            Queue::Ready => self.ready.push_back(node),
            Queue::Skip => self.skips.push_back(node),
            Queue::None => {}
        }
        self.shift(node, |spot| spot.queue = queue);
    }

    /// Takes a node out of line, at the latest with the event that says what became of it.
    pub(super) fn dequeue(&mut self, node: NodeIndex) {
        let line = match self.spots[node].queue {
            Queue::None => return,
            Queue::Ready => &mut self.ready,
            Queue::Skip => &mut self.skips,
        };
        take_out(line, &node);
        // Its status changes with the same event, so it is busy all along.
        self.spots[node].queue = Queue::None;
        self.spots[node].leaving_line = true;
    }

    pub(super) fn unfollow(&mut self, node: NodeIndex) {
        if !self.follow.is_empty() {
            take_out(&mut self.follow, &node);
        }
    }

    /// Changes what is kept about a node, and all that is counted over nodes with it.
    pub(super) fn shift(&mut self, node: NodeIndex, change: impl FnOnce(&mut Spot)) {
        let spot = &mut self.spots[node];
        let (was, was_busy) = (spot.status, spot.busy() || spot.leaving_line);
        self.resting -= usize::from(spot.rests());
        spot.leaving_line = false;
        change(spot);
        self.resting += usize::from(spot.rests());
        let (is, is_busy) = (spot.status, spot.busy());
        if was != is {
            self.tally(was, usize::wrapping_sub);
            self.tally(is, usize::wrapping_add);
        }
        if was_busy != is_busy && !self.busy.is_empty() {
            self.stir(node, is_busy);
        }
    }

    fn tally(&mut self, status: Status, change: fn(usize, usize) -> usize) {
        let count = match status {
            Status::Executing => &mut self.executing,
            Status::Interrupted => &mut self.paused,
            Status::Failed => &mut self.failed,
            Status::Cancelled => &mut self.cancelled,
            Status::Pending | Status::Completed | Status::Skipped => return,
        };
        *count = change(*count, 1);
    }

    /// A node became busy, or came to rest; loops may come to rest with it.
    fn stir(&mut self, node: NodeIndex, busy: bool) {
        for region in &self.flow.shape().regions_of[node] {
            let busy_there = &mut self.busy[*region];
            *busy_there = if busy { *busy_there + 1 } else { *busy_there - 1 };
        }
        if !busy {
            self.rest(node);
        }
    }

    /// What the loops around a node held back is dead if they have come to rest. The innermost goes first: what it lets go
    /// of may be work in those around it.
    fn rest(&mut self, node: NodeIndex) {
        for position in 0..self.flow.shape().regions_of[node].len() {
            let region = self.flow.shape().regions_of[node][position];
            if self.busy[region] == 0 {
                self.release(region, node, position);
            }
        }
    }

    /// A loop has come to rest: what was held back by it, and leaves none of the larger loops around the node, is dead now.
    fn release(&mut self, region: usize, node: NodeIndex, position: usize) {
        let exits = self.flow.shape().regions[region].exits.as_ref().map_or(0, Vec::len);
        for exit in 0..exits {
            let shape = self.flow.shape();
            let edge = shape.regions[region].exits.as_ref().expect("it has some")[exit];
            let Decision::Held(dead) = self.decisions[edge] else { continue };
            let (left, larger) = (&shape.leaves[edge], &shape.regions_of[node][position + 1..]);
            let at_rest = left.iter().all(|region| self.busy[*region] == 0 && !larger.contains(region));
            if at_rest {
                self.mark(edge, dead.into());
            }
        }
    }

    /// Loops that had come to rest only because something failed or was cancelled go on: what leaves them is dead when
    /// they come to rest again.
    pub(super) fn hold_again(&mut self) {
        for edge in 0..self.decisions.len() {
            let dead = match self.decisions[edge] {
                Decision::Refused => Dead::Refused,
                Decision::Passed => Dead::Passed,
                Decision::Undecided | Decision::Live | Decision::Held(_) => continue,
            };
            if self.flow.shape().leaves[edge].iter().any(|region| self.busy[*region] > 0) {
                self.recount(edge, Decision::Held(dead));
            }
        }
    }

    /// A node is done for this pass.
    pub(super) fn settle(&mut self, node: NodeIndex, status: Status) {
        if let Some(layer) = self.flow.shape().layer[node] {
            let layer = layer as usize;
            self.layers[layer].unsettled = self.layers[layer].unsettled.saturating_sub(1);
            if self.layers[layer].unsettled == 0 && self.layers[layer].open {
                self.closing.push_back(layer);
            }
        }
        self.shift(node, |spot| spot.status = status);
    }

    /// A back edge wants to be taken; its loop is not at rest before it is.
    fn fire(&mut self, edge: EdgeIndex) {
        if self.fired.contains(&edge) {
            return;
        }
        self.fired.push(edge);
        self.around(edge, |busy| *busy += 1);
    }

    /// A back edge is taken, or is not to be taken any more: its loops may come to rest.
    fn fall(&mut self, edge: EdgeIndex) {
        self.around(edge, |busy| *busy -= 1);
        self.rest(self.target(edge));
    }

    /// For each loop that a back edge is in.
    fn around(&mut self, edge: EdgeIndex, each: fn(&mut u32)) {
        let shape = self.flow.shape();
        let (source, target) = shape.ends[edge];
        for at in &shape.regions_of[target] {
            let region = &shape.regions[*at];
            if region.exits.is_some() && region.nodes.binary_search(&source).is_ok() {
                each(&mut self.busy[*at]);
            }
        }
    }

    /// The back edges that are taken now, as one pass: all that fired to one target with nothing busy beyond it. Where
    /// several targets wait, one that reaches another goes before it, however long it waits; else the edges that were
    /// declared first do.
    pub(super) fn takeable(&self) -> Vec<EdgeIndex> {
        let targets = || self.fired.iter().map(|edge| self.target(*edge));
        let is_inner = |inner| targets().any(|outer| outer != inner && self.reaches(outer, inner));
        let at_rest = |target| self.busy[self.reach(target)] == 0 || self.is_brought(target);
        let is_next = |edge: &&EdgeIndex| {
            let target = self.target(**edge);
            at_rest(target) && !is_inner(target)
        };
        let Some(&first) = self.fired.iter().filter(is_next).min() else { return Vec::new() };
        let along = |edge: &EdgeIndex| self.target(*edge) == self.target(first);
        let mut taken: Vec<EdgeIndex> = self.fired.iter().copied().filter(along).collect();
        taken.sort_unstable();
        taken
    }

    fn source(&self, edge: EdgeIndex) -> NodeIndex {
        self.flow.shape().ends[edge].0
    }

    fn target(&self, edge: EdgeIndex) -> NodeIndex {
        self.flow.shape().ends[edge].1
    }

    /// The region of all that a target of a back edge reaches.
    fn reach(&self, target: NodeIndex) -> usize {
        self.flow.shape().reach_of[target].expect("a back edge leads there")
    }

    /// Whether a back edge has brought the run to a node that has neither started nor been skipped since; others then
    /// join it.
    fn is_brought(&self, target: NodeIndex) -> bool {
        !self.spots[target].rare().brought.is_empty() && self.spots[target].queue != Queue::None
    }

    /// Whether forward edges lead from the target of a back edge to a node, or it is that node.
    fn reaches(&self, target: NodeIndex, node: NodeIndex) -> bool {
        self.flow.shape().regions[self.reach(target)].nodes.binary_search(&node).is_ok()
    }

    /// Goes round: all that was settled beyond the target is to be done again.
    pub(super) fn take(&mut self, edge: EdgeIndex) {
        let target = self.target(edge);
        let fired = self.fired.len();
        self.fired.retain(|other| *other != edge);
        let has_fired = self.fired.len() < fired;
        if self.is_brought(target) {
            self.spots[target].keep().brought.push(edge);
        } else if !self.spots[target].busy() {
            // One that is busy is left alone: nothing is taken to it, but earlier versions may have written so.
            self.rounds.begin(self.spots.len());
            self.reset(target);
            self.spots[target].again = false;
            if self.spots[self.source(edge)].status.settled() {
                self.decisions[edge] = Decision::Live;
            }
            self.spots[target].keep().brought.push(edge);
            self.enqueue(target, Queue::Ready);
            self.reconsider(target);
            self.forget(target);
        }
        if has_fired {
            self.fall(edge);
        }
    }

    /// What had fired elsewhere from nodes that are to be done again is undecided again.
    fn forget(&mut self, target: NodeIndex) {
        let is_reset = |edge: &EdgeIndex| self.reaches(target, self.source(*edge));
        let is_void = |edge: &EdgeIndex| self.target(*edge) != target && is_reset(edge);
        let (void, fired): (Vec<_>, Vec<_>) = self.fired.iter().copied().partition(is_void);
        self.fired = fired;
        for edge in void {
            self.fall(edge);
        }
    }

    fn reset(&mut self, target: NodeIndex) {
        let region = self.reach(target);
        for position in 0..self.flow.shape().regions[region].nodes.len() {
            let node = self.flow.shape().regions[region].nodes[position];
            if !self.spots[node].status.settled() {
                continue;
            }
            let spot = &mut self.spots[node];
            spot.status = Status::Pending;
            if let Some(rare) = spot.kept() {
                rare.brought.clear();
                rare.input = None;
            }
            if let Some(layer) = self.flow.shape().layer[node] {
                self.layers[layer as usize].unsettled += 1;
                self.closing.retain(|closing| *closing != layer as usize);
            }
            for position in 0..self.leaving(node).len() {
                let edge = self.leaving(node)[position];
                if !self.flow.shape().back[edge] {
                    let spot = &mut self.spots[self.flow.shape().ends[edge].1];
                    count(spot, self.decisions[edge], false);
                    count(spot, Decision::Undecided, true);
                }
                self.decisions[edge] = Decision::Undecided;
            }
        }
    }

    /// Edges from nodes that were not reset keep their decision, which may be enough for some.
    fn reconsider(&mut self, target: NodeIndex) {
        let region = self.reach(target);
        for position in 0..self.flow.shape().regions[region].nodes.len() {
            let node = self.flow.shape().regions[region].nodes[position];
            if !self.flow.shape().entering[node].is_empty() {
                self.evaluate(node);
            }
        }
    }
}

/// Takes something out of a line in which it is mostly the first.
pub(super) fn take_out<T: PartialEq>(line: &mut VecDeque<T>, gone: &T) {
    if line.front() == Some(gone) {
        line.pop_front();
    } else {
        line.retain(|other| other != gone);
    }
}

fn enough(spot: &Spot, wanted: u32) -> Option<bool> {
    if spot.live >= wanted { Some(true) } else { (spot.live + spot.undecided < wanted).then_some(false) }
}

/// Counts an edge in, or out, among those that enter its target.
pub(super) fn count(spot: &mut Spot, decision: Decision, add: bool) {
    let counter = match decision {
        Decision::Undecided | Decision::Held(_) => &mut spot.undecided,
        Decision::Live => &mut spot.live,
        Decision::Refused => &mut spot.refused,
        Decision::Passed => return,
    };
    *counter = if add { *counter + 1 } else { *counter - 1 };
}
